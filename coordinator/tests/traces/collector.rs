//! A collector of traces.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use opentelemetry_proto::tonic::{
    collector::trace::v1::{
        ExportTraceServiceRequest, ExportTraceServiceResponse,
        trace_service_server::{TraceService, TraceServiceServer},
    },
    common::v1::{AnyValue, KeyValue, any_value},
    trace::v1::{Span as WireSpan, status::StatusCode},
};
use tokio::{net::TcpListener, runtime::Runtime};
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{
    Request, Response, Status,
    transport::{Identity, Server, ServerTlsConfig},
};

/// What it does with spans.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mood {
    Takes,
    Refuses,
}

/// A collector that ends with the test.
pub struct Collector {
    pub url: String,
    kept: Kept,
    _runtime: Runtime,
}

#[derive(Clone)]
struct Kept {
    mood: Mood,
    requests: Arc<Mutex<Vec<ExportTraceServiceRequest>>>,
}

/// A span, as far as tests look at it.
#[derive(Clone, Debug)]
pub struct Span {
    pub name: String,
    pub trace: Vec<u8>,
    pub id: Vec<u8>,
    pub parent: Vec<u8>,
    pub start_ns: u64,
    pub end_ns: u64,
    pub failed: bool,
    /// Trace and span of each.
    pub links: Vec<(Vec<u8>, Vec<u8>)>,
    attributes: Vec<KeyValue>,
}

impl Collector {
    pub fn start(mood: Mood) -> Self {
        Self::start_at(mood, "127.0.0.1:0")
    }

    pub fn start_at(mood: Mood, address: &str) -> Self {
        Self::start_with(mood, address, None)
    }

    /// One that shows the certificate in this folder.
    pub fn start_encrypted(tls: &str) -> Self {
        let read = |name| std::fs::read(format!("{tls}/{name}")).expect("a file");
        Self::start_with(
            Mood::Takes,
            "127.0.0.1:0",
            Some(Identity::from_pem(read("cert.pem"), read("key.pem"))),
        )
    }

    fn start_with(mood: Mood, address: &str, identity: Option<Identity>) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let listener = runtime.block_on(TcpListener::bind(address)).expect("a port");
        let scheme = if identity.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://{}", listener.local_addr().expect("an address"));
        let kept = Kept { mood, requests: Arc::default() };
        let mut server = Server::builder();
        if let Some(identity) = identity {
            server = server.tls_config(ServerTlsConfig::new().identity(identity)).expect("TLS");
        }
        let server = server.add_service(TraceServiceServer::new(kept.clone()));
        runtime.spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
        Self { url, kept, _runtime: runtime }
    }

    /// All that have come so far.
    pub fn spans(&self) -> Vec<Span> {
        let requests = self.kept.requests.lock().expect("free");
        let resources = requests.iter().flat_map(|request| &request.resource_spans);
        resources
            .flat_map(|resource| &resource.scope_spans)
            .flat_map(|scope| &scope.spans)
            .map(Span::read)
            .collect()
    }

    /// Who has sent them.
    pub fn services(&self) -> BTreeSet<String> {
        let requests = self.kept.requests.lock().expect("free");
        let resources = requests.iter().flat_map(|request| &request.resource_spans);
        let attributes = resources.flat_map(|spans| spans.resource.iter().flat_map(|r| &r.attributes));
        attributes
            .filter(|attribute| attribute.key == "service.name")
            .map(|a| text(a.value.as_ref()))
            .collect()
    }
}

#[tonic::async_trait]
impl TraceService for Kept {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        if self.mood == Mood::Refuses {
            return Err(Status::permission_denied("no"));
        }
        self.requests.lock().expect("free").push(request.into_inner());
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

impl Span {
    fn read(span: &WireSpan) -> Self {
        Self {
            name: span.name.clone(),
            trace: span.trace_id.clone(),
            id: span.span_id.clone(),
            parent: span.parent_span_id.clone(),
            start_ns: span.start_time_unix_nano,
            end_ns: span.end_time_unix_nano,
            failed: span.status.as_ref().is_some_and(|status| status.code() == StatusCode::Error),
            links: span.links.iter().map(|link| (link.trace_id.clone(), link.span_id.clone())).collect(),
            attributes: span.attributes.clone(),
        }
    }

    /// An attribute as text; empty if there is none.
    pub fn attribute(&self, key: &str) -> String {
        let found = self.attributes.iter().find(|attribute| attribute.key == key);
        found.map_or(String::new(), |attribute| text(attribute.value.as_ref()))
    }

    /// The units of a lease.
    pub fn range(&self) -> (u64, u64) {
        let number = |key| self.attribute(key).parse().expect("a number");
        (number("nonet.units.start"), number("nonet.units.end"))
    }
}

fn text(value: Option<&AnyValue>) -> String {
    match value.and_then(|value| value.value.as_ref()) {
        Some(any_value::Value::StringValue(text)) => text.clone(),
        Some(any_value::Value::IntValue(number)) => number.to_string(),
        Some(any_value::Value::BoolValue(truth)) => truth.to_string(),
        _ => String::new(),
    }
}
