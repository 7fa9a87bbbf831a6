//! Where a ledger can be: the same tests hold for each.

use std::{path::Path, sync::Arc};

use coordinator::ledger::{
    EmbeddedLedger, JournalReading, Ledger, LedgerError, Reading,
    etcd::{Address, Bounds, EtcdLedger, EtcdReading, Leader, Term, Wire, campaign},
};
use rand::RngExt;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::farm::etcd::Etcd;

/// A place for one ledger at a time.
pub trait Place {
    /// Forgets the ledger that is there.
    fn clear(&mut self);
    /// Opens the ledger, after the one opened before was dropped.
    fn open(&mut self) -> Box<dyn Ledger>;
    /// Reads the ledger beside whoever has it.
    fn read(&mut self, look: &mut dyn FnMut(&dyn Reading));
    /// The folder, if it is one.
    fn path(&self) -> Option<&Path> {
        None
    }
}

/// A folder.
pub struct Folder(pub TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
}

impl Place for Folder {
    fn clear(&mut self) {
        *self = Self::new();
    }

    fn open(&mut self) -> Box<dyn Ledger> {
        Box::new(EmbeddedLedger::open(self.0.path()).unwrap())
    }

    fn read(&mut self, look: &mut dyn FnMut(&dyn Reading)) {
        look(&JournalReading::open(self.0.path()).unwrap());
    }

    fn path(&self) -> Option<&Path> {
        Some(self.0.path())
    }
}

/// A name in three nodes of etcd.
pub struct InEtcd {
    // Before the cluster: it ends first.
    term: Option<Term>,
    runtime: Runtime,
    wire: Arc<Wire>,
    address: Address,
    pub etcd: Etcd,
    ledgers: usize,
    /// Whether some openings make a new base.
    pub compacts: bool,
    pub bounds: Bounds,
}

impl InEtcd {
    pub fn new() -> Self {
        let etcd = Etcd::start(3);
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let address = Address::parse(&etcd.ledger("l0")).unwrap();
        let wire = Arc::new(Wire::new(address.clone(), None));
        Self {
            term: None,
            runtime,
            wire,
            address,
            etcd,
            ledgers: 0,
            compacts: true,
            bounds: Bounds::default(),
        }
    }

    /// Another coordinator, that leads from now on.
    pub fn lead(&mut self) -> EtcdLedger {
        self.try_lead().unwrap()
    }

    pub fn try_lead(&mut self) -> Result<EtcdLedger, LedgerError> {
        if let Some(term) = self.term.take() {
            self.runtime.block_on(term.resign());
        }
        let myself = Leader { url: "http://test".into(), page: String::new(), pid: std::process::id() };
        let term = self.runtime.block_on(campaign(&self.wire, &myself, |_| {})).unwrap();
        let ledger =
            EtcdLedger::open(term.right(), super::adding(), self.bounds, self.runtime.handle().clone());
        self.term = Some(term);
        ledger
    }

    /// The term that the last ledger was opened in, so that another one can begin beside it.
    pub fn take_term(&mut self) -> Term {
        self.term.take().unwrap()
    }

    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }
}

impl Place for InEtcd {
    fn clear(&mut self) {
        if let Some(term) = self.term.take() {
            self.runtime.block_on(term.resign());
        }
        self.ledgers += 1;
        self.address = Address::parse(&self.etcd.ledger(&format!("l{}", self.ledgers))).unwrap();
        self.wire = Arc::new(Wire::new(self.address.clone(), None));
    }

    fn open(&mut self) -> Box<dyn Ledger> {
        let mut ledger = self.lead();
        if self.compacts && rand::rng().random_bool(0.5) {
            ledger.compact().unwrap();
        }
        Box::new(ledger)
    }

    fn read(&mut self, look: &mut dyn FnMut(&dyn Reading)) {
        let wire = Wire::new(self.address.clone(), None);
        let reading = EtcdReading::open(wire, self.runtime.handle().clone()).unwrap();
        let report = reading.check().unwrap();
        assert_eq!(report.findings, [""; 0]);
        look(&reading);
    }
}
