//! What clouds tell their spot machines, at the addresses that each documents.

use reqwest::Method;
use serde::Deserialize;
use url::Url;

use super::{
    Ask,
    http::{Answer, Http},
};

/// A cloud.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cloud {
    /// Spot instances of EC2: two minutes before.
    Aws,
    /// Spot and preemptible machines of Compute Engine: 30 seconds before.
    Gcp,
    /// Spot machines of Azure: 30 seconds before.
    Azure,
}

impl Cloud {
    /// As it is asked for.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Aws => "aws",
            Self::Gcp => "gcp",
            Self::Azure => "azure",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        [Self::Aws, Self::Gcp, Self::Azure].into_iter().find(|cloud| cloud.name() == name)
    }

    const fn endpoint(self) -> &'static str {
        match self {
            Self::Aws | Self::Azure => "http://169.254.169.254/",
            Self::Gcp => "http://metadata.google.internal/",
        }
    }

    pub(super) fn open(self, endpoint: Option<&Url>) -> Result<Box<dyn Ask>, String> {
        let base = endpoint
            .map_or_else(|| Url::parse(self.endpoint()).map_err(|e| e.to_string()), |at| Ok(at.clone()))?;
        let at = |path: &str| base.join(path).map_err(|error| error.to_string());
        let http = Http::new(base.scheme() == "https", false)?;
        Ok(match self {
            Self::Aws => Box::new(Aws {
                http,
                token_at: at("latest/api/token")?,
                action_at: at("latest/meta-data/spot/instance-action")?,
                token: None,
            }),
            Self::Gcp => Box::new(Gcp { http, preempted_at: at("computeMetadata/v1/instance/preempted")? }),
            Self::Azure => Box::new(Azure {
                http,
                name_at: at("metadata/instance/compute/name?api-version=2021-02-01&format=text")?,
                events_at: at("metadata/scheduledevents?api-version=2020-07-01")?,
                name: None,
            }),
        })
    }
}

fn unexpected(answer: &Answer) -> String {
    format!("the endpoint answered {}", answer.code)
}

/// <https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html>, with a token, which version 2
/// of the service demands.
struct Aws {
    http: Http,
    token_at: Url,
    action_at: Url,
    token: Option<String>,
}

#[tonic::async_trait]
impl Ask for Aws {
    async fn ask(&mut self) -> Result<Option<String>, String> {
        if self.token.is_none() {
            let seconds = [("X-aws-ec2-metadata-token-ttl-seconds", "21600")];
            let answer = self.http.send(Method::PUT, &self.token_at, &seconds).await?;
            if answer.code != 200 {
                return Err(format!("no token: {}", unexpected(&answer)));
            }
            self.token = Some(answer.text.trim().to_owned());
        }
        let token = self.token.clone().unwrap_or_default();
        let answer = self.http.get(&self.action_at, &[("X-aws-ec2-metadata-token", &token)]).await?;
        match answer.code {
            200 => Ok(Some("the cloud takes this spot machine back".into())),
            404 => Ok(None),
            code => {
                // Tokens last six hours.
                if code == 401 {
                    self.token = None;
                }
                Err(unexpected(&answer))
            }
        }
    }
}

/// <https://cloud.google.com/compute/docs/instances/create-use-preemptible#determine_whether_an_instance_was_preempted>
struct Gcp {
    http: Http,
    preempted_at: Url,
}

#[tonic::async_trait]
impl Ask for Gcp {
    async fn ask(&mut self) -> Result<Option<String>, String> {
        let answer = self.http.get(&self.preempted_at, &[("Metadata-Flavor", "Google")]).await?;
        match (answer.code, answer.text.trim()) {
            (200, "TRUE") => Ok(Some("the cloud takes this spot machine back".into())),
            (200, _) => Ok(None),
            _ => Err(unexpected(&answer)),
        }
    }
}

/// <https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events>. All machines of a set hear of what is to happen
/// to each of them, so the events have to be looked through for this one.
struct Azure {
    http: Http,
    name_at: Url,
    events_at: Url,
    name: Option<String>,
}

#[derive(Deserialize)]
struct Events {
    #[serde(rename = "Events", default)]
    events: Vec<ScheduledEvent>,
}

#[derive(Deserialize)]
struct ScheduledEvent {
    #[serde(rename = "EventType", default)]
    kind: String,
    #[serde(rename = "Resources", default)]
    machines: Vec<String>,
}

#[tonic::async_trait]
impl Ask for Azure {
    async fn ask(&mut self) -> Result<Option<String>, String> {
        let headers = [("Metadata", "true")];
        if self.name.is_none() {
            let answer = self.http.get(&self.name_at, &headers).await?;
            if answer.code != 200 {
                return Err(format!("the machine's name is not known: {}", unexpected(&answer)));
            }
            self.name = Some(answer.text.trim().to_owned());
        }
        let answer = self.http.get(&self.events_at, &headers).await?;
        if answer.code != 200 {
            return Err(unexpected(&answer));
        }
        let Events { events } = serde_json::from_str(&answer.text)
            .map_err(|error| format!("the answer is no list of events: {error}"))?;
        let name = self.name.as_deref().unwrap_or_default();
        let is_ours = |event: &&ScheduledEvent| {
            matches!(event.kind.as_str(), "Preempt" | "Terminate")
                && event.machines.iter().any(|machine| machine.eq_ignore_ascii_case(name))
        };
        let event = events.iter().find(is_ours);
        Ok(event.map(|event| format!("the cloud has planned {} for this machine", event.kind)))
    }
}
