//! Certificates: a finished job in one file, with which anybody can check its report without the cluster that made it.
//!
//! A line a record, JSON behind the value of a chain:
//!
//! ```text
//! <chain> {"record":"certificate","format":1,"program":"0.1.0","ledger":"…","job":"…"}
//! <chain> {"record":"job","name":"…","kind":"recount","revision":1,"settings":"{…}","units":"44",…}
//! <chain> {"record":"range","start":"0","end":"7","digest":"…","partial":"…","worker":"…","busy_us":"…","at_unix_ms":"…"}
//! <chain> {"record":"report","quarantined":[],"report":{…}}
//!
//! chain = blake3(chain of the line before, the JSON of this line), in hexadecimal; before the first line it is 32 zeros
//! ```
//!
//! Jobs that the certified one needs come before it, each with its ranges and its report. A ledger that has added ranges of
//! different workers up knows no more whose they were: the worker of such a range is `several`. The chain tells that nothing
//! was changed by accident, and its last value stands for the whole file. Who wants to deceive can write another file:
//! against that it helps to compute some of the ranges again.

mod check;
mod make;

use std::io::{self, BufRead, Write};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

pub(crate) use self::{check::recompute_range, make::one_job};
pub use self::{
    check::{CheckError, Checked, RangeOfJob, Recomputed, Section, check, recompute},
    make::{Made, MakeError, make},
};
use crate::{
    ledger::{Chain, chain},
    scheduler::hex,
};

/// The number of this format.
const FORMAT: u32 = 1;

/// Bytes of a line at most: a partial of the largest size in hexadecimal, a report, or settings.
const MAX_LINE_BYTES: u64 = 64 << 20;

/// The worker of a range that was added up from those of different workers.
pub(crate) const SEVERAL: &str = crate::scheduler::WorkerId::SEVERAL_TEXT;

/// A line of a certificate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case", deny_unknown_fields)]
enum Record {
    /// The first line.
    Certificate {
        format: u32,
        /// Version of the program that wrote it.
        program: String,
        /// The ledger's id.
        ledger: String,
        /// Name of the job that is certified: the last one in the file.
        job: String,
    },
    /// A job; its ranges and its report follow.
    Job {
        /// Hash of kind, revision and settings.
        name: String,
        /// The run.
        run: String,
        kind: String,
        revision: u32,
        /// JSON, as it was hashed.
        settings: String,
        #[serde(with = "text")]
        units: u64,
        #[serde(with = "text")]
        created_unix_ms: u64,
    },
    /// A range of work units and what it yielded.
    Range {
        #[serde(with = "text")]
        start: u64,
        #[serde(with = "text")]
        end: u64,
        /// blake3 of the partial.
        digest: String,
        partial: String,
        /// Its id, or [`SEVERAL`].
        worker: String,
        #[serde(with = "text")]
        busy_us: u64,
        #[serde(with = "text")]
        at_unix_ms: u64,
        /// Other workers that got the same, where results had to be agreed on.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        also: Vec<String>,
    },
    /// What all ranges together say.
    Report {
        /// Work units that were given up.
        quarantined: Vec<u64>,
        report: serde_json::Value,
    },
}

/// Numbers as text: readers of JSON round large ones.
mod text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
    pub fn serialize<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(number)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// Writes lines.
struct Lines<'a> {
    out: &'a mut dyn Write,
    chain: Chain,
}

impl Lines<'_> {
    fn put(&mut self, record: &Record) -> io::Result<()> {
        let json = serde_json::to_string(record).map_err(io::Error::other)?;
        self.chain = chain(&self.chain, json.as_bytes());
        writeln!(self.out, "{} {json}", hex(&self.chain))
    }
}

/// Reads lines, each of which has to continue the chain.
struct ReadLines<R> {
    input: R,
    chain: Chain,
    /// Lines so far.
    number: u64,
}

impl<R: BufRead> ReadLines<R> {
    /// The next record; nothing at the end. Errors say what is wrong with which line.
    fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, String> {
        let mut line = Vec::new();
        self.number += 1;
        let number = self.number;
        let failed = |what: &str| format!("line {number}: {what}");
        let mut limited = io::Read::take(&mut self.input, MAX_LINE_BYTES);
        limited.read_until(b'\n', &mut line).map_err(|error| failed(&error.to_string()))?;
        if line.is_empty() {
            return Ok(None);
        }
        let Some(line) = line.strip_suffix(b"\n") else {
            return Err(failed("it breaks off, or is longer than any line can be: the file is not whole"));
        };
        let split =
            line.split_at_checked(64).and_then(|(chain, rest)| Some((chain, rest.strip_prefix(b" ")?)));
        let Some((chain, json)) = split else { return Err(failed("no value of the chain before a record")) };
        self.chain = self::chain(&self.chain, json);
        if hex(&self.chain).as_bytes() != chain {
            return Err(failed("it does not continue the chain: this line, or the one before, was changed"));
        }
        serde_json::from_slice(json).map(Some).map_err(|error| failed(&error.to_string()))
    }
}

#[cfg(test)]
mod tests;
