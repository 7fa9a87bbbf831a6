//! What the daemons say on standard error: lines for people, or JSON for whoever collects logs.

use std::{io::IsTerminal, sync::OnceLock};

use clap::{Args, ValueEnum};
use serde::Deserialize;
use tracing_subscriber::{EnvFilter, fmt};

/// How log lines look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// A line for people
    #[default]
    Text,
    /// One JSON object a line: timestamp, level, message, and a field for each thing that is told
    Json,
}

/// Options of everything that runs for long.
#[derive(Clone, Debug, Default, Args)]
pub struct LogArgs {
    /// How log lines on standard error look; `NONET_LOG` says how much is told (`warn`, `info`, `debug`) [default: text]
    #[arg(long, env = "NONET_LOG_FORMAT", value_enum, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
}

/// What the daemons tell unless `NONET_LOG` says otherwise.
pub const OF_DAEMONS: &str = "info,sled=warn";

/// As chosen by the first call of [`init`].
static CHOSEN: OnceLock<LogFormat> = OnceLock::new();

/// Logs to standard error: `default_level`, or what `NONET_LOG` says (as in `NONET_LOG=debug`). The first call counts.
pub fn init(default_level: &str, format: LogFormat) {
    let filter = EnvFilter::try_from_env("NONET_LOG").unwrap_or_else(|_| EnvFilter::new(default_level));
    let log = fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    // A second call, as in tests, changes nothing.
    let set = match format {
        LogFormat::Text => log.with_ansi(std::io::stderr().is_terminal()).try_init(),
        LogFormat::Json => log.json().flatten_event(true).with_ansi(false).try_init(),
    };
    if set.is_ok() && CHOSEN.set(format).is_ok() && format == LogFormat::Json {
        // The usual last words are several lines of text.
        std::panic::set_hook(Box::new(|panic| tracing::error!("{}", panic.to_string().replace('\n', " "))));
    }
}

/// The last words of `program`, which may come before [`init`].
pub fn last_words(program: &str, text: &str) {
    match CHOSEN.get() {
        Some(LogFormat::Json) => tracing::error!("{program}: {text}"),
        _ => eprintln!("{program}: {text}"),
    }
}
