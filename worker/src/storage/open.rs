//! Opening stores, and their errors in words.

use std::{sync::Arc, time::Duration};

use object_store::{
    ClientOptions, Error, ObjectStore, ObjectStoreScheme, RetryConfig, aws::AmazonS3Builder,
    azure::MicrosoftAzureBuilder, gcp::GoogleCloudStorageBuilder, http::HttpBuilder,
};
use url::{Position, Url};

/// Repetitions of a request that failed.
const RETRIES: usize = 4;

/// After so long no request is repeated.
const RETRY_TIMEOUT: Duration = Duration::from_secs(60);

/// Bytes of an error's text at most.
const MOST_ERROR_BYTES: usize = 600;

/// Opens the store of a URL, with what the environment says.
pub(super) fn open(scheme: &ObjectStoreScheme, url: &Url) -> Result<Arc<dyn ObjectStore>, Error> {
    let retry = RetryConfig { max_retries: RETRIES, retry_timeout: RETRY_TIMEOUT, ..RetryConfig::default() };
    let text = url.as_str();
    Ok(match scheme {
        ObjectStoreScheme::AmazonS3 => {
            Arc::new(AmazonS3Builder::from_env().with_url(text).with_retry(retry).build()?)
        }
        ObjectStoreScheme::GoogleCloudStorage => {
            Arc::new(GoogleCloudStorageBuilder::from_env().with_url(text).with_retry(retry).build()?)
        }
        ObjectStoreScheme::MicrosoftAzure => {
            Arc::new(MicrosoftAzureBuilder::from_env().with_url(text).with_retry(retry).build()?)
        }
        ObjectStoreScheme::Http => {
            let base = &url[..Position::BeforePath];
            let builder = HttpBuilder::new().with_url(base).with_client_options(web(url));
            Arc::new(builder.with_retry(retry).build()?)
        }
        other => return Err(Error::NotSupported { source: format!("{other:?} is not read").into() }),
    })
}

/// What was asked for with encryption stays encrypted, wherever a server sends us on to.
fn web(url: &Url) -> ClientOptions {
    ClientOptions::new().with_allow_http(url.scheme() == "http")
}

/// An error in one line that begins with the URL.
pub(super) fn words(at: &str, error: &Error) -> String {
    let mut text = match error {
        Error::NotFound { source, .. } => format!("there is no such object, or no such bucket: {source}"),
        other => other.to_string(),
    };
    text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = (0..=MOST_ERROR_BYTES.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    text.truncate(end.unwrap_or(0));
    // Addresses that are only asked when the environment gives no keys.
    if text.contains("169.254.169.254") || text.contains("metadata.google.internal") {
        text += " (there are no keys in the environment, as in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; \
                 AWS_SKIP_SIGNATURE=true reads what is public)";
    }
    format!("{at}: {text}")
}

#[cfg(test)]
mod tests {
    use object_store::ClientConfigKey;

    use super::*;

    #[test]
    fn what_is_asked_for_with_encryption_is_not_redirected_to_plain_text() {
        for (url, plainly) in [("http://host/list", "true"), ("https://host/list", "false")] {
            let url = Url::parse(url).expect("a URL");
            let allowed = web(&url).get_config_value(&ClientConfigKey::AllowHttp);
            assert_eq!(allowed.as_deref(), Some(plainly), "{url}");
        }
    }
}
