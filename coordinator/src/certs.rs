//! A certificate authority for development, and for farms that have none: a folder with a key.
//!
//! A coordinator's certificate is for servers only and all others are for clients only, so that a stolen certificate of a worker
//! makes no coordinator.

use std::{
    fs::{self, OpenOptions},
    io::{ErrorKind, Write},
    net::IpAddr,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose, SanType,
};
use rustls::pki_types::{CertificateDer, DnsName, UnixTime, pem::PemObject};
use webpki::{EndEntityCert, KeyUsage, anchor_from_trusted_cert};

use crate::access::{Identity, Role, certificate_uri, check_name};

/// How long the authority lasts.
const CA_DAYS: u64 = 3650;
/// Longest life of a certificate, in days.
pub const MAX_DAYS: u64 = 3650;
/// Clocks of other machines may be behind.
const BACKDATED: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);
/// The authority's subject. Its key makes it what it is.
const CA_NAME: &str = "Nonet certificate authority";

const CA_CERT: &str = "ca.pem";
const CA_KEY: &str = "ca-key.pem";

/// What a certificate is to say.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Whom it is for.
    pub identity: Identity,
    /// Names and addresses of a coordinator's machine.
    pub hosts: Vec<String>,
    /// How long it lasts; 0 makes one that has expired.
    pub days: u64,
}

/// What goes wrong, in words.
pub type Trouble = String;

/// Makes an authority in `dir`.
///
/// # Errors
///
/// When there is one, unless `force`, and when the files cannot be written.
pub fn init(dir: &Path, force: bool) -> Result<(), Trouble> {
    let (cert, key) = (dir.join(CA_CERT), dir.join(CA_KEY));
    for path in [&cert, &key] {
        refuse_existing(
            path,
            force,
            "--force replaces it, and then no certificate made with it is accepted any more",
        )?;
    }
    let pair = KeyPair::generate().map_err(text)?;
    let made = ca_params(CA_DAYS)?.self_signed(&pair).map_err(text)?;
    fs::create_dir_all(dir).map_err(|e| at(dir, &e))?;
    write(&key, &pair.serialize_pem(), true)?;
    write(&cert, &made.pem(), false)
}

/// Makes a certificate in the folder `out` with the authority in `dir`: ca.pem, cert.pem, key.pem.
///
/// # Errors
///
/// When there is no authority, the names are none, there is a certificate already, unless `force`, and when the files cannot be
/// written.
pub fn issue(dir: &Path, wanted: &Wanted, out: &Path, force: bool) -> Result<(), Trouble> {
    let params = params(wanted)?;
    let (ca, pair) = authority(dir)?;
    let (cert, key) = (out.join("cert.pem"), out.join("key.pem"));
    for path in [&cert, &key] {
        refuse_existing(path, force, "--force replaces it")?;
    }
    // A folder that trusts another authority would no longer, and its owner has not asked for that.
    let trusted = out.join(CA_CERT);
    if fs::read_to_string(&trusted).ok().as_ref() != Some(&ca) {
        refuse_existing(&trusted, force, "it is that of another authority; --force replaces it")?;
    }
    let ca_params = ca_params(CA_DAYS)?;
    let issuer = Issuer::from_params(&ca_params, pair);
    let own = KeyPair::generate().map_err(text)?;
    let made = params.signed_by(&own, &issuer).map_err(text)?;
    verify(made.der(), &ca, wanted.identity.role).map_err(|e| {
        let (cert, key) = (dir.join(CA_CERT), dir.join(CA_KEY));
        format!(
            "{} was not made by `nonet certs init`, or {} is not its key ({e})",
            cert.display(),
            key.display()
        )
    })?;
    fs::create_dir_all(out).map_err(|e| at(out, &e))?;
    write(&key, &own.serialize_pem(), true)?;
    write(&cert, &made.pem(), false)?;
    write(&trusted, &ca, false)
}

/// The authority's certificate, as text, and its key.
fn authority(dir: &Path) -> Result<(String, KeyPair), Trouble> {
    let read = |name: &str| {
        let path = dir.join(name);
        fs::read_to_string(&path).map_err(|e| {
            let hint = if e.kind() == ErrorKind::NotFound { " (`nonet certs init` makes it)" } else { "" };
            format!("{}{hint}", at(&path, &e))
        })
    };
    let (ca, key) = (read(CA_CERT)?, read(CA_KEY)?);
    let pair = KeyPair::from_pem(&key).map_err(|e| at(&dir.join(CA_KEY), &e))?;
    Ok((ca, pair))
}

fn ca_params(days: u64) -> Result<CertificateParams, Trouble> {
    let mut params = dated(days)?;
    params.distinguished_name = named(CA_NAME);
    // It signs certificates of ends only, never another authority's.
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    Ok(params)
}

fn params(wanted: &Wanted) -> Result<CertificateParams, Trouble> {
    let Wanted { identity, hosts, days } = wanted;
    check_name(&identity.name)?;
    if *days > MAX_DAYS {
        return Err(format!("--days {days}: at most {MAX_DAYS}"));
    }
    let is_server = identity.role == Role::Coordinator;
    if !is_server && !hosts.is_empty() {
        return Err(format!(
            "--host is for coordinators, which others dial: a {} has no use for it",
            identity.role
        ));
    }
    let mut params = dated(*days)?;
    params.distinguished_name = named(&identity.name);
    params.use_authority_key_identifier_extension = true;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    let purpose =
        if is_server { ExtendedKeyUsagePurpose::ServerAuth } else { ExtendedKeyUsagePurpose::ClientAuth };
    params.extended_key_usages = vec![purpose];
    params.subject_alt_names.push(SanType::URI(certificate_uri(identity).try_into().map_err(text)?));
    if is_server {
        let always = [identity.name.as_str(), "localhost", "127.0.0.1", "::1"];
        let mut names: Vec<&str> = hosts.iter().map(String::as_str).collect();
        names.extend(always.into_iter().filter(|name| !hosts.iter().any(|host| host == name)));
        for name in names {
            match host(name) {
                Ok(san) => params.subject_alt_names.push(san),
                // A name with an underscore is no host, and need not be.
                Err(_) if name == identity.name => {}
                Err(why) => return Err(why),
            }
        }
    }
    Ok(params)
}

fn host(name: &str) -> Result<SanType, Trouble> {
    if let Ok(address) = name.parse::<IpAddr>() {
        return Ok(SanType::IpAddress(address));
    }
    let bad = || format!("--host {name:?}: expected a host name such as head.example.org, or an IP address");
    DnsName::try_from(name.strip_prefix("*.").unwrap_or(name)).map_err(|_| bad())?;
    Ok(SanType::DnsName(name.try_into().map_err(|_| bad())?))
}

fn named(name: &str) -> DistinguishedName {
    let mut subject = DistinguishedName::new();
    subject.push(DnType::CommonName, name);
    subject
}

/// Valid from an hour ago for so many days; for none of them, until a moment ago.
fn dated(days: u64) -> Result<CertificateParams, Trouble> {
    let now = SystemTime::now();
    let mut params = CertificateParams::default();
    let life = DAY.saturating_mul(u32::try_from(days).map_err(text)?);
    let end = if days == 0 { now - Duration::from_secs(1) } else { now + life };
    (params.not_before, params.not_after) = ((now - BACKDATED).into(), end.into());
    Ok(params)
}

/// What was made must be accepted by those who get to see it.
fn verify(made: &CertificateDer<'_>, ca: &str, role: Role) -> Result<(), Trouble> {
    let ca = CertificateDer::from_pem_slice(ca.as_bytes()).map_err(text)?;
    let anchor = anchor_from_trusted_cert(&ca).map_err(text)?;
    let usage = if role == Role::Coordinator { KeyUsage::server_auth() } else { KeyUsage::client_auth() };
    // Before the end of one that has expired, too.
    let then = SystemTime::now() - BACKDATED / 2;
    let then = UnixTime::since_unix_epoch(then.duration_since(SystemTime::UNIX_EPOCH).map_err(text)?);
    let algorithms = rustls::crypto::ring::default_provider().signature_verification_algorithms.all;
    let end = EndEntityCert::try_from(made).map_err(text)?;
    end.verify_for_usage(algorithms, &[anchor], &[], then, usage, None, None).map(drop).map_err(text)
}

fn refuse_existing(path: &Path, force: bool, hint: &str) -> Result<(), Trouble> {
    if !force && path.symlink_metadata().is_ok() {
        return Err(format!("{} is there already: {hint}", path.display()));
    }
    Ok(())
}

/// Writes a file whole, then renames it. A private one is so from its first byte on.
fn write(path: &Path, text: &str, private: bool) -> Result<(), Trouble> {
    let aside = PathBuf::from(format!("{}.new", path.display()));
    let write = || {
        drop(fs::remove_file(&aside));
        let mode = if private { 0o600 } else { 0o644 };
        let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&aside)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&aside, path)
    };
    write().map_err(|e| at(path, &e))
}

fn at(path: &Path, error: &dyn std::fmt::Display) -> Trouble {
    format!("{}: {error}", path.display())
}

#[allow(clippy::needless_pass_by_value, reason = "made for map_err")]
fn text(error: impl std::fmt::Display) -> Trouble {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use worker::tls::TlsFiles;

    use super::*;
    use crate::access::certificate_identity;

    fn wanted(name: &str, role: Role) -> Wanted {
        Wanted { identity: Identity { name: name.into(), role }, hosts: Vec::new(), days: 1 }
    }

    #[test]
    fn certificates_say_whom_they_are_for_and_serve_for_nothing_else() {
        let dir = tempfile::tempdir().expect("a folder");
        let dir = dir.path();
        init(dir, false).expect("an authority");
        for role in [Role::Worker, Role::Viewer, Role::Operator, Role::Coordinator] {
            let out = dir.join(role.name());
            issue(dir, &wanted("n.1", role), &out, false).expect("issued");
            let cert = CertificateDer::from_pem_file(out.join("cert.pem")).expect("a certificate");
            assert_eq!(certificate_identity(&cert), Ok(Identity { name: "n.1".into(), role }));
            let files = TlsFiles::in_folder(&out);
            let (client, server) = (files.client(), files.server());
            assert_eq!(
                (client.is_ok(), server.is_ok()),
                (role != Role::Coordinator, role == Role::Coordinator)
            );
            let reason = client.err().or(server.err()).expect("one of them").reason;
            assert!(reason.contains("was not made for this"), "{reason}");
            let mode = fs::metadata(out.join("key.pem")).expect("a key").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        assert_eq!(fs::metadata(dir.join(CA_KEY)).expect("a key").permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn nothing_is_overwritten_and_nothing_wrong_is_made() {
        let dir = tempfile::tempdir().expect("a folder");
        let dir = dir.path();
        let out = dir.join("out");
        let good = wanted("a", Role::Worker);
        assert!(issue(dir, &good, &out, false).expect_err("no authority").contains("certs init"));
        init(dir, false).expect("an authority");
        assert!(init(dir, false).expect_err("there already").contains("--force"));
        let names = ["", "a b", "a/b", "-a", "ä", &"x".repeat(65)];
        for name in names {
            assert!(issue(dir, &wanted(name, Role::Worker), &out, false).is_err(), "{name}");
        }
        let hosts = |role, host: &str| Wanted { hosts: vec![host.into()], ..wanted("a", role) };
        assert!(
            issue(dir, &hosts(Role::Worker, "a"), &out, false).expect_err("no host").contains("coordinators")
        );
        for bad in ["", "a b", "-x-", "http://a", "a:1"] {
            assert!(issue(dir, &hosts(Role::Coordinator, bad), &out, false).is_err(), "{bad:?}");
        }
        assert!(!out.exists());
        issue(dir, &good, &out, false).expect("issued");
        assert!(issue(dir, &good, &out, false).expect_err("there already").contains("--force"));
        issue(dir, &good, &out, true).expect("issued again");
        // A folder that trusts another authority.
        let trusting = dir.join("trusting");
        fs::create_dir(&trusting).expect("a folder");
        fs::write(trusting.join(CA_CERT), "another").expect("written");
        let error = issue(dir, &good, &trusting, false).expect_err("there already");
        assert!(error.contains("another authority") && error.contains("--force"), "{error}");
        assert_eq!(fs::read_dir(&trusting).expect("a folder").count(), 1);
        issue(dir, &good, &trusting, true).expect("issued");
        // A key of another authority.
        let other = dir.join("other");
        init(&other, false).expect("an authority");
        fs::copy(other.join(CA_KEY), dir.join(CA_KEY)).expect("copied");
        assert!(issue(dir, &good, &out, true).expect_err("a misfit").contains("not its key"));
    }

    #[test]
    fn files_that_cannot_be_used_are_named_with_what_is_wrong() {
        let dir = tempfile::tempdir().expect("a folder");
        let dir = dir.path();
        init(dir, false).expect("an authority");
        let folder = |name: &str, days| {
            let out = dir.join(name);
            issue(dir, &Wanted { days, ..wanted(name, Role::Worker) }, &out, false).expect("issued");
            TlsFiles::in_folder(&out)
        };
        let (good, other, old) = (folder("good", 1), folder("other", 1), folder("old", 0));
        let reason = |files: &TlsFiles| files.client().expect_err("refused").to_string();
        assert!(reason(&old).contains("has expired"), "{}", reason(&old));
        let own = |cert: &TlsFiles, key: &TlsFiles| {
            let (cert, _) = cert.own.clone().expect("own");
            let (_, key) = key.own.clone().expect("own");
            TlsFiles { ca: good.ca.clone(), own: Some((cert, key)) }
        };
        let mixed = reason(&own(&good, &other));
        assert!(mixed.contains("not that of the certificate") && mixed.contains("other/key.pem"), "{mixed}");
        let (cert, key) = good.own.clone().expect("own");
        let swapped = reason(&TlsFiles { ca: good.ca.clone(), own: Some((key.clone(), cert.clone())) });
        assert!(swapped.contains("in PEM form"), "{swapped}");
        let missing = reason(&TlsFiles { ca: dir.join("nowhere.pem"), own: Some((cert, key)) });
        assert!(missing.contains("nowhere.pem") && missing.contains("No such file"), "{missing}");
        let noise = dir.join("noise.pem");
        fs::write(&noise, vec![0xff; 2 << 20]).expect("written");
        assert!(reason(&TlsFiles { ca: noise, own: None }).contains("more than"));
        assert!(good.client().is_ok());
    }
}
