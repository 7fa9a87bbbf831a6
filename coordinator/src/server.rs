//! The only module that knows tonic's server side.

use std::{pin::Pin, sync::Arc, time::Duration};

use jobs::Report;
use proto::v1::{
    ControlRequest, DrainReply, DrainRequest, FromWorker, JobStatus, ListReply, ListRequest, ReadmitReply,
    ReadmitRequest, ResultReply, ResultRequest, State, StatusRequest, SubmitReply, SubmitRequest, ToWorker,
    VerifyRequest, VerifyStatus, Welcome, WorkersReply, WorkersRequest,
    farm_server::{Farm, FarmServer},
    jobs_server::{Jobs, JobsServer},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, DuplexStream},
    net::TcpListener,
    sync::mpsc,
    time::timeout,
};
use tokio_stream::{
    Stream, StreamExt,
    wrappers::{ReceiverStream, TcpListenerStream},
};
use tokio_util::sync::CancellationToken;
use tonic::{
    Request, Response, Status, Streaming,
    transport::{Server, server::Connected},
};

use crate::engine::{Engine, Refusal, Verifying, Welcomed};

/// Messages under way to a worker before the engine keeps them back.
const OUTGOING_MESSAGES: usize = 64;
/// Streams on one connection.
const MAX_STREAMS: u32 = 256;
/// How soon a worker must say hello after it opened a stream.
const HELLO_TIMEOUT: Duration = Duration::from_secs(10);
/// How long open streams may take to end when the server stops.
const STOP_TIMEOUT: Duration = Duration::from_millis(500);

/// Serves `engine` on a TCP port until `stop`.
///
/// # Errors
///
/// When the transport fails.
pub async fn serve_tcp(
    engine: Engine,
    listener: TcpListener,
    stop: CancellationToken,
) -> Result<(), tonic::transport::Error> {
    let incoming = TcpListenerStream::new(listener).map(|stream| {
        stream.inspect(|stream| {
            // Without it small messages wait for one another; a failure costs speed only.
            drop(stream.set_nodelay(true));
        })
    });
    serve(engine, incoming, stop).await
}

/// Serves `engine` inside this process until `stop`: the other ends come through `pipes`.
///
/// # Errors
///
/// When the transport fails.
pub async fn serve_memory(
    engine: Engine,
    pipes: mpsc::Receiver<DuplexStream>,
    stop: CancellationToken,
) -> Result<(), tonic::transport::Error> {
    serve(engine, ReceiverStream::new(pipes).map(Ok::<_, std::io::Error>), stop).await
}

async fn serve<S, IO, E>(
    engine: Engine,
    incoming: S,
    stop: CancellationToken,
) -> Result<(), tonic::transport::Error>
where
    S: Stream<Item = Result<IO, E>>,
    IO: AsyncRead + AsyncWrite + Connected + Unpin + Send + 'static,
    IO::ConnectInfo: Clone + Send + Sync + 'static,
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let service = Service { engine, stop: stop.clone() };
    let farm = FarmServer::from_arc(Arc::new(service.clone()))
        .max_decoding_message_size(proto::MAX_MESSAGE_BYTES)
        .max_encoding_message_size(proto::MAX_MESSAGE_BYTES);
    let jobs = JobsServer::from_arc(Arc::new(service)).max_decoding_message_size(proto::MAX_MESSAGE_BYTES);
    let server = Server::builder()
        .max_concurrent_streams(MAX_STREAMS)
        .http2_keepalive_interval(Some(Duration::from_secs(4)))
        .http2_keepalive_timeout(Some(Duration::from_secs(6)))
        .add_service(farm)
        .add_service(jobs)
        .serve_with_incoming_shutdown(incoming, stop.clone().cancelled_owned());
    tokio::pin!(server);
    tokio::select! {
        ended = &mut server => return ended,
        () = stop.cancelled() => {}
    }
    // A half-open client can keep a graceful stop waiting for an hour (hyperium/hyper#4170), so it gets a moment and
    // is then dropped; nothing is lost by it.
    timeout(STOP_TIMEOUT, server).await.unwrap_or(Ok(()))
}

#[derive(Clone)]
struct Service {
    engine: Engine,
    stop: CancellationToken,
}

type Replies<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[tonic::async_trait]
impl Farm for Service {
    type WorkStream = Replies<ToWorker>;

    async fn work(
        &self,
        request: Request<Streaming<FromWorker>>,
    ) -> Result<Response<Self::WorkStream>, Status> {
        let mut incoming = request.into_inner();
        let first = timeout(HELLO_TIMEOUT, incoming.message()).await;
        let first = first.map_err(|_| Status::deadline_exceeded("no hello within 10 s"))??;
        let hello = first.and_then(|message| message.hello);
        let hello = hello.ok_or_else(|| Status::invalid_argument("the first message must be a hello"))?;
        let (outgoing, messages) = mpsc::channel(OUTGOING_MESSAGES);
        let Welcomed { session, ledger_id, heartbeat_ms } =
            self.engine.hello(hello, outgoing).await.map_err(to_status)?;
        let welcome = Welcome {
            version: env!("CARGO_PKG_VERSION").into(),
            ledger_id: ledger_id.to_vec().into(),
            heartbeat_ms,
        };
        let (engine, stop) = (self.engine.clone(), self.stop.clone());
        tokio::spawn(async move {
            loop {
                let message = tokio::select! {
                    message = incoming.message() => message,
                    () = stop.cancelled() => break,
                };
                match message {
                    Ok(Some(message)) => {
                        if !engine.from_worker(session, message).await {
                            break;
                        }
                    }
                    Ok(None) => break,
                    Err(status) => {
                        tracing::debug!(?session, "stream ended: {status}");
                        break;
                    }
                }
            }
            engine.gone(session).await;
        });
        let first = Ok(ToWorker { welcome: Some(welcome), ..ToWorker::default() });
        let rest = ReceiverStream::new(messages).map(|message| message.map_err(to_status));
        Ok(Response::new(Box::pin(tokio_stream::once(first).chain(rest))))
    }
}

#[tonic::async_trait]
impl Jobs for Service {
    type StatusStream = Replies<JobStatus>;
    type VerifyStream = Replies<VerifyStatus>;

    async fn submit(&self, request: Request<SubmitRequest>) -> Result<Response<SubmitReply>, Status> {
        let (job, existed) = self.engine.submit(request.into_inner()).await.map_err(to_status)?;
        Ok(Response::new(SubmitReply { job: Some(job), existed }))
    }

    async fn list(&self, _: Request<ListRequest>) -> Result<Response<ListReply>, Status> {
        let jobs = self.engine.list().await.map_err(to_status)?;
        Ok(Response::new(ListReply { jobs }))
    }

    async fn status(&self, request: Request<StatusRequest>) -> Result<Response<Self::StatusStream>, Status> {
        let StatusRequest { job, watch } = request.into_inner();
        let first = self.engine.status(job).await.map_err(to_status)?;
        if !watch {
            return Ok(Response::new(Box::pin(tokio_stream::once(Ok(first)))));
        }
        let (statuses, stream) = mpsc::channel(1);
        tokio::spawn(watch_job(self.engine.clone(), first, statuses, self.stop.clone()));
        Ok(Response::new(Box::pin(ReceiverStream::new(stream))))
    }

    async fn result(&self, request: Request<ResultRequest>) -> Result<Response<ResultReply>, Status> {
        let (job, report) = self.engine.result(request.into_inner().job).await.map_err(to_status)?;
        let Report { json, table, csv, alarm, plots } = report;
        let (json, plots) = (json.to_string(), jobs::plot::to_json(&plots));
        let alarm = alarm.unwrap_or_default();
        Ok(Response::new(ResultReply { job: Some(job), json, table, csv, alarm, plots }))
    }

    async fn control(&self, request: Request<ControlRequest>) -> Result<Response<JobStatus>, Status> {
        let request = request.into_inner();
        let action = request.action();
        let status = self.engine.control(request.job, action).await.map_err(to_status)?;
        Ok(Response::new(status))
    }

    async fn workers(&self, _: Request<WorkersRequest>) -> Result<Response<WorkersReply>, Status> {
        Ok(Response::new(self.engine.workers().await.map_err(to_status)?))
    }

    async fn readmit(&self, request: Request<ReadmitRequest>) -> Result<Response<ReadmitReply>, Status> {
        let worker = self.engine.readmit(request.into_inner().worker).await.map_err(to_status)?;
        Ok(Response::new(ReadmitReply { worker }))
    }

    async fn verify(&self, request: Request<VerifyRequest>) -> Result<Response<Self::VerifyStream>, Status> {
        let verifying = self.engine.verify(request.into_inner()).await.map_err(to_status)?;
        let (statuses, stream) = mpsc::channel(1);
        tokio::spawn(watch_verification(self.engine.clone(), verifying, statuses, self.stop.clone()));
        Ok(Response::new(Box::pin(ReceiverStream::new(stream))))
    }

    async fn drain(&self, request: Request<DrainRequest>) -> Result<Response<DrainReply>, Status> {
        let worker = self.engine.drain(request.into_inner().worker).await.map_err(to_status)?;
        Ok(Response::new(DrainReply { worker }))
    }
}

/// Sends a job's status whenever it has moved, until the job rests. The engine announces progress ten times a second,
/// and a change of state at once.
async fn watch_job(
    engine: Engine,
    first: JobStatus,
    statuses: mpsc::Sender<Result<JobStatus, Status>>,
    stop: CancellationToken,
) {
    let mut changes = engine.changes();
    let mut last = first;
    loop {
        let rests = !matches!(last.state(), State::Running | State::Paused);
        if statuses.send(Ok(last.clone())).await.is_err() || rests {
            return;
        }
        let mut next = last.clone();
        while next == last {
            tokio::select! {
                changed = changes.changed() => if changed.is_err() { return },
                () = stop.cancelled() => return,
                () = statuses.closed() => return,
            }
            match engine.status(last.name.clone()).await {
                Ok(status) => next = status,
                Err(_) => return,
            }
        }
        last = next;
    }
}

/// Sends how a verification goes on, until it is done. When the caller leaves, it is called off.
async fn watch_verification(
    engine: Engine,
    verifying: Verifying,
    statuses: mpsc::Sender<Result<VerifyStatus, Status>>,
    stop: CancellationToken,
) {
    let Verifying { job, number, mut status } = verifying;
    loop {
        let next = status.borrow_and_update().clone();
        let done = next.done;
        if statuses.send(Ok(next)).await.is_err() {
            break;
        }
        if done {
            return;
        }
        tokio::select! {
            changed = status.changed() => if changed.is_err() {
                let gone = Status::aborted("the job was stopped or replaced before the sample was computed again");
                drop(statuses.send(Err(gone)).await);
                return;
            },
            () = stop.cancelled() => return,
            () = statuses.closed() => break,
        }
    }
    engine.verify_stop(job, number).await;
}

fn to_status(refusal: Refusal) -> Status {
    match refusal {
        Refusal::NotFound(text) => Status::not_found(text),
        Refusal::Invalid(text) => Status::invalid_argument(text),
        Refusal::NotNow(text) => Status::unavailable(text),
        Refusal::Superseded => Status::already_exists(refusal.to_string()),
        Refusal::Failed(text) => Status::aborted(text),
    }
}
