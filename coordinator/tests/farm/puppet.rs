//! Workers that say what they like.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::time::Duration;

use proto::v1::{
    Commit, FromWorker, Grant, Hello, KindVersion, ToWorker, Verdict, farm_client::FarmClient, order::Order,
};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming, transport::Channel};

/// A worker of our own, that says what it likes.
pub struct Puppet {
    pub say: mpsc::Sender<FromWorker>,
    pub hear: Streaming<ToWorker>,
}

/// The first word of puppet `id`.
pub fn hello(id: u8) -> Hello {
    let kinds = jobs::KINDS.iter();
    Hello {
        protocol: proto::PROTOCOL,
        version: "test".into(),
        worker_id: vec![id; 16].into(),
        name: format!("puppet-{id}"),
        slots: 1,
        prefetch: 0,
        kinds: kinds.map(|k| KindVersion { name: k.name().into(), revision: k.revision() }).collect(),
        ..Hello::default()
    }
}

impl Puppet {
    pub async fn open(url: &str, first: FromWorker) -> Result<Self, Status> {
        let channel =
            Channel::from_shared(url.to_owned()).expect("a URL").connect().await.expect("connected");
        let (say, messages) = mpsc::channel(16);
        say.send(first).await.expect("room");
        let hear = FarmClient::new(channel).work(ReceiverStream::new(messages)).await?.into_inner();
        Ok(Self { say, hear })
    }

    /// Opens, and takes the welcome.
    pub async fn welcome(url: &str, id: u8) -> Self {
        let first = FromWorker { hello: Some(hello(id)), ..FromWorker::default() };
        let mut puppet = Self::open(url, first).await.expect("welcome");
        assert!(puppet.hear().await.expect("a message").welcome.is_some());
        // Leases come with the first word after that.
        puppet.say.send(FromWorker::default()).await.expect("open");
        puppet
    }

    pub async fn hear(&mut self) -> Result<ToWorker, Status> {
        let heard = tokio::time::timeout(Duration::from_secs(20), self.hear.message()).await;
        heard.expect("in time").map(Option::unwrap_or_default)
    }

    /// Waits for a lease: job and range.
    pub async fn granted(&mut self) -> (Vec<u8>, std::ops::Range<u64>) {
        let grant = self.grant().await.expect("a lease");
        (grant.job.to_vec(), grant.start..grant.end)
    }

    /// Waits for a lease, or for the end of the stream.
    pub async fn grant(&mut self) -> Result<Grant, Status> {
        loop {
            let message = self.hear().await?;
            if message == ToWorker::default() {
                return Err(Status::aborted("the stream has ended"));
            }
            for order in message.orders {
                if let Some(Order::Grant(grant)) = order.order {
                    return Ok(grant);
                }
            }
        }
    }

    /// Offers a commit; the verdict.
    pub async fn offer(&mut self, commit: Commit) -> Verdict {
        let sequence = commit.sequence;
        self.say.send(FromWorker { commits: vec![commit], ..FromWorker::default() }).await.expect("open");
        loop {
            let message = self.hear().await.expect("a message");
            if let Some(answer) = message.answers.iter().find(|answer| answer.sequence == sequence) {
                return answer.verdict();
            }
        }
    }
}

/// A commit with the digest of its partial.
pub fn commit(sequence: u64, job: &[u8], range: std::ops::Range<u64>, partial: Vec<u8>) -> Commit {
    let digest = blake3::hash(&partial).as_bytes().to_vec().into();
    let (start, end) = (range.start, range.end);
    Commit { sequence, job: job.to_vec().into(), start, end, digest, partial: partial.into(), busy_us: 1 }
}

/// A believable lie: the number of completions of one class, changed by one.
pub fn recount_partial(range: std::ops::Range<u64>, lie: bool) -> Vec<u8> {
    let settings = r#"{"shape":"2x3","method":"gangster","fillings":false}"#;
    let job = jobs::find("recount").expect("a kind").open(settings).expect("a job");
    let mut sum = job.accumulator();
    for unit in range {
        sum.run_unit(unit, &jobs::UnitContext::free()).expect("runs");
    }
    let mut bytes = sum.bytes().expect("bytes");
    if lie {
        // Never to 0, with which no number ends: the lie has to look like a result.
        let last = bytes.last_mut().expect("not empty");
        *last = if *last == 1 { 2 } else { *last ^ 1 };
    }
    bytes
}
