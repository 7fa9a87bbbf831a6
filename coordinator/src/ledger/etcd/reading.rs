//! Reading the ledger in etcd beside those who write to it, as it was at one moment.

use tokio::runtime::Handle;

use super::{
    Wire,
    layout::{self, Kept},
    read::{Contents, Reader},
    tail::Tail,
};
use crate::{
    ledger::{
        Act, CheckReport, JobSummary, LedgerError, Place, Quarantine, Reading, audit::Auditor, book::Book,
        reading::EachCommit,
    },
    scheduler::{JobId, RangeSet, hex},
};

/// A ledger in etcd, as it was when this was opened.
#[derive(Debug)]
pub struct EtcdReading {
    wire: Wire,
    runtime: Handle,
    revision: i64,
    contents: Contents,
    /// With all groups in it.
    book: Book,
    tail: Tail,
}

/// How often opening is tried while the writer makes new bases.
const ATTEMPTS: usize = 5;

impl EtcdReading {
    /// Opens it. Waits for etcd, so it must not be called on an async thread.
    ///
    /// # Errors
    ///
    /// When etcd does not answer, or there is no such ledger, or it is damaged.
    pub fn open(wire: Wire, runtime: Handle) -> Result<Self, LedgerError> {
        let mut attempts = 0;
        loop {
            let newest = Reader { wire: &wire, revision: 0 };
            let (_, revision) = runtime.block_on(newest.value(layout::LEDGER))?;
            attempts += 1;
            match runtime.block_on(Reader { wire: &wire, revision }.contents()) {
                Ok(Some(contents)) => {
                    let (book, tail) = (contents.book.clone(), Tail::default());
                    let mut reading = Self { wire, runtime, revision, contents, book, tail };
                    reading.enter_groups()?;
                    return Ok(reading);
                }
                Ok(None) => {
                    return Err(LedgerError::Remote {
                        etcd: wire.address.to_string(),
                        reason: "there is none".into(),
                    });
                }
                Err(LedgerError::Remote { .. }) if attempts < ATTEMPTS => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Verifies every group, page, digest and range.
    ///
    /// # Errors
    ///
    /// When etcd does not answer, or a page is damaged. What contradicts itself is a finding.
    pub fn check(&self) -> Result<CheckReport, LedgerError> {
        let Contents { id, head, base, directory, book, groups, .. } = &self.contents;
        let mut book = book.clone();
        for job in directory.keys() {
            if let Some(account) = book.account_mut(*job) {
                account.done = Some(RangeSet::new());
            }
        }
        let mut auditor = Auditor::new(book);
        let mut bytes = 0;
        let nowhere = Place { offset: 0, length: 0, crc: 0 };
        for (job, pages) in directory {
            for page in pages {
                bytes += u64::from(page.len_bytes);
                self.page(*job, page)?.iter().for_each(|kept| auditor.keep(&kept.commit));
            }
        }
        for (entries, len_bytes) in groups {
            bytes += *len_bytes as u64;
            entries.iter().for_each(|entry| auditor.enter(entry, nowhere));
        }
        let base = base.map_or("no base yet".into(), |base| format!("base at group {}", base.head.seq));
        Ok(CheckReport {
            ledger: hex(id),
            frames: head.seq,
            bytes,
            chain: hex(&head.chain),
            store: format!(
                "{} at revision {}: {base}, {} groups since",
                self.wire.address,
                self.revision,
                groups.len()
            ),
            ..auditor.report()
        })
    }

    fn page(&self, job: JobId, page: &layout::PageRef) -> Result<Vec<Kept>, LedgerError> {
        let reader = Reader { wire: &self.wire, revision: self.revision };
        self.runtime.block_on(reader.page(job, page))
    }

    /// What contradicts itself is for the check to tell.
    fn enter_groups(&mut self) -> Result<(), LedgerError> {
        let groups = std::mem::take(&mut self.contents.groups);
        for (entries, _) in &groups {
            for entry in entries {
                if let Some(job) = super::needs_done(entry, &self.book) {
                    let mut done = RangeSet::new();
                    self.commits(job, &mut |commit, _| {
                        done.insert_merged(commit.range.clone());
                        Ok(())
                    })?;
                    self.book
                        .account_mut(job)
                        .into_iter()
                        .for_each(|account| account.done = Some(done.clone()));
                }
                if let Err(why) = self.book.enter_one(entry) {
                    tracing::warn!("the ledger in etcd contradicts itself: {why}");
                }
                self.tail.add(entry);
            }
        }
        self.contents.groups = groups;
        Ok(())
    }
}

impl Reading for EtcdReading {
    fn ledger_id(&self) -> [u8; 16] {
        self.contents.id
    }

    fn jobs(&self) -> Result<Vec<JobSummary>, LedgerError> {
        Ok(self.book.accounts().into_iter().map(|account| account.summary.clone()).collect())
    }

    fn quarantined(&self) -> Result<Vec<Quarantine>, LedgerError> {
        Ok(self.book.workers.values().cloned().collect())
    }

    fn acts(&self) -> Result<Vec<Act>, LedgerError> {
        Ok(self.book.acts())
    }

    fn commits(&self, job: JobId, each: &mut EachCommit<'_>) -> Result<(), LedgerError> {
        if self.book.account(job).is_none() {
            return Ok(());
        }
        let pages = self.contents.directory.get(&job).map_or(&[][..], Vec::as_slice);
        self.tail.onto(job, pages, &|page| self.page(job, page), &mut |kept| each(&kept.commit, &kept.by))
    }
}
