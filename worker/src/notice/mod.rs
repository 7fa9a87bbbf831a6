//! Notices that this machine is about to go: from a file, a command, or an HTTP endpoint as clouds have them for spot
//! machines. A notice does what SIGTERM does: the worker commits what is done, hands the rest back, and ends in time.
//!
//! A source that does not answer says nothing about the machine: that is logged once, and asked again.

mod cloud;
mod command;
mod http;

use std::{fmt, path::PathBuf, str::FromStr, time::Duration};

use tokio_util::sync::CancellationToken;
use url::Url;

use self::{cloud::Cloud, http::Http};

/// Where a notice comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The machine goes when this file exists.
    File(PathBuf),
    /// It goes when this command, run by a shell, ends with 0.
    Command(String),
    /// It goes when this URL answers 200.
    Url(Url),
    /// It goes when the cloud that it is a machine of says so.
    Cloud(Cloud),
}

/// Sources of a worker at most.
pub const MAX_NOTICES: usize = 16;
/// Time between two looks at a file.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Time between two questions.
const ASK_EVERY: Duration = Duration::from_secs(5);
/// The longest text that is read as a source.
const MAX_TEXT_BYTES: usize = 4 << 10;

impl FromStr for Notice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| Err(format!("--notice {text:?}: {why}"));
        if text.len() > MAX_TEXT_BYTES {
            return Err(format!("--notice: a text of {} bytes, at most {MAX_TEXT_BYTES}", text.len()));
        }
        if let Some(cloud) = Cloud::named(text) {
            return Ok(Self::Cloud(cloud));
        }
        match text.split_once(':') {
            Some(("file" | "command", "")) => wrong("nothing stands behind the colon"),
            Some(("file", path)) => Ok(Self::File(path.into())),
            Some(("command", command)) => Ok(Self::Command(command.into())),
            Some(("http" | "https", _)) => {
                Url::parse(text).map(Self::Url).map_err(|error| format!("--notice {text:?}: {error}"))
            }
            _ => wrong("expected file:PATH, command:COMMAND, http://..., https://..., aws, gcp or azure"),
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "file:{}", path.display()),
            Self::Command(command) => write!(f, "command:{command}"),
            Self::Url(url) => write!(f, "{url}"),
            Self::Cloud(cloud) => write!(f, "{}", cloud.name()),
        }
    }
}

/// Watches all sources until one of them says that the machine goes; then `leave` is cancelled. `endpoint` stands for the address
/// at which a cloud's machines ask about themselves.
///
/// # Errors
///
/// When there are too many, or no HTTP can be spoken.
pub fn watch(all: Vec<Notice>, endpoint: Option<&Url>, leave: &CancellationToken) -> Result<(), String> {
    if all.len() > MAX_NOTICES {
        return Err(format!("--notice: {} sources, at most {MAX_NOTICES}", all.len()));
    }
    for notice in all {
        let source =
            Source::open(&notice, endpoint).map_err(|error| format!("--notice {notice}: {error}"))?;
        let leave = leave.clone();
        tokio::spawn(async move {
            tokio::select! {
                why = heard(&notice, source) => {
                    tracing::warn!(
                        "notice: {why} ({notice}); committing what is done, handing back the rest, and ending"
                    );
                    leave.cancel();
                }
                () = leave.cancelled() => {}
            }
        });
    }
    Ok(())
}

/// A source, ready to be asked.
enum Source {
    File(PathBuf),
    Command(String),
    Url(Http, Url),
    Cloud(Box<dyn Ask>),
}

/// Something that is asked again and again whether the machine goes.
#[tonic::async_trait]
trait Ask: Send {
    /// Why the machine goes, if it does.
    async fn ask(&mut self) -> Result<Option<String>, String>;
}

impl Source {
    fn open(notice: &Notice, endpoint: Option<&Url>) -> Result<Self, String> {
        Ok(match notice {
            Notice::File(path) => Self::File(path.clone()),
            Notice::Command(command) => Self::Command(command.clone()),
            Notice::Url(url) => Self::Url(Http::new(url.scheme() == "https", true)?, url.clone()),
            Notice::Cloud(cloud) => Self::Cloud(cloud.open(endpoint)?),
        })
    }

    async fn ask(&mut self) -> Result<Option<String>, String> {
        match self {
            Self::File(path) => match tokio::fs::try_exists(&path).await {
                Ok(exists) => Ok(exists.then(|| "the file exists".into())),
                Err(error) => Err(error.to_string()),
            },
            Self::Command(command) => command::ask(command).await,
            Self::Url(http, url) => {
                let answer = http.get(url, &[]).await?;
                Ok((answer.code == 200).then(|| "the endpoint answered 200".into()))
            }
            Self::Cloud(cloud) => cloud.ask().await,
        }
    }
}

/// Asks until the answer is yes; why.
async fn heard(notice: &Notice, mut source: Source) -> String {
    let every = if matches!(source, Source::File(_)) { LOOK_EVERY } else { ASK_EVERY };
    let mut complained = false;
    loop {
        match source.ask().await {
            Ok(Some(why)) => return why,
            Ok(None) => {}
            Err(error) if !std::mem::replace(&mut complained, true) => {
                tracing::warn!("no notice can come from {notice} as long as this is so: {error}");
            }
            Err(error) => tracing::debug!("{notice}: {error}"),
        }
        tokio::time::sleep(every).await;
    }
}

#[cfg(test)]
mod tests;
