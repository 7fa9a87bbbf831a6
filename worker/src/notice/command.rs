//! A command that knows whether the machine goes. It may answer at once and is asked again, or wait until it knows.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Command;

/// Kills what the shell has started, when nobody waits for it any more.
struct Group(u32);

impl Drop for Group {
    fn drop(&mut self) {
        let pid = i32::try_from(self.0).ok().and_then(Pid::from_raw);
        if let Some(error) = pid.and_then(|pid| kill_process_group(pid, Signal::KILL).err()) {
            tracing::trace!("a command had ended by itself: {error}");
        }
    }
}

/// Runs the command to its end. 0: the machine goes; anything else: it does not, as far as is known.
pub async fn ask(command: &str) -> Result<Option<String>, String> {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child =
        shell.process_group(0).spawn().map_err(|error| format!("sh cannot be started: {error}"))?;
    let group = child.id().map(Group);
    let status = child.wait().await.map_err(|error| error.to_string())?;
    // What it has left running in the background goes with it.
    drop(group);
    match status.code() {
        Some(0) => Ok(Some("the command ended with 0".into())),
        // As shells say that there is no such command, or that it cannot be run.
        Some(code @ (126 | 127)) => Err(format!("the command cannot be run: exit code {code}")),
        _ => Ok(None),
    }
}
