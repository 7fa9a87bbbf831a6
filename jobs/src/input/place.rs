//! What a user may call a place: a path, or the URL of an object.

use std::path::Path;

use percent_encoding::percent_decode_str;

/// Kinds of URLs that workers read. `file` is not among them: it stands for a path.
const SCHEMES: [&str; 10] = ["s3", "s3a", "gs", "az", "adl", "azure", "abfs", "abfss", "http", "https"];

/// Bytes of a place at most.
const MOST_BYTES: usize = 4096;

/// Whether a place is the URL of an object, not a path.
pub fn is_url(place: &str) -> bool {
    scheme(place).is_some()
}

fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once("://")?;
    let letter = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    (!scheme.is_empty() && scheme.chars().all(letter)).then_some(scheme)
}

/// The place that a text names: an absolute path or a URL.
///
/// # Errors
///
/// When it names none, or one that nobody here can reach.
pub fn read(text: &str) -> Result<String, String> {
    match scheme(text) {
        None if text.is_empty() => Err("a path or a URL is needed".into()),
        None => absolute(text),
        Some("file") => absolute(&path_of(text)?),
        Some(_) => check(text).map(|()| text.to_owned()),
    }
}

fn absolute(path: &str) -> Result<String, String> {
    let path = std::path::absolute(path).map_err(|error| format!("{path}: {error}"))?;
    path.into_os_string().into_string().map_err(|path| format!("{}: the path is not UTF-8", path.display()))
}

/// The path that a `file` URL stands for.
fn path_of(url: &str) -> Result<String, String> {
    let rest = url.strip_prefix("file://").unwrap_or(url);
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') || path.contains(['?', '#']) {
        return Err(format!("{url}: expected file:///PATH, without a host"));
    }
    let path = percent_decode_str(path).decode_utf8();
    path.map(Into::into).map_err(|_| format!("{url}: the path is not UTF-8"))
}

/// Whether a place can be in a job's settings, which may come from anywhere.
pub fn check(place: &str) -> Result<(), String> {
    if place.len() > MOST_BYTES || place.contains(|c: char| c.is_control()) {
        return Err("a path or URL is too long, or has control characters".into());
    }
    match scheme(place) {
        None if Path::new(place).is_absolute() => Ok(()),
        None => Err(format!("{place}: an absolute path is needed")),
        Some(scheme) if !SCHEMES.contains(&scheme) => {
            Err(format!("{place}: {scheme}:// is not read; s3, gs, az, abfss, http, https and file are"))
        }
        // It would be seen by all who see the job.
        Some(scheme) if has_password(scheme, place) => {
            Err("a URL must not have a password in it: it would be part of the job's settings".into())
        }
        Some(_) if place.contains(['?', '#']) => {
            Err(format!("{place}: a URL must not have ? or # (write %3F or %23 where they belong to a name)"))
        }
        Some(_) => Ok(()),
    }
}

fn has_password(scheme: &str, url: &str) -> bool {
    let rest = &url[scheme.len() + 3..];
    let authority = rest.split('/').next().unwrap_or(rest);
    // In abfss://CONTAINER@ACCOUNT... what stands before the @ is no user.
    authority.split_once('@').is_some_and(|(user, _)| user.contains(':') || scheme.starts_with("http"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_urls_are_told_apart() {
        assert_eq!(read("/a/b").unwrap(), "/a/b");
        assert!(read("b").unwrap().ends_with("/b") && read("b").unwrap().starts_with('/'));
        assert_eq!(read("file:///a/b%20c").unwrap(), "/a/b c");
        assert_eq!(read("file://localhost/a").unwrap(), "/a");
        assert_eq!(read("s3://bucket/a%3Fb").unwrap(), "s3://bucket/a%3Fb");
        assert!(!is_url("/a://b") && !is_url("a/b") && is_url("gs://b/c"));
        for (wrong, what) in [
            ("", "needed"),
            ("file://host/a", "file:///PATH"),
            ("ftp://host/a", "ftp:// is not read"),
            ("https://user:word@host/a", "password"),
            ("https://token@host/a", "password"),
            ("s3://bucket/a?b", "%3F"),
        ] {
            let error = read(wrong).unwrap_err();
            assert!(error.contains(what) && !error.contains("word@"), "{wrong}: {error}");
        }
        assert!(check("abfss://container@account.dfs.core.windows.net/a").is_ok());
        for wrong in ["a/b", "s3://a\nb", "memory:///a", &"/a".repeat(4096)] {
            assert!(check(wrong).is_err(), "{wrong}");
        }
    }
}
