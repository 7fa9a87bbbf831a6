//! Certificates for tests.

use std::path::{Path, PathBuf};

use coordinator::{
    access::{Identity, Role},
    certs::{self, Wanted},
};

/// A certificate authority that is gone when the test is over.
pub struct Authority(tempfile::TempDir);

impl Authority {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        certs::init(dir.path(), false).expect("an authority");
        Self(dir)
    }

    pub fn ca(&self) -> String {
        text(&self.0.path().join("ca.pem"))
    }

    /// A folder for --tls.
    pub fn issue(&self, name: &str, role: Role) -> String {
        self.issue_for(name, role, 1, &[])
    }

    /// The same, for so many days and for hosts; also when there is one of the name.
    pub fn issue_for(&self, name: &str, role: Role, days: u64, hosts: &[&str]) -> String {
        let out: PathBuf = self.0.path().join(name);
        let hosts = hosts.iter().map(ToString::to_string).collect();
        let wanted = Wanted { identity: Identity { name: name.into(), role }, hosts, days };
        certs::issue(self.0.path(), &wanted, &out, true).expect("a certificate");
        text(&out)
    }
}

fn text(path: &Path) -> String {
    path.to_str().expect("UTF-8").into()
}
