//! Where workers read the files of jobs: from disk, or from an object store; and objects as wholes, to write and to read
//! (`transfer.rs`). The only module that knows `object_store`.
//!
//! What it takes to reach a store (keys, endpoint, region, proxy) comes from the environment, under the names that
//! `object_store` gives it: `AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT`, `GOOGLE_SERVICE_ACCOUNT`, `AZURE_STORAGE_ACCOUNT_NAME`
//! and so on. None of it is ever part of a job. A store that does not answer is an error within some minutes.

mod open;
mod transfer;

use std::{
    collections::HashMap,
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::TryStreamExt;
use jobs::input::{File, Local, Storage};
use object_store::{Error, GetOptions, ObjectMeta, ObjectStore, ObjectStoreScheme, path::Path};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use tokio::{runtime::Handle, time::timeout};
use url::{Position, Url};

use open::{open, words};

/// No request takes longer, with all its repetitions; of a listing, no page.
const PATIENCE: Duration = Duration::from_secs(120);

/// Objects below a URL that are listed at most: far more than a job takes.
const MOST_LISTED: usize = 100_000;

/// What stays as it is in the path of a URL.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b'/');

/// Files on disk, and objects of any store, each store opened once.
pub struct Stores {
    runtime: Handle,
    open: Mutex<HashMap<String, Arc<dyn ObjectStore>>>,
}

impl Stores {
    /// Does its waiting on `runtime`. Its methods block: call them on threads that are not the runtime's own.
    #[must_use]
    pub fn new(runtime: Handle) -> Self {
        // Two providers in one process would not do; when there is one already, it is this one.
        drop(rustls::crypto::ring::default_provider().install_default());
        Self { runtime, open: Mutex::default() }
    }

    /// The object at a URL, in its store.
    fn locate(&self, at: &str) -> Result<(Arc<dyn ObjectStore>, Path), String> {
        let failed = |error: &dyn std::fmt::Display| format!("{at}: {error}");
        let url = Url::parse(at).map_err(|error| failed(&error))?;
        let (scheme, path) = ObjectStoreScheme::parse(&url).map_err(|error| failed(&error))?;
        // A container may be named by the first part of the path.
        let container = url.path_segments().and_then(|mut parts| parts.next()).unwrap_or_default();
        let key = format!("{}/{container}", &url[..Position::BeforePath]);
        if let Some(store) = self.open.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok((Arc::clone(store), path));
        }
        let store = open(&scheme, &url).map_err(|error| words(at, &error))?;
        self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(key, Arc::clone(&store));
        Ok((store, path))
    }

    /// Waits for an answer.
    fn wait<T>(&self, at: &str, answer: impl Future<Output = Result<T, Error>>) -> Result<T, String> {
        self.ask(answer).map_err(|trouble| trouble.words(at))
    }

    /// The same, and what went wrong not yet in words.
    fn ask<T>(&self, answer: impl Future<Output = Result<T, Error>>) -> Result<T, Trouble> {
        match self.runtime.block_on(async { timeout(PATIENCE, answer).await }) {
            Ok(answer) => answer.map_err(Trouble::Said),
            Err(_) => Err(Trouble::Silence),
        }
    }

    /// All objects below a URL, by name. Hidden and empty ones are left out: the latter often only stand for folders.
    fn list(&self, at: &str) -> Result<Vec<File>, String> {
        let (store, prefix) = self.locate(at)?;
        let mut pages = store.list(Some(&prefix)).try_chunks(1000);
        let mut files = Vec::new();
        while let Some(page) = self.wait(at, async { pages.try_next().await.map_err(|error| error.1) })? {
            for meta in page {
                let location = meta.location.as_ref();
                let below =
                    location.strip_prefix(prefix.as_ref()).unwrap_or(location).trim_start_matches('/');
                let hidden =
                    below.rsplit('/').next().is_none_or(|name| name.is_empty() || name.starts_with('.'));
                if !hidden && meta.size > 0 {
                    files.push(record(format!("{at}{}", utf8_percent_encode(below, PLAIN)), &meta));
                }
            }
            if files.len() > MOST_LISTED {
                return Err(format!("{at}: more than {MOST_LISTED} objects"));
            }
        }
        files.sort_by(|a, b| a.at.cmp(&b.at));
        if files.is_empty() { Err(format!("{at}: there are no objects below it")) } else { Ok(files) }
    }
}

/// Why there is no answer.
enum Trouble {
    /// What the store, or the way to it, says.
    Said(Error),
    /// Nothing came within [`PATIENCE`].
    Silence,
}

impl Trouble {
    fn words(&self, at: &str) -> String {
        match self {
            Self::Said(error) => words(at, error),
            Self::Silence => format!("{at}: no answer within {} s", PATIENCE.as_secs()),
        }
    }
}

impl Storage for Stores {
    fn find(&self, place: &str) -> Result<Vec<File>, String> {
        if !is_remote(place) {
            return Local.find(place);
        }
        if place.ends_with('/') {
            return self.list(place);
        }
        let (store, path) = self.locate(place)?;
        let answer = self.wait(place, store.get_opts(&path, head()))?;
        Ok(vec![record(place.to_owned(), &answer.meta)])
    }

    fn read(&self, file: &File, bytes: Range<u64>, into: &mut Vec<u8>) -> Result<(), String> {
        let at = &file.at;
        if !is_remote(at) {
            return Local.read(file, bytes, into);
        }
        let (store, path) = self.locate(at)?;
        // Stores do not answer to a range of no bytes.
        let wanted =
            if bytes.is_empty() { head() } else { GetOptions::new().with_range(Some(bytes.clone())) };
        let got = self.wait(at, async {
            let answer = store.get_opts(&path, wanted).await?;
            if !is_same(file, &answer.meta) || bytes.is_empty() {
                return Ok((answer.meta, None));
            }
            let meta = answer.meta.clone();
            Ok((meta, Some(answer.bytes().await?)))
        })?;
        match got {
            (meta, _) if !is_same(file, &meta) => {
                Err(format!("{at}: the file has changed since the job was submitted; submit it again"))
            }
            (_, Some(got)) if got.len() as u64 != bytes.end - bytes.start => {
                Err(format!("{at}: the store gave {} bytes for {bytes:?}", got.len()))
            }
            (_, got) => {
                into.extend_from_slice(&got.unwrap_or_default());
                Ok(())
            }
        }
    }
}

fn is_remote(place: &str) -> bool {
    !std::path::Path::new(place).is_absolute()
}

fn head() -> GetOptions {
    GetOptions { head: true, ..GetOptions::default() }
}

/// What is known of an object.
fn record(at: String, meta: &ObjectMeta) -> File {
    let tag = meta.e_tag.as_deref().map(plain_tag);
    let version = tag.map_or_else(|| modified(meta), str::to_owned);
    File { at, stored_bytes: meta.size, version, packed: None }
}

/// Whether an object is still the one that was recorded.
fn is_same(file: &File, meta: &ObjectMeta) -> bool {
    let tag = meta.e_tag.as_deref().map(plain_tag);
    meta.size == file.stored_bytes && (tag == Some(&file.version) || file.version == modified(meta))
}

/// An entity tag as listings give it: some leave the quotes out.
fn plain_tag(tag: &str) -> &str {
    tag.trim_matches('"')
}

/// For stores without entity tags. Headers know seconds, listings less than that.
fn modified(meta: &ObjectMeta) -> String {
    format!("modified {}", meta.last_modified.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stores() -> (tokio::runtime::Runtime, Stores) {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let stores = Stores::new(runtime.handle().clone());
        (runtime, stores)
    }

    #[test]
    fn places_on_disk_are_read_from_disk() {
        let (_runtime, stores) = stores();
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), "text").unwrap();
        let file = stores.find(dir.path().to_str().unwrap()).unwrap().remove(0);
        let mut text = Vec::new();
        stores.read(&file, 1..3, &mut text).unwrap();
        assert_eq!(text, b"ex");
    }

    #[test]
    fn urls_name_stores_and_objects() {
        let (_runtime, stores) = stores();
        let (_, path) = stores.locate("http://127.0.0.1:1/a%20b/c%3Fd").unwrap();
        assert_eq!(path.as_ref(), "a b/c?d");
        assert_eq!(utf8_percent_encode(path.as_ref(), PLAIN).to_string(), "a%20b/c%3Fd");
        for wrong in ["memory:///a", "nothing", "ftp://a/b"] {
            assert!(stores.locate(wrong).err().unwrap().starts_with(wrong));
        }
    }

    #[test]
    fn a_store_that_is_not_there_is_an_error_that_names_the_url() {
        let (_runtime, stores) = stores();
        let begun = std::time::Instant::now();
        let error = stores.find("http://127.0.0.1:1/corpus.txt").unwrap_err();
        assert!(error.starts_with("http://127.0.0.1:1/corpus.txt: ") && !error.contains('\n'), "{error}");
        assert!(begun.elapsed() < PATIENCE);
    }

    #[test]
    fn a_version_is_a_tag_or_a_time() {
        let meta = |tag: Option<&str>, ms: u64, size: u64| ObjectMeta {
            location: Path::from("a"),
            last_modified: std::time::SystemTime::UNIX_EPOCH
                .checked_add(Duration::from_millis(ms))
                .unwrap()
                .into(),
            size,
            e_tag: tag.map(Into::into),
            version: None,
        };
        let file = record("u".into(), &meta(Some("\"x\""), 1500, 3));
        assert!(is_same(&file, &meta(Some("x"), 9000, 3)));
        assert!(!is_same(&file, &meta(Some("y"), 1500, 3)) && !is_same(&file, &meta(Some("x"), 1500, 4)));
        let file = record("u".into(), &meta(None, 1500, 3));
        assert!(is_same(&file, &meta(None, 1000, 3)) && is_same(&file, &meta(Some("x"), 1999, 3)));
        assert!(!is_same(&file, &meta(None, 2000, 3)));
    }
}
