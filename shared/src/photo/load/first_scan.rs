//! Whether the first scan of a progressive JPEG has all its data.
//!
//! The decoder goes on with zeros where they end, and of a file that breaks off there it gives the upper part on grey.
//! Of this one scan it cannot be kept from that, see [`super::markers::guarded`]; but a first scan has a mean level for
//! each block and nothing else, so that its codes can be counted without the picture.

use super::markers::{Markers, Scan};

/// Codes of mean levels, by their numbers. As the decoder does, four.
#[derive(Debug, Default)]
pub struct Tables<'a>([Option<Table<'a>>; 4]);

/// Codes of up to 16 bits, ascending: how many there are of each length, and what they stand for.
#[derive(Clone, Copy, Debug)]
struct Table<'a> {
    counts: &'a [u8; 16],
    symbols: &'a [u8],
}

/// What comes of looking for a code.
enum Next {
    /// Bits that follow it.
    Follow(u8),
    /// The data end within it.
    End,
    /// There is no such code.
    Unknown,
}

impl<'a> Tables<'a> {
    /// Takes over the tables of a segment; what is broken is for the decoder to say.
    pub fn add(&mut self, mut segment: &'a [u8]) {
        while let Some((&kind, rest)) = segment.split_first() {
            let Some((counts, rest)) = rest.split_first_chunk::<16>() else { return };
            let length = counts.iter().map(|&count| usize::from(count)).sum();
            let Some((symbols, rest)) = rest.split_at_checked(length) else { return };
            // Others are codes of what the means leave out.
            if let Some(table) = self.0.get_mut(usize::from(kind)) {
                *table = Some(Table { counts, symbols });
            }
            segment = rest;
        }
    }
}

/// Whether the first scan ends before its last block, or a part of it before the restart. Only that: what it cannot make
/// sense of, it leaves to the decoder. Costs some milliseconds for a picture of 12 megapixels.
pub fn is_short(bytes: &[u8], markers: &Markers<'_>) -> bool {
    let Some(scan) = markers.scans.first().filter(|scan| markers.progressive && !scan.means.is_empty())
    else {
        return false;
    };
    let tables: Option<Vec<&Table<'_>>> =
        scan.means.iter().map(|&(_, table)| markers.tables.0[usize::from(table & 3)].as_ref()).collect();
    tables.is_some_and(|tables| is_shorter(&bytes[scan.begin..scan.end], scan, &tables))
}

/// The same of the data of a scan, with the table for each block of a unit.
fn is_shorter(data: &[u8], scan: &Scan, tables: &[&Table<'_>]) -> bool {
    let mut bits = Bits { data, at: 0, buffer: 0, left: 0 };
    for unit in 0..scan.units {
        if scan.interval > 0 && unit > 0 && unit.is_multiple_of(scan.interval) && !bits.restart() {
            return true;
        }
        for table in tables {
            match table.next(&mut bits) {
                Next::Follow(count) if (0..count).all(|_| bits.next().is_some()) => {}
                Next::Follow(_) | Next::End => return true,
                Next::Unknown => return false,
            }
        }
    }
    false
}

impl Table<'_> {
    /// The next code.
    fn next(&self, bits: &mut Bits<'_>) -> Next {
        // The codes of a length are numbers in a row, and go on from those of the length before.
        let (mut code, mut first, mut before) = (0_usize, 0_usize, 0_usize);
        for &count in self.counts {
            let Some(bit) = bits.next() else { return Next::End };
            let count = usize::from(count);
            (code, first) = (code * 2 + bit, first * 2);
            if code < first {
                return Next::Unknown;
            }
            if code - first < count {
                return self
                    .symbols
                    .get(before + code - first)
                    .map_or(Next::Unknown, |&bits| Next::Follow(bits));
            }
            (first, before) = (first + count, before + count);
        }
        Next::Unknown
    }
}

/// The bits of a scan, up to the next marker.
struct Bits<'a> {
    data: &'a [u8],
    at: usize,
    buffer: u8,
    left: u8,
}

impl Bits<'_> {
    /// The next bit, 0 or 1.
    fn next(&mut self) -> Option<usize> {
        if self.left == 0 {
            self.buffer = *self.data.get(self.at)?;
            self.at = match self.buffer {
                0xff => self.after_ff().filter(|&(_, code)| code == 0)?.0,
                _ => self.at + 1,
            };
            self.left = 8;
        }
        self.left -= 1;
        Some(usize::from(self.buffer >> self.left & 1))
    }

    /// The code behind a 255, and where it goes on after that.
    fn after_ff(&self) -> Option<(usize, u8)> {
        let filling = self.data[self.at..].iter().take_while(|&&byte| byte == 0xff).count();
        let at = self.at + filling;
        self.data.get(at).map(|&code| (at + 1, code))
    }

    /// Goes on behind the next restart, if there is one.
    fn restart(&mut self) -> bool {
        self.left = 0;
        while let Some(found) = memchr::memchr(0xff, self.data.get(self.at..).unwrap_or_default()) {
            self.at += found;
            let Some((at, code)) = self.after_ff() else { return false };
            self.at = at;
            if code != 0 {
                return true;
            }
        }
        false
    }
}
