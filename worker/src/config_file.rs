//! The one TOML file that flags and `NONET_*` variables can be kept in. Flags win over variables, variables over it.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use crate::log::LogFormat;

/// What the file may say. Unknown keys are refused: a misspelt one would otherwise be silently without effect.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfigFile {
    /// Folder of the ledger (coordinator, run) or of the checkpoint (worker).
    pub state: Option<PathBuf>,
    /// Folder, shared by all workers, or URL for results too large for the ledger.
    pub parts: Option<String>,
    /// Computing threads.
    pub threads: Option<usize>,
    /// Coordinator's address, or several with commas between.
    pub coordinator: Option<String>,
    /// Where the coordinator listens.
    pub listen: Option<String>,
    /// Where the coordinator's page listens.
    pub web: Option<String>,
    /// Ledger in etcd.
    pub ledger: Option<String>,
    /// Folder of the certificates for it.
    pub ledger_tls: Option<PathBuf>,
    /// Where the coordinator says that it is.
    pub advertise: Option<String>,
    /// Leases that a worker keeps in stock.
    pub prefetch: Option<usize>,
    /// Name of a worker.
    pub name: Option<String>,
    /// How log lines look.
    pub log_format: Option<LogFormat>,
    /// Collector of traces.
    pub otlp: Option<String>,
    /// What a worker says of itself, for jobs that ask for it.
    pub labels: Option<BTreeMap<String, String>>,
    /// The pool that a worker belongs to.
    pub pool: Option<String>,
    /// Where a worker hears that its machine goes.
    pub notice: Option<Vec<String>>,
    /// Whether plain text off loopback is allowed.
    pub allow_plaintext: Option<bool>,
    /// Folder with ca.pem, cert.pem and key.pem.
    pub tls: Option<PathBuf>,
    /// Certificate to show.
    pub tls_cert: Option<PathBuf>,
    /// Its private key.
    pub tls_key: Option<PathBuf>,
    /// CA of the other end.
    pub tls_ca: Option<PathBuf>,
    /// File with the token to show.
    pub token_file: Option<PathBuf>,
    /// File of the tokens that the coordinator knows.
    pub tokens: Option<PathBuf>,
}

/// A file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("configuration file {path}: {reason}")]
pub struct ConfigError {
    path: String,
    reason: String,
}

/// A configuration file is a page of text; more is a mistake.
const MAX_BYTES: u64 = 1 << 20;

impl ConfigFile {
    /// Reads `path`, or gives an empty configuration when there is none to read.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, is no TOML, or has a key that is not known.
    pub fn read(path: Option<&Path>) -> Result<Self, ConfigError> {
        let Some(path) = path else { return Ok(Self::default()) };
        let error = |reason: String| ConfigError { path: path.display().to_string(), reason };
        let len = std::fs::metadata(path).map_err(|e| error(e.to_string()))?.len();
        if len > MAX_BYTES {
            return Err(error(format!("{len} bytes: at most {MAX_BYTES} are read")));
        }
        let text = std::fs::read_to_string(path).map_err(|e| error(e.to_string()))?;
        toml::from_str(&text).map_err(|e| error(one_line(&text, &e)))
    }
}

/// toml's message is several lines with a picture; errors here are one line.
fn one_line(text: &str, error: &toml::de::Error) -> String {
    let line = error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
    let line = line.map_or(String::new(), |line| format!("line {line}: "));
    format!("{line}{}", error.message().replace('\n', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ConfigFile, String> {
        let file = tempfile::NamedTempFile::new().expect("temporary file");
        std::fs::write(file.path(), text).expect("written");
        ConfigFile::read(Some(file.path())).map_err(|e| e.to_string())
    }

    #[test]
    fn an_unknown_key_is_refused_with_its_line_and_the_known_ones() {
        assert_eq!(read("threads = 3").expect("good").threads, Some(3));
        let error = read("threads = 3\nthraeds = 4\n").expect_err("unknown key");
        assert!(
            error.contains("line 2") && error.contains("thraeds") && error.contains("threads"),
            "{error}"
        );
        assert!(!error.contains('\n'));
        assert!(read("threads = \"many\"").is_err());
    }
}
