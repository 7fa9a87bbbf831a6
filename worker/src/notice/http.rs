//! Questions over HTTP: short, bounded, and never followed elsewhere.

use std::time::Duration;

use reqwest::{Client, Method, redirect::Policy};
use url::Url;

/// No endpoint of a machine's own network takes longer.
const PATIENCE: Duration = Duration::from_secs(4);
/// Bytes of an answer that are read.
const MAX_BYTES: usize = 256 << 10;

/// Asks.
pub struct Http(Client);

/// What was answered.
pub struct Answer {
    pub code: u16,
    pub text: String,
}

impl Http {
    /// With encryption the system's authorities are trusted; without it none is looked for, as images without any file exist. The
    /// environment's proxy is for what is asked elsewhere, not for a machine's questions about itself.
    pub fn new(encrypted: bool, may_use_proxy: bool) -> Result<Self, String> {
        // Whoever was first has installed the same one.
        drop(rustls::crypto::ring::default_provider().install_default());
        let mut builder = Client::builder().timeout(PATIENCE).redirect(Policy::none());
        if !encrypted {
            builder = builder.tls_certs_only([]);
        }
        if !may_use_proxy {
            builder = builder.no_proxy();
        }
        builder.build().map(Self).map_err(|error| words(&error))
    }

    pub async fn get(&self, url: &Url, headers: &[(&'static str, &str)]) -> Result<Answer, String> {
        self.send(Method::GET, url, headers).await
    }

    pub async fn send(
        &self,
        method: Method,
        url: &Url,
        headers: &[(&'static str, &str)],
    ) -> Result<Answer, String> {
        let mut request = self.0.request(method, url.clone());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut answer = request.send().await.map_err(|error| words(&error))?;
        let mut bytes = Vec::new();
        while let Some(some) = answer.chunk().await.map_err(|error| words(&error))? {
            if bytes.len() + some.len() > MAX_BYTES {
                return Err(format!("an answer of more than {MAX_BYTES} bytes"));
            }
            bytes.extend_from_slice(&some);
        }
        Ok(Answer { code: answer.status().as_u16(), text: String::from_utf8_lossy(&bytes).into_owned() })
    }
}

/// The innermost cause: what stands around it repeats the URL.
fn words(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    proto::bounded_text(cause.to_string())
}
