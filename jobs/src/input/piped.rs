//! Standard input, kept in a file: a job that is killed and resumed needs to read it again.

use std::{
    fs,
    io::{self, Read, Write},
    path::Path,
};

/// Bytes copied at a time.
const PIECE_BYTES: usize = 1 << 20;

/// Copies `input` to a file in `folder` that is named by what is in it; the name of the file. One that is there already
/// is left as it is, so that the same input makes the same job.
pub fn keep(input: &mut dyn Read, folder: &Path, progress: &mut dyn FnMut(u64)) -> Result<String, String> {
    let failed = |error: io::Error| format!("cannot keep standard input in {}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(failed)?;
    let draft = folder.join(format!(".draft-{}", std::process::id()));
    let kept = copy(input, &draft, progress).and_then(|name| {
        let place = folder.join(name);
        if place.exists() {
            fs::remove_file(&draft)?;
        } else {
            fs::rename(&draft, &place)?;
            fs::File::open(folder)?.sync_all()?;
        }
        std::path::absolute(place)
    });
    let place = kept.map_err(|error| {
        // On a full disk it would be in the way.
        drop(fs::remove_file(&draft));
        failed(error)
    })?;
    place.into_os_string().into_string().map_err(|path| format!("{}: the path is not UTF-8", path.display()))
}

fn copy(input: &mut dyn Read, draft: &Path, progress: &mut dyn FnMut(u64)) -> io::Result<String> {
    let mut file = fs::File::create(draft)?;
    let mut hash = blake3::Hasher::new();
    let mut piece = vec![0; PIECE_BYTES];
    let mut len_bytes = 0;
    loop {
        let bytes = match input.read(&mut piece) {
            Ok(0) => break,
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hash.update(&piece[..bytes]);
        file.write_all(&piece[..bytes])?;
        len_bytes += bytes as u64;
        progress(len_bytes);
    }
    file.sync_all()?;
    Ok(hash.finalize().to_hex().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_input_is_the_same_file_and_no_draft_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("inputs");
        let keep = |text: &str| keep(&mut text.as_bytes(), &folder, &mut |_| {}).unwrap();
        let first = keep("one\n");
        let made = fs::metadata(&first).unwrap().modified().unwrap();
        assert_eq!(keep("one\n"), first);
        assert_eq!(fs::metadata(&first).unwrap().modified().unwrap(), made);
        let second = keep(&"two\n".repeat(1 << 20));
        assert_ne!(first, second);
        assert_eq!(fs::read_to_string(&second).unwrap(), "two\n".repeat(1 << 20));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
    }

    #[test]
    fn what_cannot_be_read_or_written_is_said() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("torn"))
            }
        }
        let dir = tempfile::tempdir().unwrap();
        let error = keep(&mut Broken, dir.path(), &mut |_| {}).unwrap_err();
        assert!(error.contains("torn") && error.contains(dir.path().to_str().unwrap()), "{error}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(keep(&mut &b""[..], file.path(), &mut |_| {}).unwrap_err().contains("cannot keep"));
    }
}
