//! Who is calling.

use std::net::SocketAddr;

use rustls::pki_types::CertificateDer;

use super::role::{Right, Role};
use crate::ledger::Actor;

/// Longest name of a person or machine.
pub const MAX_NAME_BYTES: usize = 64;
/// Certificates carry role and name as one URI, `nonet://ROLE/NAME`, among the names they are for. That is a field with one
/// spelling, which the TLS library reads; a subject has many.
const SCHEME: &str = "nonet://";

/// Somebody with a name, by a certificate or a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// As an operator wrote it.
    pub name: String,
    /// What it may do.
    pub role: Role,
}

/// Who has sent a request.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Caller {
    /// By what was shown: a token, a certificate, or both; then both must have the right. Empty where nothing is asked for.
    pub identities: Vec<Identity>,
    /// From where; none inside this process.
    pub peer: Option<SocketAddr>,
}

impl Caller {
    /// Whether all that was shown has the right.
    ///
    /// # Errors
    ///
    /// In words: who has what, and what is needed.
    pub fn may(&self, right: Right) -> Result<(), String> {
        match self.identities.iter().find(|identity| !identity.role.has(right)) {
            None => Ok(()),
            Some(Identity { name, role }) => {
                Err(format!("{name} has role {role}, and this needs {}", right.needed()))
            }
        }
    }

    /// For the record.
    pub fn actor(&self) -> Actor {
        let joined =
            |text: fn(&Identity) -> &str| self.identities.iter().map(text).collect::<Vec<_>>().join(" with ");
        let known = !self.identities.is_empty();
        let local = self.peer.is_none_or(|peer| peer.ip().to_canonical().is_loopback());
        Actor {
            who: match (known, local) {
                (true, _) => joined(|identity| &identity.name),
                (false, true) => "local".into(),
                (false, false) => "anybody".into(),
            },
            role: if known { joined(|identity| identity.role.name()) } else { String::new() },
            peer: self.peer.map_or(String::new(), |peer| peer.to_string()),
        }
    }
}

/// Names go into certificates, files, logs and tables, so they are plain.
///
/// # Errors
///
/// When the name is none.
pub fn check_name(name: &str) -> Result<(), String> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    let first = name.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric());
    if first && name.len() <= MAX_NAME_BYTES && name.bytes().all(plain) {
        return Ok(());
    }
    Err(format!(
        "name {name:?}: expected 1 to {MAX_NAME_BYTES} letters, digits, dots, dashes and underscores"
    ))
}

/// How a certificate says who it is for.
pub fn certificate_uri(identity: &Identity) -> String {
    format!("{SCHEME}{}/{}", identity.role, identity.name)
}

/// Whom a certificate is for. It has been verified.
///
/// # Errors
///
/// When it does not say, or says it twice.
pub fn certificate_identity(certificate: &CertificateDer<'_>) -> Result<Identity, String> {
    let parsed = webpki::EndEntityCert::try_from(certificate);
    let parsed = parsed.map_err(|e| format!("this certificate cannot be read: {e}"))?;
    let mut ours = parsed.valid_uri_names().filter_map(|uri| uri.strip_prefix(SCHEME));
    let Some(uri) = ours.next() else {
        return Err(format!(
            "this certificate names no role ({SCHEME}ROLE/NAME among its alternative names): `nonet certs issue` makes \
             one that does"
        ));
    };
    if ours.next().is_some() {
        return Err("this certificate names several roles".into());
    }
    let (role, name) = uri.split_once('/').unwrap_or((uri, ""));
    let role =
        Role::parse(role).ok_or_else(|| format!("this certificate names a role that is none: {role:?}"))?;
    check_name(name).map_err(|e| format!("this certificate: {e}"))?;
    Ok(Identity { name: name.into(), role })
}
