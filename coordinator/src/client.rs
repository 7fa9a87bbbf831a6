//! What the command line asks a coordinator, wherever it runs.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::{StreamExt, future, stream::FuturesUnordered};
use jobs::Report;
use proto::v1::{
    Act, Action, AuditRequest, ControlRequest, DrainRequest, JobStatus, LeaderRequest, ListRequest,
    ReadmitRequest, ReleaseReply, ReleaseRequest, ResultRequest, StatusRequest, SubmitRequest, VerifyRequest,
    VerifyStatus, WorkersReply, WorkersRequest, jobs_client::JobsClient,
};
use tokio::time::timeout;
use tonic::{Code, Status, Streaming};
use worker::dial::{Dial, DialError, Wire, words};

/// A connection to a coordinator.
#[derive(Clone, Debug)]
pub struct Client {
    rpc: JobsClient<Wire>,
    dial: Arc<Dial>,
}

/// How long a leader is looked for when there are several coordinators: longer than it takes to elect one.
const ELECTION: Duration = Duration::from_secs(15);
/// The same for commands that were following a job.
const PATIENCE: Duration = Duration::from_secs(120);
/// How soon one that is asked whether it leads must say so.
const ANSWER: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_millis(200);
/// Reports are long.
const MOST_BYTES: usize = 64 << 20;

/// Why a coordinator did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// It cannot be reached.
    #[error("{0} (is one running? `nonet coordinator` starts one, --coordinator says where)")]
    Absent(DialError),
    /// It must not be talked to like that, or one of us does not trust the other.
    #[error(transparent)]
    Dial(DialError),
    /// The request is wrong.
    #[error("{0}")]
    Invalid(String),
    /// Whoever asks may not.
    #[error("{0}")]
    Stranger(String),
    /// The request is right, but cannot be met.
    #[error("{0}")]
    Refused(String),
}

impl From<DialError> for ClientError {
    fn from(error: DialError) -> Self {
        if matches!(error, DialError::Absent { .. }) { Self::Absent(error) } else { Self::Dial(error) }
    }
}

impl From<Status> for ClientError {
    fn from(status: Status) -> Self {
        let text = words(&status);
        match status.code() {
            Code::InvalidArgument | Code::NotFound => Self::Invalid(text),
            Code::Unimplemented => {
                Self::Refused("what answers there is not a Nonet coordinator of this version".into())
            }
            Code::PermissionDenied | Code::Unauthenticated => Self::Stranger(text),
            Code::ResourceExhausted => Self::Refused(text),
            _ if std::error::Error::source(&status).is_some() || status.message().is_empty() => {
                Self::Refused(format!("the coordinator broke off: {text}"))
            }
            _ => Self::Refused(text),
        }
    }
}

impl Client {
    /// Connects; to the one that leads, if there are several coordinators.
    ///
    /// # Errors
    ///
    /// When nobody answers, or none leads.
    pub async fn connect(dial: &Arc<Dial>) -> Result<Self, ClientError> {
        Self::connect_within(dial, ELECTION).await
    }

    async fn connect_within(dial: &Arc<Dial>, patience: Duration) -> Result<Self, ClientError> {
        let rpc =
            if dial.has_standbys() { leader(dial, patience).await? } else { rpc(dial.connect().await?) };
        Ok(Self { rpc, dial: Arc::clone(dial) })
    }

    /// Looks for the coordinator that leads now. False when there is only one, or none is found.
    pub async fn follow(&mut self) -> bool {
        if !self.dial.has_standbys() {
            return false;
        }
        tokio::time::sleep(LOOK_AGAIN).await;
        match Self::connect_within(&self.dial, PATIENCE).await {
            Ok(client) => {
                *self = client;
                true
            }
            Err(error) => {
                tracing::warn!("{error}");
                false
            }
        }
    }

    /// Submits a job; true when it was there already.
    ///
    /// # Errors
    ///
    /// When it is refused.
    pub async fn submit(&mut self, request: SubmitRequest) -> Result<(JobStatus, bool), ClientError> {
        let reply = self.rpc.submit(request).await?.into_inner();
        Ok((reply.job.unwrap_or_default(), reply.existed))
    }

    /// All jobs.
    ///
    /// # Errors
    ///
    /// When the coordinator cannot tell.
    pub async fn list(&mut self) -> Result<Vec<JobStatus>, ClientError> {
        Ok(self.rpc.list(ListRequest {}).await?.into_inner().jobs)
    }

    /// One job's status.
    ///
    /// # Errors
    ///
    /// When `job` names none, or several.
    pub async fn status(&mut self, job: &str) -> Result<JobStatus, ClientError> {
        let mut stream = self.rpc.status(StatusRequest { job: job.into(), watch: false }).await?.into_inner();
        Ok(stream.message().await?.unwrap_or_default())
    }

    /// A job's status, whenever it changes, until the job rests.
    ///
    /// # Errors
    ///
    /// When `job` names none, or several.
    pub async fn watch(&mut self, job: &str) -> Result<Streaming<JobStatus>, ClientError> {
        Ok(self.rpc.status(StatusRequest { job: job.into(), watch: true }).await?.into_inner())
    }

    /// A job's report.
    ///
    /// # Errors
    ///
    /// When `job` names none or several, or its result contradicts itself.
    pub async fn result(&mut self, job: &str) -> Result<(JobStatus, Report), ClientError> {
        let reply = self.rpc.result(ResultRequest { job: job.into() }).await?.into_inner();
        let json = serde_json::from_str(&reply.json);
        let json =
            json.map_err(|e| ClientError::Refused(format!("the coordinator's report is no JSON: {e}")))?;
        let alarm = Some(reply.alarm).filter(|alarm| !alarm.is_empty());
        let plots = jobs::plot::from_json(&reply.plots);
        let plots =
            plots.map_err(|e| ClientError::Refused(format!("the coordinator's plots are none: {e}")))?;
        let report = Report { json, table: reply.table, csv: reply.csv, alarm, plots };
        Ok((reply.job.unwrap_or_default(), report))
    }

    /// Pauses, resumes, cancels or retries a job.
    ///
    /// # Errors
    ///
    /// When that cannot be done.
    pub async fn control(&mut self, job: &str, action: Action) -> Result<JobStatus, ClientError> {
        let request = ControlRequest { job: job.into(), action: action.into() };
        Ok(self.rpc.control(request).await?.into_inner())
    }

    /// Connected workers, and the quarantined.
    ///
    /// # Errors
    ///
    /// When the coordinator cannot tell.
    pub async fn workers(&mut self) -> Result<WorkersReply, ClientError> {
        Ok(self.rpc.workers(WorkersRequest {}).await?.into_inner())
    }

    /// Lifts the quarantine of a worker; returns its name.
    ///
    /// # Errors
    ///
    /// When `worker` names no quarantined worker, or several.
    pub async fn readmit(&mut self, worker: &str) -> Result<String, ClientError> {
        Ok(self.rpc.readmit(ReadmitRequest { worker: worker.into() }).await?.into_inner().worker)
    }

    /// Has a sample of a job computed again; how that goes on. Dropping the stream calls it off.
    ///
    /// # Errors
    ///
    /// When there is no such job, or it is not in a state for it.
    pub async fn verify(&mut self, request: VerifyRequest) -> Result<Streaming<VerifyStatus>, ClientError> {
        Ok(self.rpc.verify(request).await?.into_inner())
    }

    /// Has the workers of a pool (of all, if it has no name) leave that are more than are to stay.
    ///
    /// # Errors
    ///
    /// When `pool` can be the name of none, or the coordinator cannot be asked.
    pub async fn release(&mut self, pool: &str, keep: u32) -> Result<ReleaseReply, ClientError> {
        Ok(self.rpc.release(ReleaseRequest { pool: pool.into(), keep }).await?.into_inner())
    }

    /// Has a worker finish what it computes, and leave; returns its name.
    ///
    /// # Errors
    ///
    /// When `worker` names none, or several.
    pub async fn drain(&mut self, worker: &str) -> Result<String, ClientError> {
        Ok(self.rpc.drain(DrainRequest { worker: worker.into() }).await?.into_inner().worker)
    }

    /// The `last` acts of people, oldest first.
    ///
    /// # Errors
    ///
    /// When the coordinator cannot tell.
    pub async fn audit(&mut self, last: u32) -> Result<Vec<Act>, ClientError> {
        Ok(self.rpc.audit(AuditRequest { last }).await?.into_inner().acts)
    }
}

fn rpc(wire: Wire) -> JobsClient<Wire> {
    let client = JobsClient::new(wire);
    client.max_decoding_message_size(MOST_BYTES).max_encoding_message_size(proto::MAX_MESSAGE_BYTES)
}

/// Asks all coordinators, side by side, until one of them leads: one that hangs must not keep the others waiting.
async fn leader(dial: &Dial, patience: Duration) -> Result<JobsClient<Wire>, ClientError> {
    let last = Mutex::new(None);
    let mut asked: FuturesUnordered<_> =
        dial.each().into_iter().map(|dial| until_it_leads(dial, &last)).collect();
    let first = async { asked.by_ref().filter_map(future::ready).next().await };
    if let Ok(Some(rpc)) = timeout(patience, first).await {
        return Ok(rpc);
    }
    let last = last.lock().unwrap_or_else(PoisonError::into_inner).take();
    Err(last.unwrap_or_else(|| ClientError::Refused("no coordinator answers".into())))
}

/// `None` when asking this one again would be of no use.
async fn until_it_leads(dial: Dial, last: &Mutex<Option<ClientError>>) -> Option<JobsClient<Wire>> {
    loop {
        let error = match timeout(ANSWER, ask_whether_it_leads(&dial)).await {
            Ok(Ok(rpc)) => return Some(rpc),
            Ok(Err(error)) => error,
            Err(_) => ClientError::Refused("a coordinator does not answer".into()),
        };
        let is_final = matches!(error, ClientError::Dial(_) | ClientError::Stranger(_));
        keep(last, error);
        if is_final {
            return None;
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

async fn ask_whether_it_leads(dial: &Dial) -> Result<JobsClient<Wire>, ClientError> {
    let mut rpc = rpc(dial.connect().await?);
    let leads = rpc.leader(LeaderRequest {}).await?.into_inner().leads;
    let stands_by = || ClientError::Refused("all coordinators that answer stand by: none leads yet".into());
    if leads { Ok(rpc) } else { Err(stands_by()) }
}

/// One that answers tells more than one that is not there.
fn keep(last: &Mutex<Option<ClientError>>, error: ClientError) {
    let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
    if matches!(&*last, None | Some(ClientError::Absent(_))) || !matches!(error, ClientError::Absent(_)) {
        *last = Some(error);
    }
}
