use super::*;

const MANY: u64 = 1 << 20;

fn objects() -> (tempfile::TempDir, Objects) {
    let root = tempfile::tempdir().unwrap();
    let objects = Objects::folder(root.path().join("objects"));
    (root, objects)
}

#[test]
fn an_object_is_named_by_its_bytes_and_written_once() {
    let (_root, objects) = objects();
    let name = objects.put(b"bytes").unwrap();
    assert_eq!(name, blake3::hash(b"bytes"));
    assert_eq!(objects.get(&name, MANY).unwrap(), b"bytes");
    let path = objects.at(&name);
    assert!(path.ends_with(&format!("objects/{}/{name}", &name.to_hex()[..2])), "{path}");
    let written = std::fs::metadata(&path).unwrap().modified().unwrap();
    assert_eq!(objects.put(b"bytes").unwrap(), name);
    assert_eq!(std::fs::metadata(&path).unwrap().modified().unwrap(), written, "not written again");
    let names = std::fs::read_dir(Path::new(&path).parent().unwrap()).unwrap();
    assert_eq!(names.count(), 1, "no drafts are left");
    let empty = objects.put(b"").unwrap();
    assert_eq!(objects.get(&empty, 0).unwrap(), b"");
}

#[test]
fn many_may_put_the_same_at_once() {
    let (_root, objects) = objects();
    let bytes = vec![7; 1 << 18];
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| objects.put(&bytes).unwrap());
        }
    });
    let name = blake3::hash(&bytes);
    assert_eq!(objects.get(&name, MANY).unwrap(), bytes);
    assert_eq!(std::fs::read_dir(Path::new(&objects.at(&name)).parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn what_is_not_what_was_put_is_refused_and_can_be_put_again() {
    let (_root, objects) = objects();
    let name = objects.put(b"bytes").unwrap();
    let path = objects.at(&name);
    for rotten in [&b"bytez"[..], b"byte", b"", b"bytes and more"] {
        std::fs::write(&path, rotten).unwrap();
        let error = objects.get(&name, MANY).unwrap_err();
        assert!(matches!(error, ObjectError::Rotten { .. }) && error.to_string().contains(&path), "{error}");
        objects.put(b"bytes").unwrap();
        assert_eq!(objects.get(&name, MANY).unwrap(), b"bytes");
    }
    assert!(matches!(
        objects.get(&name, 4).unwrap_err(),
        ObjectError::TooLong { bytes: 5, most_bytes: 4, .. }
    ));
    std::fs::remove_file(&path).unwrap();
    let error = objects.get(&name, MANY).unwrap_err();
    assert!(matches!(error, ObjectError::Missing { .. }) && error.to_string().contains(&path), "{error}");
}

#[test]
fn places_are_folders_and_urls_that_can_be_written() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let open = |place: &str| Objects::open(place, runtime.handle());
    assert!(format!("{:?}", open("file:///a/b%20c").unwrap()).contains("/a/b c"));
    assert!(format!("{:?}", open("s3://bucket/a/").unwrap()).contains("s3://bucket/a/"));
    for (wrong, what) in [
        ("", "a path or a URL is needed"),
        ("ftp://host/a", "ftp:// is not read"),
        ("https://host.example/a", "web server"),
        ("s3://", "s3://"),
    ] {
        let error = open(wrong).unwrap_err();
        assert!(error.contains(what), "{wrong}: {error}");
    }
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = Objects::folder(file.path().to_owned()).put(b"bytes").unwrap_err().to_string();
    assert!(error.contains(file.path().to_str().unwrap()), "{error}");
}
