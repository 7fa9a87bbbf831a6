//! A full disk.

use std::{fs, io::Write, path::Path, process::Command};

use coordinator::ledger::{EmbeddedLedger, Entry, Ledger, check};

use super::{all, commit_record, job};

/// A file system of its own, unmounted when dropped.
pub struct Disk(tempfile::TempDir);

impl Disk {
    /// `None`, with a notice, where mounting is not permitted.
    pub fn new(kib: u32) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let size = format!("size={kib}k");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(dir.path()).status();
        if mounted.is_ok_and(|s| s.success()) {
            return Some(Self(dir));
        }
        println!("skipped: mounting a tmpfs is not permitted here");
        None
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazily: threads of sled may still hold files.
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}

fn fill(path: &Path) {
    let mut file = fs::File::create(path).unwrap();
    while file.write_all(&[0; 4096]).is_ok() {}
}

/// Appends until the disk is full, frees space, reopens: all that was acknowledged is there, and it goes on.
fn until_full(kib: u32, partial: usize, per_group: u64) {
    let Some(disk) = Disk::new(kib) else { return };
    let dir = disk.path().join("state");
    let ballast = disk.path().join("ballast");
    fs::write(&ballast, vec![0; 6 << 20]).unwrap();
    let mut ledger = EmbeddedLedger::open(&dir).unwrap();
    ledger.append(&[job(1, 1 << 40)]).unwrap();
    let mut acknowledged = 0;
    let error = loop {
        let group: Vec<_> = (acknowledged..acknowledged + per_group)
            .map(|i| Entry::Commit(commit_record(1, i..i + 1, vec![7; partial])))
            .collect();
        match ledger.append(&group) {
            Ok(()) => acknowledged += per_group,
            Err(error) => break error,
        }
        assert!(acknowledged < 10_000_000, "the disk does not fill");
    };
    assert!(error.is_full(), "{error}");
    assert!(error.to_string().contains("no space left on the disk of "), "{error}");
    assert!(
        error.to_string().contains("Free some space and run the same command again, it resumes"),
        "{error}"
    );
    let again = ledger.append(&[job(2, 1)]).unwrap_err();
    assert!(again.is_full(), "{again}");
    drop(ledger);
    // Still full: opening may fail, in words, and loses nothing.
    fill(&disk.path().join("more"));
    if let Err(error) = EmbeddedLedger::open(&dir) {
        println!("while full: {error}");
    }
    fs::remove_file(disk.path().join("more")).unwrap();
    fs::remove_file(&ballast).unwrap();
    let mut ledger = EmbeddedLedger::open(&dir).unwrap();
    let found = all(&ledger).unwrap().remove(0).1;
    // Exactly what was acknowledged, or also the last group: that its writer did not see it through costs nothing.
    assert!(found.len() as u64 == acknowledged || found.len() as u64 == acknowledged + per_group);
    for (i, commit) in (0..).zip(&found) {
        assert_eq!(commit.range, i..i + 1);
        assert_eq!(commit.partial, vec![7; partial]);
    }
    let next = found.len() as u64;
    ledger.append(&[Entry::Commit(commit_record(1, next..next + 1, vec![]))]).unwrap();
    drop(ledger);
    assert_eq!(check(&dir).unwrap().findings, [""; 0]);
}

#[test]
fn a_full_disk_stops_the_journal_and_the_same_command_resumes() {
    until_full(16 << 10, 20_000, 3);
}

#[test]
fn a_full_disk_stops_the_store_and_the_same_command_resumes() {
    until_full(16 << 10, 0, 256);
}
