//! Inputs to begin with, into `corpus/TARGET`: of targets that take bytes, for those of a format are not guessed soon.

use std::{
    fs,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use coordinator::{
    access::{Identity, Role},
    certs::{self, Wanted},
    ledger::{
        Act, Action, Actor, CommitRecord, Entry, JobRecord, JobState, JobSummary, Quarantine,
        etcd::fuzz::{Backed, group_of, page_of},
    },
    scheduler::{JobId, Vote, WorkerId},
};
use coordinator_fuzz::{GRID, PUZZLE, Parts, Small, all, hex, small};
use jobs::{NeededReport, PartSource as _, Progress, UnitContext};
use proto::{Message, v1};
use rustls_pki_types::{CertificateDer, pem::PemObject as _};
use serde_json::{Value, json};
use worker::{
    spool::{SpooledCommit, fuzz::stored},
    store::{Purpose, Store},
};

fn put(target: &str, name: &str, bytes: &[u8]) {
    let folder = Path::new("corpus").join(target);
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join(name), bytes).expect("written");
}

/// Bytes behind a first one.
fn behind(first: u8, bytes: &[u8]) -> Vec<u8> {
    [&[first], bytes].concat()
}

/// A piece behind its length.
fn piece(bytes: &[u8]) -> Vec<u8> {
    [&u16::try_from(bytes.len()).expect("small").to_le_bytes(), bytes].concat()
}

fn commit(start: u64) -> CommitRecord {
    let partial = vec![3, 4, 5];
    let digest = *blake3::hash(&partial).as_bytes();
    let worker = WorkerId([u8::try_from(start % 3).expect("small"); 16]);
    CommitRecord {
        job: JobId([1; 16]),
        range: start..start + 2,
        digest,
        partial,
        worker,
        busy_us: 900,
        at_unix_ms: 1000 + start,
    }
}

fn backed(start: u64) -> Backed {
    let commit = commit(start);
    let others = [WorkerId([8; 16]), WorkerId([9; 16])];
    let by = [&[commit.worker], &others[..usize::from(start == 2)]].concat();
    (commit, by)
}

fn act() -> Act {
    let actor = Actor { who: "a".into(), role: "operator".into(), peer: "[::1]:9".into() };
    Act { at_unix_ms: 9, actor, action: Action::Pause, job: Some(JobId([1; 16])), detail: "noop".into() }
}

fn liar() -> Quarantine {
    Quarantine { worker: WorkerId([2; 16]), name: "n".into(), why: "w".into(), at_unix_ms: 9, swept: true }
}

fn entries() -> Vec<Entry> {
    let (job, worker) = (JobId([1; 16]), WorkerId([2; 16]));
    let record = JobRecord {
        id: job,
        name: [5; 16],
        kind: "noop".into(),
        revision: 1,
        settings: "{}".into(),
        units: 300,
        weight: 1,
        created_unix_ms: 8,
    };
    vec![
        Entry::Job(record),
        Entry::Commit(commit(0)),
        Entry::Failure { job, unit: 7, worker, error: "no".into() },
        Entry::Quarantine { job, unit: 7 },
        Entry::Retry { job },
        Entry::Conflict(commit(0)),
        Entry::State { job, state: JobState::Paused, at_unix_ms: 9 },
        Entry::Act(act()),
        Entry::Replicas { job, replicas: 2 },
        Entry::Claim(commit(4)),
        Entry::Confirm { commit: commit(4), by: vec![commit(4).worker, worker] },
        Entry::Withdraw { job, range: 4..6 },
        Entry::WorkerQuarantined(liar()),
        Entry::WorkerSwept { worker },
        Entry::WorkerReadmitted { worker, at_unix_ms: 9 },
        Entry::Requirements { job, requirements: vec!["avx512".into(), "memory_gib>=16".into()] },
    ]
}

fn ledger() {
    let (header, chain) = coordinator_fuzz::header();
    let first = group_of(&entries(), &chain).expect("small");
    let mut next = [0; 32];
    next.copy_from_slice(&first[12..44]);
    let second = group_of(&[Entry::Commit(commit(9))], &next).expect("small");
    put("journal", "whole", &behind(0, &[&header[..], &first, &second].concat()));
    put("journal", "frames", &behind(1, &[&first[..], &second].concat()));
    put("journal", "payloads", &behind(2, &[piece(&first[44..]), piece(&second[44..])].concat()));
    put("etcd_group", "whole", &behind(0, &group_of(&entries(), &[3; 32]).expect("small")));
    put("etcd_group", "payload", &behind(1, &first[44..]));
    let page = page_of(&[0, 2, 700].map(backed)).expect("they ascend");
    put("etcd_page", "packed", &behind(0, &page));
    put("etcd_page", "page", &behind(1, &zstd::bulk::decompress(&page, 1 << 20).expect("a page")));
    let entries = entries();
    let Some(Entry::Job(record)) = entries.first().cloned() else { return };
    let summary = JobSummary {
        record,
        state: JobState::Conflicted,
        state_unix_ms: 9,
        quarantined: vec![3],
        failures: vec![(3, WorkerId([2; 16]), "no".into())],
        conflicts: vec![commit(0)],
        replicas: 2,
        claims: vec![Vote { range: 4..6, worker: WorkerId([2; 16]), digest: [7; 32] }],
        withdrawn_units: 3,
    };
    let pages = vec![(4u64, 0u64, 100u32, 3u32, [6u8; 32])];
    let base = postcard::to_stdvec(&(
        5u64,
        2u64,
        vec![JobId([8; 16])],
        vec![(0u64, summary, pages)],
        vec![liar()],
        vec![act()],
    ))
    .expect("encodes");
    put("etcd_base", "base", &behind(1, &base));
    put("etcd_base", "packed", &behind(0, &zstd::bulk::compress(&base, 3).expect("packs")));
}

fn spool() {
    let purpose = Purpose { name: "fuzzing", format: 1, cure: String::new() };
    let store = Store::open(coordinator_fuzz::folder(), purpose).expect("a store");
    let CommitRecord { range, digest, partial, busy_us, .. } = commit(4);
    let result = SpooledCommit { ledger: [1; 16], job: [2; 16], range, digest, partial, busy_us };
    let (key, value) = stored(&store, &result).expect("encodes");
    put("spool", "result", &behind(0, &[piece(&key), piece(&value)].concat()));
    put("spool", "progress", &behind(1, &postcard::to_stdvec(&(99u64, &b"progress"[..])).expect("encodes")));
    let head = worker::store::fuzz::head(&key, &value);
    put("spool", "head", &behind(2, &[piece(&key), piece(&head)].concat()));
}

fn wire() {
    let event = |event| v1::LeaseEvent { lease: 3, event: Some(event) };
    let failed = v1::Failure { unit: 3, error: "no".into() };
    let commit = v1::Commit {
        sequence: 1,
        job: vec![1; 16].into(),
        start: 0,
        end: 4,
        digest: vec![2; 32].into(),
        partial: vec![3].into(),
        busy_us: 4,
    };
    let from = v1::FromWorker {
        hello: None,
        commits: vec![commit],
        events: vec![
            event(v1::lease_event::Event::Reached(4)),
            event(v1::lease_event::Event::Failed(failed)),
        ],
        draining: true,
    };
    put("wire", "from_worker", &behind(0, &from.encode_to_vec()));
    let grant = v1::Grant { job: vec![1; 16].into(), start: 3, end: 90, whole: true };
    let order = |order| v1::Order { lease: 1, order: Some(order) };
    let to = v1::ToWorker {
        welcome: None,
        jobs: vec![v1::Job {
            job: vec![1; 16].into(),
            kind: "noop".into(),
            revision: 1,
            settings: "{}".into(),
        }],
        orders: vec![
            order(v1::order::Order::Grant(grant)),
            order(v1::order::Order::Shrink(20)),
            order(v1::order::Order::Revoke(true)),
        ],
        answers: vec![v1::Answer { sequence: 1, verdict: 2 }],
        leave: true,
    };
    put("wire", "to_worker", &behind(1, &to.encode_to_vec()));
    let submit = v1::SubmitRequest {
        kind: "noop".into(),
        revision: 1,
        settings: "{}".into(),
        weight: 1,
        fresh: true,
        replicas: 2,
        requirements: vec!["memory_gib>=16".into()],
    };
    put("wire", "submit", &behind(2, &submit.encode_to_vec()));
}

/// The sum of some units, if they take no time.
fn sum(of: &Small, units: std::ops::Range<u64>) -> Option<Vec<u8>> {
    let begun = Instant::now();
    let stop = || begun.elapsed() > Duration::from_secs(20);
    let mut sum = Arc::clone(&of.job).accumulator();
    for unit in units {
        sum.run_unit(unit, &UnitContext::new(&stop, None)).ok()?;
    }
    sum.bytes().ok()
}

fn partials() {
    for (number, of) in (0u8..).zip(all()) {
        for len in [1u8, 3] {
            if u64::from(len) <= of.job.units()
                && let Some(sum) = sum(&of, 0..len.into())
            {
                put(
                    "partial",
                    &format!("{}-{number}-{len}", of.kind.name()),
                    &[&[number, 0, len], &sum[..]].concat(),
                );
            }
        }
        let kind = jobs::KINDS.iter().position(|kind| kind.name() == of.kind.name()).expect("it is there");
        let kind = u8::try_from(kind).expect("few");
        put("settings", &format!("{}-{number}", of.kind.name()), &behind(kind, of.settings.as_bytes()));
    }
    for which in 0..6 {
        put("progress", &format!("none-{which}"), &[which, 0, 0, 0, 0, 0, 0]);
        put("progress", &format!("some-{which}"), &[which, 1, 1, 1, 15, 2, 1, 1, 51]);
    }
}

fn section(of: &Small, needed: Vec<Option<NeededReport>>) -> (Vec<Value>, Value) {
    let units = of.job.units();
    let half = units / 2;
    let mut whole = Arc::clone(&of.job).accumulator();
    let mut lines = vec![json!({
        "record": "job", "name": "", "run": "00", "kind": of.kind.name(), "revision": of.kind.revision(),
        "settings": of.settings, "units": units.to_string(), "created_unix_ms": "1",
    })];
    for range in [0..half, half..units].into_iter().filter(|range| !range.is_empty()) {
        let sum = sum(of, range.clone()).expect("units that take no time");
        whole.absorb(&sum).expect("it adds up");
        lines.push(json!({
            "record": "range", "start": range.start.to_string(), "end": range.end.to_string(), "digest": "",
            "partial": hex(&sum), "worker": "01", "busy_us": "5", "at_unix_ms": "6",
        }));
    }
    let busy_us = 5 * (lines.len() as u64 - 1);
    let progress = Progress { units, done: units, busy_us, quarantined: Vec::new(), needed };
    let report = of.job.report(&whole.bytes().expect("small"), &progress).expect("a report").json;
    lines.push(json!({ "record": "report", "quarantined": [], "report": report }));
    (lines, report)
}

fn certificates() {
    let seal = |name: &str, lines: Vec<Value>| {
        let first =
            json!({ "record": "certificate", "format": 1, "program": "0", "ledger": "00", "job": "" });
        let text: Vec<String> = [first].into_iter().chain(lines).map(|line| line.to_string()).collect();
        let text = text.join("\n");
        let checked = coordinator::certificate::check(&coordinator_fuzz::seal(&text)[..]);
        println!("certificate {name}: {:?}", checked.map(|checked| checked.jobs.len()));
        put("certificate", name, text.as_bytes());
    };
    let of = |kind, args: &[&str]| section(&small(kind, args), Vec::new()).0;
    seal("noop", of("noop", &["--units", "10"]));
    seal("minimal", of("minimal", &["--shape", "2x2"]));
    seal("unavoidable", of("unavoidable", &[GRID, "--max-size", "6"]));
    seal("hitting", of("hitting", &[GRID, "--clues", "4"]));
    let (mut lines, json) = section(&small("recount", &["--shape", "2x2"]), Vec::new());
    seal("recount", lines.clone());
    let needed = vec![Some(NeededReport { complete: true, json })];
    lines.extend(section(&small("burnside", &["--shape", "2x2"]), needed).0);
    seal("burnside", lines);
    let broken = json!({ "record": "report", "quarantined": [3, 4], "report": {} });
    seal("given_up", [of("noop", &["--units", "10"])[..2].to_vec(), vec![broken]].concat());
}

fn texts() {
    let marks: String =
        PUZZLE.chars().map(|c| if c == '.' { "123456789".into() } else { format!("{c}........") }).collect();
    let drawn = "5 3 . | . 7 . | . . .\n6 . . | 1 9 5 | . . .\n. 9 8 | . . . | . 6 .\n------+-------+------\n8 . . | . 6 . | . . 3\n\
        4 . . | 8 . 3 | . . 1\n7 . . | . 2 . | . . 6\n------+-------+------\n. 6 . | . . . | 2 8 .\n. . . | 4 1 9 | . . 5\n. . . | . 8 . | . 7 9\n";
    let pencil = "+-----+-----+\n| 1 234 | 23 4 |\n| 3 4 | 1 2 |\n+-----+-----+\n| 2 1 | 4 3 |\n| 34 34 | 12 12 |\n+-----+-----+\n";
    let open = format!("<?xml version=\"1.0\"?><opensudoku><game data=\"{PUZZLE}\"/></opensudoku>");
    let sixteen = format!("{}1..2{}\n", "A.........B.....".repeat(8), ".".repeat(124));
    let texts = [
        ("lines", format!("# name\n{PUZZLE} easy\n{PUZZLE}\n")),
        ("csv", format!("id,puzzle,rating\n1,{PUZZLE},1.2\n2,\"{PUZZLE}\",x\n")),
        ("drawn", drawn.into()),
        ("pencil", pencil.into()),
        ("open", open),
        ("marks", format!("{marks}\n")),
        ("sixteen", sixteen),
        ("small", "1...\n..3.\n.2..\n...4\n\n4 1 2 3\n".into()),
        ("numbers", "1,0,0,12,0,0,0,0,0,10,0,0\n".repeat(12)),
        ("sdk", "[Puzzle]\n".to_owned() + &"53..7....\n".repeat(9)),
    ];
    for (name, text) in texts {
        for how in [0, 2] {
            put("puzzles", &format!("{name}-{how}"), &behind(how, text.as_bytes()));
        }
        put("files", &format!("line-{name}"), &behind(0, text.lines().next().unwrap_or_default().as_bytes()));
    }
    let zstd = zstd::bulk::compress(PUZZLE.as_bytes(), 3).expect("packs");
    put("puzzles", "zstd", &behind(2, &zstd));
    put("puzzles", "gzip", &behind(2, &coordinator_fuzz::packed(0, PUZZLE.as_bytes())));
    put("puzzles", "skipped", &behind(2, &[b"\x50\x2a\x4d\x18\x02\0\0\0xx", &zstd[..]].concat()));
    let nine = "123456789456789123789123456231674895875912364694538217317265948542897631968341572";
    for how in [0, 1, 2] {
        put(
            "grids",
            &format!("some-{how}"),
            &behind(how, format!("# grids\n{GRID}\n1234341223414123\n").as_bytes()),
        );
        put("grids", &format!("nine-{how}"), &behind(how, format!("{nine}\n{nine}\n").as_bytes()));
    }
    put("files", "six", &behind(0, b"1.....2.....3.....4.....5.....6....."));
    put("files", "four", &behind(0, b"1.....2.....3..4"));
    put("files", "list", &behind(1, b"{\"at\":\"/a/b.jpg\",\"stored_bytes\":7,\"version\":\"1\"}\n{\"at\":\"s3://a/b.jpg\",\"stored_bytes\":7,\"version\":\"1\"}\n"));
    put(
        "files",
        "config",
        &behind(2, b"state = \"/a\"\nthreads = 3\ncoordinator = \"http://a:1\"\nallow_plaintext = true\n"),
    );
    let plots = [
        jobs::plot::Plot::counts("title", "x", "y", [("a", 1), ("b", 200)]),
        jobs::plot::Plot::distribution("title", "x", "y", [(1u64, 3), (2000, 400)]),
    ];
    let plots: Vec<_> = plots.into_iter().flatten().collect();
    put("files", "plots", &behind(3, jobs::plot::to_json(&plots).as_bytes()));
    put("files", "lines", &behind(3, br#"[{"title":"t","caption":"","x":{"label":"x","scale":"log"},"y":{"label":"y","scale":"linear"},"marks":{"lines":[{"name":"a","points":[[1.0,2.0],[1e300,-3.5]]}]}}]"#));
}

fn access() {
    let hash = blake3::hash(b"a secret").to_hex();
    let line = |name: &str, role: &str| {
        format!("[[token]]\nname = \"{name}\"\nrole = \"{role}\"\nblake3 = \"{hash}\"\n")
    };
    put("access", "tokens", &behind(0, (line("a", "worker") + &line("b", "operator")).as_bytes()));
    put("access", "token", &behind(1, b"nonet_0123456789\n"));
    let (authority, out) =
        (coordinator_fuzz::folder().join("authority"), coordinator_fuzz::folder().join("out"));
    certs::init(&authority, false).expect("an authority");
    for (role, hosts) in [(Role::Worker, vec![]), (Role::Coordinator, vec!["localhost".into(), "::1".into()])]
    {
        let identity = Identity { name: "a".into(), role };
        certs::issue(&authority, &Wanted { identity, hosts, days: 3650 }, &out, true).expect("a certificate");
        let files =
            ["ca.pem", "cert.pem", "key.pem"].map(|name| fs::read(out.join(name)).expect("it is there"));
        let der = CertificateDer::from_pem_slice(&files[1]).expect("a certificate");
        put("access", &format!("certificate-{role}"), &behind(2, &der));
        put("access", &format!("files-{role}"), &behind(3, &files.map(|file| piece(&file)).concat()));
    }
    put("access", "addresses", &behind(4, b"http://localhost:1,https://[::1]:2"));
    put("access", "etcd", &behind(4, b"etcds://a:1,b,[::1]:3/name"));
}

fn parts() {
    let with_output = all().into_iter().filter(|of| of.kind.output().is_some() && of.job.units() < 1000);
    for (number, of) in (0u8..).zip(with_output) {
        let (kept, begun) = (Parts::default(), Instant::now());
        let stop = || begun.elapsed() > Duration::from_secs(20);
        let context = UnitContext::new(&stop, None).with_parts(Some(&kept));
        let units = of.job.units().min(4);
        let mut sum = Arc::clone(&of.job).accumulator();
        let ran = (0..units).all(|unit| sum.run_unit(unit, &context).is_ok());
        let parts: Vec<u8> =
            (0..units).filter_map(|unit| kept.get(unit).ok()).flat_map(|part| piece(&part)).collect();
        println!("parts of {}: {ran}, {} bytes", of.kind.name(), parts.len());
        put("parts", &format!("{}-{number}", of.kind.name()), &[&[number, 0], &parts[..]].concat());
    }
}

fn main() {
    access();
    parts();
    ledger();
    spool();
    wire();
    texts();
    partials();
    certificates();
}
