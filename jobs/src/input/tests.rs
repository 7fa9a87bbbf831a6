//! Packed files against their text, whole, torn and hostile.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    thread,
};

use flate2::{Compression, write::GzEncoder};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::kind::UnitContext;

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(text).unwrap();
    packer.finish().unwrap()
}

fn zstd_window(text: &[u8], log: u32) -> Vec<u8> {
    let mut packer = zstd::Encoder::new(Vec::new(), 1).unwrap();
    packer.window_log(log).unwrap();
    packer.write_all(text).unwrap();
    packer.finish().unwrap()
}

fn zstd(text: &[u8]) -> Vec<u8> {
    zstd_window(text, 17)
}

/// A folder with a file of these bytes.
fn file(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    fs::write(&path, bytes).unwrap();
    (dir, path)
}

fn find(path: &Path) -> Result<Vec<File>, String> {
    let typed = Source::typed(path.to_str().unwrap())?;
    let found = Source::look_up(vec![typed], &Surroundings::local()).map_err(|error| error.to_string())?;
    Source::files(found).map_err(|error| error.to_string())
}

fn one(path: &Path) -> File {
    let [file] = find(path).unwrap().try_into().unwrap();
    file
}

/// Lines that pack well, but not too well.
fn text(lines: usize, random: &mut ChaCha8Rng) -> Vec<u8> {
    let line = |_| format!("{:081}\n", random.random_range(0..u64::MAX));
    (0..lines).map(line).collect::<String>().into_bytes()
}

#[test]
fn ranges_of_packed_files_are_those_of_their_text() {
    let seed = rand::random();
    println!("seed {seed}");
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let text = text(40_000, &mut random);
    let (first, second) = text.split_at(text.len() / 3);
    let several = |pack: fn(&[u8]) -> Vec<u8>| [pack(first), pack(b""), pack(second)].concat();
    for packed in [text.clone(), gzip(&text), zstd(&text), several(gzip), several(zstd)] {
        let (_dir, path) = file(&packed);
        let file = one(&path);
        assert_eq!(file.len_bytes(), text.len() as u64);
        let range = |random: &mut ChaCha8Rng| {
            let start = random.random_range(0..=text.len());
            let longest = random.random_range(0..=text.len() - start);
            start..start + random.random_range(0..=longest)
        };
        let read = |range: std::ops::Range<usize>| {
            let bytes = file.read(range.start as u64..range.end as u64, &UnitContext::free()).unwrap();
            assert!(bytes == text[range.clone()], "{range:?}");
        };
        (0..20).for_each(|_| read(range(&mut random)));
        // Many threads, each on its way through the file, and beyond its end.
        thread::scope(|scope| {
            let (read, len) = (&read, text.len());
            for thread in 0..4 {
                let starts = (thread * 100_000..len).step_by(400_000);
                scope.spawn(move || starts.for_each(|start| read(start..(start + 101_000).min(len))));
            }
        });
        let beyond = file.read(0..u64::MAX, &UnitContext::free()).unwrap();
        assert!(beyond == text);
        assert!(file.read_whole(text.len() as u64, Local::shared()).unwrap() == text);
        assert!(file.read_whole(text.len() as u64 - 1, Local::shared()).unwrap_err().contains("too many"));
    }
}

#[test]
fn torn_and_damaged_files_are_refused_when_they_are_looked_up() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let text = text(2_000, &mut random);
    for packed in [gzip(&text), zstd(&text)] {
        for len in [packed.len() - 1, packed.len() / 2, 20] {
            let (_dir, path) = file(&packed[..len]);
            let error = find(&path).unwrap_err();
            assert!(error.contains("cut off") && error.contains(path.to_str().unwrap()), "{len}: {error}");
        }
        // The sum at the end of gzip does not fit; bytes behind the last member or frame are none.
        let mut damaged = packed.clone();
        let last = damaged.len() - 5;
        damaged[last] ^= 1;
        if packed[0] == 0x1F {
            assert!(find(&file(&damaged).1).is_err());
        }
        let (_dir, path) =
            file(&[packed.as_slice(), b"nonsense behind, long enough for any header"].concat());
        assert!(find(&path).unwrap_err().contains("damaged"));
    }
}

#[test]
fn a_packed_file_that_changes_is_noticed() {
    let (_dir, path) = file(&gzip(&[b'1'; 1000]));
    let found = one(&path);
    fs::write(&path, gzip(&[b'2'; 2000])).unwrap();
    let error = found.read(0..10, &UnitContext::free()).unwrap_err().to_string();
    assert!(error.contains("changed since the job was submitted"), "{error}");
}

#[test]
fn what_takes_too_much_memory_is_refused_and_what_is_empty_is_empty() {
    let large = zstd_window(&vec![0; 300 << 20], 28);
    let error = find(&file(&large).1).unwrap_err();
    assert!(error.contains("256 MiB") && error.contains("at most 128"), "{error}");
    // A bomb costs time, not memory: what is read of it is a range.
    let (_dir, path) = file(&gzip(&vec![b'1'; 50 << 20]));
    assert!(fs::metadata(&path).unwrap().len() < 1 << 20);
    let bomb = one(&path);
    assert_eq!(bomb.len_bytes(), 50 << 20);
    assert_eq!(bomb.read((50 << 20) - 3..u64::MAX, &UnitContext::free()).unwrap(), b"111");
    for packed in [gzip(b""), zstd(b""), Vec::new()] {
        let (_dir, path) = file(&packed);
        let file = one(&path);
        assert_eq!((file.len_bytes(), file.read(0..10, &UnitContext::free()).unwrap()), (0, vec![]));
    }
    let (_dir, path) = file(b"PK\x03\x04 and so on");
    assert!(find(&path).unwrap_err().contains("packed with zip"));
}

#[test]
fn folders_are_their_files_by_name() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["b", "a.gz", ".hidden"] {
        fs::write(dir.path().join(name), if name == "a.gz" { gzip(b"text") } else { b"text".to_vec() })
            .unwrap();
    }
    fs::create_dir(dir.path().join("below")).unwrap();
    let names: Vec<String> = find(dir.path()).unwrap().into_iter().map(|file| file.at).collect();
    assert_eq!(names.len(), 2);
    assert!(names[0].ends_with("/a.gz") && names[1].ends_with("/b"), "{names:?}");
    assert!(find(&dir.path().join("below")).unwrap_err().contains("no files"));
    assert!(find(Path::new("/nowhere/at/all")).unwrap_err().contains("/nowhere/at/all"));
}

#[test]
fn only_what_was_found_goes_into_settings_and_comes_out_of_them_checked() {
    let typed = Source::typed("s3://bucket/a").unwrap();
    assert!(serde_json::to_string(&typed).is_err());
    assert!(Source::files(vec![typed]).is_err());
    let (_dir, path) = file(&zstd(b"text"));
    let found = Source::look_up(vec![Source::typed(path.to_str().unwrap()).unwrap()], &Surroundings::local());
    let json = serde_json::to_string(&found.unwrap()[0]).unwrap();
    assert!(serde_json::from_str::<Source>(&json).is_ok(), "{json}");
    let relative = json.replace(path.to_str().unwrap(), "here");
    assert!(serde_json::from_str::<Source>(&relative).is_err());
    let greedy = json.replace("\"window_bytes\":", "\"window_bytes\":999999999");
    assert!(serde_json::from_str::<Source>(&greedy).is_err(), "{greedy}");
}

#[test]
fn a_pipe_that_settings_name_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let at = pipe.to_str().unwrap().to_owned();
    let file = File { at, stored_bytes: 0, version: "0".into(), packed: None };
    let (say, hear) = std::sync::mpsc::channel();
    thread::spawn(move || say.send(file.read_whole(9, Local::shared())));
    let read = hear.recv_timeout(std::time::Duration::from_secs(20)).expect("it is refused at once");
    assert!(read.unwrap_err().ends_with("not a file"));
}
