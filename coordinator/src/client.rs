//! What the command line asks a coordinator, wherever it runs.

use jobs::Report;
use proto::v1::{
    Action, ControlRequest, DrainRequest, JobStatus, ListRequest, ReadmitRequest, ResultRequest,
    StatusRequest, SubmitRequest, VerifyRequest, VerifyStatus, WorkersReply, WorkersRequest,
    jobs_client::JobsClient,
};
use tonic::{Code, Status, Streaming, transport::Channel};
use worker::dial::{Dial, DialError};

/// A connection to a coordinator.
#[derive(Clone, Debug)]
pub struct Client(JobsClient<Channel>);

/// Why a coordinator did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// It cannot be reached.
    #[error("{0} (is one running? `nonet coordinator` starts one, --coordinator says where)")]
    Dial(#[from] DialError),
    /// The request is wrong.
    #[error("{0}")]
    Invalid(String),
    /// The request is right, but cannot be met.
    #[error("{0}")]
    Refused(String),
}

impl From<Status> for ClientError {
    fn from(status: Status) -> Self {
        let text = status.message().to_owned();
        match status.code() {
            Code::InvalidArgument | Code::NotFound => Self::Invalid(text),
            Code::Unimplemented => {
                Self::Refused("what answers there is not a Nonet coordinator of this version".into())
            }
            _ if text.is_empty() => Self::Refused(format!("the coordinator broke off ({})", status.code())),
            _ => Self::Refused(text),
        }
    }
}

impl Client {
    /// Connects.
    ///
    /// # Errors
    ///
    /// When nobody answers.
    pub async fn connect(dial: &Dial) -> Result<Self, ClientError> {
        let client = JobsClient::new(dial.connect().await?);
        Ok(Self(
            client.max_decoding_message_size(64 << 20).max_encoding_message_size(proto::MAX_MESSAGE_BYTES),
        ))
    }

    /// Submits a job; true when it was there already.
    ///
    /// # Errors
    ///
    /// When it is refused.
    pub async fn submit(&mut self, request: SubmitRequest) -> Result<(JobStatus, bool), ClientError> {
        let reply = self.0.submit(request).await?.into_inner();
        Ok((reply.job.unwrap_or_default(), reply.existed))
    }

    /// All jobs.
    ///
    /// # Errors
    ///
    /// When the coordinator cannot tell.
    pub async fn list(&mut self) -> Result<Vec<JobStatus>, ClientError> {
        Ok(self.0.list(ListRequest {}).await?.into_inner().jobs)
    }

    /// One job's status.
    ///
    /// # Errors
    ///
    /// When `job` names none, or several.
    pub async fn status(&mut self, job: &str) -> Result<JobStatus, ClientError> {
        let mut stream = self.0.status(StatusRequest { job: job.into(), watch: false }).await?.into_inner();
        Ok(stream.message().await?.unwrap_or_default())
    }

    /// A job's status, whenever it changes, until the job rests.
    ///
    /// # Errors
    ///
    /// When `job` names none, or several.
    pub async fn watch(&mut self, job: &str) -> Result<Streaming<JobStatus>, ClientError> {
        Ok(self.0.status(StatusRequest { job: job.into(), watch: true }).await?.into_inner())
    }

    /// A job's report.
    ///
    /// # Errors
    ///
    /// When `job` names none or several, or its result contradicts itself.
    pub async fn result(&mut self, job: &str) -> Result<(JobStatus, Report), ClientError> {
        let reply = self.0.result(ResultRequest { job: job.into() }).await?.into_inner();
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
        Ok(self.0.control(request).await?.into_inner())
    }

    /// Connected workers, and the quarantined.
    ///
    /// # Errors
    ///
    /// When the coordinator cannot tell.
    pub async fn workers(&mut self) -> Result<WorkersReply, ClientError> {
        Ok(self.0.workers(WorkersRequest {}).await?.into_inner())
    }

    /// Lifts the quarantine of a worker; returns its name.
    ///
    /// # Errors
    ///
    /// When `worker` names no quarantined worker, or several.
    pub async fn readmit(&mut self, worker: &str) -> Result<String, ClientError> {
        Ok(self.0.readmit(ReadmitRequest { worker: worker.into() }).await?.into_inner().worker)
    }

    /// Has a sample of a job computed again; how that goes on. Dropping the stream calls it off.
    ///
    /// # Errors
    ///
    /// When there is no such job, or it is not in a state for it.
    pub async fn verify(&mut self, request: VerifyRequest) -> Result<Streaming<VerifyStatus>, ClientError> {
        Ok(self.0.verify(request).await?.into_inner())
    }

    /// Gives a worker no further leases; returns its name.
    ///
    /// # Errors
    ///
    /// When `worker` names none, or several.
    pub async fn drain(&mut self, worker: &str) -> Result<String, ClientError> {
        Ok(self.0.drain(DrainRequest { worker: worker.into() }).await?.into_inner().worker)
    }
}
