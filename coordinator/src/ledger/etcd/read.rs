//! The ledger as etcd has it at one moment.

use proto::etcd::{RangeRequest, RangeResponse};

use super::{
    layout::{self, Base, Body, Directory, HEAD, Head, Identity, JobBody, Kept, LEDGER, LOG, PAGE, PageRef},
    ops,
    wire::{self, Trouble, Wire},
};
use crate::{
    ledger::{
        Entry, LedgerError,
        book::{Account, Book},
        frame,
    },
    scheduler::JobId,
};

/// Keys read at a time: with values of the largest size 32 MiB.
const AT_ONCE: i64 = 32;

/// Everything but the commits of the pages.
#[derive(Debug)]
pub(super) struct Contents {
    pub id: [u8; 16],
    pub head: Head,
    pub base: Option<Base>,
    pub next_page: u64,
    pub directory: Directory,
    /// As of the base.
    pub book: Book,
    /// Groups since the base, with their sizes in bytes.
    pub groups: Vec<(Vec<Entry>, usize)>,
}

/// Reads at one revision of etcd.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    pub wire: &'a Wire,
    /// 0: the newest.
    pub revision: i64,
}

impl Reader<'_> {
    fn failed(&self, trouble: Trouble) -> LedgerError {
        trouble.into_error(&self.wire.address)
    }

    async fn get(&self, request: RangeRequest) -> Result<RangeResponse, LedgerError> {
        let request = RangeRequest { revision: self.revision, ..request };
        let answer = self.wire.insist(|etcd| {
            let request = request.clone();
            async move { etcd.kv().range(request).await }
        });
        Ok(answer.await.map_err(|trouble| self.failed(trouble))?.into_inner())
    }

    /// A value and the revision of the answer.
    pub async fn value(&self, what: &str) -> Result<(Option<Vec<u8>>, i64), LedgerError> {
        let answer = self.get(ops::one(self.wire.address.key(what))).await?;
        let revision = wire::revision(answer.header.as_ref());
        Ok((answer.kvs.into_iter().next().map(|kv| kv.value.to_vec()), revision))
    }

    /// Calls `each` with everything below a prefix, in the order of the keys: what follows the prefix, and the value.
    pub async fn below(
        &self,
        prefix: &str,
        mut each: impl FnMut(&str, Vec<u8>) -> Result<(), LedgerError>,
    ) -> Result<(), LedgerError> {
        let prefix = self.wire.address.key(prefix);
        let end = after_prefix(&prefix);
        let mut from = prefix.clone().into_bytes();
        loop {
            let answer = self
                .get(RangeRequest {
                    key: from.clone().into(),
                    range_end: end.clone().into(),
                    limit: AT_ONCE,
                    ..RangeRequest::default()
                })
                .await?;
            for kv in answer.kvs {
                let name = std::str::from_utf8(&kv.key).ok().and_then(|key| key.strip_prefix(&prefix));
                each(name.ok_or_else(|| layout::damaged("a key", &"it is no text"))?, kv.value.to_vec())?;
                from = kv.key.to_vec();
            }
            if !answer.more {
                return Ok(());
            }
            from.push(0);
        }
    }

    /// What follows a prefix in the names of all keys that have it.
    pub async fn names(&self, prefix: &str) -> Result<Vec<String>, LedgerError> {
        let prefix = self.wire.address.key(prefix);
        let range_end = after_prefix(&prefix).into();
        let keys_only = true;
        let answer = self
            .get(RangeRequest { key: prefix.clone().into(), range_end, keys_only, ..RangeRequest::default() })
            .await?;
        let name = |key: &[u8]| Some(std::str::from_utf8(key).ok()?.strip_prefix(&prefix)?.to_owned());
        Ok(answer.kvs.iter().filter_map(|kv| name(&kv.key)).collect())
    }

    /// Reads the ledger; `None` when there is none yet.
    pub async fn contents(&self) -> Result<Option<Contents>, LedgerError> {
        let Some(id) = self.identity().await? else { return Ok(None) };
        let missing = |what: &str| layout::damaged(what, &"it is missing");
        let head: Head = layout::decode(HEAD, &self.value(HEAD).await?.0.ok_or_else(|| missing(HEAD))?)?;
        let base = self.value(layout::BASE).await?.0;
        let base: Option<Base> = base.map(|bytes| layout::decode(layout::BASE, &bytes)).transpose()?;
        let body = match &base {
            Some(base) => self.body(base).await?,
            None => Body::default(),
        };
        let Body { next_page, next_order, removed, jobs, workers, acts } = body;
        let mut book = Book::default();
        book.workers = workers.into_iter().map(|known| (known.worker, known)).collect();
        book.load_acts(acts);
        let mut directory = Directory::new();
        for job in removed {
            book.load_removed(job, 0);
        }
        for JobBody { order, summary, pages } in jobs {
            directory.insert(summary.record.id, pages);
            book.load(Account { order, place: None, summary, done: None });
        }
        book.skip_orders(next_order);
        let from = base.map_or(Head { seq: 0, chain: genesis(&id) }, |base| base.head);
        let groups = self.groups(from, head).await?;
        Ok(Some(Contents { id, head, base, next_page, directory, book, groups }))
    }

    /// Whose ledger it is; `None` when there is none.
    async fn identity(&self) -> Result<Option<[u8; 16]>, LedgerError> {
        let Some(bytes) = self.value(LEDGER).await?.0 else { return Ok(None) };
        let identity: Identity = serde_json::from_slice(&bytes).map_err(|e| layout::damaged(LEDGER, &e))?;
        if identity.format != layout::FORMAT {
            let (theirs, ours) = (identity.format, layout::FORMAT);
            return Err(LedgerError::inconsistent(format!(
                "the ledger in etcd has format {theirs}, this program writes {ours}: use the program that made it"
            )));
        }
        let id = uuid::Uuid::try_parse(&identity.id).map_err(|e| layout::damaged(LEDGER, &e))?;
        Ok(Some(*id.as_bytes()))
    }

    async fn body(&self, base: &Base) -> Result<Body, LedgerError> {
        let mut packed = Vec::new();
        let mut pieces = 0;
        let generation = format!("{}{:016x}/", layout::PIECE, base.generation);
        self.below(&generation, |_, piece| {
            packed.extend(piece);
            pieces += 1;
            Ok(())
        })
        .await?;
        if pieces != base.pieces {
            return Err(layout::damaged("base", &format!("{pieces} of {} pieces are there", base.pieces)));
        }
        layout::decode_body(&packed, &base.digest)
    }

    /// The groups behind `from`, up to `head`. What is not part of the chain is an error.
    async fn groups(&self, from: Head, head: Head) -> Result<Vec<(Vec<Entry>, usize)>, LedgerError> {
        let (mut groups, mut at) = (Vec::new(), from);
        self.below(LOG, |name, bytes| {
            let seq = u64::from_str_radix(name, 16).map_err(|e| layout::damaged("log", &e))?;
            if seq <= from.seq {
                // Part of the base; not removed yet.
                return Ok(());
            }
            let what = format!("group {seq}");
            if seq != at.seq + 1 {
                return Err(layout::damaged(&what, &format!("it follows group {}", at.seq)));
            }
            let (entries, chain) =
                frame::decode_whole(&bytes, &at.chain).map_err(|e| layout::damaged(&what, &e))?;
            at = Head { seq, chain };
            groups.push((entries, bytes.len()));
            Ok(())
        })
        .await?;
        if at != head {
            return Err(layout::damaged(
                "head",
                &format!("the log ends with group {}, not {}", at.seq, head.seq),
            ));
        }
        Ok(groups)
    }

    /// The commits of a page.
    pub async fn page(&self, job: JobId, page: &PageRef) -> Result<Vec<Kept>, LedgerError> {
        let bytes = self.value(&layout::numbered(PAGE, page.id)).await?.0;
        let bytes = bytes
            .ok_or_else(|| layout::damaged(&format!("page {} of {job:?}", page.id), &"it is missing"))?;
        layout::decode_page(job, page, &bytes)
    }
}

/// The chain before the first group.
pub(super) fn genesis(id: &[u8; 16]) -> frame::Chain {
    frame::Position::genesis(&frame::encode_header(id)).chain
}

/// The first key behind all that begin with `prefix`. Prefixes end with a slash.
pub(super) fn after_prefix(prefix: &str) -> String {
    let mut end = prefix.to_owned();
    let last = end.pop().unwrap_or('/');
    end.push(char::from_u32(last as u32 + 1).unwrap_or('0'));
    end
}
