//! Job arrays: how they are asked for, and how Slurm answers.

use std::path::Path;

use super::{refusal, tool};
use crate::cli::exit::Failure;

/// What all arrays of a pool have in common.
#[derive(Debug)]
pub struct Request<'a> {
    /// Name of the jobs.
    pub name: &'a str,
    /// Which farm they belong to.
    pub comment: &'a str,
    /// Folder of what workers say.
    pub logs: &'a Path,
    /// Computing threads of a worker.
    pub threads: u32,
    /// How long before the end of its time a worker is told.
    pub signal_s: u32,
    /// Options that the user gave: partition, account and so on.
    pub wishes: &'a [String],
}

/// Options of sbatch for an array of `tasks`. The script comes on standard input.
pub fn options(request: &Request<'_>, tasks: u64) -> Vec<String> {
    let mut options: Vec<String> = vec![
        "--parsable".into(),
        format!("--job-name={}", request.name),
        format!("--comment={}", request.comment),
        format!("--array=0-{}", tasks.saturating_sub(1)),
        "--nodes=1".into(),
        "--ntasks=1".into(),
        format!("--cpus-per-task={}", request.threads),
        "--requeue".into(),
        // To the shell alone: without `B:` Slurm tells everything but the shell, and there is nothing else it knows of.
        format!("--signal=B:TERM@{}", request.signal_s),
        "--open-mode=append".into(),
        format!("--output={}/%A_%a.log", request.logs.display()),
        "--export=ALL".into(),
    ];
    options.extend(request.wishes.iter().cloned());
    options
}

/// Submits an array; its number.
///
/// # Errors
///
/// When Slurm refuses, with what it says and what can be done.
pub async fn submit(request: &Request<'_>, tasks: u64, script: &str) -> Result<u64, Failure> {
    let answer = tool::ask("sbatch", &options(request, tasks), Some(script)).await?;
    if !answer.good {
        return Err(Failure::failed(format!("sbatch: {}", refusal::explain(&answer.complaint))));
    }
    number(&answer.text).ok_or_else(|| {
        Failure::failed(format!("sbatch printed {:?}, which is no number of a job", answer.text.trim()))
    })
}

/// `17`, or `17;cluster` where there are several clusters. A site's own filter may say something before.
fn number(text: &str) -> Option<u64> {
    text.lines().rev().find(|line| !line.trim().is_empty())?.trim().split(';').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_job_is_read() {
        assert_eq!(number("17\n"), Some(17));
        assert_eq!(number("your project has 5 hours left\n17;lumi\n\n"), Some(17));
        assert_eq!(number("Submitted batch job 17"), None);
        assert_eq!(number(""), None);
    }
}
