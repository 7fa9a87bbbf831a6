//! The batch script: one worker, kept alive by Slurm.

use std::path::Path;

/// What the script starts.
#[derive(Debug)]
pub struct Worker<'a> {
    /// `nonet`, as it is called on the nodes.
    pub program: &'a Path,
    /// The pool's folder, in which each task has its own.
    pub folder: &'a Path,
    /// The pool.
    pub pool: &'a str,
    /// Computing threads.
    pub threads: u32,
    /// Further options of `nonet worker`.
    pub options: &'a [String],
}

/// The script. It is POSIX sh, and works with the options of [`super::submit::options`] only.
///
/// Slurm tells the shell alone that its time is nearly over, but everybody in the job when it requeues, preempts or
/// cancels it. So the shell passes on what it is told, and the worker hears the same twice, which changes nothing there.
///
/// Tasks are named `ARRAY_INDEX`: the number of the first task is that of its whole array, which `scontrol requeue` would
/// take for all of it. A task that was cancelled or is requeued by others is `COMPLETING`: one that requeues itself then
/// would rise from the dead.
pub fn script(worker: &Worker<'_>) -> String {
    let folder = quote(&worker.folder.display().to_string());
    let program = quote(&worker.program.display().to_string());
    let mut command = format!("{program} worker --pool {} --threads {}", quote(worker.pool), worker.threads);
    command += " \\\n    --state \"$state\" --name \"${SLURMD_NODENAME:-node}-$task\"";
    let options: Vec<_> = worker.options.iter().map(|option| quote(option)).collect();
    if !options.is_empty() {
        command += " \\\n    ";
        command += &options.join(" ");
    }
    format!(
        r#"#!/bin/sh
# One worker of a Nonet farm, as `nonet scale --slurm` submits it.
set -u
task="${{SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}}${{SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID}}"
# A task that comes back finds its folder, and is the same worker.
state={folder}/"$task"
mkdir -p "$state" || exit 1

told=0
worker=
trap 'told=1; [ -z "$worker" ] || kill -TERM "$worker" 2>/dev/null' TERM
{command} &
worker=$!
[ "$told" = 0 ] || kill -TERM "$worker"
# A signal ends `wait` before the worker does.
while :; do
    wait "$worker"
    status=$?
    [ "$status" -gt 128 ] && kill -0 "$worker" 2>/dev/null || break
done

if [ "$told" = 1 ]; then
    # Told by Slurm while the job still runs: its time is nearly over. It queues up again for the next stretch.
    if [ "$(squeue --noheader --jobs="$task" --format=%T)" = RUNNING ]; then
        echo "task $task: its time is nearly over; it queues up again"
        exec scontrol requeue "$task"
    fi
    echo "task $task: told to end by Slurm"
elif [ "$status" = 0 ]; then
    # Released by the coordinator, with nothing left to hand in.
    echo "task $task: released"
    rm -rf -- "$state"
fi
exit "$status"
"#
    )
}

/// `text` as one word of the shell.
pub fn quote(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.into();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// What the README of `deploy/slurm` gives to those who submit by hand is what this program submits.
    #[test]
    fn the_text_for_submitting_by_hand_is_this_one() {
        let options = ["--coordinator", "https://head:7700", "--tls", "certs/slurm"].map(str::to_owned);
        let worker = Worker {
            program: Path::new("/usr/local/bin/nonet"),
            folder: Path::new("/scratch/nonet/slurm"),
            pool: "slurm",
            threads: 32,
            options: &options,
        };
        assert_eq!(script(&worker), include_str!("../../../../deploy/slurm/worker.sh"));
        let wishes = ["--time=12:00:00".to_owned()];
        let request = super::super::submit::Request {
            name: "nonet-slurm",
            comment: "nonet worker of https://head:7700",
            logs: Path::new("/scratch/nonet/slurm"),
            threads: 32,
            signal_s: 60,
            wishes: &wishes,
        };
        let readme = include_str!("../../../../deploy/slurm/README.md").replace(" \\\n    ", " ");
        for option in super::super::submit::options(&request, 4) {
            assert!(readme.contains(&quote(&option)), "deploy/slurm/README.md lacks {option}");
        }
    }

    #[test]
    fn words_come_out_of_the_shell_as_they_went_in() {
        for text in ["", "plain", "two words", "it's", "$HOME `id` \\ \"x\"", "new\nline", "*"] {
            let said = Command::new("sh").arg("-c").arg(format!("printf %s {}", quote(text))).output();
            assert_eq!(String::from_utf8(said.expect("sh runs").stdout).expect("text"), text);
        }
        assert_eq!(quote("s3://bucket/parts"), "s3://bucket/parts");
    }

    /// The script with a program in the place of nonet, and of Slurm's commands, that says what it was asked.
    fn run(worker: &str, squeue: &str, signal: bool) -> (Option<i32>, String, bool) {
        let dir = tempfile::tempdir().expect("a folder");
        let path = |name: &str| dir.path().join(name);
        for (name, text) in [
            ("nonet", worker),
            ("squeue", &format!("echo {squeue}")),
            ("scontrol", "echo asked: scontrol \"$@\""),
        ] {
            std::fs::write(path(name), format!("#!/bin/sh\n{text}\n")).expect("written");
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(path(name), mode).expect("executable");
        }
        let (program, folder) = (path("nonet"), path("my state"));
        let options = ["--label".to_owned(), "a=it's".to_owned()];
        let worker =
            Worker { program: &program, folder: &folder, pool: "slurm", threads: 3, options: &options };
        std::fs::write(path("script"), script(&worker)).expect("written");
        let mut command = Command::new("sh");
        command.arg(path("script")).env("PATH", format!("{}:/usr/bin:/bin", dir.path().display()));
        command.env("SLURM_JOB_ID", "12").env("SLURM_ARRAY_JOB_ID", "11").env("SLURM_ARRAY_TASK_ID", "4");
        command.env("READY", path("ready")).stdout(std::process::Stdio::piped());
        let child = command.spawn().expect("sh starts");
        if signal {
            while !path("ready").exists() {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            let pid = child.id().to_string();
            assert!(Command::new("kill").args(["-s", "TERM", &pid]).status().expect("kill").success());
        }
        let output = child.wait_with_output().expect("it ends");
        let text = String::from_utf8(output.stdout).expect("text");
        (output.status.code(), text, folder.join("11_4").exists())
    }

    /// Ends a second after it was told to, as one that hands back.
    const PATIENT: &str = "trap 'sleep 0.2; echo handed back; exit 0' TERM; touch \"$READY\"
        i=0; while [ $i -lt 1000 ]; do sleep 0.05; i=$((i+1)); done; exit 9";

    #[test]
    fn a_worker_that_is_released_ends_its_task_for_good() {
        let (code, text, left) = run("echo started: \"$@\"", "RUNNING", false);
        assert_eq!((code, left), (Some(0), false), "{text}");
        assert!(text.contains("--pool slurm --threads 3 --state"), "{text}");
        assert!(text.contains("my state/11_4 --name node-11_4 --label a=it's"), "{text}");
        assert!(text.contains("released") && !text.contains("asked"), "{text}");
    }

    #[test]
    fn a_worker_that_fails_leaves_its_folder_and_its_code() {
        let (code, text, left) = run("exit 7", "RUNNING", false);
        assert_eq!((code, left), (Some(7), true), "{text}");
        assert!(!text.contains("asked"), "{text}");
    }

    #[test]
    fn a_task_whose_time_is_nearly_over_requeues_itself_alone() {
        let (code, text, left) = run(PATIENT, "RUNNING", true);
        assert_eq!((code, left), (Some(0), true), "{text}");
        assert!(text.contains("handed back"), "{text}");
        assert!(text.contains("asked: scontrol requeue 11_4\n"), "{text}");
    }

    #[test]
    fn a_task_that_was_cancelled_stays_so() {
        let (code, text, left) = run(PATIENT, "COMPLETING", true);
        assert_eq!((code, left), (Some(0), true), "{text}");
        assert!(text.contains("handed back") && !text.contains("asked"), "{text}");
    }
}
