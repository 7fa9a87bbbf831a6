//! The markers of a JPEG: what it says of itself, and whether its end is there.
//!
//! The decoder fills up what is missing; here is seen that nothing is.

use super::{Unreadable, format::Format};

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
    /// Components of the first scan.
    pub first_scan: usize,
    /// Components of all scans together.
    pub scanned: usize,
    /// Where the data of each scan end.
    pub scan_ends: Vec<usize>,
}

/// Reads the markers to the end of the picture. What comes after is not looked at: telephones put more pictures there.
/// Costs a search for one byte through the file.
pub fn read(bytes: &[u8]) -> Result<Markers<'_>, Unreadable> {
    let mut markers = Markers::default();
    let (mut at, mut ended) = (2, false);
    loop {
        let (code, begin) = next_marker(bytes, at, markers.first_scan > 0)?;
        if markers.first_scan > 0 && !ended {
            markers.scan_ends.push(begin - 2);
            ended = true;
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
            0xe1 if markers.exif.is_none() && segment.starts_with(b"Exif\0") => markers.exif = Some(segment),
            0xee if segment.starts_with(b"Adobe") => markers.adobe = segment.get(11).copied(),
            0xda => {
                let components =
                    usize::from(*segment.first().ok_or_else(|| damaged("an empty scan header"))?);
                if markers.sampling.is_empty() || components == 0 {
                    return Err(damaged("a scan of no frame"));
                }
                if markers.first_scan == 0 {
                    markers.first_scan = components;
                }
                markers.scanned += components;
                ended = false;
            }
            _ => {}
        }
    }
    if markers.first_scan == 0 {
        return Err(damaged("it has no picture data"));
    }
    // The decoder takes them for four colours, unless the names tell.
    if markers.adobe == Some(0) && markers.names.len() == 3 && markers.names != b"RGB" {
        return Err(unsupported("red, green and blue not transformed".to_owned()));
    }
    // Progressive ones come to each component again; for others one scan too few is a part of the picture missing, and
    // one too many would end the decoding early.
    if !markers.progressive && markers.scanned != markers.sampling.len() {
        return Err(damaged("its scans do not fit its components"));
    }
    Ok(markers)
}

/// The same file, with something at the end of its scans that the decoder stumbles over when it still needs data there.
/// At other markers it goes on with zeros, and half a picture would be grey. The first of several scans is let alone:
/// the decoder wants to meet the marker after it.
pub fn guarded(bytes: &[u8], markers: &Markers<'_>) -> Vec<u8> {
    // More than the decoder reads ahead; then a marker that does not exist, with nothing in it.
    const GUARD: &[u8] = b"\0\0\0\0\0\0\0\0\0\0\0\0\xff\x02\0\x02";
    let skipped = if markers.progressive { 1 } else { markers.scan_ends.len().saturating_sub(1) };
    let ends = markers.scan_ends.get(skipped..).unwrap_or_default();
    let mut guarded = Vec::with_capacity(bytes.len() + ends.len() * GUARD.len());
    let mut from = 0;
    for &end in ends {
        guarded.extend_from_slice(&bytes[from..end]);
        guarded.extend_from_slice(GUARD);
        from = end;
    }
    guarded.extend_from_slice(&bytes[from..]);
    guarded
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
