//! Options behind `--`, which go to `nonet worker` as they are. What is wrong with them is said here, before a hundred tasks
//! fail because of it.

use clap::{ArgMatches, Args, Command, error::ErrorKind, parser::ValueSource};
use worker::cli::WorkerArgs;

use crate::cli::exit::Failure;

/// What each task sets by itself.
const OURS: &[(&str, &str)] = &[
    ("state", "--state names a folder for all tasks, before the --"),
    ("threads", "--threads, before the --, also asks Slurm for the processors"),
    ("name", "workers are named after their node and task"),
    ("pool", "--pool, before the --, names the pool"),
];

/// The way to the coordinator, as far as this command knows it.
#[derive(Debug)]
pub struct Way<'a> {
    /// Its address, or several.
    pub coordinator: &'a str,
    /// Whether plain text is allowed here.
    pub allow_plaintext: bool,
}

/// All options of a worker beside [`OURS`], from those that were given.
///
/// # Errors
///
/// When `nonet worker` would not take them.
pub fn complete(given: &[String], way: &Way<'_>) -> Result<Vec<String>, Failure> {
    let matches = read(given)?;
    for (id, why) in OURS {
        if is_given(&matches, id) {
            return Err(Failure::usage(format!("--{id} cannot be among the worker's options: {why}")));
        }
    }
    let labels = matches.get_many::<String>("labels").unwrap_or_default();
    if labels.into_iter().any(|label| label.starts_with("pool=")) {
        return Err(Failure::usage("the label pool is that of --pool, before the --".into()));
    }
    let mut options = Vec::new();
    let known = is_given(&matches, "config");
    if !is_given(&matches, "coordinator") && !known {
        options.extend(["--coordinator".into(), way.coordinator.into()]);
    }
    if way.allow_plaintext && !is_given(&matches, "allow_plaintext") && !known {
        options.push("--allow-plaintext".into());
    }
    let trusts = ["tls", "tls_ca"].iter().any(|id| is_given(&matches, id)) || known;
    if way.coordinator.contains("https://") && !trusts {
        return Err(Failure::usage(
            "workers show a certificate of their own to an https:// coordinator: add `-- --tls DIR`, a folder that the \
             nodes see (`nonet certs issue slurm --role worker` makes one)"
                .into(),
        ));
    }
    options.extend(given.iter().cloned());
    Ok(options)
}

fn read(given: &[String]) -> Result<ArgMatches, Failure> {
    // The variables of this process are not those of the workers.
    let command = WorkerArgs::augment_args(Command::new("nonet worker").no_binary_name(true));
    let command = command.mut_args(|arg| arg.env(None::<&'static str>)).disable_help_flag(true);
    command.try_get_matches_from(given).map_err(|error| {
        let text = error.to_string();
        let text = text.lines().next().unwrap_or_default();
        let text = text.strip_prefix("error: ").unwrap_or(text).to_owned();
        let hint = if error.kind() == ErrorKind::UnknownArgument {
            "; `nonet worker --help` lists them"
        } else {
            ""
        };
        Failure::usage(format!("options of the worker, behind the --: {text}{hint}"))
    })
}

fn is_given(matches: &ArgMatches, id: &str) -> bool {
    let known = matches.try_contains_id(id).is_ok();
    known && matches.value_source(id) == Some(ValueSource::CommandLine)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tell(given: &[&str], coordinator: &str) -> Result<Vec<String>, String> {
        let given: Vec<_> = given.iter().map(ToString::to_string).collect();
        let way = Way { coordinator, allow_plaintext: false };
        complete(&given, &way).map_err(|failure| failure.text().to_owned())
    }

    #[test]
    fn the_coordinator_is_added_unless_another_is_named() {
        let http = "http://127.0.0.1:7700";
        assert_eq!(tell(&[], http).expect("good"), ["--coordinator", http]);
        let given = ["--coordinator", "http://10.0.0.1:7700", "--prefetch", "2"];
        assert_eq!(tell(&given, http).expect("good"), given);
        assert_eq!(tell(&["--config", "worker.toml"], http).expect("good"), ["--config", "worker.toml"]);
    }

    #[test]
    fn what_a_worker_would_refuse_is_refused_here() {
        let http = "http://127.0.0.1:7700";
        let error = tell(&["--prefetsch", "2"], http).expect_err("misspelt");
        assert!(error.contains("--prefetsch") && error.contains("nonet worker --help"), "{error}");
        assert!(tell(&["--prefetch", "many"], http).expect_err("no number").contains("many"));
        assert!(tell(&["stray"], http).is_err());
        assert!(tell(&["--label", "a=b,pool=x"], http).expect_err("ours").contains("--pool"));
        for ours in [["--state", "x"], ["--threads", "2"], ["--name", "x"], ["--pool", "x"]] {
            assert!(tell(&ours, http).expect_err("ours").contains(ours[0]), "{ours:?}");
        }
    }

    #[test]
    fn workers_need_a_certificate_of_their_own() {
        let https = "https://head:7700";
        assert!(tell(&[], https).expect_err("none").contains("--role worker"));
        let options = tell(&["--tls", "certs/slurm"], https).expect("good");
        assert_eq!(options, ["--coordinator", https, "--tls", "certs/slurm"]);
    }
}
