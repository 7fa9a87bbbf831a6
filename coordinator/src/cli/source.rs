//! Where a ledger is read that may be in use.

use std::path::{Path, PathBuf};

use clap::Args;
use tokio::runtime::Handle;
use worker::tls::TlsFiles;

use super::exit::Failure;
use crate::ledger::{
    JournalReading, Reading,
    etcd::{Address, EtcdReading, Wire},
};

/// Which ledger is meant.
#[derive(Clone, Debug, Args)]
pub struct LedgerAt {
    /// Folder of the ledger; a coordinator may be running on it
    #[arg(long, env = "NONET_STATE", value_name = "DIR", default_value = "nonet-state")]
    pub state: PathBuf,
    #[command(flatten)]
    etcd: EtcdArgs,
    /// Talk to etcd on other machines without encryption: only in a network where everybody is trusted
    #[arg(long, env = "NONET_ALLOW_PLAINTEXT")]
    allow_plaintext: bool,
}

/// Where a ledger in etcd is, and what is shown there.
#[derive(Clone, Debug, Args)]
pub struct EtcdArgs {
    /// Ledger in etcd: <etcd://HOST:PORT,HOST:PORT,HOST:PORT>, or etcds:// with TLS
    #[arg(long, env = "NONET_LEDGER", value_name = "URL", value_parser = Address::parse)]
    pub ledger: Option<Address>,
    /// Folder with ca.pem, cert.pem and key.pem for etcds://, of a client of etcd
    #[arg(long, env = "NONET_LEDGER_TLS", value_name = "DIR")]
    pub ledger_tls: Option<PathBuf>,
}

/// A way to etcd, if it may be taken.
pub fn wire(address: Address, files: Option<&Path>, allow_plaintext: bool) -> Result<Wire, Failure> {
    let tls = files.map(TlsFiles::in_folder);
    if address.is_encrypted() {
        let Some(files) = &tls else {
            return Err(Failure::usage(format!(
                "--ledger {address} needs to know whose certificates to trust: --ledger-tls DIR, with ca.pem, cert.pem and key.pem"
            )));
        };
        files.client().map_err(|e| Failure::usage(e.to_string()))?;
        files.warn_if_shared();
    } else if address.is_far() && !allow_plaintext {
        return Err(Failure::usage(format!(
            "--ledger {address} is not encrypted: use etcds:// with --ledger-tls DIR, or add --allow-plaintext if everybody in \
             that network is trusted"
        )));
    }
    Ok(Wire::new(address, tls))
}

impl LedgerAt {
    /// Opens it for reading. Not on an async thread.
    pub fn read(&self) -> Result<Box<dyn Reading>, Failure> {
        Ok(match self.in_etcd()? {
            Some(reading) => Box::new(reading),
            None => Box::new(JournalReading::open(&self.state)?),
        })
    }

    /// Opens it, if it is in etcd.
    pub fn in_etcd(&self) -> Result<Option<EtcdReading>, Failure> {
        let Some(address) = self.etcd.ledger.clone() else { return Ok(None) };
        let wire = wire(address, self.etcd.ledger_tls.as_deref(), self.allow_plaintext)?;
        Ok(Some(EtcdReading::open(wire, Handle::current())?))
    }
}
