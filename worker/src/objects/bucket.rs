//! Objects in an object store.

use tokio::runtime::Handle;

use super::{ObjectError, Place};
use crate::storage::Stores;

/// Uploads side by side: each is three requests, most of whose time is the way there and back.
const WRITERS: usize = 3;

/// What is below a URL.
pub struct Bucket {
    stores: Stores,
    /// Without a slash at its end.
    root: String,
}

impl Bucket {
    pub fn open(url: &str, runtime: Handle) -> Result<Self, String> {
        let stores = Stores::new(runtime);
        stores.check_writable(url)?;
        Ok(Self { stores, root: url.trim_end_matches('/').to_owned() })
    }
}

impl Place for Bucket {
    fn at(&self, key: &str) -> String {
        format!("{}/{key}", self.root)
    }

    fn put(&self, key: &str, bytes: &[u8]) -> Result<(), ObjectError> {
        self.stores.put(&self.at(key), bytes).map_err(ObjectError::Failed)
    }

    fn get(&self, key: &str, most_bytes: u64) -> Result<Vec<u8>, ObjectError> {
        self.stores.fetch(&self.at(key), most_bytes)
    }

    fn names(&self, below: &str, most: usize) -> Result<Vec<String>, ObjectError> {
        self.stores.names(&self.at(below), most).map_err(ObjectError::Failed)
    }

    /// What a store has confirmed is durable.
    fn sync(&self, _below: &str) -> Result<(), ObjectError> {
        Ok(())
    }

    fn writers(&self) -> usize {
        WRITERS
    }
}
