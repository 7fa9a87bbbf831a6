//! Folders that one process at a time may use, and directory entries that survive a power cut.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{Read, Write},
    path::{Path, PathBuf},
    process,
};

use super::StoreError;

/// The exclusive right to a folder, held until dropped or until the process ends in whatever way.
///
/// The lock belongs to the open file, not to its name, so a file left over from a killed process locks nobody out.
/// It is never deleted: a process that waits on the old file and one that creates a new one would both get theirs.
#[derive(Debug)]
pub struct FolderLock {
    file: File,
}

impl Drop for FolderLock {
    /// Closing alone would not do: a child process that is being started holds a copy of every open file for a moment, and
    /// with it the lock.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

impl FolderLock {
    /// Creates `dir` if need be and takes the lock file `name` in it.
    ///
    /// # Errors
    ///
    /// [`StoreError::InUse`] when another holder lives, in this process or another; otherwise what is wrong with the
    /// folder.
    pub fn take(dir: &Path, name: &str) -> Result<Self, StoreError> {
        make_folder(dir)?;
        let path = dir.join(name);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|e| StoreError::io("open the lock file", &path, &e))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // The name of the holder is a courtesy: it may be missing, half-written or cut off.
                let _ = file.take(200).read_to_string(&mut holder);
                let holder = holder.trim();
                let holder = if holder.is_empty() { String::new() } else { format!(" ({holder})") };
                return Err(StoreError::InUse { dir: dir.into(), holder });
            }
            Err(TryLockError::Error(e)) => return Err(StoreError::io("lock", &path, &e)),
        }
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let host = host.trim();
        let on = if host.is_empty() { String::new() } else { format!(" on {host}") };
        // Courtesy again: a full disk must not keep the folder from being opened and repaired.
        let _ = file.set_len(0).and_then(|()| writeln!(file, "pid {}{on}", process::id()));
        Ok(Self { file })
    }
}

/// Creates a folder and makes its name durable.
///
/// # Errors
///
/// A file in its place, or whatever the system says.
pub fn make_folder(dir: &Path) -> Result<(), StoreError> {
    if dir.is_dir() {
        return Ok(());
    }
    if let Some(path) = dir.ancestors().find(|p| !p.as_os_str().is_empty() && p.exists())
        && !path.is_dir()
    {
        return Err(StoreError::NotAFolder { path: path.into() });
    }
    fs::create_dir_all(dir).map_err(|e| StoreError::io("create the folder", dir, &e))?;
    // Only the last step is synced: whoever loses the upper ones in a power cut loses the store with its contents,
    // before anything in it was acknowledged.
    sync_folder(dir)?;
    sync_folder(&parent(dir))
}

/// Makes creations, renames and removals in a folder durable.
///
/// # Errors
///
/// Whatever the system says.
pub fn sync_folder(dir: &Path) -> Result<(), StoreError> {
    File::open(dir).and_then(|f| f.sync_all()).map_err(|e| StoreError::io("sync the folder", dir, &e))
}

fn parent(dir: &Path) -> PathBuf {
    match dir.parent() {
        Some(p) if !p.as_os_str().is_empty() => p.into(),
        _ => ".".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_holder_is_told_of_the_first() {
        let dir = tempfile::tempdir().unwrap();
        let lock = FolderLock::take(dir.path(), "lock").unwrap();
        let error = FolderLock::take(dir.path(), "lock").unwrap_err();
        assert!(error.is_in_use());
        assert!(error.to_string().contains(&format!("(pid {}", process::id())), "{error}");
        drop(lock);
        FolderLock::take(dir.path(), "lock").unwrap();
    }

    #[test]
    fn a_file_in_the_way_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        fs::write(&file, "x").unwrap();
        for path in [file.clone(), file.join("deeper/still")] {
            let error = FolderLock::take(&path, "lock").unwrap_err();
            assert_eq!(error, StoreError::NotAFolder { path: file.clone() });
        }
    }
}
