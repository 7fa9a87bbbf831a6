//! Exit codes: what scripts go by.

use std::process::ExitCode;

use worker::{cli::Usage, config::WorkerError, config_file::ConfigError, dial::DialError, log::last_words};

use crate::{client::ClientError, ledger::LedgerError};

/// How a command ended when nothing went wrong with the command itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done: 0.
    Done,
    /// Done, but work units were given up: 3.
    Quarantined,
    /// Interrupted by SIGINT or SIGTERM; the same command resumes: 130.
    Interrupted,
}

impl Outcome {
    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Quarantined => 3,
            Self::Interrupted => 130,
        }
    }
}

/// What went wrong, in one line.
#[derive(Debug)]
pub struct Failure {
    text: String,
    code: u8,
}

impl Failure {
    /// Something failed: 1.
    pub fn failed(text: String) -> Self {
        Self { text, code: 1 }
    }

    /// The command or its input is wrong: 2.
    pub fn usage(text: String) -> Self {
        Self { text, code: 2 }
    }

    /// What is to be said of it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The same failure, with what follows from it.
    pub fn and(&self, text: &str) -> Self {
        Self { text: format!("{}; {text}", self.text.trim_end()), code: self.code }
    }

    /// Says so on standard error.
    pub fn tell(&self) -> ExitCode {
        let text = self.text.trim_end();
        last_words("nonet", text.strip_prefix("error: ").unwrap_or(text));
        ExitCode::from(self.code)
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Invalid(text) => Self::usage(text),
            ClientError::Dial(dial) if dial.is_usage() => Self::usage(dial.to_string()),
            ClientError::Absent(_)
            | ClientError::Dial(_)
            | ClientError::Stranger(_)
            | ClientError::Refused(_) => Self::failed(error.to_string()),
        }
    }
}

impl From<DialError> for Failure {
    fn from(error: DialError) -> Self {
        ClientError::from(error).into()
    }
}

impl From<LedgerError> for Failure {
    fn from(error: LedgerError) -> Self {
        Self::failed(error.to_string())
    }
}

impl From<WorkerError> for Failure {
    fn from(error: WorkerError) -> Self {
        Self::failed(error.to_string())
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        let code = if error.is::<Usage>() { 2 } else { 1 };
        Self { text: format!("{error:#}"), code }
    }
}
