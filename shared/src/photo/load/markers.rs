//! The markers of a JPEG: what it says of itself, and whether its end is there.
//!
//! The decoder fills up what is missing; here is seen that nothing is.

use super::{
    Unreadable,
    first_scan::{self, Tables},
    format::Format,
};

/// What a JPEG says of itself.
#[derive(Debug, Default)]
pub struct Markers<'a> {
    /// Pixels in a row.
    pub width: u16,
    /// Rows.
    pub height: u16,
    /// Whether it comes in refinements.
    pub progressive: bool,
    /// How many blocks of each component a unit has, across and down.
    pub sampling: Vec<(u8, u8)>,
    /// The first block of EXIF data.
    pub exif: Option<&'a [u8]>,
    /// How Adobe's programs say that colours were transformed.
    pub adobe: Option<u8>,
    /// The names of the components.
    pub names: Vec<u8>,
    /// The scans.
    pub scans: Vec<Scan>,
    /// The codes that the first scan may use.
    pub tables: Tables<'a>,
    /// Units between two restarts, 0 for none.
    interval: usize,
}

/// A run over the picture.
#[derive(Debug)]
pub struct Scan {
    /// How many components it has.
    pub components: usize,
    /// Its units: blocks of its one component, or groups of blocks of all.
    pub units: usize,
    /// Units between two restarts, 0 for none.
    pub interval: usize,
    /// For each block of a unit its component and the number of the code of its mean level; none in a scan of anything
    /// but mean levels that come for the first time.
    pub means: Vec<(usize, u8)>,
    /// Where its data begin and end.
    pub begin: usize,
    /// See `begin`.
    pub end: usize,
}

/// Reads the markers to the end of the picture. What comes after is not looked at: telephones put more pictures there.
/// Costs a search for one byte through the file.
pub fn read(bytes: &[u8]) -> Result<Markers<'_>, Unreadable> {
    let mut markers = Markers::default();
    let mut at = 2;
    loop {
        let (code, begin) = next_marker(bytes, at, !markers.scans.is_empty())?;
        if let Some(scan) = markers.scans.last_mut().filter(|scan| scan.end == 0) {
            scan.end = begin - 2;
        }
        if code == 0xd9 {
            break;
        }
        let segment = segment(bytes, begin)?;
        at = begin + 2 + segment.len();
        match code {
            0xc0..=0xc2 if markers.sampling.is_empty() => frame(&mut markers, code, segment)?,
            0xc0..=0xc2 => return Err(damaged("it has two frames")),
            0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => return Err(unsupported(process(code))),
            0xc4 if markers.scans.is_empty() => markers.tables.add(segment),
            0xdd => {
                markers.interval = segment.first_chunk().map_or(0, |units| u16::from_be_bytes(*units).into());
            }
            0xe1 if markers.exif.is_none() && segment.starts_with(b"Exif\0") => markers.exif = Some(segment),
            0xee if segment.starts_with(b"Adobe") => markers.adobe = segment.get(11).copied(),
            0xda => {
                let scan = scan(&markers, segment, at)
                    .ok_or_else(|| damaged("a scan of what its frame does not have"))?;
                markers.scans.push(scan);
            }
            _ => {}
        }
    }
    check(bytes, &markers)?;
    Ok(markers)
}

/// Whether this is a picture that is read, with all its data.
fn check(bytes: &[u8], markers: &Markers<'_>) -> Result<(), Unreadable> {
    if markers.scans.is_empty() {
        return Err(damaged("it has no picture data"));
    }
    // The decoder takes them for four colours, unless the names tell.
    if markers.adobe == Some(0) && markers.names.len() == 3 && markers.names != b"RGB" {
        return Err(unsupported("red, green and blue not transformed".to_owned()));
    }
    // Progressive ones come to each component again; for others one scan too few is a part of the picture missing, and
    // one too many would end the decoding early.
    let scanned: usize = markers.scans.iter().map(|scan| scan.components).sum();
    if !markers.progressive && scanned != markers.sampling.len() {
        return Err(damaged("its scans do not fit its components"));
    }
    markers.scans.iter().try_for_each(|scan| check_restarts(scan, restarts(&bytes[scan.begin..scan.end])))
}

/// Whether a scan has the restarts that it must have, or one more at its end. At others the decoder would go on with zeros.
fn check_restarts(scan: &Scan, found: usize) -> Result<(), Unreadable> {
    let due = scan.restarts();
    if found < due {
        return Err(damaged("a part of its data is missing"));
    }
    if found > due + usize::from(scan.interval > 0) {
        return Err(damaged("restarts where none are due"));
    }
    Ok(())
}

/// Whether a progressive picture has a mean level for each block of each component: else the decoder would make the rest
/// of it grey. Costs the decoding of a first scan.
pub fn check_means(bytes: &[u8], markers: &Markers<'_>) -> Result<(), Unreadable> {
    if !markers.progressive {
        return Ok(());
    }
    let has_means = |part| markers.scans.iter().any(|scan| scan.means.iter().any(|mean| mean.0 == part));
    if !(0..markers.sampling.len()).all(has_means) {
        return Err(Unreadable::Truncated(Format::Jpeg));
    }
    if !first_scan::is_short(bytes, markers) {
        return Ok(());
    }
    // More scans show that it is not the end that is missing.
    let is_last = markers.scans.len() == 1;
    Err(if is_last { Unreadable::Truncated(Format::Jpeg) } else { damaged("a part of its data is missing") })
}

/// The same file, with something at the end of its scans that the decoder stumbles over when it still needs data there.
/// At other markers it goes on with zeros, and half a picture would be grey. The first of several scans is let alone:
/// the decoder wants to meet the marker after it.
pub fn guarded(bytes: &[u8], markers: &Markers<'_>) -> Vec<u8> {
    // More than the decoder reads ahead, of ones, which are no code of any table; then a marker that does not exist, with
    // nothing in it.
    const GUARD: &[u8] =
        b"\xff\0\xff\0\xff\0\xff\0\xff\0\xff\0\xff\0\xff\0\xff\0\xff\0\xff\0\xff\0\xff\x02\0\x02";
    let skipped = if markers.progressive { 1 } else { markers.scans.len().saturating_sub(1) };
    let mut guarded = Vec::with_capacity(bytes.len() + markers.scans.len() * GUARD.len());
    let mut from = 0;
    for scan in markers.scans.iter().skip(skipped).filter(|scan| !scan.ends_with_restart()) {
        guarded.extend_from_slice(&bytes[from..scan.end]);
        guarded.extend_from_slice(GUARD);
        from = scan.end;
    }
    guarded.extend_from_slice(&bytes[from..]);
    guarded
}

impl Scan {
    /// The restarts that it must have.
    fn restarts(&self) -> usize {
        self.units.saturating_sub(1).checked_div(self.interval).unwrap_or(0)
    }

    /// Whether one more would be due at its end: the decoder looks for a marker there, and must meet the one that is.
    /// Of such a scan [`Scan::restarts`] tell all but the last few units.
    fn ends_with_restart(&self) -> bool {
        self.interval > 0 && self.units.is_multiple_of(self.interval)
    }
}

/// The restarts within the data of a scan.
fn restarts(data: &[u8]) -> usize {
    memchr::memchr_iter(0xff, data).filter(|at| matches!(data.get(at + 1), Some(0xd0..=0xd7))).count()
}

/// A scan of these components, whose data begin there; `None` when the frame has no such.
fn scan(markers: &Markers<'_>, segment: &[u8], begin: usize) -> Option<Scan> {
    let (&count, rest) = segment.split_first()?;
    let components = usize::from(count);
    let (selected, rest) = rest.split_at_checked(components * 2)?;
    let index = |name: u8| markers.names.iter().position(|known| *known == name);
    let sampling = markers.sampling.get(index(*selected.first()?)?)?;
    let (across, down) = largest_sampling(&markers.sampling);
    let blocks = |length: u16, part: u8, of: u8| {
        (usize::from(length) * usize::from(part)).div_ceil(8 * usize::from(of))
    };
    let (width, height) = (markers.width, markers.height);
    let units = match components {
        1 => blocks(width, sampling.0, across) * blocks(height, sampling.1, down),
        _ => blocks(width, 1, across) * blocks(height, 1, down),
    };
    let mut means = Vec::new();
    // The first and the last coefficient, and the bits of it: none came before.
    if let [0, _, 0..=0x0f] = rest.get(..3)? {
        for part in selected.chunks_exact(2) {
            let component = index(part[0])?;
            let (across, down) = markers.sampling[component];
            let blocks = if components == 1 { 1 } else { usize::from(across) * usize::from(down) };
            means.extend(std::iter::repeat_n((component, part[1] >> 4), blocks));
        }
    }
    Some(Scan { components, units, interval: markers.interval, means, begin, end: 0 })
}

/// Blocks of a unit, across and down.
pub fn largest_sampling(sampling: &[(u8, u8)]) -> (u8, u8) {
    let across = sampling.iter().map(|part| part.0).max().unwrap_or(1);
    let down = sampling.iter().map(|part| part.1).max().unwrap_or(1);
    (across, down)
}

/// The code of the next marker and where what belongs to it begins. Within a scan, data are skipped.
fn next_marker(bytes: &[u8], from: usize, in_scan: bool) -> Result<(u8, usize), Unreadable> {
    let mut at = from;
    loop {
        let found = memchr::memchr(0xff, bytes.get(at..).unwrap_or_default());
        let code = at + found.ok_or(Unreadable::Truncated(Format::Jpeg))? + 1;
        match bytes.get(code) {
            None => return Err(Unreadable::Truncated(Format::Jpeg)),
            // A byte of data that is 255.
            Some(0) => at = code + 1,
            // A filling byte before the marker.
            Some(0xff) => at = code,
            // Restarts.
            Some(0xd0..=0xd7) if in_scan => at = code + 1,
            Some(&code_byte) => return Ok((code_byte, code + 1)),
        }
    }
}

/// What belongs to a marker, without its length.
fn segment(bytes: &[u8], begin: usize) -> Result<&[u8], Unreadable> {
    let length = bytes.get(begin..begin + 2).ok_or(Unreadable::Truncated(Format::Jpeg))?;
    let length = usize::from(u16::from_be_bytes([length[0], length[1]]));
    if length < 2 {
        return Err(damaged("a segment shorter than its length"));
    }
    bytes.get(begin + 2..begin + length).ok_or(Unreadable::Truncated(Format::Jpeg))
}

/// Reads a frame's header.
fn frame(markers: &mut Markers<'_>, code: u8, segment: &[u8]) -> Result<(), Unreadable> {
    let (&[precision, h1, h0, w1, w0, count], components) =
        segment.split_first_chunk().ok_or_else(|| damaged("a frame header that is too short"))?;
    if precision != 8 {
        return Err(unsupported(format!("{precision} bits a sample")));
    }
    markers.height = u16::from_be_bytes([h1, h0]);
    markers.width = u16::from_be_bytes([w1, w0]);
    if markers.height == 0 {
        return Err(unsupported("its height is only said at its end".to_owned()));
    }
    markers.progressive = code == 0xc2;
    markers.sampling = components.chunks_exact(3).map(|part| (part[1] >> 4, part[1] & 15)).collect();
    markers.names = components.chunks_exact(3).map(|part| part[0]).collect();
    if markers.sampling.len() != usize::from(count) || ![1, 3, 4].contains(&count) {
        return Err(damaged("a frame header with the wrong number of components"));
    }
    if markers.sampling.iter().any(|&(across, down)| !(1..=4).contains(&across) || !(1..=4).contains(&down)) {
        return Err(damaged("sampling factors that JPEG does not have"));
    }
    Ok(())
}

/// The processes that are not read.
fn process(code: u8) -> String {
    match code {
        0xc3 => "lossless JPEG",
        0xc9 | 0xca => "arithmetic coding",
        _ => "a hierarchical or lossless process",
    }
    .to_owned()
}

fn damaged(what: &str) -> Unreadable {
    Unreadable::Damaged { format: Format::Jpeg, what: what.to_owned() }
}

fn unsupported(what: String) -> Unreadable {
    Unreadable::Unsupported { format: Format::Jpeg, what }
}
