use super::*;

fn purpose() -> Purpose {
    Purpose { name: "test", format: 1, cure: "Throw it away.".into() }
}

fn open(dir: &Path) -> Result<Store, StoreError> {
    Store::open(dir, purpose())
}

fn put(store: &Store, key: &[u8], value: &[u8]) {
    let mut batch = Batch::default();
    batch.put(key, value);
    store.apply(batch).unwrap();
}

#[test]
fn keeps_what_was_put_across_reopening() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).unwrap();
    let sizes = [0, 1, PART_BYTES - 1, PART_BYTES, PART_BYTES + 1, 3 * PART_BYTES, 65_536, MAX_VALUE_BYTES];
    for (i, size) in (0_u32..).zip(sizes) {
        put(&store, &i.to_be_bytes(), &vec![7; size]);
    }
    store.flush_durable().unwrap();
    drop(store);
    let store = open(dir.path()).unwrap();
    for (i, size) in (0_u32..).zip(sizes) {
        assert_eq!(store.get(&i.to_be_bytes()).unwrap().unwrap(), vec![7; size]);
    }
    let seen: Vec<_> = store.scan_prefix(&[]).map(|e| e.unwrap().1.len()).collect();
    assert_eq!(seen, sizes);
}

#[test]
fn a_large_value_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).unwrap();
    for round in 0..64_u8 {
        put(&store, b"k", &vec![round; 300_000]);
        put(&store, b"l", &vec![round; usize::from(round) * 1000]);
        store.flush_durable().unwrap();
    }
    put(&store, b"k", b"small");
    let mut batch = Batch::default();
    batch.put(b"l", vec![1; 50_000]);
    batch.remove(b"l");
    store.apply(batch).unwrap();
    assert_eq!(store.get(b"k").unwrap().unwrap(), b"small");
    assert_eq!(store.get(b"l").unwrap(), None);
    assert_eq!(store.sled(|db| Ok(db.scan_prefix([space::PART]).count())).unwrap(), 0);
    let blobs = fs::read_dir(dir.path().join("blobs")).map_or(0, Iterator::count);
    assert_eq!(blobs, 0, "sled never removes these");
}

#[test]
fn scans_by_prefix_and_from() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).unwrap();
    let mut batch = Batch::default();
    for i in 0..1000_u32 {
        batch.put([b"a", &i.to_be_bytes()[..]].concat(), i.to_be_bytes());
        batch.put([b"b", &i.to_be_bytes()[..]].concat(), vec![0; 10]);
    }
    store.apply(batch).unwrap();
    assert_eq!(store.scan_prefix(b"a").count(), 1000);
    let from = [b"a", &990_u32.to_be_bytes()[..]].concat();
    assert_eq!(store.scan(b"a", &from).next().unwrap().unwrap().1, 990_u32.to_be_bytes());
    assert_eq!(store.scan(b"a", &from).count(), 10);
    assert_eq!(store.remove_prefix(b"a").unwrap(), 1000);
    assert_eq!(store.scan_prefix(b"a").count(), 0);
    assert_eq!(store.scan_prefix(b"").count(), 1000);
    store.clear().unwrap();
    assert_eq!(store.scan_prefix(b"").count(), 0);
    drop(store);
    open(dir.path()).unwrap();
}

#[test]
fn refuses_a_second_opening_and_foreign_stores() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).unwrap();
    assert!(open(dir.path()).unwrap_err().is_in_use());
    drop(store);
    let other = Purpose { name: "test", format: 2, cure: "Throw it away.".into() };
    let error = Store::open(dir.path(), other).unwrap_err().to_string();
    assert!(error.contains("test, format 1") && error.contains("test, format 2"), "{error}");
    open(dir.path()).unwrap();
}

#[test]
fn refuses_too_large_values_and_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).unwrap();
    let mut batch = Batch::default();
    batch.put(b"k", vec![0; MAX_VALUE_BYTES + 1]);
    assert!(matches!(store.apply(batch), Err(StoreError::TooLarge { .. })));
    put(&store, b"k", b"v");
}

#[test]
fn survives_leftovers_of_an_unfinished_snapshot() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).unwrap();
    put(&store, b"k", b"v");
    store.flush_durable().unwrap();
    drop(store);
    fs::write(dir.path().join("snap.7FFFFFFFFFFFFFFF.generating"), b"").unwrap();
    fs::write(dir.path().join("snap.7FFFFFFFFFFFFFF0.in___motion"), b"x").unwrap();
    let store = open(dir.path()).unwrap();
    assert_eq!(store.get(b"k").unwrap().unwrap(), b"v");
}

#[test]
fn a_truncated_snapshot_names_the_cure() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).unwrap();
    for i in 0..2000_u32 {
        put(&store, &i.to_be_bytes(), &[1; 100]);
    }
    store.flush_durable().unwrap();
    drop(store);
    drop(open(dir.path()).unwrap()); // writes a snapshot
    wait_until_let_go(dir.path());
    for entry in fs::read_dir(dir.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_string_lossy().starts_with("snap.") {
            let bytes = fs::read(&path).unwrap();
            fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        }
    }
    let error = open(dir.path()).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
    assert!(error.to_string().contains("Throw it away."), "{error}");
}

/// sled writes its last snapshot from threads that outlive the handle.
fn wait_until_let_go(dir: &Path) {
    let db = File::open(dir.join("db")).unwrap();
    db.lock().unwrap();
}

#[test]
fn rot_is_not_passed_on() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).unwrap();
    put(&store, b"k", &vec![5; 20_000]);
    store.sled(|db| db.insert(part_key(b"k", 1), vec![6; PART_BYTES]).map(drop)).unwrap();
    assert!(matches!(store.get(b"k"), Err(StoreError::Corrupt { .. })));
    assert!(matches!(store.scan_prefix(b"").next(), Some(Err(StoreError::Corrupt { .. }))));
    put(&store, b"j", b"v");
    let moved = store.sled(|db| db.get(head_key(b"j"))).unwrap().unwrap();
    store.sled(|db| db.insert(head_key(b"i"), moved).map(drop)).unwrap();
    assert!(matches!(store.get(b"i"), Err(StoreError::Corrupt { .. })));
    assert_eq!(store.get(b"j").unwrap().unwrap(), b"v");
}

#[test]
fn a_panic_inside_becomes_an_error_and_sticks() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).unwrap();
    let error = store.sled::<()>(|_| panic!("at the disco")).unwrap_err();
    assert!(error.to_string().contains("at the disco"));
    assert!(matches!(store.get(b"k"), Err(StoreError::Poisoned { .. })));
}
