//! `nonet workers`, `drain`, `release` and `readmit`.

use proto::labels::POOL;
use proto::v1::{QuarantinedWorker, ReleaseReply, WorkerStatus, WorkersReply};
use serde_json::{Value, json};

use super::{
    args::{Format, ListArgs, ReleaseArgs, WorkerArg},
    exit::{Failure, Outcome},
    format::{lines, print, table},
    remote::connect,
};
use crate::shown::{duration, short};

/// `nonet workers`.
pub async fn workers(args: ListArgs) -> Result<Outcome, Failure> {
    let reply = connect(args.to).await?.workers().await?;
    print(&listing(&reply, args.format))?;
    Ok(Outcome::Done)
}

/// `nonet drain`.
pub async fn drain(args: WorkerArg) -> Result<Outcome, Failure> {
    let name = connect(args.to).await?.drain(&args.worker).await?;
    print(&format!("{name} gets no further leases, and ends when it has computed those it began\n"))?;
    Ok(Outcome::Done)
}

/// `nonet release`.
pub async fn release(args: ReleaseArgs) -> Result<Outcome, Failure> {
    let ReleaseArgs { pool, keep, to, format } = args;
    let ReleaseReply { connected, leaving } = connect(to).await?.release(&pool, keep).await?;
    let staying = connected - leaving.min(connected);
    let text = match format {
        Format::Json => {
            json!({ "pool": pool, "connected": connected, "leaving": leaving, "staying": staying })
                .to_string()
                + "\n"
        }
        Format::Csv => format!("pool,connected,leaving,staying\n{pool},{connected},{leaving},{staying}\n"),
        Format::Table => {
            let of = if pool.is_empty() { String::new() } else { format!(" of pool {pool}") };
            format!("{leaving} of {connected} workers{of} leave as soon as they are free, {staying} stay\n")
        }
    };
    print(&text)?;
    Ok(Outcome::Done)
}

/// `nonet readmit`.
pub async fn readmit(args: WorkerArg) -> Result<Outcome, Failure> {
    let name = connect(args.to).await?.readmit(&args.worker).await?;
    print(&format!("{name} may work again\n"))?;
    Ok(Outcome::Done)
}

/// The connected workers, then the quarantined.
fn listing(reply: &WorkersReply, format: Format) -> String {
    let WorkersReply { workers, quarantined, .. } = reply;
    match format {
        Format::Json => {
            let all = workers.iter().map(connected_json).chain(quarantined.iter().map(quarantined_json));
            Value::Array(all.collect()).to_string() + "\n"
        }
        Format::Csv => {
            let head = "id,name,slots,leases,units_done,silent_ms,draining,quarantined,leaving,resting_ms,failures,labels";
            let plain = |text: &str| text.replace([',', '"', '\n'], "_");
            let connected = |w: &WorkerStatus| {
                let (id, name, draining) = (&w.id, plain(&w.name), w.draining);
                let (slots, leases, units_done, silent_ms) = (w.slots, w.leases, w.units_done, w.silent_ms);
                let (leaving, resting_ms, failures) = (w.leaving, w.resting_ms, w.failures);
                let labels = labels(w).join(" ");
                format!(
                    "{id},{name},{slots},{leases},{units_done},{silent_ms},{draining},false,{leaving},{resting_ms},\
                     {failures},{labels}"
                )
            };
            let refused = |q: &QuarantinedWorker| format!("{},{},,,,,,true,,,,", q.id, plain(&q.name));
            let rows = workers.iter().map(connected).chain(quarantined.iter().map(refused));
            lines(std::iter::once(head.to_owned()).chain(rows))
        }
        Format::Table => {
            let mut text = match &workers[..] {
                [] => "no workers are connected\n".into(),
                workers => connected_table(workers),
            };
            for q in quarantined {
                let (id, name, why) = (short(&q.id), &q.name, &q.why);
                text += &format!("QUARANTINED  {id} {name}: {why} (`nonet readmit {id}` lifts it)\n");
            }
            text
        }
    }
}

/// As they are asked for.
fn labels(w: &WorkerStatus) -> Vec<String> {
    w.labels.iter().map(|label| format!("{}={}", label.name, label.value)).collect()
}

fn connected_json(w: &WorkerStatus) -> Value {
    json!({
        "id": w.id, "name": w.name, "version": w.version, "slots": w.slots, "leases": w.leases,
        "units_done": w.units_done, "silent_ms": w.silent_ms, "connected_unix_ms": w.connected_unix_ms,
        "draining": w.draining, "quarantined": Value::Null, "leaving": w.leaving, "protocol": w.protocol,
        "resting_ms": w.resting_ms, "failures": w.failures,
        "labels": w.labels.iter().map(|label| (label.name.clone(), label.value.clone().into()))
            .collect::<serde_json::Map<_, _>>(),
    })
}

fn quarantined_json(q: &QuarantinedWorker) -> Value {
    json!({ "id": q.id, "name": q.name, "quarantined": q.why, "quarantined_unix_ms": q.at_unix_ms })
}

fn connected_table(workers: &[WorkerStatus]) -> String {
    let row = |w: &WorkerStatus| {
        let heard = format!("{} ago", duration(w.silent_ms));
        let doing = match w {
            w if w.leaving => "leaving".into(),
            w if w.draining => "draining".into(),
            w if w.resting_ms > 0 => format!("resting {}", duration(w.resting_ms)),
            _ => "working".into(),
        };
        let leases = format!("{}/{}", w.leases, w.slots);
        let (done, failed) = (w.units_done.to_string(), w.failures.to_string());
        let pool = w.labels.iter().find(|label| label.name == POOL);
        let pool = pool.map_or(String::new(), |label| label.value.clone());
        [short(&w.id).into(), w.name.clone(), pool, leases, done, failed, heard, doing]
    };
    let head = ["ID", "NAME", "POOL", "LEASES/SLOTS", "UNITS DONE", "FAILED", "HEARD", "STATE"];
    table(head, &workers.iter().map(row).collect::<Vec<_>>())
}
