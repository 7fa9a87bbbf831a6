//! Where stored bytes come from.

use std::{
    fs, io,
    ops::Range,
    os::unix::fs::FileExt,
    path::Path,
    sync::{Arc, LazyLock},
    time::UNIX_EPOCH,
};

use super::{file::File, place};

/// Finds files and reads their bytes as they are stored. Errors are in words, and name the place.
pub trait Storage: Send + Sync {
    /// The file at a place (an absolute path, or a URL), or the files of a folder, by name: those of a local folder
    /// itself, and all below a URL that ends in `/`. None of them is known to be packed.
    ///
    /// # Errors
    ///
    /// When there is nothing, or what is there cannot be read by ranges.
    fn find(&self, place: &str) -> Result<Vec<File>, String>;

    /// Appends a range of the bytes of a file as they are stored. The range must lie inside the file.
    ///
    /// # Errors
    ///
    /// When the file is not there, is not the one that was found, or cannot be read.
    fn read(&self, file: &File, bytes: Range<u64>, into: &mut Vec<u8>) -> Result<(), String>;
}

/// Files on disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct Local;

impl Local {
    /// For [`UnitContext`](crate::UnitContext) and [`Surroundings`](super::Surroundings).
    pub fn shared() -> &'static Arc<dyn Storage> {
        static SHARED: LazyLock<Arc<dyn Storage>> = LazyLock::new(|| Arc::new(Local));
        &SHARED
    }
}

impl Storage for Local {
    fn find(&self, place: &str) -> Result<Vec<File>, String> {
        if place::is_url(place) {
            return Err(format!("{place}: only files on disk can be read here"));
        }
        let failed = |error: io::Error| format!("{place}: {error}");
        let metadata = fs::metadata(place).map_err(failed)?;
        if metadata.is_file() {
            return Ok(vec![record(place.to_owned(), &metadata).map_err(failed)?]);
        }
        if !metadata.is_dir() {
            return Err(format!("{place}: neither a file nor a folder; a pipe is read with - instead"));
        }
        let mut files = Vec::new();
        for entry in fs::read_dir(place).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            let path = entry.path();
            // A link counts as what it leads to, and one that leads nowhere as nothing.
            let Some(metadata) = fs::metadata(&path).ok().filter(|it| !hidden && it.is_file()) else {
                continue;
            };
            let path = path.into_os_string().into_string();
            let path = path.map_err(|path| format!("{}: the name is not UTF-8", path.display()))?;
            files.push(record(path, &metadata).map_err(failed)?);
        }
        files.sort_by(|a, b| a.at.cmp(&b.at));
        if files.is_empty() { Err(format!("{place}: the folder has no files")) } else { Ok(files) }
    }

    fn read(&self, file: &File, bytes: Range<u64>, into: &mut Vec<u8>) -> Result<(), String> {
        let failed = |error: io::Error| format!("{}: {error}", file.at);
        if !Path::new(&file.at).is_absolute() {
            return Err(format!("{}: only files on disk can be read here", file.at));
        }
        // Whoever opens a pipe waits until somebody writes, and settings may name one.
        if !fs::metadata(&file.at).map_err(failed)?.is_file() {
            return Err(format!("{}: not a file", file.at));
        }
        let open = fs::File::open(&file.at).map_err(failed)?;
        let now = record(file.at.clone(), &open.metadata().map_err(failed)?).map_err(failed)?;
        if now.stored_bytes != file.stored_bytes || now.version != file.version {
            return Err(changed(&file.at));
        }
        let len = usize::try_from(bytes.end - bytes.start)
            .map_err(|_| format!("{}: more bytes at once than fit into memory", file.at))?;
        let before = into.len();
        into.resize(before + len, 0);
        open.read_exact_at(&mut into[before..], bytes.start).map_err(failed)
    }
}

/// What to say of a file that is another one by now.
pub(super) fn changed(at: &str) -> String {
    format!("{at}: the file has changed since the job was submitted; submit it again")
}

/// A file as it is now.
pub(super) fn record(at: String, metadata: &fs::Metadata) -> io::Result<File> {
    let changed = metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    // Nanoseconds since 1970.
    let version = changed.as_nanos().to_string();
    Ok(File { at, stored_bytes: metadata.len(), version, packed: None })
}
