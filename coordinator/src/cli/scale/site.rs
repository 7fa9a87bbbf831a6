//! What the site allows, read from Slurm and never guessed.

use std::collections::HashMap;

use super::duration::{self, TimeLimit};

/// What `scontrol show config` says of things that matter here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Slurm's version, for people.
    pub version: String,
    /// One more than the largest index in an array; 0: arrays are not allowed.
    pub max_array_size: u64,
    /// Most tasks of an array, where it is less than that (`SchedulerParameters=max_array_tasks=N`).
    pub max_array_tasks: Option<u64>,
    /// Most jobs that Slurm keeps; a task that runs is one.
    pub max_job_count: u64,
    /// How long a process that was told to end has before it is killed.
    pub kill_wait_s: Option<u64>,
    /// The cluster's name, by which the database of accounts knows it.
    pub cluster: Option<String>,
    /// Whether there is a database of accounts whose limits are enforced.
    pub limits_enforced: bool,
}

/// A partition, from `scontrol show partition`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Its name.
    pub name: String,
    /// Whether jobs go there that name none.
    pub is_default: bool,
    /// `UP`, `DOWN`, `DRAIN`, `INACTIVE`.
    pub state: String,
    /// The longest time that may be asked for.
    pub max_time: TimeLimit,
    /// What one gets who asks for none.
    pub default_time: TimeLimit,
    /// All its processors, in use or not.
    pub total_cpus: Option<u64>,
    /// Accounts that may use it; none: all.
    pub accounts: Option<Vec<String>>,
}

/// Reads `scontrol show config`: lines of `Name = value`.
///
/// # Errors
///
/// When something is missing that every version has.
pub fn config(text: &str) -> Result<Site, String> {
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    let values: HashMap<&str, &str> = pairs.map(|(name, value)| (name.trim(), value.trim())).collect();
    let value = |name: &str| {
        values.get(name).copied().ok_or_else(|| format!("`scontrol show config` does not tell {name}"))
    };
    let number = |name: &str| {
        let text = value(name)?;
        text.parse().map_err(|_| format!("`scontrol show config` says {name} = {text}: no number"))
    };
    let scheduler = values.get("SchedulerParameters").copied().unwrap_or_default();
    let max_array_tasks = scheduler.split(',').find_map(|part| part.trim().strip_prefix("max_array_tasks="));
    let kill_wait = values.get("KillWait").and_then(|text| text.split_whitespace().next()?.parse().ok());
    let storage = values.get("AccountingStorageType").copied().unwrap_or_default();
    let enforce = values.get("AccountingStorageEnforce").copied().unwrap_or_default();
    let enforced = enforce.split(',').any(|what| matches!(what.trim(), "limits" | "safe" | "all"));
    Ok(Site {
        version: values.get("SLURM_VERSION").copied().unwrap_or("unknown").into(),
        max_array_size: number("MaxArraySize")?,
        max_array_tasks: max_array_tasks.and_then(|text| text.trim().parse().ok()),
        max_job_count: number("MaxJobCount")?,
        kill_wait_s: kill_wait,
        cluster: values.get("ClusterName").map(|name| (*name).to_owned()),
        limits_enforced: enforced && !storage.is_empty() && !storage.ends_with("none"),
    })
}

/// Reads `scontrol show partition`, in one line or several each.
///
/// # Errors
///
/// When a time is no time.
pub fn partitions(text: &str) -> Result<Vec<Partition>, String> {
    let mut found: Vec<HashMap<&str, &str>> = Vec::new();
    for (name, value) in text.split_whitespace().filter_map(|word| word.split_once('=')) {
        if name == "PartitionName" {
            found.push(HashMap::new());
        }
        if let Some(partition) = found.last_mut() {
            partition.insert(name, value);
        }
    }
    found.iter().map(partition).collect()
}

fn partition(values: &HashMap<&str, &str>) -> Result<Partition, String> {
    let value = |name: &str| values.get(name).copied().unwrap_or_default();
    let name = value("PartitionName");
    let time = |field: &str| {
        let told = duration::parse(value(field));
        told.map_err(|why| format!("`scontrol show partition` says of {name} that {field} is {why}"))
    };
    let max_time = time("MaxTime")?;
    let default_time = if value("DefaultTime") == "NONE" { max_time } else { time("DefaultTime")? };
    let accounts = value("AllowAccounts");
    let all = accounts.is_empty() || accounts.eq_ignore_ascii_case("all");
    Ok(Partition {
        name: name.into(),
        is_default: value("Default") == "YES",
        state: value("State").into(),
        max_time,
        default_time,
        total_cpus: value("TotalCPUs").parse().ok(),
        accounts: (!all).then(|| accounts.split(',').map(str::to_owned).collect()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines as 22.05.8 and 25.05.5 print them.
    const CONFIG_22: &str = "\
Configuration data as of 2026-12-03T08:42:56
AccountingStorageEnforce = none
AccountingStorageType   = accounting_storage/none
KillWait                = 5 sec
MaxArraySize            = 1001
MaxJobCount             = 10000
SchedulerParameters     = sched_interval=1,max_array_tasks=200
SLURM_VERSION           = 22.05.8

Slurmctld(primary) at vm is UP
";
    const CONFIG_25: &str = "\
AccountingStorageEnforce = associations,limits,qos,safe
AccountingStorageType   = accounting_storage/slurmdbd
JobRequeue              = 0
KillWait                = 30 sec
MaxArraySize            = 11000
MaxBatchRequeue         = 5
MaxJobCount             = 65000
PreemptType             = (null)
SchedulerParameters     = (null)
SLURM_VERSION           = 25.05.5
";
    /// As 22.05.8 prints it with --oneliner, and 24.05 and 19.05 without.
    const PARTITIONS: &str = "\
PartitionName=main AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL AllocNodes=ALL Default=YES QoS=N/A DefaultTime=NONE DisableRootJobs=NO MaxNodes=UNLIMITED MaxTime=UNLIMITED MinNodes=0 Nodes=n[1-4] State=UP TotalCPUs=8 TotalNodes=4 JobDefaults=(null)
PartitionName=GENOA
   AllowGroups=ALL AllowAccounts=physics,maths AllowQos=ALL
   AllocNodes=ALL Default=NO QoS=N/A
   DefaultTime=00:10:00 DisableRootJobs=YES ExclusiveUser=NO ExclusiveTopo=NO GraceTime=0 Hidden=NO
   MaxNodes=UNLIMITED MaxTime=6-06:00:00 MinNodes=0 LLN=NO MaxCPUsPerNode=UNLIMITED MaxCPUsPerSocket=UNLIMITED
   State=DRAIN TotalCPUs=768 TotalNodes=12 SelectTypeParameters=NONE
   JobDefaults=DefCpuPerGPU=12,DefMemPerGPU=94000

PartitionName=a100
   AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL
   DefaultTime=01:00:00 MaxNodes=2 MaxTime=08:00:00 MinNodes=1
   State=UP TotalCPUs=704 TotalNodes=11
";

    #[test]
    fn limits_are_read_from_old_and_new_versions() {
        let old = config(CONFIG_22).expect("good");
        assert_eq!((old.max_array_size, old.max_array_tasks, old.max_job_count), (1_001, Some(200), 10_000));
        assert_eq!((old.kill_wait_s, old.limits_enforced, &*old.version), (Some(5), false, "22.05.8"));
        let new = config(CONFIG_25).expect("good");
        assert_eq!((new.max_array_size, new.max_array_tasks, new.limits_enforced), (11_000, None, true));
        assert!(config("MaxArraySize = 5").expect_err("lacks").contains("MaxJobCount"));
        assert!(config("MaxArraySize = many\nMaxJobCount = 1").expect_err("no number").contains("many"));
    }

    #[test]
    fn partitions_are_read_in_both_layouts() {
        let all = partitions(PARTITIONS).expect("good");
        let names: Vec<_> = all.iter().map(|p| &*p.name).collect();
        assert_eq!(names, ["main", "GENOA", "a100"]);
        assert!(all[0].is_default && !all[1].is_default);
        assert_eq!((all[0].max_time, all[0].default_time), (TimeLimit::Unlimited, TimeLimit::Unlimited));
        assert_eq!((all[1].default_time, &*all[1].state), (TimeLimit::Seconds(600), "DRAIN"));
        assert_eq!(all[1].accounts, Some(vec!["physics".into(), "maths".into()]));
        assert_eq!((all[2].max_time, all[2].total_cpus), (TimeLimit::Seconds(28_800), Some(704)));
        assert!(partitions("PartitionName=x MaxTime=soon").expect_err("no time").contains("soon"));
    }
}
