//! The parts of units, and the list that is made of them.
//!
//! A part is a unit's grids in ascending order: 36 bytes for rows 2 to 9 of the minlex form, a digit in four bits (the
//! first row is always 123456789), and the number of automorphisms in two bytes.

use std::io::{self, Write};

use shared::symmetry::automorphic::AutomorphicGrid;

use crate::parts::{Finished, OutputError, each_part};

const FIRST_ROW: [u8; 9] = [1, 2, 3, 4, 5, 6, 7, 8, 9];

/// A grid and its number of automorphisms. Records compare as grids do.
type Record = [u8; 38];

/// The part of a unit that found these grids.
pub fn encode(grids: &[AutomorphicGrid]) -> Vec<u8> {
    let mut part = Vec::with_capacity(size_of::<Record>() * grids.len());
    for AutomorphicGrid { form, automorphisms } in grids {
        debug_assert_eq!(form[..9], FIRST_ROW);
        part.extend(form[9..].as_chunks::<2>().0.iter().map(|[high, low]| high << 4 | low));
        part.extend(u16::try_from(*automorphisms).expect("at most 648").to_be_bytes());
    }
    part
}

/// Writes the grids of all parts, each once, in ascending order, as text.
pub fn assemble(units: u64, finished: &Finished<'_>, out: &mut dyn Write) -> Result<(), OutputError> {
    let mut records: Vec<Record> = Vec::new();
    let mut compact_at = 1 << 20;
    each_part(units, finished, |part| {
        records.extend_from_slice(part.as_chunks().0);
        if records.len() >= compact_at {
            // Most grids are in several parts: keep the list short.
            records.sort_unstable();
            records.dedup();
            compact_at = records.len() + (1 << 20);
        }
        Ok(())
    })?;
    records.sort_unstable();
    records.dedup();
    let grids = records.len().to_string();
    let told = &finished.report["grids"];
    if *told != grids {
        return Err(OutputError::Part(format!("the parts have {grids} grids, and the result says {told}")));
    }
    records.iter().try_for_each(|record| write(record, out)).map_err(OutputError::Write)
}

fn write(record: &Record, out: &mut dyn Write) -> io::Result<()> {
    let mut line = [b' '; 82];
    let (form, automorphisms) = record.split_at(36);
    line[..9].copy_from_slice(b"123456789");
    for (pair, byte) in line[9..81].as_chunks_mut::<2>().0.iter_mut().zip(form) {
        *pair = [b'0' + (byte >> 4), b'0' + (byte & 0xF)];
    }
    out.write_all(&line)?;
    writeln!(out, "{}", u16::from_be_bytes([automorphisms[0], automorphisms[1]]))
}
