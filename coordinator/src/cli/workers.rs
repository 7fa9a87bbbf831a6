//! `nonet workers`, `drain` and `readmit`.

use proto::v1::{QuarantinedWorker, WorkerStatus, WorkersReply};
use serde_json::{Value, json};

use super::{
    args::{Format, ListArgs, WorkerArg},
    exit::{Failure, Outcome},
    format::{lines, print, short, table},
    progress::duration,
    remote::connect,
};

/// `nonet workers`.
pub async fn workers(args: ListArgs) -> Result<Outcome, Failure> {
    let reply = connect(args.to).await?.workers().await?;
    print(&listing(&reply, args.format))?;
    Ok(Outcome::Done)
}

/// `nonet drain`.
pub async fn drain(args: WorkerArg) -> Result<Outcome, Failure> {
    let name = connect(args.to).await?.drain(&args.worker).await?;
    print(&format!("{name} gets no further leases\n"))?;
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
            let head = "id,name,slots,leases,units_done,silent_ms,draining,quarantined".to_owned();
            let plain = |text: &str| text.replace([',', '"', '\n'], "_");
            let connected = |w: &WorkerStatus| {
                let (id, name, draining) = (&w.id, plain(&w.name), w.draining);
                let (slots, leases, units_done, silent_ms) = (w.slots, w.leases, w.units_done, w.silent_ms);
                format!("{id},{name},{slots},{leases},{units_done},{silent_ms},{draining},false")
            };
            let refused = |q: &QuarantinedWorker| format!("{},{},,,,,,true", q.id, plain(&q.name));
            let rows = workers.iter().map(connected).chain(quarantined.iter().map(refused));
            lines(std::iter::once(head).chain(rows))
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

fn connected_json(w: &WorkerStatus) -> Value {
    json!({
        "id": w.id, "name": w.name, "version": w.version, "slots": w.slots, "leases": w.leases,
        "units_done": w.units_done, "silent_ms": w.silent_ms, "connected_unix_ms": w.connected_unix_ms,
        "draining": w.draining, "quarantined": Value::Null,
    })
}

fn quarantined_json(q: &QuarantinedWorker) -> Value {
    json!({ "id": q.id, "name": q.name, "quarantined": q.why, "quarantined_unix_ms": q.at_unix_ms })
}

fn connected_table(workers: &[WorkerStatus]) -> String {
    let row = |w: &WorkerStatus| {
        let heard = format!("{} ago", duration(w.silent_ms));
        let doing = if w.draining { "draining" } else { "working" };
        let leases = format!("{}/{}", w.leases, w.slots);
        [short(&w.id).into(), w.name.clone(), leases, w.units_done.to_string(), heard, doing.into()]
    };
    let head = ["ID", "NAME", "LEASES/SLOTS", "UNITS DONE", "HEARD", "STATE"];
    table(head, &workers.iter().map(row).collect::<Vec<_>>())
}
