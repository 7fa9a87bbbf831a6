//! What a worker or a user shows a coordinator elsewhere, and how it is given: flags, `NONET_*` variables, the TOML file.

use std::{fmt, path::PathBuf};

use clap::Args;

use crate::{
    config_file::ConfigFile,
    dial::{Dial, DialError},
    tls::{TlsFiles, warn_if_shared},
};

/// Options for connections between machines.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Security")]
pub struct TlsArgs {
    /// Folder with ca.pem, cert.pem and key.pem, as `nonet certs issue` makes it
    #[arg(long, env = "NONET_TLS", value_name = "DIR")]
    pub tls: Option<PathBuf>,
    /// Certificate to show, in PEM form [default: DIR/cert.pem]
    #[arg(long, env = "NONET_TLS_CERT", value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,
    /// Private key of the certificate [default: DIR/key.pem]
    #[arg(long, env = "NONET_TLS_KEY", value_name = "FILE")]
    pub tls_key: Option<PathBuf>,
    /// CA that the other end's certificate must come from [default: DIR/ca.pem]
    #[arg(long, env = "NONET_TLS_CA", value_name = "FILE")]
    pub tls_ca: Option<PathBuf>,
    /// Talk to other machines without encryption: only in a network where everybody is trusted
    #[arg(long, env = "NONET_ALLOW_PLAINTEXT")]
    pub allow_plaintext: bool,
}

impl TlsArgs {
    /// The files, those of the configuration file where none are given here.
    ///
    /// # Errors
    ///
    /// When one is missing, in words for the user.
    pub fn files(self, file: &ConfigFile) -> Result<Option<TlsFiles>, String> {
        let dir = self.tls.or_else(|| file.tls.clone()).map(|dir| TlsFiles::in_folder(&dir));
        let (dir_cert, dir_key) = dir.as_ref().and_then(|files| files.own.clone()).unzip();
        let cert = self.tls_cert.or_else(|| file.tls_cert.clone()).or(dir_cert);
        let key = self.tls_key.or_else(|| file.tls_key.clone()).or(dir_key);
        let ca = self.tls_ca.or_else(|| file.tls_ca.clone()).or(dir.map(|files| files.ca));
        let own = match (cert, key) {
            (Some(cert), Some(key)) => Some((cert, key)),
            (None, None) => None,
            (Some(cert), None) => return Err(format!("--tls-cert {}: --tls-key is missing", cert.display())),
            (None, Some(key)) => return Err(format!("--tls-key {}: --tls-cert is missing", key.display())),
        };
        match (ca, own) {
            (Some(ca), own) => Ok(Some(TlsFiles { ca, own })),
            (None, Some((cert, _))) => Err(format!(
                "--tls-cert {}: --tls-ca is missing: whose certificates are trusted?",
                cert.display()
            )),
            (None, None) => Ok(None),
        }
    }
}

/// Options of everybody who dials.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Security")]
pub struct CredentialArgs {
    #[command(flatten)]
    tls: TlsArgs,
    /// File with the token to show, from `nonet tokens add` [or the token itself in `NONET_TOKEN`]
    #[arg(long, env = "NONET_TOKEN_FILE", value_name = "FILE")]
    token_file: Option<PathBuf>,
}

/// The token itself; never a flag, which everybody on the machine could read.
const TOKEN_VARIABLE: &str = "NONET_TOKEN";

impl CredentialArgs {
    /// Whether plain text may leave this machine, as far as the options say.
    pub fn allow_plaintext(&self) -> bool {
        self.tls.allow_plaintext
    }

    /// A way to the coordinators at `addresses`, which shows what the options say.
    ///
    /// # Errors
    ///
    /// When options or files cannot be used.
    pub fn dial(self, addresses: &str, file: &ConfigFile) -> Result<Dial, DialError> {
        let allow_plaintext = self.tls.allow_plaintext || file.allow_plaintext.unwrap_or(false);
        let tls = self.tls.files(file).map_err(DialError::Options)?;
        let by_file = self.token_file.or_else(|| file.token_file.clone()).map(Token::File);
        let given = std::env::var(TOKEN_VARIABLE).ok().filter(|token| !token.is_empty()).map(Token::Given);
        Dial::tcp(addresses, Credentials { tls, token: by_file.or(given), allow_plaintext })
    }
}

/// What is shown to a coordinator.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    /// For `https://` addresses.
    pub tls: Option<TlsFiles>,
    /// Who we are, where the coordinator wants a token.
    pub token: Option<Token>,
    /// Whether `http://` may leave this machine.
    pub allow_plaintext: bool,
}

/// Where the token is.
#[derive(Clone)]
pub enum Token {
    /// Here.
    Given(String),
    /// In a file that is read for every connection.
    File(PathBuf),
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given(_) => f.write_str("Given(..)"),
            Self::File(path) => write!(f, "File({})", path.display()),
        }
    }
}

impl Credentials {
    /// Warns of secrets among them that others on this machine can read.
    pub fn warn_if_shared(&self) {
        if let Some(files) = &self.tls {
            files.warn_if_shared();
        }
        if let Some(Token::File(path)) = &self.token {
            warn_if_shared(path);
        }
    }
}

/// A token is a line of some fifty characters.
const MAX_TOKEN_BYTES: u64 = 4 << 10;

impl Token {
    /// The token, read and looked at.
    ///
    /// # Errors
    ///
    /// When there is none, or what is there is none.
    pub fn read(&self) -> Result<String, DialError> {
        let (text, from) = match self {
            Self::Given(token) => (token.clone(), TOKEN_VARIABLE.into()),
            Self::File(path) => {
                let failed = |e: &dyn fmt::Display| {
                    DialError::Options(format!("--token-file {}: {e}", path.display()))
                };
                let len = std::fs::metadata(path).map_err(|e| failed(&e))?.len();
                if len > MAX_TOKEN_BYTES {
                    return Err(failed(&"this is no token: too long"));
                }
                (
                    std::fs::read_to_string(path).map_err(|e| failed(&e))?,
                    format!("--token-file {}", path.display()),
                )
            }
        };
        let token = text.trim();
        if token.is_empty() || !token.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(DialError::Options(format!(
                "{from}: expected one line with the token that `nonet tokens add` printed"
            )));
        }
        Ok(token.into())
    }
}
