//! Objects as wholes: written, read and listed.

use std::{sync::Arc, thread, time::Instant};

use futures_util::TryStreamExt;
use object_store::{
    Error, GetOptions, MultipartUpload, ObjectStore, ObjectStoreExt, ObjectStoreScheme, PutPayload,
    path::Path,
};
use url::Url;

use super::{Duration, Stores, Trouble};
use crate::{backoff::Backoff, objects::ObjectError};

/// What is longer goes up and comes down in pieces of this length. Stores want pieces of 5 MiB at least.
const PIECE_BYTES: usize = 8 << 20;

/// For so long an upload that failed is begun again, beside the repetitions of each request: a store that is away for a
/// moment must not cost the work of all who want to write.
const UPLOAD_PATIENCE: Duration = Duration::from_secs(60);

/// The longest wait before an upload is begun again.
const LONGEST_WAIT_MS: u64 = 10_000;

impl Stores {
    /// Whether objects can be written below a URL, as far as can be told without asking the store.
    ///
    /// # Errors
    ///
    /// What is wrong with the URL, or is missing in the environment.
    pub fn check_writable(&self, at: &str) -> Result<(), String> {
        let url = Url::parse(at).map_err(|error| format!("{at}: {error}"))?;
        if let Ok((ObjectStoreScheme::Http, _)) = ObjectStoreScheme::parse(&url) {
            return Err(format!(
                "{at}: nothing can be written to a web server; take s3://, gs://, az:// or a folder"
            ));
        }
        self.locate(at).map(drop)
    }

    /// Writes an object, all of it or nothing, in place of what is there. What fails for the moment is begun again for
    /// about a minute. Takes memory for one piece of the bytes.
    ///
    /// # Errors
    ///
    /// What keeps it from being written.
    pub fn put(&self, at: &str, bytes: &[u8]) -> Result<(), String> {
        let (store, path) = self.locate(at)?;
        let begun = Instant::now();
        let mut backoff = Backoff::new(LONGEST_WAIT_MS);
        loop {
            let Err(trouble) = self.put_once(&store, &path, bytes) else { return Ok(()) };
            let wait = backoff.next_wait();
            let error = trouble.words(at);
            if is_final(&trouble) || begun.elapsed() + wait > UPLOAD_PATIENCE {
                return Err(error);
            }
            tracing::warn!("writing is tried again: {error}");
            thread::sleep(wait);
        }
    }

    fn put_once(&self, store: &Arc<dyn ObjectStore>, path: &Path, bytes: &[u8]) -> Result<(), Trouble> {
        if bytes.len() <= PIECE_BYTES {
            return self.ask(store.put(path, PutPayload::from(bytes.to_vec()))).map(drop);
        }
        let mut upload = self.ask(store.put_multipart(path))?;
        let put = self.put_pieces(upload.as_mut(), bytes);
        if put.is_err() {
            // The store would keep the pieces, and charge for them. That it failed has been told.
            drop(self.ask(upload.abort()));
        }
        put
    }

    fn put_pieces(&self, upload: &mut dyn MultipartUpload, bytes: &[u8]) -> Result<(), Trouble> {
        for piece in bytes.chunks(PIECE_BYTES) {
            self.ask(upload.put_part(PutPayload::from(piece.to_vec())))?;
        }
        self.ask(upload.complete()).map(drop)
    }

    /// Reads a whole object of at most `most_bytes`.
    ///
    /// # Errors
    ///
    /// When it is not there, is longer, or cannot be read.
    pub fn fetch(&self, at: &str, most_bytes: u64) -> Result<Vec<u8>, ObjectError> {
        let failed = |trouble: Trouble| match trouble {
            Trouble::Said(Error::NotFound { .. }) => ObjectError::Missing { at: at.into() },
            other => ObjectError::Failed(other.words(at)),
        };
        let (store, path) = self.locate(at).map_err(ObjectError::Failed)?;
        let piece_bytes = PIECE_BYTES as u64;
        // A short object comes with the answer; of a long one only the length is taken.
        let (size, whole) = self
            .ask(async {
                let answer = store.get_opts(&path, GetOptions::new()).await?;
                let size = answer.meta.size;
                let short = size <= piece_bytes.min(most_bytes);
                Ok((size, if short { Some(answer.bytes().await?) } else { None }))
            })
            .map_err(failed)?;
        if size > most_bytes {
            return Err(ObjectError::TooLong { at: at.into(), bytes: size, most_bytes });
        }
        if let Some(whole) = whole {
            return Ok(whole.into());
        }
        let mut bytes = Vec::new();
        while (bytes.len() as u64) < size {
            let from = bytes.len() as u64;
            let range = from..size.min(from + piece_bytes);
            let piece = self.ask(store.get_range(&path, range)).map_err(failed)?;
            if piece.is_empty() {
                return Err(ObjectError::Failed(format!("{at}: it ends after {from} of {size} bytes")));
            }
            bytes.extend_from_slice(&piece);
        }
        Ok(bytes)
    }

    /// The names of all objects below a URL, without what is common to them, in any order.
    ///
    /// # Errors
    ///
    /// When the store cannot be asked, or there are more than `most`.
    pub fn names(&self, at: &str, most: usize) -> Result<Vec<String>, String> {
        let (store, prefix) = self.locate(at)?;
        let mut pages = store.list(Some(&prefix)).try_chunks(1000);
        let mut names = Vec::new();
        while let Some(page) = self.wait(at, async { pages.try_next().await.map_err(|error| error.1) })? {
            names.extend(page.iter().map(|meta| {
                let location = meta.location.as_ref();
                location.strip_prefix(prefix.as_ref()).unwrap_or(location).trim_start_matches('/').to_owned()
            }));
            if names.len() > most {
                return Err(format!("{at}: more than {most} objects"));
            }
        }
        Ok(names)
    }
}

/// Whether it would go wrong again.
fn is_final(trouble: &Trouble) -> bool {
    use Error::{
        InvalidPath, NotFound, NotImplemented, NotSupported, PermissionDenied, Unauthenticated,
        UnknownConfigurationKey,
    };
    matches!(
        trouble,
        Trouble::Said(
            InvalidPath { .. }
                | NotFound { .. }
                | NotImplemented { .. }
                | NotSupported { .. }
                | PermissionDenied { .. }
                | Unauthenticated { .. }
                | UnknownConfigurationKey { .. }
        )
    )
}
