//! All files below a folder, to any depth.

use std::{collections::HashSet, fs, io, os::unix::fs::MetadataExt, path::PathBuf};

use super::{file::File, place, storage, storage::Storage};

/// Folders within folders at most: deeper ones are links that go round in some way that was not noticed.
const MOST_DEPTH: usize = 64;

/// What is typed as a folder has so many files at most.
const MOST_FILES: usize = 1_000_000;

/// The files that a text names: that file; or all below a folder, or below a URL that ends in `/`, whose names are
/// `wanted`. Sorted by name; as they are stored. Hidden ones are left out. What cannot be listed is told of and left out
/// too: one folder that belongs to somebody else must not stop the rest.
///
/// # Errors
///
/// When there is nothing of that name, or it cannot be read at all.
pub fn tree(
    text: &str,
    storage: &dyn Storage,
    wanted: &dyn Fn(&str) -> bool,
    tell: &dyn Fn(&str),
) -> Result<Vec<File>, String> {
    let at = place::read(text)?;
    if place::is_url(&at) {
        let mut files = storage.find(&at)?;
        if at.ends_with('/') {
            files.retain(|file| wanted(&file.at));
        }
        return Ok(files);
    }
    let failed = |error: io::Error| format!("{at}: {error}");
    let metadata = fs::metadata(&at).map_err(failed)?;
    if metadata.is_file() {
        return Ok(vec![storage::record(at.clone(), &metadata).map_err(failed)?]);
    }
    if !metadata.is_dir() {
        return Err(format!("{at}: neither a file nor a folder"));
    }
    let mut files = Vec::new();
    let mut seen = HashSet::from([(metadata.dev(), metadata.ino())]);
    let mut folders = vec![(PathBuf::from(&at), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if depth == 0 => return Err(failed(error)),
            Err(error) => {
                tell(&format!("{}: {error}; nothing in it is read", folder.display()));
                continue;
            }
        };
        for entry in entries.filter_map(Result::ok) {
            // A link counts as what it leads to, and one that leads nowhere as nothing.
            let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            let path = entry.path();
            let Some(metadata) = fs::metadata(&path).ok().filter(|_| !hidden) else { continue };
            if metadata.is_dir() {
                if depth < MOST_DEPTH && seen.insert((metadata.dev(), metadata.ino())) {
                    folders.push((path, depth + 1));
                }
                continue;
            }
            let Some(name) = path.to_str().filter(|name| place::check(name).is_ok()) else {
                tell(&format!("{}: not read, for its name is too long or no plain UTF-8", path.display()));
                continue;
            };
            if metadata.is_file() && wanted(name) {
                files.push(storage::record(name.to_owned(), &metadata).map_err(failed)?);
            }
        }
        if files.len() > MOST_FILES {
            return Err(format!("{at}: more than {MOST_FILES} files"));
        }
    }
    files.sort_by(|a, b| a.at.cmp(&b.at));
    Ok(files)
}

#[cfg(test)]
mod tests {
    use std::{os::unix::fs::symlink, sync::Mutex};

    use super::*;
    use crate::input::Local;

    #[test]
    fn folders_are_read_to_any_depth_once_and_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::create_dir_all(path("b/c")).unwrap();
        for name in ["z.jpg", "a.jpg", "b/c/1.jpg", "b/2.jpg", "notes.txt", ".hidden.jpg"] {
            fs::write(path(name), name).unwrap();
        }
        // Links that go round, that lead nowhere, and a name with a line feed.
        symlink(dir.path(), path("b/round")).unwrap();
        symlink(path("nowhere"), path("nowhere.jpg")).unwrap();
        fs::write(path("line\nfeed.jpg"), "").unwrap();
        let told = Mutex::new(Vec::new());
        let tell = |text: &str| told.lock().unwrap().push(text.to_owned());
        let wanted = |name: &str| !name.ends_with("txt");
        let find = |name: &str| tree(path(name).to_str().unwrap(), &Local, &wanted, &tell);
        let files = find("").unwrap();
        let names: Vec<_> = files.iter().map(|file| file.at.rsplit_once('/').unwrap().1).collect();
        assert_eq!(names, ["a.jpg", "2.jpg", "1.jpg", "z.jpg"]);
        assert_eq!((files[0].stored_bytes, files[0].packed.is_none()), (5, true));
        assert!(told.lock().unwrap().iter().any(|text| text.contains("feed.jpg")), "{told:?}");
        // A file that is named is taken whatever it is called.
        assert_eq!(find("notes.txt").unwrap().len(), 1);
        assert!(find("nowhere.jpg").unwrap_err().contains("nowhere.jpg"));
    }
}
