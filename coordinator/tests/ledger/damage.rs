//! Torn writes, flipped bits, files that are missing or from elsewhere.

use std::{fs, os::unix::fs::FileExt, path::Path};

use coordinator::ledger::{EmbeddedLedger, Frames, Ledger, LedgerError, check, rebuild};

use super::{all, commit, copy_folder, job, some_groups};

/// A closed ledger with what its jobs looked like after each group.
fn small() -> (tempfile::TempDir, Vec<u64>, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let mut ledger = EmbeddedLedger::open(dir.path()).unwrap();
    let size = || fs::metadata(dir.path().join("journal")).unwrap().len();
    let (mut ends, mut states) = (vec![size()], vec![format!("{:?}", all(&ledger).unwrap())]);
    for group in some_groups() {
        ledger.append(&group).unwrap();
        ends.push(size());
        states.push(format!("{:?}", all(&ledger).unwrap()));
    }
    drop(ledger);
    (dir, ends, states)
}

/// A folder with this journal and no store.
fn journal_only(journal: &[u8]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("journal"), journal).unwrap();
    dir
}

fn opened(dir: &Path) -> Result<String, LedgerError> {
    EmbeddedLedger::open(dir).and_then(|l| all(&l)).map(|a| format!("{a:?}"))
}

#[test]
fn a_journal_torn_at_any_byte_gives_the_groups_before() {
    let (dir, ends, states) = small();
    let journal = fs::read(dir.path().join("journal")).unwrap();
    let (last, whole) = (ends[ends.len() - 2], ends[ends.len() - 1]);
    for cut in last..whole {
        let torn = journal_only(&journal[..usize::try_from(cut).unwrap()]);
        assert_eq!(opened(torn.path()).unwrap(), states[states.len() - 2], "cut at {cut}");
        assert_eq!(fs::metadata(torn.path().join("journal")).unwrap().len(), last);
        let kept = torn.path().join(format!("journal.torn-{last}"));
        assert_eq!(kept.exists(), cut != last);
        if cut != last {
            assert_eq!(
                fs::read(kept).unwrap(),
                journal[usize::try_from(last).unwrap()..usize::try_from(cut).unwrap()]
            );
        }
    }
    // It goes on from there, and once more from a file that the system had made longer with zeros.
    let mut zeros = journal[..usize::try_from(last).unwrap() + 60].to_vec();
    zeros.resize(zeros.len() + 4096, 0);
    let torn = journal_only(&zeros);
    let mut ledger = EmbeddedLedger::open(torn.path()).unwrap();
    ledger.append(some_groups().last().unwrap()).unwrap();
    drop(ledger);
    assert_eq!(opened(torn.path()).unwrap(), states[states.len() - 1]);
}

#[test]
fn a_flipped_bit_of_the_journal_is_never_passed_on() {
    let (dir, ends, states) = small();
    let journal = fs::read(dir.path().join("journal")).unwrap();
    let last = usize::try_from(ends[ends.len() - 2]).unwrap();
    // Without a store, the journal has to notice on its own. With it, what only looks like a torn end is known to be more.
    let with_store = tempfile::tempdir().unwrap();
    copy_folder(dir.path(), with_store.path());
    let alone = journal_only(&journal);
    let read_all = || {
        let mut frames = Frames::open(alone.path())?;
        while frames.next_frame()?.is_some() {}
        Ok::<_, LedgerError>((frames.position().end, frames.tail().is_some()))
    };
    for (at, bit) in (0..journal.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        let mut rotten = journal.clone();
        rotten[at] ^= 1 << bit;
        fs::write(alone.path().join("journal"), &rotten).unwrap();
        if at < 32 {
            assert!(matches!(read_all(), Err(LedgerError::Format { .. })), "flip at {at}");
        } else if at < last {
            let start = *ends.iter().rfind(|e| **e <= at as u64).unwrap();
            let error = read_all().unwrap_err();
            assert!(
                matches!(error, LedgerError::Damaged { offset, .. } if offset == start),
                "flip at {at}: {error}"
            );
        } else {
            assert_eq!(read_all().unwrap(), (last as u64, true), "flip at {at}");
        }
        if bit == at % 8 && (at % 16 == 0 || at >= last) {
            fs::write(with_store.path().join("journal"), &rotten).unwrap();
            let error = opened(with_store.path()).unwrap_err();
            if at >= last {
                assert!(matches!(error, LedgerError::Apart { .. }), "flip at {at}: {error}");
            }
            assert_eq!(fs::read(with_store.path().join("journal")).unwrap(), rotten, "nothing was cut off");
        }
    }
    fs::write(with_store.path().join("journal"), &journal).unwrap();
    assert_eq!(opened(with_store.path()).unwrap(), states[states.len() - 1]);
}

#[test]
fn frames_missing_doubled_or_swapped_are_noticed() {
    let (dir, ends, _) = small();
    let journal = fs::read(dir.path().join("journal")).unwrap();
    let frame = |i: usize| &journal[usize::try_from(ends[i]).unwrap()..usize::try_from(ends[i + 1]).unwrap()];
    let header = &journal[..32];
    for order in [&[0, 2][..], &[0, 1, 1], &[0, 2, 1], &[1]] {
        let mut spliced = header.to_vec();
        for i in order {
            spliced.extend_from_slice(frame(*i));
        }
        let error = opened(journal_only(&spliced).path()).unwrap_err().to_string();
        assert!(error.contains("does not follow the one before it"), "{order:?}: {error}");
    }
}

#[test]
fn store_and_journal_of_different_ledgers_are_refused() {
    let (one, ends, states) = small();
    let (other, ..) = small();
    fs::remove_dir_all(one.path().join("store")).unwrap();
    copy_folder(&other.path().join("store"), &one.path().join("store"));
    let error = opened(one.path()).unwrap_err();
    assert!(error.to_string().contains("different ledger ids"), "{error}");
    assert!(error.to_string().contains("nonet ledger rebuild --state"), "{error}");
    rebuild(one.path(), &mut |_, _| {}).unwrap();
    assert_eq!(opened(one.path()).unwrap(), states[states.len() - 1]);
    // A journal that lost groups which the store knows.
    let journal = fs::read(one.path().join("journal")).unwrap();
    fs::write(one.path().join("journal"), &journal[..usize::try_from(ends[4]).unwrap()]).unwrap();
    assert!(matches!(opened(one.path()), Err(LedgerError::Apart { .. })));
    // Or lost them and went on: longer than what the store knows, and not the same.
    let with_all = tempfile::tempdir().unwrap();
    copy_folder(&one.path().join("store"), with_all.path());
    rebuild(one.path(), &mut |_, _| {}).unwrap();
    let mut ledger = EmbeddedLedger::open(one.path()).unwrap();
    for i in 0..100 {
        ledger.append(&[commit(1, 800 + i..801 + i)]).unwrap();
    }
    drop(ledger);
    fs::remove_dir_all(one.path().join("store")).unwrap();
    copy_folder(with_all.path(), &one.path().join("store"));
    let error = opened(one.path()).unwrap_err().to_string();
    assert!(error.contains("is not what the store was made from"), "{error}");
}

#[test]
fn a_missing_journal_is_refused_and_a_missing_store_made_anew() {
    let (dir, _, states) = small();
    fs::remove_dir_all(dir.path().join("store")).unwrap();
    assert!(check(dir.path()).unwrap().store.starts_with("missing"));
    assert_eq!(opened(dir.path()).unwrap(), states[states.len() - 1]);
    let away = dir.path().join("away");
    fs::rename(dir.path().join("journal"), &away).unwrap();
    let error = opened(dir.path()).unwrap_err();
    assert!(matches!(error, LedgerError::Apart { .. }), "{error}");
    assert!(error.to_string().contains("there is a store and no journal"), "{error}");
    assert!(rebuild(dir.path(), &mut |_, _| {}).is_err());
    fs::rename(&away, dir.path().join("journal")).unwrap();
    assert_eq!(opened(dir.path()).unwrap(), states[states.len() - 1]);
}

#[test]
fn foreign_files_and_folders_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "x").unwrap();
    assert!(opened(&file).unwrap_err().to_string().contains("is a file where a folder is needed"));
    for journal in [&b""[..], b"NONET", &[b'x'; 100]] {
        let error = opened(journal_only(journal).path()).unwrap_err();
        assert!(matches!(error, LedgerError::Format { .. }), "{error}");
    }
    let (good, ..) = small();
    let mut later = fs::read(good.path().join("journal")).unwrap();
    later[8] = 2;
    let crc = crc32fast::hash(&later[..28]).to_le_bytes();
    later[28..32].copy_from_slice(&crc);
    let error = opened(journal_only(&later).path()).unwrap_err().to_string();
    assert!(error.contains("its format is 2, this program writes 1"), "{error}");
}

/// A larger ledger, whose store has a snapshot.
fn large() -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let mut ledger = EmbeddedLedger::open(dir.path()).unwrap();
    ledger.append(&[job(1, 1 << 40)]).unwrap();
    for group in 0..20_u64 {
        let group: Vec<_> =
            (0..256).map(|i| group * 256 + i).map(|i| commit(1, i * 10..i * 10 + 10)).collect();
        ledger.append(&group).unwrap();
    }
    let state = format!("{:?}", all(&ledger).unwrap());
    drop(ledger);
    drop(EmbeddedLedger::open(dir.path()).unwrap());
    // sled's threads outlive its handle by a moment, and write.
    fs::File::open(dir.path().join("store/db")).unwrap().lock().unwrap();
    (dir, state)
}

#[test]
fn a_damaged_store_names_the_cure_and_is_cured() {
    let (dir, state) = large();
    let store = dir.path().join("store");
    fs::write(store.join("snap.7FFFFFFFFFFFFFFF.generating"), b"").unwrap();
    assert_eq!(opened(dir.path()).unwrap(), state);
    fs::File::open(store.join("db")).unwrap().lock().unwrap();
    let mut cut = 0;
    for entry in fs::read_dir(&store).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_string_lossy().starts_with("snap.") {
            let size = fs::metadata(&path).unwrap().len();
            fs::File::options().write(true).open(&path).unwrap().set_len(size / 2).unwrap();
            cut += 1;
        }
    }
    assert!(cut > 0);
    let error = opened(dir.path()).unwrap_err().to_string();
    assert!(error.contains("is corrupt") && error.contains("nonet ledger rebuild --state"), "{error}");
    assert_eq!(check(dir.path()).unwrap().findings.len(), 1);
    rebuild(dir.path(), &mut |_, _| {}).unwrap();
    assert_eq!(opened(dir.path()).unwrap(), state);
    assert_eq!(check(dir.path()).unwrap().findings, [""; 0]);
}

#[test]
fn a_flipped_bit_of_the_store_is_noticed_or_harmless_and_cured() {
    let (dir, state) = large();
    let size = fs::metadata(dir.path().join("store/db")).unwrap().len();
    let mut seen = [0; 3];
    for round in 0..24_u64 {
        let copy = tempfile::tempdir().unwrap();
        copy_folder(dir.path(), copy.path());
        let db = fs::File::options().read(true).write(true).open(copy.path().join("store/db")).unwrap();
        let at = round.wrapping_mul(0x9E37_79B9_7F4A_7C15) % size;
        let mut byte = [0];
        db.read_exact_at(&mut byte, at).unwrap();
        db.write_all_at(&[byte[0] ^ (1 << (round % 8))], at).unwrap();
        drop(db);
        match opened(copy.path()) {
            Ok(found) if found == state => seen[0] += 1,
            Ok(_) => {
                assert!(!check(copy.path()).unwrap().findings.is_empty(), "round {round}: silently wrong");
                seen[1] += 1;
            }
            Err(_) => seen[2] += 1,
        }
        rebuild(copy.path(), &mut |_, _| {}).unwrap();
        assert_eq!(opened(copy.path()).unwrap(), state);
    }
    println!("intact {}, found by check {}, error {}", seen[0], seen[1], seen[2]);
}
