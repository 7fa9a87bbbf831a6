//! `nonet tokens add|list|remove`.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use serde_json::json;

use super::{
    args::Format,
    exit::{Failure, Outcome},
    format,
};
use crate::access::{Identity, Role, tokens::Tokens};

/// Arguments of `nonet tokens`.
#[derive(Debug, Args)]
pub struct TokensArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Make a token, and print its secret: it is shown this once, and only its hash is kept
    #[command(
        after_help = "Example:\n  nonet tokens add alice --role operator --file tokens.toml -o alice.token\n  \
                      nonet jobs --token-file alice.token"
    )]
    Add {
        /// Whose it is: the name in logs and in the audit record
        name: String,
        /// What it may do
        #[arg(long, value_parser = role)]
        role: Role,
        /// New file for the secret, which only its owner can read [default: standard output]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        #[command(flatten)]
        at: At,
    },
    /// List names, roles and the first digits of the hashes
    #[command(after_help = "Example:\n  nonet tokens list --file tokens.toml")]
    List {
        #[command(flatten)]
        at: At,
        /// How to print it
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Make a token void: a running coordinator notices within a second
    #[command(after_help = "Example:\n  nonet tokens remove alice --file tokens.toml")]
    Remove {
        /// Whose it is
        name: String,
        #[command(flatten)]
        at: At,
    },
}

#[derive(Debug, Args)]
struct At {
    /// File of the tokens that a coordinator knows (`nonet coordinator --tokens FILE`)
    #[arg(long, env = "NONET_TOKENS", value_name = "FILE", default_value = "tokens.toml")]
    file: PathBuf,
}

fn role(text: &str) -> Result<Role, String> {
    let role = Role::parse(text).filter(|role| *role != Role::Coordinator);
    role.ok_or_else(|| "expected worker, viewer or operator".into())
}

/// Changes or lists the file.
pub fn tokens(args: TokensArgs) -> Result<Outcome, Failure> {
    match args.action {
        Action::Add { name, role, output, at: At { file } } => {
            let mut tokens = if file.exists() { read(&file)? } else { Tokens::default() };
            let secret = tokens.add(Identity { name, role }).map_err(Failure::usage)?;
            let Some(output) = output else {
                tokens.write(&file).map_err(Failure::failed)?;
                format::print(&(secret + "\n"))?;
                return Ok(Outcome::Done);
            };
            keep(&output, &secret)
                .map_err(|e| Failure::failed(format!("--output {}: {e}", output.display())))?;
            if let Err(why) = tokens.write(&file) {
                // A secret that nobody knows is of no use.
                drop(fs::remove_file(&output));
                return Err(Failure::failed(why));
            }
        }
        Action::List { at: At { file }, format } => {
            let tokens = read(&file)?;
            format::print(&listing(&tokens, format))?;
        }
        Action::Remove { name, at: At { file } } => {
            let mut tokens = read(&file)?;
            if !tokens.remove(&name) {
                return Err(Failure::usage(format!(
                    "there is no token of the name {name:?} in {}",
                    file.display()
                )));
            }
            tokens.write(&file).map_err(Failure::failed)?;
        }
    }
    Ok(Outcome::Done)
}

/// Writes a secret into a new file, which is its owner's alone from its first byte on.
fn keep(path: &Path, secret: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(file, "{secret}")?;
    file.sync_all()
}

fn read(file: &Path) -> Result<Tokens, Failure> {
    Tokens::read(file).map_err(Failure::usage)
}

fn listing(tokens: &Tokens, format: Format) -> String {
    let all = tokens.list();
    match format {
        Format::Json => {
            let one = |(who, hash): (&Identity, String)| json!({ "name": who.name, "role": who.role, "hash": hash });
            serde_json::Value::Array(all.map(one).collect()).to_string() + "\n"
        }
        Format::Csv => {
            let rows = all.map(|(who, hash)| format!("{},{},{hash}\n", who.name, who.role));
            "name,role,hash\n".to_owned() + &rows.collect::<String>()
        }
        Format::Table => {
            let rows: Vec<_> =
                all.map(|(who, hash)| [who.name.clone(), who.role.to_string(), hash]).collect();
            format::table(["NAME", "ROLE", "HASH"], &rows)
        }
    }
}
