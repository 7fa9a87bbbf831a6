//! What Slurm says when it refuses, and what can be done about it.

/// What is found in a refusal, and the advice. The first that fits is taken: the more special come first. The texts are
/// those of `slurm_strerror` and of the reasons of limits; they have not changed from 20.02 to 25.05.
const ADVICE: &[(&str, &str)] = &[
    ("Unable to contact slurm controller", "slurmctld cannot be reached: `scontrol ping` tells"),
    ("configuration source", "Slurm is not configured here: is this a machine where jobs are submitted?"),
    ("authentication", "munge does not work between here and slurmctld: `munge -n | unmunge` tells"),
    ("MaxSubmitJob", "so many jobs may not be queued: ask for fewer workers, each with more --threads"),
    ("MaxWall", "the association or QOS allows less time: ask for less with --time"),
    (
        "Job violates accounting/QOS policy",
        "a limit of the account or QOS: `sacctmgr show assoc user=$USER` and `sacctmgr show qos` tell them; fewer workers, less --time, another --account or --qos",
    ),
    (
        "nvalid account",
        "name an account of yours with --account: `sacctmgr show assoc user=$USER` lists them",
    ),
    ("nvalid qos", "name a QOS with --qos: `sacctmgr show assoc user=$USER format=account,qos` lists yours"),
    ("nvalid partition", "name a partition with --partition: `sinfo` lists them"),
    ("not permitted to use this partition", "choose another --partition: `sinfo` lists them"),
    ("nvalid job array", "the site's MaxArraySize or max_array_tasks has changed meanwhile: run this again"),
    ("time limit is invalid", "ask for less with --time: `sinfo` shows the limits of partitions"),
    ("nvalid feature", "--constraint names a feature that no node has: `sinfo -o '%N %f'` lists them"),
    (
        "node configuration is not available",
        "no node of the partition has what --threads, --mem-per-cpu and --constraint ask for",
    ),
    ("temporarily unable to accept job", "the site's MaxJobCount is reached: try later"),
];

/// The complaint in one line, with advice.
pub fn explain(complaint: &str) -> String {
    let lines = complaint.lines().map(str::trim).filter(|line| !line.is_empty());
    let said = lines.map(bare).collect::<Vec<_>>().join("; ");
    let said = if said.is_empty() { "it failed and did not say why".into() } else { said };
    match ADVICE.iter().find(|(text, _)| said.contains(text)) {
        Some((_, advice)) => format!("{said} ({advice})"),
        None => said,
    }
}

/// Without the program's name before it, which we say.
fn bare(line: &str) -> &str {
    let programs = ["sbatch", "squeue", "scancel", "scontrol", "sacctmgr"];
    let rest = programs.iter().find_map(|program| line.strip_prefix(program)?.strip_prefix(": "));
    let rest = rest.unwrap_or(line);
    rest.strip_prefix("error: ").or_else(|| rest.strip_prefix("fatal: ")).unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_one_line_with_advice() {
        let said = "sbatch: error: QOSMaxSubmitJobPerUserLimit\nsbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)\n";
        let text = explain(said);
        assert!(text.starts_with("QOSMaxSubmitJobPerUserLimit; Batch job submission failed"), "{text}");
        assert!(text.contains("fewer workers"), "{text}");
        assert_eq!(explain("sbatch: error: whatever is new"), "whatever is new");
        assert_eq!(explain(" \n"), "it failed and did not say why");
        let text = explain("slurm_load_jobs error: Unable to contact slurm controller (connect failure)");
        assert!(text.contains("scontrol ping"), "{text}");
    }
}
