//! The text of `/metrics`: every metric's name, unit and meaning.
//!
//! Units are seconds and bytes. What only the leader knows is absent elsewhere, so that sums over several coordinators
//! are right, and a gap is a gap.

use std::fmt;

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeGaugeValue, EncodeLabelSet, EncodeMetric, text::encode},
    metrics::{MetricType, counter::Counter, histogram::Histogram},
    registry::{Registry, Unit},
};

use super::{Counted, Farm, JobLine, Process, SHOWN_JOBS, Snapshot, Split};

/// What the text is.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

const NO_LABELS: [(&str, &str); 0] = [];

/// Writes a snapshot down.
///
/// # Errors
///
/// Never, as far as is known: what is written to has no end.
pub fn render(snapshot: Snapshot) -> Result<String, fmt::Error> {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(snapshot));
    let mut text = String::new();
    encode(&mut text, &registry)?;
    Ok(text)
}

impl Collector for Snapshot {
    fn encode(&self, encoder: DescriptorEncoder) -> fmt::Result {
        let mut page = Page(encoder);
        let version = [("version", env!("CARGO_PKG_VERSION"))];
        page.info("nonet_build", "What this program is.", [version])?;
        page.gauge(
            "nonet_leading",
            "Whether this coordinator leads: 1, or 0 while it stands by.",
            u64::from(self.leads),
        )?;
        let answered = u64::from(self.farm.is_some());
        page.gauge(
            "nonet_engine_answered",
            "Whether the engine answered this scrape in time: 0 while none runs here, or when it is stuck.",
            answered,
        )?;
        farm(&mut page, self.farm.as_ref())?;
        lines(&mut page, self.farm.as_ref().map_or(&[], |farm| &farm.lines))?;
        workers(&mut page, &self.counted)?;
        commits(&mut page, &self.counted)?;
        requests(&mut page, &self.counted)?;
        process(&mut page, &self.process)
    }
}

/// How the farm stands.
fn farm(page: &mut Page, farm: Option<&Farm>) -> fmt::Result {
    page.info(
        "nonet_ledger",
        "The ledger that is served.",
        farm.map(|farm| [("ledger", farm.ledger.as_str())]),
    )?;
    let jobs = farm.iter().flat_map(|farm| &farm.jobs).map(|(state, count)| ([("state", *state)], *count));
    page.gauges("nonet_jobs", "Jobs by state.", None, jobs)?;
    let mut one = |name, help, value: fn(&Farm) -> u64| {
        page.gauges(name, help, None, farm.map(|farm| (NO_LABELS, value(farm))))
    };
    one("nonet_workers", "Workers that are connected.", |farm| farm.workers)?;
    one("nonet_workers_draining", "Connected workers that take no further leases.", |farm| farm.draining)?;
    one(
        "nonet_workers_resting",
        "Connected workers that get nothing for a while: units fail there, or leases come back untouched.",
        |farm| farm.resting,
    )?;
    one(
        "nonet_workers_wanted",
        "Workers that could be put to use in all, if they are like those that are connected: what to scale to.",
        Farm::workers_wanted,
    )?;
    one("nonet_slots", "Leases that the connected workers compute at a time.", |farm| farm.slots)?;
    one("nonet_slots_busy", "Slots that have a lease.", |farm| farm.slots_busy)?;
    one("nonet_slots_wanted", "Slots that could be put to use in all.", |farm| farm.slots_wanted)?;
    one("nonet_leases", "Leases in workers' hands, stock included.", |farm| farm.leases)?;
    one("nonet_quarantined_workers", "Workers whose results are not believed.", |farm| {
        farm.quarantined_workers
    })?;
    one("nonet_engine_inputs_waiting", "Messages and questions that wait for the engine.", |farm| {
        farm.inputs_waiting
    })
}

/// A few lines for each unfinished job.
fn lines(page: &mut Page, jobs: &[JobLine]) -> fmt::Result {
    let shown = format!("of the newest {SHOWN_JOBS} unfinished jobs");
    // Not `job`: whoever scrapes has a label of that name.
    let labels = |job: &JobLine| [("name", job.name.clone()), ("kind", job.kind.clone())];
    let places = jobs.iter().flat_map(|job| {
        let of =
            |(place, units)| ([labels(job).as_slice(), &[("place", str::to_owned(place))]].concat(), units);
        job.places.into_iter().map(of).collect::<Vec<_>>()
    });
    page.gauges("nonet_job_units", &format!("Work units {shown}, by where they are."), None, places)?;
    let paused = jobs.iter().map(|job| (labels(job), u64::from(job.paused)));
    page.gauges("nonet_job_paused", &format!("Whether a job is paused, {shown}."), None, paused)?;
    #[allow(clippy::cast_precision_loss, reason = "a rate to be looked at")]
    let rates = jobs.iter().map(|job| (labels(job), job.units_per_1000s as f64 / 1000.0));
    page.gauges(
        "nonet_job_units_per_second",
        &format!("Work units committed a second, by the last minute, {shown}."),
        None,
        rates,
    )?;
    #[allow(clippy::cast_precision_loss, reason = "a time to be looked at")]
    let left = jobs.iter().filter_map(|job| Some((labels(job), job.eta_ms? as f64 / 1000.0)));
    page.gauges(
        "nonet_job_eta",
        &format!("Time to the end at this rate, {shown}; absent while nothing moves."),
        Some(&Unit::Seconds),
        left,
    )?;
    let wanted = jobs.iter().map(|job| (labels(job), job.slots_wanted));
    page.gauges("nonet_job_slots_wanted", &format!("Slots that could be put to use, {shown}."), None, wanted)
}

/// Workers that come and go.
fn workers(page: &mut Page, counted: &Counted) -> fmt::Result {
    page.counter("nonet_sessions_opened", "Workers welcomed.", None, &counted.sessions_opened)?;
    page.split("nonet_sessions_closed", "Sessions of workers that ended.", &counted.sessions_closed)?;
    page.counter("nonet_workers_refused", "Workers that were not let in.", None, &counted.workers_refused)?;
    page.counter("nonet_worker_messages", "Messages of workers.", None, &counted.worker_messages)?;
    let bytes = Some(&Unit::Bytes);
    page.counter("nonet_worker_received", "Size of the messages of workers.", bytes, &counted.worker_bytes)?;
    page.counter("nonet_grants", "Leases granted.", None, &counted.grants)?;
    page.counter("nonet_unit_failures", "Units that failed on a worker.", None, &counted.unit_failures)?;
    page.counter("nonet_units_quarantined", "Units given up.", None, &counted.units_quarantined)
}

/// Results, and the ledger that takes them.
fn commits(page: &mut Page, counted: &Counted) -> fmt::Result {
    page.counter("nonet_units_committed", "Units that became durable.", None, &counted.units_committed)?;
    page.split("nonet_commits", "Commits answered.", &counted.commits)?;
    page.counter(
        "nonet_conflicts",
        "Second results that differ; each stops its job.",
        None,
        &counted.conflicts,
    )?;
    let seconds = Some(&Unit::Seconds);
    page.histogram(
        "nonet_commit_latency",
        "From the arrival of a commit until it is durable.",
        seconds,
        &counted.commit_latency_s,
    )?;
    page.histogram(
        "nonet_ledger_append",
        "Time until a group of entries was durable.",
        seconds,
        &counted.ledger_append_s,
    )?;
    page.histogram(
        "nonet_ledger_group_entries",
        "Entries made durable together.",
        None,
        &counted.ledger_group,
    )?;
    page.gauges(
        "nonet_ledger_size",
        "What the ledger takes: its journal, or what Nonet keeps in etcd; 0 until this coordinator leads.",
        Some(&Unit::Bytes),
        [(NO_LABELS, counted.ledger_bytes.get())],
    )
}

/// Those who ask, and how they come.
fn requests(page: &mut Page, counted: &Counted) -> fmt::Result {
    let open = counted.connections.get();
    page.gauge("nonet_connections", "Connections that are open.", open)?;
    let refused = &counted.connections_refused;
    page.counter("nonet_connections_refused", "Connections that were turned away.", None, refused)?;
    page.split("nonet_requests", "Requests let in.", &counted.requests)?;
    page.split("nonet_requests_refused", "Requests refused.", &counted.requests_refused)?;
    page.split("nonet_spans", "Spans for the collector of traces.", &counted.spans)?;
    page.gauges(
        "nonet_certificate_expiry",
        "Until when the coordinator's certificate is valid, since 1970; absent without TLS.",
        Some(&Unit::Seconds),
        counted.certificate_expiry_unix_s().map(|at| (NO_LABELS, at)),
    )
}

/// What this process takes, as all programs name it.
fn process(page: &mut Page, process: &Process) -> fmt::Result {
    let (seconds, bytes) = (Some(&Unit::Seconds), Some(&Unit::Bytes));
    page.amount("process_cpu", "Processor time, user and system.", seconds, process.cpu_s)?;
    page.gauges("process_resident_memory", "Memory in use.", bytes, [(NO_LABELS, process.resident_bytes)])?;
    page.gauges("process_virtual_memory", "Memory asked for.", bytes, [(NO_LABELS, process.virtual_bytes)])?;
    page.gauge("process_open_fds", "Open files and sockets.", process.open_fds)?;
    page.gauge("process_max_fds", "How many may be open.", process.max_fds)?;
    page.gauge("process_threads", "Threads.", process.threads)?;
    let started = [(NO_LABELS, process.started_unix_s)];
    page.gauges("process_start_time", "When the process began, since 1970.", seconds, started)
}

/// The text as it grows.
struct Page<'a>(DescriptorEncoder<'a>);

impl Page<'_> {
    /// One value, always there.
    fn gauge(&mut self, name: &str, help: &str, value: impl EncodeGaugeValue) -> fmt::Result {
        self.gauges(name, help, None, [(NO_LABELS, value)])
    }

    /// A value for each set of labels.
    fn gauges<L: EncodeLabelSet, V: EncodeGaugeValue>(
        &mut self,
        name: &str,
        help: &str,
        unit: Option<&Unit>,
        values: impl IntoIterator<Item = (L, V)>,
    ) -> fmt::Result {
        let mut metric = self.0.encode_descriptor(name, help, unit, MetricType::Gauge)?;
        values.into_iter().try_for_each(|(labels, value)| metric.encode_family(&labels)?.encode_gauge(&value))
    }

    /// Something that does not change, told by its labels.
    fn info<L: EncodeLabelSet>(
        &mut self,
        name: &str,
        help: &str,
        labels: impl IntoIterator<Item = L>,
    ) -> fmt::Result {
        let mut metric = self.0.encode_descriptor(name, help, None, MetricType::Info)?;
        labels.into_iter().try_for_each(|labels| metric.encode_info(&labels))
    }

    fn counter(&mut self, name: &str, help: &str, unit: Option<&Unit>, counter: &Counter) -> fmt::Result {
        counter.encode(self.0.encode_descriptor(name, help, unit, MetricType::Counter)?)
    }

    fn amount(&mut self, name: &str, help: &str, unit: Option<&Unit>, value: f64) -> fmt::Result {
        let mut metric = self.0.encode_descriptor(name, help, unit, MetricType::Counter)?;
        metric.encode_counter::<[(&str, &str); 0], _, f64>(&value, None)
    }

    fn split(&mut self, name: &str, help: &str, split: &Split) -> fmt::Result {
        let help = format!("{help} By {}.", split.label);
        let mut metric = self.0.encode_descriptor(name, &help, None, MetricType::Counter)?;
        split
            .parts
            .iter()
            .try_for_each(|(value, counter)| counter.encode(metric.encode_family(&[(split.label, *value)])?))
    }

    fn histogram(
        &mut self,
        name: &str,
        help: &str,
        unit: Option<&Unit>,
        histogram: &Histogram,
    ) -> fmt::Result {
        histogram.encode(self.0.encode_descriptor(name, help, unit, MetricType::Histogram)?)
    }
}
