//! What a file is, by how it begins.

use std::fmt::{self, Display};

use super::Unreadable;

/// A format that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Baseline and progressive; grey, colour, four colours as Adobe stores them.
    Jpeg,
    /// Every kind; of an animation the still picture.
    Png,
    /// With loss and without; of an animation the first picture.
    WebP,
    /// Grey, palette, RGB, CMYK of up to 16 bits; plain, `PackBits`, LZW, deflate, fax; the first page.
    Tiff,
    /// Windows bitmap.
    Bmp,
    /// The first picture.
    Gif,
}

impl Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Jpeg => "JPEG",
            Self::Png => "PNG",
            Self::WebP => "WebP",
            Self::Tiff => "TIFF",
            Self::Bmp => "BMP",
            Self::Gif => "GIF",
        })
    }
}

/// A format that is known and not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// What iPhones store unless told otherwise. The decoders in Rust are under a licence that is not ours, or very new; none
    /// comes with a licence for the patents on the codec.
    Heic,
    /// A video codec's still pictures. The parsers and decoders in Rust that need no C are under licences that are not ours, or
    /// unsafe.
    Avif,
    /// A document. The renderer in Rust, hayro, draws with other instructions on other processors, and makes the JPEG decoder
    /// do so too; the parser below it unpacks without a limit: two megabytes took two gigabytes.
    Pdf,
    /// A drawing.
    Svg,
    /// JPEG XL.
    JpegXl,
    /// JPEG 2000.
    Jpeg2000,
    /// Photoshop.
    Photoshop,
    /// A camera's raw data.
    Raw,
    /// A TIFF with offsets of 64 bits.
    BigTiff,
    /// A film.
    Film,
    /// An archive; also what word processors write.
    Archive,
}

impl Refused {
    /// With its article, as a message says it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Heic => "a HEIC photograph",
            Self::Avif => "an AVIF picture",
            Self::Pdf => "a PDF document",
            Self::Svg => "an SVG drawing",
            Self::JpegXl => "a JPEG XL picture",
            Self::Jpeg2000 => "a JPEG 2000 picture",
            Self::Photoshop => "a Photoshop file",
            Self::Raw => "a camera's raw file",
            Self::BigTiff => "a BigTIFF picture",
            Self::Film => "a film",
            Self::Archive => "an archive or an office document",
        }
    }

    /// What to do instead.
    pub fn advice(self) -> &'static str {
        match self {
            Self::Heic => {
                "convert it, `heif-convert photo.heic photo.jpg`, or set the telephone's camera to \"most compatible\""
            }
            Self::Pdf => "draw its page first, `pdftoppm -r 200 -png document.pdf page`, and read the PNG",
            Self::Svg => "draw it first, `rsvg-convert -w 1600 drawing.svg -o drawing.png`, and read the PNG",
            Self::Film => "save one picture of it, as JPEG or PNG",
            Self::Archive => "unpack or export the picture first, as JPEG or PNG",
            Self::Avif | Self::JpegXl | Self::Jpeg2000 | Self::Photoshop | Self::Raw | Self::BigTiff => {
                "convert it to JPEG or PNG"
            }
        }
    }
}

/// What these bytes are, whatever the file's name says.
pub fn recognise(bytes: &[u8]) -> Result<Format, Unreadable> {
    if bytes.is_empty() {
        return Err(Unreadable::Empty);
    }
    let begins = |with: &[u8]| bytes.starts_with(with);
    let read = if begins(b"\xff\xd8\xff") {
        Format::Jpeg
    } else if begins(b"\x89PNG\r\n\x1a\n") {
        Format::Png
    } else if begins(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        Format::WebP
    } else if (begins(b"II*\0") && bytes.get(8..10) != Some(b"CR")) || begins(b"MM\0*") {
        Format::Tiff
    } else if begins(b"GIF87a") || begins(b"GIF89a") {
        Format::Gif
    } else if begins(b"BM") && bytes.len() >= 6 && !is_text(bytes) {
        Format::Bmp
    } else {
        return Err(refused(bytes).map_or_else(|| no_picture(bytes), Unreadable::Refused));
    };
    Ok(read)
}

/// The format that is not read and begins like this.
fn refused(bytes: &[u8]) -> Option<Refused> {
    let begins = |with: &[u8]| bytes.starts_with(with);
    let head = &bytes[..bytes.len().min(1024)];
    Some(if bytes.get(4..8) == Some(b"ftyp") {
        match bytes.get(8..12)? {
            b"avif" | b"avis" => Refused::Avif,
            // Any codec may follow these two; the brands after them tell.
            b"mif1" | b"msf1" if memchr::memmem::find(head, b"avif").is_some() => Refused::Avif,
            b"heic" | b"heix" | b"heim" | b"heis" | b"hevc" | b"hevx" | b"mif1" | b"msf1" => Refused::Heic,
            b"crx " => Refused::Raw,
            _ => Refused::Film,
        }
    } else if memchr::memmem::find(head, b"%PDF-").is_some() {
        Refused::Pdf
    } else if memchr::memmem::find(head, b"<svg").is_some() {
        Refused::Svg
    } else if begins(b"\xff\x0a") || begins(b"\0\0\0\x0cJXL ") {
        Refused::JpegXl
    } else if begins(b"\0\0\0\x0cjP  ") || begins(b"\xff\x4f\xff\x51") {
        Refused::Jpeg2000
    } else if begins(b"8BPS") {
        Refused::Photoshop
    } else if begins(b"II*\0") || begins(b"IIU\0") || begins(b"IIRO") || begins(b"FUJIFILM") {
        Refused::Raw
    } else if begins(b"II+\0") || begins(b"MM\0+") {
        Refused::BigTiff
    } else if begins(b"\x1a\x45\xdf\xa3") || (begins(b"RIFF") && bytes.get(8..12) == Some(b"AVI ")) {
        Refused::Film
    } else if begins(b"PK\x03\x04") || begins(b"\x1f\x8b") || begins(b"7z\xbc\xaf") || begins(b"Rar!") {
        Refused::Archive
    } else {
        return None;
    })
}

/// The error for bytes of no known format: what they look like.
fn no_picture(bytes: &[u8]) -> Unreadable {
    Unreadable::NoPicture(if is_text(bytes) {
        "it is text".to_owned()
    } else {
        let first: Vec<String> = bytes.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        format!("it begins with {}, like no format that is known here", first.join(" "))
    })
}

/// Whether the beginning is text of printable characters.
fn is_text(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(512)];
    // A character may be cut through at the end of the head.
    let whole = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or("")
        }
        Err(_) => return false,
    };
    !whole.is_empty() && whole.chars().all(|c| !c.is_control() || c.is_whitespace())
}
