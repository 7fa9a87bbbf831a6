//! Walking over keys.

use std::ops::Bound;

use super::{
    KeyValue, Store, StoreError,
    layout::{head_key, split_head},
};

/// Keys and values in ascending order, see [`Store::scan_prefix`].
#[derive(Debug)]
pub struct Scan<'a> {
    pub(super) store: &'a Store,
    pub(super) prefix: Vec<u8>,
    pub(super) next: Bound<Vec<u8>>,
    pub(super) page: std::vec::IntoIter<KeyValue>,
    pub(super) ended: bool,
}

impl Scan<'_> {
    /// Reads ahead by pages: between them nothing of sled is held, so a slow consumer keeps no memory alive.
    fn fetch(&mut self) -> Result<(), StoreError> {
        const PAGE_ENTRIES: usize = 256;
        const PAGE_BYTES: usize = 1 << 20;
        let _gate = self.store.read_gate();
        let range = (self.next.clone(), Bound::Unbounded);
        let mut page = Vec::new();
        let mut bytes = 0;
        let mut entries = self.store.sled(|db| Ok(db.range::<Vec<u8>, _>(range)))?;
        while page.len() < PAGE_ENTRIES && bytes < PAGE_BYTES {
            let entry = self.store.sled(|_| entries.next().transpose())?;
            let Some((full, found)) = entry.filter(|(k, _)| k.starts_with(&self.prefix)) else {
                self.ended = true;
                break;
            };
            let key = full[1..].to_vec();
            let value = match split_head(&key, &found) {
                Some((_, whole)) => whole.to_vec(),
                // It has parts, or is rotten: the long way tells.
                None => match self.store.get_ungated(&key)? {
                    Some(value) => value,
                    None => continue,
                },
            };
            bytes += value.len();
            page.push((key, value));
        }
        if let Some((last, _)) = page.last() {
            self.next = Bound::Excluded(head_key(last));
        }
        self.page = page.into_iter();
        Ok(())
    }
}

impl Iterator for Scan<'_> {
    type Item = Result<KeyValue, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = self.page.next() {
                return Some(Ok(entry));
            }
            if self.ended {
                return None;
            }
            if let Err(error) = self.fetch() {
                self.ended = true;
                return Some(Err(error));
            }
        }
    }
}
