//! Spans for a collector of traces, by OTLP over gRPC: requests of users, submissions, leases, groups of the ledger.
//!
//! Never a span for each work unit. A lease is a trace of its own, with a link to the submission of its job: a job may have
//! millions, and a collector bounds what a trace may hold. `nonet.job` and `nonet.run` find all that belong together.
//!
//! Off, all of it costs a look at an `Option`. On, a span goes into a queue that drops what does not fit (the SDK's batch
//! processor, on a thread of its own): a collector that is away, hangs or refuses slows nothing down and ends nothing.

mod collector;
mod leases;

use std::{
    collections::BTreeMap,
    fmt,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use opentelemetry::{
    Context, KeyValue,
    trace::{
        Link, Span as _, SpanBuilder, SpanContext, SpanKind, Status, TraceContextExt, Tracer, TracerProvider,
    },
};
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider, Span};
use proto::v1::JobStatus;

pub use self::{
    collector::Collector,
    leases::{Leases, OpenLease},
};
use crate::metrics::Counted;

/// How long the last spans may take when the coordinator stops.
const LAST_SPANS: Duration = Duration::from_secs(1);
/// Submissions that leases can be linked to, the newest: as many as there may be jobs.
const SUBMISSIONS: usize = 10_000;

/// Where spans go; nowhere by default. Cheap to clone.
#[derive(Clone, Default)]
pub struct Traces(Option<Arc<Inner>>);

struct Inner {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
    counted: Arc<Counted>,
    /// By run, in hexadecimal. Runs begin with the time, so the first is the oldest.
    submissions: Mutex<BTreeMap<String, SpanContext>>,
}

/// A request that is being answered.
pub struct RequestSpan(Option<(Span, Arc<Inner>)>);

/// The request that something belongs to. The gate puts it beside the request.
#[derive(Clone, Debug)]
pub struct Within(SpanContext);

/// A lease that is over.
#[derive(Debug)]
pub struct LeaseEnd<'a> {
    /// When it was granted.
    pub granted: SystemTime,
    /// Its number.
    pub lease: u64,
    /// Its job: name, kind, run.
    pub job: [&'a str; 3],
    /// Who had it.
    pub worker: &'a str,
    /// First unit, and the one behind the last.
    pub range: (u64, u64),
    /// How it ended.
    pub outcome: &'static str,
}

impl fmt::Debug for Traces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Traces(on)" } else { "Traces(off)" })
    }
}

impl Traces {
    fn to(provider: SdkTracerProvider, counted: Arc<Counted>) -> Self {
        let tracer = provider.tracer("nonet");
        Self(Some(Arc::new(Inner { provider, tracer, counted, submissions: Mutex::default() })))
    }

    /// Whether anybody collects them.
    pub fn are_on(&self) -> bool {
        self.0.is_some()
    }

    /// The time, if anybody wants to know when something began.
    pub fn now(&self) -> Option<SystemTime> {
        self.0.as_ref().map(|_| SystemTime::now())
    }

    /// A request of a user has arrived: the path of a gRPC method, `/SERVICE/METHOD`.
    pub fn request(&self, path: &str, peer: Option<SocketAddr>) -> RequestSpan {
        let Some(inner) = &self.0 else { return RequestSpan(None) };
        let path = path.trim_start_matches('/');
        let (service, method) = path.rsplit_once('/').unwrap_or(("", path));
        let mut about = vec![
            KeyValue::new("rpc.system", "grpc"),
            KeyValue::new("rpc.service", service.to_owned()),
            KeyValue::new("rpc.method", method.to_owned()),
        ];
        about.extend(peer.map(|peer| KeyValue::new("network.peer.address", peer.ip().to_string())));
        let builder =
            SpanBuilder::from_name(path.to_owned()).with_kind(SpanKind::Server).with_attributes(about);
        RequestSpan(Some((inner.begin(builder, &Context::new()), Arc::clone(inner))))
    }

    /// A job was taken in, or was there already.
    pub fn submission(
        &self,
        began: Option<SystemTime>,
        within: Option<&Within>,
        job: &JobStatus,
        existed: bool,
    ) {
        let (Some(inner), Some(began)) = (&self.0, began) else { return };
        let mut about = about_job([&job.name, &job.kind, &job.run]).to_vec();
        about.push(KeyValue::new("nonet.units", whole(job.units)));
        about.push(KeyValue::new("nonet.existed", existed));
        let parent = within
            .map_or_else(Context::new, |within| Context::new().with_remote_span_context(within.0.clone()));
        let builder = SpanBuilder::from_name("submission").with_start_time(began).with_attributes(about);
        let span = inner.begin(builder, &parent);
        let context = span.span_context().clone();
        inner.end(span);
        if existed {
            return;
        }
        let mut submissions = inner.submissions.lock().unwrap_or_else(PoisonError::into_inner);
        submissions.insert(job.run.clone(), context);
        if submissions.len() > SUBMISSIONS {
            submissions.pop_first();
        }
    }

    /// A lease is over.
    pub fn lease(&self, end: &LeaseEnd<'_>) {
        let Some(inner) = &self.0 else { return };
        let mut about = about_job(end.job).to_vec();
        about.extend([
            KeyValue::new("nonet.lease", whole(end.lease)),
            KeyValue::new("nonet.worker", end.worker.to_owned()),
            KeyValue::new("nonet.units.start", whole(end.range.0)),
            KeyValue::new("nonet.units.end", whole(end.range.1)),
            KeyValue::new("nonet.outcome", end.outcome),
        ]);
        let submitted =
            inner.submissions.lock().unwrap_or_else(PoisonError::into_inner).get(end.job[2]).cloned();
        let links = submitted.map(Link::with_context).into_iter().collect();
        let builder = SpanBuilder::from_name("lease").with_start_time(end.granted).with_attributes(about);
        inner.end(inner.begin(builder.with_links(links), &Context::new()));
    }

    /// The ledger was given a group of entries; it is durable if the ledger `took` it.
    pub fn group(&self, began: Option<SystemTime>, entries: usize, took: bool) {
        let (Some(inner), Some(began)) = (&self.0, began) else { return };
        let about = [KeyValue::new("nonet.entries", whole(entries as u64))];
        let builder = SpanBuilder::from_name("ledger append").with_start_time(began).with_attributes(about);
        let mut span = inner.begin(builder, &Context::new());
        if !took {
            span.set_status(Status::error("not taken"));
        }
        inner.end(span);
    }

    /// Sends what is left, for a second at most. Blocks.
    pub fn end(&self) {
        if let Some(inner) = &self.0 {
            // A collector that does not take them has lost them.
            drop(inner.provider.shutdown_with_timeout(LAST_SPANS));
        }
    }
}

impl Inner {
    fn begin(&self, builder: SpanBuilder, parent: &Context) -> Span {
        self.tracer.build_with_context(builder, parent)
    }

    fn end(&self, mut span: Span) {
        if span.is_recording() {
            self.counted.spans.count("made");
        }
        span.end();
    }
}

impl RequestSpan {
    /// None.
    pub fn none() -> Self {
        Self(None)
    }

    /// What belongs to it.
    pub fn within(&self) -> Option<Within> {
        self.0.as_ref().map(|(span, _)| Within(span.span_context().clone()))
    }

    /// It is answered.
    pub fn end(self, code: tonic::Code) {
        let Some((mut span, inner)) = self.0 else { return };
        span.set_attribute(KeyValue::new("rpc.grpc.status_code", i64::from(code as i32)));
        if !matches!(code, tonic::Code::Ok) {
            span.set_status(Status::error(code.description()));
        }
        inner.end(span);
    }
}

fn about_job([name, kind, run]: [&str; 3]) -> [KeyValue; 3] {
    [("nonet.job", name), ("nonet.kind", kind), ("nonet.run", run)]
        .map(|(key, value)| KeyValue::new(key, value.to_owned()))
}

/// OTLP has signed numbers only.
fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
