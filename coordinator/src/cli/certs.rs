//! `nonet certs init|issue`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{
    exit::{Failure, Outcome},
    format,
};
use crate::{
    access::{Identity, Role},
    certs::{self, Wanted},
};

/// Arguments of `nonet certs`.
#[derive(Debug, Args)]
pub struct CertsArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Make a certificate authority: ca.pem for everybody, and ca-key.pem for nobody but you
    #[command(after_help = "Example:\n  nonet certs init --dir ./nonet-certs")]
    Init {
        #[command(flatten)]
        at: At,
        /// Replace the authority that is there; no certificate made with it is accepted any more
        #[arg(long)]
        force: bool,
    },
    /// Make a certificate and its key: a folder to be given to --tls
    #[command(after_help = ISSUE_EXAMPLES)]
    Issue {
        /// Whom it is for: the name in logs and in the audit record
        name: String,
        #[command(flatten)]
        at: At,
        /// What it may do
        #[arg(long, value_enum)]
        role: Role,
        /// Name or address that a coordinator is dialled by; several are possible. Its NAME and localhost are among them
        #[arg(long = "host", value_name = "NAME_OR_IP")]
        hosts: Vec<String>,
        /// How long it is valid; 0 makes one that has expired, to see what happens then
        #[arg(long, default_value_t = 365, value_parser = clap::value_parser!(u64).range(..=certs::MAX_DAYS))]
        days: u64,
        /// Folder to make [default: DIR/NAME]
        #[arg(long, short, value_name = "DIR")]
        output: Option<PathBuf>,
        /// Replace the certificate that is there
        #[arg(long)]
        force: bool,
    },
}

const ISSUE_EXAMPLES: &str = "\
Examples:
  nonet certs issue head --role coordinator --host head.example.org --host 10.0.0.1
  nonet certs issue node17 --role worker
  nonet certs issue alice --role operator --days 30 -o ~/.nonet-tls";

#[derive(Debug, Args)]
struct At {
    /// Folder of the certificate authority
    #[arg(long, value_name = "DIR", default_value = "nonet-certs")]
    dir: PathBuf,
}

/// Makes an authority or a certificate.
pub fn certs(args: CertsArgs) -> Result<Outcome, Failure> {
    match args.action {
        Action::Init { at: At { dir }, force } => {
            certs::init(&dir, force).map_err(Failure::usage)?;
            format::print(&format!(
                "{0}/ca.pem and {0}/ca-key.pem. Whoever has the key can be anybody: keep it to yourself.\n",
                dir.display()
            ))?;
        }
        Action::Issue { name, at: At { dir }, role, hosts, days, output, force } => {
            let output = output.unwrap_or_else(|| dir.join(&name));
            let wanted = Wanted { identity: Identity { name, role }, hosts, days };
            certs::issue(&dir, &wanted, &output, force).map_err(Failure::usage)?;
            format::print(&format!(
                "{}: ca.pem, cert.pem and key.pem of {role} {}, for {days} days\n",
                output.display(),
                wanted.identity.name
            ))?;
        }
    }
    Ok(Outcome::Done)
}
