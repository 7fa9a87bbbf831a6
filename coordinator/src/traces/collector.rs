//! The way to a collector.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use opentelemetry::KeyValue;
use opentelemetry_otlp::{SpanExporter as Otlp, WithTonicConfig};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    trace::{BatchSpanProcessor, SdkTracerProvider, SpanData, SpanExporter},
};
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use worker::dial::is_loopback;

use super::Traces;
use crate::metrics::Counted;

/// How long a connection may take. An export may take ten seconds, or what `OTEL_EXPORTER_OTLP_TIMEOUT` says.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The variable that names the CA of a collector's certificate, where it is none that the system trusts.
const CA_VARIABLE: &str = "OTEL_EXPORTER_OTLP_CERTIFICATE";
/// A CA's file has a few certificates.
const MAX_CA_BYTES: u64 = 1 << 20;

/// Where a collector is, and how it is reached.
#[derive(Clone, Debug)]
pub struct Collector {
    url: String,
    endpoint: Endpoint,
}

impl Collector {
    /// Reads `http://HOST:PORT` or `https://HOST:PORT`.
    ///
    /// # Errors
    ///
    /// When it is none, or not encrypted and on another machine, or the CA of its certificate cannot be read.
    pub fn parse(url: &str, allow_plaintext: bool) -> Result<Self, String> {
        let wrong = |why: &dyn std::fmt::Display| format!("--otlp {url}: {why}");
        let expected = "expected the gRPC port of a collector, http://HOST:4317 or https://HOST:4317";
        let endpoint = Endpoint::from_shared(url.to_owned()).map_err(|_| wrong(&expected))?;
        let endpoint = endpoint.connect_timeout(CONNECT_TIMEOUT);
        let (scheme, host) = (endpoint.uri().scheme_str(), endpoint.uri().host().unwrap_or_default());
        let endpoint = match scheme {
            _ if host.is_empty() || !matches!(endpoint.uri().path(), "" | "/") => {
                return Err(wrong(&expected));
            }
            Some("http") if allow_plaintext || is_loopback(host) => endpoint,
            Some("http") => {
                return Err(wrong(
                    &"this is not encrypted: use https://, or add --allow-plaintext if everybody in that network is trusted",
                ));
            }
            Some("https") => {
                let tls = tls().map_err(|why| wrong(&why))?;
                endpoint.tls_config(tls).map_err(|e| wrong(&e))?
            }
            _ => return Err(wrong(&expected)),
        };
        Ok(Self { url: url.into(), endpoint })
    }

    /// Spans go there from now on. Nothing is lost but spans while nobody answers there.
    ///
    /// # Errors
    ///
    /// When one of the variables of OpenTelemetry (`OTEL_EXPORTER_OTLP_HEADERS` and such) cannot be used.
    pub fn collect(self, counted: &Arc<Counted>) -> Result<Traces, String> {
        let channel: Channel = self.endpoint.connect_lazy();
        let otlp = Otlp::builder().with_tonic().with_channel(channel).build();
        let otlp = otlp.map_err(|e| format!("--otlp {}: {e}", self.url))?;
        tracing::info!("traces go to {}", self.url);
        let told = Told { otlp, url: self.url, lost: AtomicBool::new(false), counted: Arc::clone(counted) };
        let about = [KeyValue::new("service.version", env!("CARGO_PKG_VERSION"))];
        let resource =
            Resource::builder().with_service_name("nonet-coordinator").with_attributes(about).build();
        // Its queue has 2,048 places, or what `OTEL_BSP_MAX_QUEUE_SIZE` says.
        let batches = BatchSpanProcessor::builder(told).build();
        let provider =
            SdkTracerProvider::builder().with_resource(resource).with_span_processor(batches).build();
        Ok(Traces::to(provider, Arc::clone(counted)))
    }
}

/// Whom to trust: the CA of the variable, or those of the system.
fn tls() -> Result<ClientTlsConfig, String> {
    let Ok(path) = std::env::var(CA_VARIABLE) else { return Ok(ClientTlsConfig::new().with_native_roots()) };
    let wrong = |why: &dyn std::fmt::Display| format!("{CA_VARIABLE}={path}: {why}");
    let len = std::fs::metadata(&path).map_err(|e| wrong(&e))?.len();
    if len > MAX_CA_BYTES {
        return Err(wrong(&format!("more than {MAX_CA_BYTES} bytes: this is no certificate")));
    }
    let pem = std::fs::read(&path).map_err(|e| wrong(&e))?;
    Ok(ClientTlsConfig::new().ca_certificate(Certificate::from_pem(pem)))
}

/// Counts what is sent, and tells once when it cannot be, and once when it can again.
#[derive(Debug)]
struct Told {
    otlp: Otlp,
    url: String,
    lost: AtomicBool,
    counted: Arc<Counted>,
}

impl SpanExporter for Told {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let count = batch.len() as u64;
        let sent = self.otlp.export(batch).await;
        self.counted.spans.count_many(if sent.is_ok() { "sent" } else { "lost" }, count);
        let lost = sent.as_ref().err();
        if self.lost.swap(lost.is_some(), Ordering::Relaxed) != lost.is_some() {
            if let Some(why) = lost {
                tracing::warn!("traces are lost, {} does not take them: {why}", self.url);
            } else {
                tracing::info!("traces are taken again by {}", self.url);
            }
        }
        sent
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.otlp.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.otlp.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.otlp.set_resource(resource);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_is_reached_safely_or_not_at_all() {
        for good in ["http://127.0.0.1:4317", "http://localhost:4317/", "https://collector.example.org:4317"]
        {
            assert!(Collector::parse(good, false).is_ok(), "{good}");
        }
        let plain = "http://collector.example.org:4317";
        assert!(Collector::parse(plain, false).expect_err("not encrypted").contains("--allow-plaintext"));
        assert!(Collector::parse(plain, true).is_ok());
        for bad in ["", "collector:4317", "ftp://127.0.0.1:1", "http://127.0.0.1:4318/v1/traces", "not a URL"]
        {
            let said = Collector::parse(bad, true).expect_err(bad);
            assert!(said.contains("http://HOST:4317"), "{said}");
        }
    }
}
