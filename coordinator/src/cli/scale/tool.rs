//! Slurm's own commands, run with bounds.

use std::{process::Stdio, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    process::{Child, Command},
    time::timeout,
};

use crate::cli::exit::Failure;

/// No command takes longer than this unless Slurm hangs. Clients give a controller that is away up after about ten seconds;
/// sbatch waits for two minutes where there is no room for a job.
const PATIENCE: Duration = Duration::from_secs(60);
/// A line of squeue is about a hundred bytes, and there are at most some 100,000 of ours.
const MOST_BYTES: u64 = 64 << 20;
/// What is shown of a command's complaint.
const MOST_WORDS: usize = 2_000;

/// What a command said when it was through.
#[derive(Debug)]
pub struct Answer {
    /// Whether its exit code was 0.
    pub good: bool,
    /// Standard output.
    pub text: String,
    /// Standard error.
    pub complaint: String,
}

/// Runs `program` to its end.
///
/// # Errors
///
/// When it is not there, hangs, or says more than anybody wants to hear.
pub async fn ask(program: &str, args: &[String], input: Option<&str>) -> Result<Answer, Failure> {
    let mut command = Command::new(program);
    command.args(args).kill_on_drop(true);
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.env("LC_ALL", "C");
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_none_or(misleads) {
            command.env_remove(name);
        }
    }
    let child = command.spawn().map_err(|error| absent(program, &error))?;
    let mut complaint = Vec::new();
    match timeout(PATIENCE, through(child, input, &mut complaint)).await {
        Ok(Ok((good, text))) => Ok(Answer { good, text, complaint: end_of(&complaint) }),
        Ok(Err(error)) => Err(Failure::failed(format!("{program}: {error}"))),
        Err(_) => Err(Failure::failed(hung(program, &end_of(&complaint)))),
    }
}

fn hung(program: &str, complaint: &str) -> String {
    let said = match complaint {
        "" => "is Slurm well? `scontrol ping` tells".into(),
        complaint => super::refusal::explain(complaint),
    };
    format!("{program} did not end within {} s: {said}", PATIENCE.as_secs())
}

/// Runs `program` and wants it to succeed; its standard output.
///
/// # Errors
///
/// As [`ask`], and when its exit code is not 0.
pub async fn hear(program: &str, args: &[String]) -> Result<String, Failure> {
    let answer = ask(program, args, None).await?;
    if answer.good {
        return Ok(answer.text);
    }
    Err(Failure::failed(format!("{program}: {}", super::refusal::explain(&answer.complaint))))
}

fn absent(program: &str, error: &std::io::Error) -> Failure {
    if error.kind() == std::io::ErrorKind::NotFound {
        return Failure::failed(format!(
            "{program} is not here: `nonet scale --slurm` runs where jobs are submitted to Slurm, as on a login node"
        ));
    }
    Failure::failed(format!("{program} cannot be started: {error}"))
}

/// Variables that would change what the commands do or say. Some filter lists (`SQUEUE_*`), one makes sbatch wait. Those of
/// the job that this program may run in belong to that job. Variables of Nonet are not for the workers: what is shown
/// to the coordinator here are the credentials of an operator.
fn misleads(name: &str) -> bool {
    let where_slurm_is = matches!(name, "SLURM_CONF" | "SLURM_CONF_SERVER" | "SLURM_CLUSTERS" | "SLURM_JWT");
    let prefixes = ["SLURM_", "SQUEUE_", "SCONTROL_", "SINFO_", "SACCTMGR_"];
    let of_slurm = prefixes.iter().any(|prefix| name.starts_with(prefix)) && !where_slurm_is;
    let of_nonet = name.starts_with("NONET_") && name != "NONET_LOG";
    of_slurm || of_nonet || name == "SBATCH_WAIT"
}

/// Whether it succeeded, and its standard output. What it complains about is kept as it comes.
async fn through(
    mut child: Child,
    input: Option<&str>,
    complaint: &mut Vec<u8>,
) -> std::io::Result<(bool, String)> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let write = async {
        if let Some((mut stdin, input)) = stdin.zip(input) {
            // One that does not read to the end says why on standard error.
            drop(stdin.write_all(input.as_bytes()).await);
        }
    };
    let mut text = Vec::new();
    let ((), read, complained) = tokio::join!(write, read(stdout, &mut text), read(stderr, complaint));
    read.and(complained)?;
    Ok((child.wait().await?.success(), String::from_utf8_lossy(&text).into_owned()))
}

async fn read(from: Option<impl AsyncRead + Unpin>, to: &mut Vec<u8>) -> std::io::Result<()> {
    let Some(from) = from else { return Ok(()) };
    let len = from.take(MOST_BYTES + 1).read_to_end(to).await?;
    if len as u64 > MOST_BYTES {
        return Err(std::io::Error::other(format!("more than {MOST_BYTES} bytes of output")));
    }
    Ok(())
}

/// The last of what was said: the reason comes last.
fn end_of(said: &[u8]) -> String {
    String::from_utf8_lossy(&said[said.len().saturating_sub(MOST_WORDS)..]).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_filter_or_betray_do_not_reach_slurm() {
        for name in ["SQUEUE_USERS", "NONET_TOKEN", "NONET_TLS", "SBATCH_WAIT", "SLURM_MEM_PER_CPU"] {
            assert!(misleads(name), "{name}");
        }
        for name in ["SLURM_CONF", "PATH", "NONET_LOG", "SBATCH_PARTITION", "AWS_ACCESS_KEY_ID"] {
            assert!(!misleads(name), "{name}");
        }
    }

    #[tokio::test]
    async fn a_program_that_is_not_there_is_named() {
        let error = ask("no-such-squeue", &[], None).await.expect_err("absent");
        assert!(error.text().contains("no-such-squeue is not here"), "{}", error.text());
    }

    #[test]
    fn one_that_hangs_is_told_with_what_it_said() {
        let said = "sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying";
        let text = hung("sbatch", said);
        assert!(text.contains("within 60 s") && text.contains("MaxJobCount is reached"), "{text}");
        assert!(hung("squeue", "").contains("scontrol ping"));
    }

    #[tokio::test]
    async fn what_goes_in_comes_out_and_a_failure_is_told_with_its_words() {
        let cat = ask("cat", &[], Some("abc")).await.expect("cat runs");
        assert_eq!((cat.good, cat.text.as_str()), (true, "abc"));
        let error = hear("sh", &["-c".into(), "echo no >&2; exit 3".into()]).await.expect_err("fails");
        assert_eq!(error.text(), "sh: no");
    }
}
