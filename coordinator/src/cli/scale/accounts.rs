//! Limits of accounts and QOS, where the site keeps a database of them.

/// A bound on jobs of ours that Slurm takes, queued and running together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubmitLimit {
    /// What it is called, and whose it is.
    pub name: String,
    /// How many.
    pub most: u64,
}

/// Fields of `sacctmgr show assoc`.
pub const ASSOCIATION: &str = "Account,Partition,DefaultQOS,QOS,MaxSubmitJobs,GrpSubmitJobs";
/// Fields of `sacctmgr show qos`.
pub const QOS: &str = "Name,MaxSubmitJobsPerUser,GrpSubmitJobs";

/// The association of a user with an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Association {
    account: String,
    /// Empty: every partition.
    partition: String,
    /// The QOS that jobs get which name none.
    pub default_qos: Option<String>,
    limits: Vec<SubmitLimit>,
}

impl Association {
    /// Its limits.
    pub fn limits(&self) -> &[SubmitLimit] {
        &self.limits
    }
}

/// Reads `sacctmgr --noheader --parsable2 show assoc format=...` with the fields of [`ASSOCIATION`].
pub fn associations(text: &str) -> Vec<Association> {
    text.lines().filter_map(association).collect()
}

fn association(line: &str) -> Option<Association> {
    let fields: Vec<&str> = line.trim().split('|').collect();
    let [account, partition, default_qos, qos, max, group] = fields[..] else { return None };
    // One who may use a single QOS has that one.
    let only = Some(qos).filter(|qos| !qos.contains(','));
    let default_qos = Some(default_qos).filter(|qos| !qos.is_empty()).or(only).filter(|qos| !qos.is_empty());
    let of = format!("of your association with account {account}");
    let limits = [
        limit(format!("MaxSubmitJobs {of}"), max),
        limit(format!("GrpSubmitJobs {of}, shared with others,"), group),
    ];
    Some(Association {
        account: account.into(),
        partition: partition.into(),
        default_qos: default_qos.map(str::to_owned),
        limits: limits.into_iter().flatten().collect(),
    })
}

/// Empty, or -1 in some versions: no limit.
fn limit(name: String, text: &str) -> Option<SubmitLimit> {
    text.trim().parse().ok().map(|most| SubmitLimit { name, most })
}

/// The association that jobs for `account` in `partition` go by; without an account, the one there is, if it is one.
pub fn choose<'a>(all: &'a [Association], account: Option<&str>, partition: &str) -> Option<&'a Association> {
    let mine = all.iter().filter(|a| account.is_none_or(|account| a.account == account));
    let mut mine: Vec<_> = mine.filter(|a| a.partition.is_empty() || a.partition == partition).collect();
    // The one for this partition is stricter than the general one, and used.
    mine.sort_by_key(|a| a.partition.is_empty());
    let first = *mine.first()?;
    mine.iter().all(|a| a.account == first.account).then_some(first)
}

/// Reads `sacctmgr --noheader --parsable2 show qos NAME format=...` with the fields of [`QOS`].
pub fn qos_limits(text: &str, name: &str) -> Vec<SubmitLimit> {
    let fields = text.lines().map(|line| line.trim().split('|').collect::<Vec<_>>());
    let row = fields.filter(|row| row.len() == 3).find(|row| row[0] == name);
    let Some(row) = row else { return Vec::new() };
    let limits = [
        limit(format!("MaxSubmitJobsPerUser of QOS {name}"), row[1]),
        limit(format!("GrpSubmitJobs of QOS {name}, shared with others,"), row[2]),
    ];
    limits.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASSOC: &str = "physics||normal|high,normal|5000|\nmaths|gpu|||10|\nmaths||normal|normal||200\n";

    #[test]
    fn the_association_in_question_is_found() {
        let all = associations(ASSOC);
        assert_eq!(all.len(), 3);
        let physics = choose(&all, Some("physics"), "main").expect("there");
        assert_eq!(physics.default_qos.as_deref(), Some("normal"));
        assert_eq!(physics.limits()[0].most, 5_000);
        assert_eq!(physics.limits().len(), 1);
        assert_eq!(choose(&all, Some("maths"), "gpu").expect("there").limits()[0].most, 10);
        assert_eq!(choose(&all, Some("maths"), "main").expect("there").limits()[0].most, 200);
        assert_eq!(choose(&all, None, "main"), None, "nobody knows which");
        assert_eq!(choose(&all, Some("none"), "main"), None);
        assert_eq!(choose(&all[..1], None, "main"), Some(&all[0]));
        assert!(associations("nonsense\n\n").is_empty());
    }

    #[test]
    fn limits_of_a_qos_are_read() {
        let limits = qos_limits("normal||\nshort|50|1000\n", "short");
        assert_eq!(limits.iter().map(|l| l.most).collect::<Vec<_>>(), [50, 1_000]);
        assert!(limits[0].name.contains("QOS short"));
        assert!(qos_limits("normal||\n", "normal").is_empty());
        assert!(qos_limits("", "normal").is_empty());
    }
}
