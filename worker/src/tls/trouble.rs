//! What goes wrong between two machines, in words for the one who dialled.

use std::{error::Error, fmt, io};

use rustls::{AlertDescription, CertificateError, pki_types::UnixTime};

use super::TlsFiles;

/// Whose certificate is at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The coordinator does not take ours. It said so under its own trusted key, after the handshake.
    Ours,
    /// We do not take the coordinator's: perhaps it is not the coordinator at all.
    Theirs,
}

/// Why there is no safe connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsTrouble {
    /// Whose certificate is at fault.
    pub fault: Fault,
    /// In words, with what to do.
    pub text: String,
}

impl fmt::Display for TlsTrouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for TlsTrouble {}

impl TlsTrouble {
    /// Reads an error of the handshake. Until that is over nobody has proved who they are, and an alert may come from
    /// anybody on the way: it is never the coordinator's word on us.
    #[must_use]
    pub fn in_handshake(error: &io::Error, host: &str, files: &TlsFiles) -> Option<Self> {
        match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
            Some(rustls::Error::AlertReceived(alert)) => Some(Self::ended(*alert)),
            _ => Self::after_handshake(error, host, files),
        }
    }

    fn ended(alert: AlertDescription) -> Self {
        Self { fault: Fault::Theirs, text: format!("the other end ended the TLS handshake ({alert:?})") }
    }

    /// Reads an error of the first word after the handshake: in TLS 1.3 a server judges the client's certificate when the
    /// client's handshake is over already.
    #[must_use]
    pub fn after_handshake(error: &io::Error, host: &str, files: &TlsFiles) -> Option<Self> {
        let ours = |text: String| Some(Self { fault: Fault::Ours, text });
        let theirs = |text: String| Some(Self { fault: Fault::Theirs, text });
        let cert = files.own.as_ref().map_or("(none)".into(), |(cert, _)| cert.display().to_string());
        let ca = files.ca.display();
        match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
            Some(rustls::Error::InvalidCertificate(e)) => match e {
                CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                    theirs(format!("the coordinator's certificate comes from another CA than {ca}"))
                }
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                    theirs(format!(
                        "the coordinator's certificate {}: `nonet certs issue NAME --role coordinator --host {host}` \
                         makes one for {host}",
                        certificate_trouble(e)
                    ))
                }
                e => theirs(format!("the coordinator's certificate {}", certificate_trouble(e))),
            },
            Some(rustls::Error::AlertReceived(alert)) => match alert {
                AlertDescription::CertificateRequired => ours(
                    "the coordinator asks for a certificate: give one with --tls DIR, or --tls-cert and --tls-key"
                        .into(),
                ),
                AlertDescription::UnknownCA | AlertDescription::DecryptError => ours(format!(
                    "the coordinator does not take our certificate {cert}: it comes from another CA than it trusts"
                )),
                AlertDescription::CertificateExpired => ours(format!(
                    "the coordinator does not take our certificate {cert}: by its clock it has expired, or is not valid yet"
                )),
                AlertDescription::UnsupportedCertificate => ours(format!(
                    "the coordinator does not take our certificate {cert}: it was not made for clients"
                )),
                AlertDescription::BadCertificate
                | AlertDescription::CertificateRevoked
                | AlertDescription::CertificateUnknown
                | AlertDescription::AccessDenied => {
                    ours(format!("the coordinator does not take our certificate {cert} ({alert:?})"))
                }
                alert => Some(Self::ended(*alert)),
            },
            Some(rustls::Error::InvalidMessage(_)) => {
                theirs("what answers there does not speak TLS: is it http:// rather than https://?".into())
            }
            Some(other) => theirs(format!("the TLS handshake failed: {other}")),
            None if error.kind() == io::ErrorKind::UnexpectedEof => theirs(
                "the connection was closed during the TLS handshake: is it http:// rather than https://, or is the \
                 coordinator full?"
                    .into(),
            ),
            None => None,
        }
    }
}

/// What is wrong with a certificate, behind a subject.
#[must_use]
pub fn certificate_trouble(error: &CertificateError) -> String {
    match error {
        CertificateError::Expired => "has expired".into(),
        CertificateError::ExpiredContext { time, not_after } => {
            format!("has expired {} ago (or this machine's clock is wrong)", ago(*not_after, *time))
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "is not valid yet (or this machine's clock is wrong)".into()
        }
        CertificateError::NotValidForNameContext { expected, presented } => {
            let names = presented.iter().map(|name| plain(name)).collect::<Vec<_>>().join(", ");
            format!(
                "is for {}, not for {}",
                if names.is_empty() { "no host" } else { &names },
                expected.to_str()
            )
        }
        CertificateError::NotValidForName => "is not for this host".into(),
        CertificateError::UnknownIssuer | CertificateError::BadSignature => "comes from another CA".into(),
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "was not made for this: coordinators need one of role coordinator, all others one of another role"
                .into()
        }
        other => format!("is not valid: {other}"),
    }
}

/// Whether a certificate is wrong whoever looks at it.
pub(super) fn is_in_itself(error: &CertificateError) -> bool {
    use CertificateError as E;
    matches!(
        error,
        E::Expired
            | E::ExpiredContext { .. }
            | E::NotValidYet
            | E::NotValidYetContext { .. }
            | E::InvalidPurpose
            | E::InvalidPurposeContext { .. }
            | E::BadEncoding
    )
}

/// webpki tells names as `DnsName("head")`.
fn plain(name: &str) -> String {
    let inner = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')')).unwrap_or(name);
    inner.trim_matches('"').into()
}

fn ago(then: UnixTime, now: UnixTime) -> String {
    let seconds = now.as_secs().saturating_sub(then.as_secs());
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}
