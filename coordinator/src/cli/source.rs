//! Where a ledger is read that may be in use.

use std::path::PathBuf;

use clap::Args;
use tokio::runtime::Handle;

use super::exit::Failure;
use crate::ledger::{
    JournalReading, Reading,
    etcd::{Address, EtcdReading},
};

/// Which ledger is meant.
#[derive(Clone, Debug, Args)]
pub struct LedgerAt {
    /// Folder of the ledger; a coordinator may be running on it
    #[arg(long, env = "NONET_STATE", value_name = "DIR", default_value = "nonet-state")]
    pub state: PathBuf,
    /// Ledger in etcd, instead of one in a folder
    #[arg(long, env = "NONET_LEDGER", value_name = "URL", value_parser = Address::parse)]
    pub ledger: Option<Address>,
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
        let open = |address: &Address| EtcdReading::open(address.clone(), Handle::current());
        Ok(self.ledger.as_ref().map(open).transpose()?)
    }
}
