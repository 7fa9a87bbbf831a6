//! The only module that knows tonic's server side.
//!
//! `listen.rs` makes connections, `gate.rs` lets requests in, and here is what is done with them.

mod brief;
pub(crate) mod connection;
mod gate;
pub(crate) mod listen;
mod pass;
pub(crate) mod places;
mod reread;
mod watching;

use std::{pin::Pin, sync::Arc, time::Duration};

use jobs::Report;
use proto::v1::{
    AuditReply, AuditRequest, ControlRequest, DrainReply, DrainRequest, FromWorker, JobStatus, LeaderReply,
    LeaderRequest, ListReply, ListRequest, ReadmitReply, ReadmitRequest, ReleaseReply, ReleaseRequest,
    ResultReply, ResultRequest, StatusRequest, SubmitReply, SubmitRequest, ToWorker, VerifyRequest,
    VerifyStatus, Welcome, WorkersReply, WorkersRequest,
    farm_server::{Farm, FarmServer},
    jobs_server::{Jobs, JobsServer},
};
use rustls::ServerConfig;
use tokio::{
    io::DuplexStream,
    net::TcpListener,
    sync::mpsc,
    time::{Instant, sleep, timeout},
};
use tokio_stream::{Stream, StreamExt, wrappers::ReceiverStream};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, Streaming, transport::Server};

use self::{
    connection::Connection,
    gate::Gate,
    listen::Speech,
    pass::{Pass, over, while_admitted},
    places::{Places, Who},
    watching::{holding, watch_job, watch_verification},
};
pub use self::{listen::MAX_CONNECTIONS, reread::Reread};
use crate::{
    access::{
        Caller,
        rates::{Bucket, Rate},
        tokens::Tokens,
    },
    engine::{Engine, Refusal, Welcomed},
    ledger::{ACTS_KEPT, Actor},
    seat::Seat,
    telemetry::Telemetry,
    traces::{Traces, Within},
};

/// Messages under way to a worker before the engine keeps them back.
const OUTGOING_MESSAGES: usize = 64;
/// Streams on one connection.
const MAX_STREAMS: u32 = 64;
/// How soon a worker must say hello after it opened a stream.
const HELLO_TIMEOUT: Duration = Duration::from_secs(10);
/// How long open streams may take to end when the server stops.
const STOP_TIMEOUT: Duration = Duration::from_millis(500);

/// Largest headers of a request.
const MAX_HEADER_BYTES: u32 = 8 << 10;
/// Users who watch a job at a time, in all and of one name or (without names) from one address.
const MAX_WATCHERS: usize = 1024;
const MAX_WATCHERS_OF_ONE: usize = 64;
/// Largest request of a user. Of a submission's settings less is taken, but more is read, so that it can be said.
const MAX_REQUEST_BYTES: usize = 4 * jobs::MAX_SETTINGS_BYTES;
/// Messages of one worker: it sends at most a thousand a second. More are not refused, but wait.
const WORKER_MESSAGES: Rate = Rate::new(4_000, 8_000);
/// KiB of one worker.
const WORKER_KIB: Rate = Rate::new(64 << 10, 64 << 10);

/// Who may come, and how.
#[derive(Clone)]
pub struct Doors {
    /// Certificates, if connections are to be encrypted.
    pub tls: Option<Arc<Reread<Arc<ServerConfig>>>>,
    /// Tokens, if callers are to show one.
    pub tokens: Option<Arc<Reread<Tokens>>>,
    /// Connections at a time, for which the system must have room.
    pub most_connections: usize,
    /// Who is told what happens at them.
    pub telemetry: Telemetry,
}

/// Serves who sits in `seat` on a TCP port until `stop`.
///
/// # Errors
///
/// When the transport fails.
pub async fn serve_tcp(
    seat: Seat,
    listener: TcpListener,
    doors: Doors,
    stop: CancellationToken,
) -> Result<(), tonic::transport::Error> {
    let Doors { tls, tokens, most_connections, telemetry } = doors;
    let counted = Arc::clone(&telemetry.counted);
    let connections = listen::listen(listener, tls, (Speech::Http2, most_connections), counted, stop.clone());
    serve(seat, Gate::new(tokens, telemetry), ReceiverStream::new(connections), stop).await
}

/// Serves who sits in `seat` inside this process until `stop`: the other ends come through `pipes`.
///
/// # Errors
///
/// When the transport fails.
pub async fn serve_memory(
    seat: Seat,
    pipes: mpsc::Receiver<DuplexStream>,
    stop: CancellationToken,
) -> Result<(), tonic::transport::Error> {
    serve(
        seat,
        Gate::new(None, Telemetry::default()),
        ReceiverStream::new(pipes).map(Connection::memory),
        stop,
    )
    .await
}

async fn serve(
    seat: Seat,
    gate: Gate,
    connections: impl Stream<Item = Connection>,
    stop: CancellationToken,
) -> Result<(), tonic::transport::Error> {
    let watchers = Places::new(MAX_WATCHERS, MAX_WATCHERS_OF_ONE);
    let service = Service { seat, stop: stop.clone(), watchers, traces: gate.traces().clone() };
    let farm = FarmServer::from_arc(Arc::new(service.clone()))
        .max_decoding_message_size(proto::MAX_MESSAGE_BYTES)
        .max_encoding_message_size(proto::MAX_MESSAGE_BYTES);
    let jobs = JobsServer::from_arc(Arc::new(service)).max_decoding_message_size(MAX_REQUEST_BYTES);
    let server = Server::builder()
        .max_concurrent_streams(MAX_STREAMS)
        .http2_max_header_list_size(MAX_HEADER_BYTES)
        .http2_keepalive_interval(Some(Duration::from_secs(4)))
        .http2_keepalive_timeout(Some(Duration::from_secs(6)))
        .layer(gate)
        .add_service(farm)
        .add_service(jobs)
        .serve_with_incoming_shutdown(
            connections.map(Ok::<_, std::io::Error>),
            stop.clone().cancelled_owned(),
        );
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
    seat: Seat,
    stop: CancellationToken,
    watchers: Arc<Places<Who>>,
    traces: Traces,
}

impl Service {
    fn engine(&self) -> Result<Engine, Status> {
        self.seat.engine().map_err(|leader| {
            let leader = leader.map_or("none leads yet".into(), |url| format!("{url} leads"));
            Status::unavailable(format!(
                "this coordinator stands by, {leader}: name all of them, with commas between"
            ))
        })
    }
}

type Replies<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[tonic::async_trait]
impl Farm for Service {
    type WorkStream = Replies<ToWorker>;

    async fn work(
        &self,
        request: Request<Streaming<FromWorker>>,
    ) -> Result<Response<Self::WorkStream>, Status> {
        let engine = self.engine()?;
        let pass = Pass::of(&request);
        let mut incoming = request.into_inner();
        let first = timeout(HELLO_TIMEOUT, incoming.message()).await;
        let first = first.map_err(|_| Status::deadline_exceeded("no hello within 10 s"))??;
        let hello = first.and_then(|message| message.hello);
        let hello = hello.ok_or_else(|| Status::invalid_argument("the first message must be a hello"))?;
        let (outgoing, messages) = mpsc::channel(OUTGOING_MESSAGES);
        let Welcomed { session, ledger_id, heartbeat_ms, protocol } =
            engine.hello(hello, outgoing).await.map_err(to_status)?;
        let welcome = Welcome {
            version: env!("CARGO_PKG_VERSION").into(),
            ledger_id: ledger_id.to_vec().into(),
            heartbeat_ms,
            protocol,
        };
        let over = over(pass.clone(), self.stop.clone());
        tokio::spawn(async move {
            let mut pace = Pace::new();
            tokio::pin!(over);
            loop {
                let message = tokio::select! {
                    message = incoming.message() => message,
                    () = &mut over => break,
                };
                match message {
                    Ok(Some(message)) => {
                        pace.keep(&message).await;
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
        Ok(Response::new(while_admitted(pass, tokio_stream::once(first).chain(rest))))
    }
}

#[tonic::async_trait]
impl Jobs for Service {
    type StatusStream = Replies<JobStatus>;
    type VerifyStream = Replies<VerifyStatus>;

    async fn leader(&self, _: Request<LeaderRequest>) -> Result<Response<LeaderReply>, Status> {
        let (leads, url) = match self.seat.engine() {
            Ok(_) => (true, String::new()),
            Err(leader) => (false, leader.unwrap_or_default()),
        };
        Ok(Response::new(LeaderReply { leads, url }))
    }

    async fn submit(&self, request: Request<SubmitRequest>) -> Result<Response<SubmitReply>, Status> {
        let (began, within) = (self.traces.now(), request.extensions().get::<Within>().cloned());
        let by = actor(&request);
        let (job, existed) = self.engine()?.submit(request.into_inner(), by).await.map_err(to_status)?;
        self.traces.submission(began, within.as_ref(), &job, existed);
        Ok(Response::new(SubmitReply { job: Some(job), existed }))
    }

    async fn list(&self, _: Request<ListRequest>) -> Result<Response<ListReply>, Status> {
        let jobs = self.engine()?.list().await.map_err(to_status)?;
        Ok(Response::new(ListReply { jobs }))
    }

    async fn status(&self, request: Request<StatusRequest>) -> Result<Response<Self::StatusStream>, Status> {
        let pass = Pass::of(&request);
        let who = request.extensions().get().map_or(Who::Here, Who::of);
        let StatusRequest { job, watch } = request.into_inner();
        let engine = self.engine()?;
        let first = engine.status(job).await.map_err(to_status)?;
        if !watch {
            return Ok(Response::new(Box::pin(tokio_stream::once(Ok(first)))));
        }
        let place = self.watchers.take(who);
        let place = place
            .ok_or_else(|| Status::resource_exhausted("too many watch jobs already: ask again later"))?;
        let (statuses, stream) = mpsc::channel(1);
        let watching = watch_job(engine, first, statuses, over(pass.clone(), self.stop.clone()));
        tokio::spawn(holding(place, watching));
        Ok(Response::new(while_admitted(pass, ReceiverStream::new(stream))))
    }

    async fn result(&self, request: Request<ResultRequest>) -> Result<Response<ResultReply>, Status> {
        let (job, report) = self.engine()?.result(request.into_inner().job).await.map_err(to_status)?;
        let Report { json, table, csv, alarm, plots } = report;
        let (json, plots) = (json.to_string(), jobs::plot::to_json(&plots));
        let alarm = alarm.unwrap_or_default();
        Ok(Response::new(ResultReply { job: Some(job), json, table, csv, alarm, plots }))
    }

    async fn control(&self, request: Request<ControlRequest>) -> Result<Response<JobStatus>, Status> {
        let by = actor(&request);
        let request = request.into_inner();
        let action = request.action();
        let status = self.engine()?.control(request.job, action, by).await.map_err(to_status)?;
        Ok(Response::new(status))
    }

    async fn workers(&self, _: Request<WorkersRequest>) -> Result<Response<WorkersReply>, Status> {
        Ok(Response::new(self.engine()?.workers().await.map_err(to_status)?))
    }

    async fn readmit(&self, request: Request<ReadmitRequest>) -> Result<Response<ReadmitReply>, Status> {
        let by = actor(&request);
        let worker = self.engine()?.readmit(request.into_inner().worker, by).await.map_err(to_status)?;
        Ok(Response::new(ReadmitReply { worker }))
    }

    async fn verify(&self, request: Request<VerifyRequest>) -> Result<Response<Self::VerifyStream>, Status> {
        let (engine, pass, by) = (self.engine()?, Pass::of(&request), actor(&request));
        let verifying = engine.verify(request.into_inner(), by).await.map_err(to_status)?;
        let (statuses, stream) = mpsc::channel(1);
        let over = over(pass.clone(), self.stop.clone());
        tokio::spawn(watch_verification(engine, verifying, statuses, over));
        Ok(Response::new(while_admitted(pass, ReceiverStream::new(stream))))
    }

    async fn drain(&self, request: Request<DrainRequest>) -> Result<Response<DrainReply>, Status> {
        let by = actor(&request);
        let worker = self.engine()?.drain(request.into_inner().worker, by).await.map_err(to_status)?;
        Ok(Response::new(DrainReply { worker }))
    }

    async fn release(&self, request: Request<ReleaseRequest>) -> Result<Response<ReleaseReply>, Status> {
        let by = actor(&request);
        let ReleaseRequest { pool, keep } = request.into_inner();
        Ok(Response::new(self.engine()?.release(pool, keep, by).await.map_err(to_status)?))
    }

    async fn audit(&self, request: Request<AuditRequest>) -> Result<Response<AuditReply>, Status> {
        let last = match usize::try_from(request.into_inner().last) {
            Ok(0) | Err(_) => ACTS_KEPT,
            Ok(last) => last,
        };
        let acts = self.engine()?.acts(last).await.map_err(to_status)?;
        Ok(Response::new(AuditReply { acts }))
    }
}

/// How fast one worker speaks.
struct Pace {
    messages: Bucket,
    kib: Bucket,
}

impl Pace {
    fn new() -> Self {
        let now = Instant::now();
        Self { messages: Bucket::full(now), kib: Bucket::full(now) }
    }

    /// Waits where a worker is too fast; its connection fills up, and it waits too.
    async fn keep(&mut self, message: &FromWorker) {
        let now = Instant::now();
        let kib = u32::try_from(proto::Message::encoded_len(message) / 1024).unwrap_or(u32::MAX);
        let wait = self.messages.owe(WORKER_MESSAGES, now, 1).max(self.kib.owe(WORKER_KIB, now, kib));
        if !wait.is_zero() {
            sleep(wait).await;
        }
    }
}

/// Who asks, for the record. The gate has put it there.
fn actor<T>(request: &Request<T>) -> Actor {
    request.extensions().get::<Caller>().map(Caller::actor).unwrap_or_default()
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
