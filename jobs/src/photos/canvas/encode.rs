//! Pictures to files.

use std::io;

use image::{ExtendedColorType, ImageEncoder, codecs::png::PngEncoder};
use jpeg_encoder::{ColorType, Encoder, EncodingError};

use super::Canvas;

impl Canvas {
    /// The picture as JPEG, `quality` from 1 to 100. No more than 65,535 pixels an edge.
    ///
    /// # Errors
    ///
    /// When it is larger or empty.
    pub fn jpeg(&self, quality: u8) -> io::Result<Vec<u8>> {
        let edge = |pixels: usize| {
            u16::try_from(pixels)
                .map_err(|_| io::Error::other(format!("{pixels} pixels are too many for JPEG")))
        };
        let mut bytes = Vec::new();
        Encoder::new(&mut bytes, quality)
            .encode(self.pixels.as_flattened(), edge(self.width)?, edge(self.height)?, ColorType::Rgb)
            .map_err(|error| match error {
                EncodingError::IoError(error) => error,
                other => io::Error::other(other.to_string()),
            })?;
        Ok(bytes)
    }

    /// The picture as PNG.
    ///
    /// # Errors
    ///
    /// When it is empty or larger than there can be.
    pub fn png(&self) -> io::Result<Vec<u8>> {
        let edge = |pixels: usize| u32::try_from(pixels).map_err(io::Error::other);
        let mut bytes = Vec::new();
        PngEncoder::new(&mut bytes)
            .write_image(
                self.pixels.as_flattened(),
                edge(self.width)?,
                edge(self.height)?,
                ExtendedColorType::Rgb8,
            )
            .map_err(io::Error::other)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use shared::photo::load::load_colour;

    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let mut canvas = Canvas::filled(120, 90, [200, 100, 50]);
        for (at, pixel) in canvas.pixels_mut().iter_mut().enumerate().take(300) {
            pixel[1] = u8::try_from(at % 251).unwrap();
        }
        let png = load_colour(&canvas.png().unwrap()).unwrap();
        assert_eq!(Canvas::from(&png), canvas);
        let jpeg = load_colour(&canvas.jpeg(95).unwrap()).unwrap();
        let (at, wanted) = (Canvas::from(&jpeg).at(20, 20), [200u8, 100, 50]);
        assert!(at.iter().zip(wanted).all(|(a, b)| a.abs_diff(b) < 8), "{at:?}");
        assert!(Canvas::filled(0, 3, [0; 3]).jpeg(90).is_err());
        assert!(Canvas::filled(70_000, 1, [0; 3]).jpeg(90).unwrap_err().to_string().contains("70000"));
    }
}
