//! Secrets on disk that are not their owner's alone.

use std::{os::unix::fs::PermissionsExt, path::Path};

use super::TlsFiles;

/// Warns of a private key or a token that others on this machine can read. It is a matter of care and no error: some ways to
/// hand out secrets (groups, mounts of containers) mean it so.
pub fn warn_if_shared(path: &Path) {
    if is_shared(path) {
        let path = path.display();
        tracing::warn!("{path} is a secret, and others on this machine can read it: `chmod 600 {path}`");
    }
}

impl TlsFiles {
    /// Warns of a private key that others on this machine can read.
    pub fn warn_if_shared(&self) {
        if let Some((_, key)) = &self.own {
            warn_if_shared(key);
        }
    }
}

fn is_shared(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|file| file.permissions().mode() & 0o077 != 0)
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, set_permissions};

    use super::*;

    #[test]
    fn secrets_are_their_owners_alone() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        for (mode, shared) in [(0o600, false), (0o400, false), (0o640, true), (0o604, true)] {
            set_permissions(file.path(), Permissions::from_mode(mode)).expect("changed");
            assert_eq!(is_shared(file.path()), shared, "{mode:o}");
        }
        assert!(!is_shared(Path::new("/nowhere")));
    }
}
