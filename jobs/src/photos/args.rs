//! The arguments of the kind.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use shared::photo::reading::Point;

use super::list::Photos;

/// Arguments of the kind.
#[derive(Clone, Debug, clap::Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhotosArgs {
    /// Photographs: files, folders (with all below them that are named as pictures), URLs (s3, gs, az, abfss, http, https,
    /// file; with / at the end all below). What there is when the job is submitted is read, in this order
    #[arg(required = true, value_name = "PHOTO", value_parser = Photos::typed)]
    pub photos: Vec<Photos>,
    /// Tell the solution of each board that has only one
    #[arg(long)]
    pub solve: bool,
    /// Draw what was read on each photograph, into the folder DIR, which all workers see; 000017-NAME.jpg is the one of the
    /// 17th photograph. Lines are green, digits blue, doubtful cells amber
    #[arg(long, value_name = "DIR", value_parser = folder)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlay: Option<String>,
    /// Where the board is, of a single photograph: its corners as it is read (top left, top right, bottom right, bottom
    /// left), in pixels
    #[arg(long, value_name = "X,Y,X,Y,X,Y,X,Y", value_parser = Corners::typed, allow_hyphen_values = true)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corners: Option<Corners>,
    /// Where to keep the list of photographs if they are many, a folder that all workers see [default: the state folder of
    /// `nonet run`; beside the photographs for `nonet submit`]
    #[arg(long, value_name = "DIR")]
    #[serde(skip)]
    pub listing: Option<PathBuf>,
}

/// The corners of a board, in pixels of its photograph.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Corners(pub [Point; 4]);

/// Coordinates beyond this are on no photograph.
const MOST_PIXELS: f32 = 100_000.0;

impl Corners {
    /// Reads eight numbers with commas between.
    ///
    /// # Errors
    ///
    /// When they are not that, or enclose nothing.
    pub fn typed(text: &str) -> Result<Self, String> {
        let numbers: Result<Vec<f32>, _> =
            text.split(',').map(|number| number.trim().parse::<f32>()).collect();
        let numbers =
            numbers.map_err(|error| format!("{error}: expected eight numbers with commas between"))?;
        let (pairs, rest) = numbers.as_chunks::<2>();
        let corners: Result<[[f32; 2]; 4], _> = pairs.try_into();
        let Ok(corners) =
            corners.map_err(drop).and_then(|corners| if rest.is_empty() { Ok(corners) } else { Err(()) })
        else {
            return Err(format!("{} numbers: expected eight, x and y of each corner", numbers.len()));
        };
        let corners = Self(corners.map(|[x, y]| Point { x, y }));
        corners.check().map(|()| corners)
    }

    /// Whether a board can be there.
    ///
    /// # Errors
    ///
    /// What is wrong.
    pub fn check(&self) -> Result<(), String> {
        let possible = |number: f32| number.abs() <= MOST_PIXELS;
        if !self.0.iter().all(|corner| possible(corner.x) && possible(corner.y)) {
            return Err(format!("corners are at most {MOST_PIXELS} pixels away"));
        }
        // Walking round it as it is read, every corner turns to the right.
        let turns = (0..4).map(|at| {
            let [a, b, c] = [0, 1, 2].map(|next| self.0[(at + next) % 4]);
            (b.x - a.x) * (c.y - b.y) - (b.y - a.y) * (c.x - b.x)
        });
        if turns.into_iter().all(|turn| turn > 0.0) {
            return Ok(());
        }
        Err("these are no corners of a board: expected top left, top right, bottom right, bottom left, as it is read".into())
    }
}

/// A folder by its absolute path: workers were started elsewhere.
fn folder(text: &str) -> Result<String, String> {
    let path = std::path::absolute(text).map_err(|error| error.to_string())?;
    path.into_os_string().into_string().map_err(|_| "the path is not UTF-8".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_are_eight_numbers_that_go_round() {
        let corners = Corners::typed("1,2, 101.5,2,101,102,-1,102").unwrap();
        assert_eq!((corners.0[1], corners.0[3]), (Point { x: 101.5, y: 2.0 }, Point { x: -1.0, y: 102.0 }));
        // A photograph that lies on its head is one too.
        assert!(Corners::typed("100,100,0,100,0,0,100,0").is_ok());
        for (wrong, what) in [
            ("1,2,3", "3 numbers"),
            ("1,2,3,4,5,6,7,8,9", "9 numbers"),
            ("a,2,3,4,5,6,7,8", "eight numbers"),
            ("0,0,0,100,100,100,100,0", "top left"),
            ("0,0,0,0,0,0,0,0", "top left"),
            ("0,0,NaN,0,9,9,0,9", "away"),
            ("0,0,1e30,0,9,9,0,9", "away"),
        ] {
            let error = Corners::typed(wrong).unwrap_err();
            assert!(error.contains(what), "{wrong}: {error}");
        }
    }
}
