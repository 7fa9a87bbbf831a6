//! Certificates and keys on disk, and what rustls makes of them.

use std::{
    io::Read,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use rustls::{
    CertificateError, ClientConfig, RootCertStore, ServerConfig,
    client::{WebPkiServerVerifier, danger::ServerCertVerifier},
    crypto::{CryptoProvider, ring},
    pki_types::{
        CertificateDer, PrivateKeyDer, ServerName, UnixTime,
        pem::{self, PemObject},
    },
    server::{NoServerSessionStorage, WebPkiClientVerifier},
    version::TLS13,
};

use super::trouble::{certificate_trouble, is_in_itself};

/// Where one end keeps what it shows and whom it trusts. Read again for every connection that is dialled, so that renewed
/// certificates are used without a restart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The CA that the other end's certificate must come from.
    pub ca: PathBuf,
    /// Our certificate (its chain may follow in the same file), and its private key.
    pub own: Option<(PathBuf, PathBuf)>,
}

/// A certificate or key that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("TLS file {path}: {reason}")]
pub struct TlsError {
    /// Which one.
    pub path: String,
    /// Why, and what to do.
    pub reason: String,
}

/// Certificates with their chains are a few KiB; more is a mistake.
const MAX_BYTES: u64 = 1 << 20;
/// The application protocol between coordinators, workers and users: HTTP/2.
const ALPN: &[u8] = b"h2";
/// That of the page.
const ALPN_OF_PAGE: &[u8] = b"http/1.1";

/// Later than certificates can tell: the last second of the year 9999.
const LAST_DAY: Duration = Duration::from_secs(253_402_300_799);

type Own = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// What a coordinator shows, and where it was read.
struct Shown<'a> {
    cert: &'a Path,
    key: &'a Path,
    chain: Vec<CertificateDer<'static>>,
    private: PrivateKeyDer<'static>,
}

impl TlsFiles {
    /// A folder as `nonet certs issue` makes it.
    #[must_use]
    pub fn in_folder(dir: &Path) -> Self {
        Self { ca: dir.join("ca.pem"), own: Some((dir.join("cert.pem"), dir.join("key.pem"))) }
    }

    /// For the end that dials.
    ///
    /// # Errors
    ///
    /// When a file is missing or no PEM, key and certificate do not fit, or the certificate has expired.
    pub fn client(&self) -> Result<Arc<ClientConfig>, TlsError> {
        let (provider, roots) = (provider(), self.roots()?);
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&TLS13])
            .map_err(|e| error(&self.ca, &e))?
            .with_root_certificates(Arc::clone(&roots));
        let Some((cert, key)) = &self.own else {
            return Ok(with_alpn(builder.with_no_client_auth(), ALPN, |c| &mut c.alpn_protocols));
        };
        let (chain, private) = own(cert, key)?;
        let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider).build();
        let verifier = verifier.map_err(|e| error(&self.ca, &e))?;
        check(cert, verifier.verify_client_cert(&chain[0], &chain[1..], UnixTime::now()))?;
        let config = builder.with_client_auth_cert(chain, private).map_err(|e| misfit(cert, key, &e))?;
        Ok(with_alpn(config, ALPN, |c| &mut c.alpn_protocols))
    }

    /// For the end that listens: whoever comes must show a certificate of the CA.
    ///
    /// # Errors
    ///
    /// As [`TlsFiles::client`], and when there is no certificate.
    pub fn server(&self) -> Result<Arc<ServerConfig>, TlsError> {
        let (provider, roots) = (provider(), self.roots()?);
        let Shown { cert, key, chain, private } = self.shown()?;
        let clients = WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(&provider)).build();
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])
            .map_err(|e| error(cert, &e))?
            .with_client_cert_verifier(clients.map_err(|e| error(&self.ca, &e))?)
            .with_single_cert(chain, private)
            .map_err(|e| misfit(cert, key, &e))?;
        // A session that is resumed would not show its certificate again, which may have expired since.
        config.send_tls13_tickets = 0;
        config.session_storage = Arc::new(NoServerSessionStorage {});
        Ok(with_alpn(config, ALPN, |c| &mut c.alpn_protocols))
    }

    /// For the end that listens to browsers: the same certificate, and none is asked for.
    ///
    /// # Errors
    ///
    /// As [`TlsFiles::server`].
    pub fn page_server(&self) -> Result<Arc<ServerConfig>, TlsError> {
        let Shown { cert, key, chain, private } = self.shown()?;
        let config = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&TLS13])
            .map_err(|e| error(cert, &e))?
            .with_no_client_auth()
            .with_single_cert(chain, private)
            .map_err(|e| misfit(cert, key, &e))?;
        Ok(with_alpn(config, ALPN_OF_PAGE, |c| &mut c.alpn_protocols))
    }

    /// What a coordinator shows, if anybody would believe it.
    fn shown(&self) -> Result<Shown<'_>, TlsError> {
        let Some((cert, key)) = &self.own else {
            return Err(error(&self.ca, &"a coordinator needs a certificate and a key beside the CA"));
        };
        let (chain, private) = own(cert, key)?;
        let verifier = WebPkiServerVerifier::builder_with_provider(self.roots()?, provider());
        let verifier = verifier.build().map_err(|e| error(&self.ca, &e))?;
        // Whom it is for is for those to judge who dial; here it is enough that it can be for anybody.
        let anybody = ServerName::try_from("localhost").map_err(|e| error(cert, &e))?;
        let judged = verifier.verify_server_cert(&chain[0], &chain[1..], &anybody, &[], UnixTime::now());
        check(cert, judged)?;
        Ok(Shown { cert, key, chain, private })
    }

    /// Until when our own certificate is valid, in seconds since 1970. The verifier is asked what it would say at the end of all
    /// days, which is easier than reading a certificate by ourselves.
    #[must_use]
    pub fn expires_unix_s(&self) -> Option<u64> {
        let (cert, _) = self.own.as_ref()?;
        let chain = certificates(cert).ok()?;
        let verifier =
            WebPkiServerVerifier::builder_with_provider(self.roots().ok()?, provider()).build().ok()?;
        let anybody = ServerName::try_from("localhost").ok()?;
        let last_day = UnixTime::since_unix_epoch(LAST_DAY);
        match verifier.verify_server_cert(&chain[0], &chain[1..], &anybody, &[], last_day) {
            Err(rustls::Error::InvalidCertificate(CertificateError::ExpiredContext {
                not_after, ..
            })) => Some(not_after.as_secs()),
            _ => None,
        }
    }

    fn roots(&self) -> Result<Arc<RootCertStore>, TlsError> {
        let mut roots = RootCertStore::empty();
        for certificate in certificates(&self.ca)? {
            roots.add(certificate).map_err(|e| error(&self.ca, &format!("no certificate of a CA: {e}")))?;
        }
        Ok(Arc::new(roots))
    }
}

/// The one TLS provider; a second one in the process would be a panic in the wrong moment.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn with_alpn<C>(mut config: C, protocol: &[u8], protocols: fn(&mut C) -> &mut Vec<Vec<u8>>) -> Arc<C> {
    protocols(&mut config).push(protocol.to_vec());
    Arc::new(config)
}

/// A certificate that would be refused by everybody is refused here, where its owner sees it.
fn check<T>(path: &Path, judged: Result<T, rustls::Error>) -> Result<(), TlsError> {
    match judged {
        Err(rustls::Error::InvalidCertificate(e)) if is_in_itself(&e) => {
            Err(error(path, &format!("this certificate {}", certificate_trouble(&e))))
        }
        // Another CA than the one that we trust may be what the other end trusts.
        _ => Ok(()),
    }
}

fn own(cert: &Path, key: &Path) -> Result<Own, TlsError> {
    let private = PrivateKeyDer::from_pem_slice(&read(key)?).map_err(|e| match e {
        pem::Error::NoItemsFound => {
            error(key, &"no private key in PEM form in it (-----BEGIN PRIVATE KEY-----)")
        }
        e => error(key, &e),
    })?;
    Ok((certificates(cert)?, private))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&read(path)?).collect();
    let found = found.map_err(|e| error(path, &e))?;
    if found.is_empty() {
        return Err(error(path, &"no certificate in PEM form in it (-----BEGIN CERTIFICATE-----)"));
    }
    Ok(found)
}

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(|e| error(path, &e))?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|e| error(path, &e))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(error(path, &format!("more than {MAX_BYTES} bytes: this is no certificate or key")));
    }
    Ok(bytes)
}

fn error(path: &Path, reason: &dyn std::fmt::Display) -> TlsError {
    TlsError { path: path.display().to_string(), reason: reason.to_string() }
}

fn misfit(cert: &Path, key: &Path, why: &rustls::Error) -> TlsError {
    match why {
        rustls::Error::InconsistentKeys(_) => {
            error(key, &format!("this key is not that of the certificate {}", cert.display()))
        }
        rustls::Error::InvalidCertificate(e) => {
            error(cert, &format!("this certificate {}", certificate_trouble(e)))
        }
        why => error(key, why),
    }
}
