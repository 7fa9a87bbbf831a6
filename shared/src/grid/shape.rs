//! The shape of a grid: boxes of R rows and C columns.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize, de};

/// Largest side there are digits for: `1`..`9`, then `A`..`P`.
pub const MAX_SIDE: u8 = 25;

/// Boxes of R rows and C columns in a grid of side `R*C`. `3x3` is the usual sudoku.
///
/// A band holds R boxes side by side, and there are C bands; a stack holds C boxes, and there are R stacks.
///
/// ```
/// use shared::grid::Shape;
///
/// let shape: Shape = "2x3".parse().unwrap();
/// assert_eq!((shape.rows(), shape.columns(), shape.side()), (2, 3, 6));
/// assert_eq!(shape.to_string(), "2x3");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shape {
    rows: u8,
    columns: u8,
}

/// A shape that cannot be read, or that a computation does not cover.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// Not of the form `RxC`.
    #[error("shape `{text}` is not of the form RxC; accepted are {}", accepted())]
    Syntax {
        /// What was given.
        text: String,
    },
    /// A box without cells, or a grid larger than there are digits for.
    #[error("shape {rows}x{columns}: boxes need at least one row and one column, and side {} is not in 1..={MAX_SIDE}; accepted are {}",
        u32::from(*rows) * u32::from(*columns), accepted())]
    Side {
        /// Rows of a box.
        rows: u8,
        /// Columns of a box.
        columns: u8,
    },
    /// A shape whose grids no method here counts.
    #[error("shape {shape} is not one whose grids are counted here; accepted are {}", accepted())]
    NotCounted {
        /// What was given.
        shape: Shape,
    },
}

impl Shape {
    /// Boxes of 3 rows and 3 columns.
    pub const NINE: Self = Self { rows: 3, columns: 3 };

    /// Boxes of 2 rows and 2 columns: 4x4 grids.
    pub const FOUR: Self = Self { rows: 2, columns: 2 };

    /// Boxes of 2 rows and 3 columns: 6x6 grids.
    pub const SIX: Self = Self { rows: 2, columns: 3 };

    /// The shapes whose grids can be counted from scratch here. `CxR` has as many grids as `RxC` and is read as it.
    pub const COUNTED: [Self; 5] = [
        Self { rows: 2, columns: 2 },
        Self { rows: 2, columns: 3 },
        Self { rows: 2, columns: 4 },
        Self { rows: 2, columns: 5 },
        Self::NINE,
    ];

    /// A shape with boxes of `rows` rows and `columns` columns.
    ///
    /// # Errors
    ///
    /// When a box would be empty or the side `rows * columns` exceeds [`MAX_SIDE`].
    pub const fn new(rows: u8, columns: u8) -> Result<Self, ShapeError> {
        match rows.checked_mul(columns) {
            Some(side) if side >= 1 && side <= MAX_SIDE => Ok(Self { rows, columns }),
            _ => Err(ShapeError::Side { rows, columns }),
        }
    }

    /// Rows of a box; also boxes in a band, and stacks in the grid.
    pub const fn rows(self) -> usize {
        self.rows as usize
    }

    /// Columns of a box; also boxes in a stack, and bands in the grid.
    pub const fn columns(self) -> usize {
        self.columns as usize
    }

    /// Rows, columns, boxes and digits of the grid.
    pub const fn side(self) -> usize {
        self.rows() * self.columns()
    }

    /// The shape seen with rows and columns exchanged.
    #[must_use]
    pub const fn transposed(self) -> Self {
        Self { rows: self.columns, columns: self.rows }
    }

    /// This shape, or its transposed one, as it stands in [`Shape::COUNTED`]: transposing a grid is a bijection, so
    /// the count is the same.
    ///
    /// # Errors
    ///
    /// [`ShapeError::NotCounted`] names the accepted shapes.
    pub fn counted(self) -> Result<Self, ShapeError> {
        let upright = if self.rows <= self.columns { self } else { self.transposed() };
        if Self::COUNTED.contains(&upright) {
            Ok(upright)
        } else {
            Err(ShapeError::NotCounted { shape: self })
        }
    }

    /// The shape in words, as in "two rows by three columns".
    pub fn words(self) -> String {
        let plural = |n: u8, one: &str| format!("{} {one}{}", word(n), if n == 1 { "" } else { "s" });
        format!("{} by {}", plural(self.rows, "row"), plural(self.columns, "column"))
    }
}

/// The accepted shapes in digits and words, for error messages.
fn accepted() -> String {
    let named = Shape::COUNTED.map(|shape| format!("{shape} ({})", shape.words()));
    let (last, others) = named.split_last().expect("there are counted shapes");
    format!("{} and {last}", others.join(", "))
}

fn word(n: u8) -> String {
    const WORDS: [&str; 13] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    WORDS.get(usize::from(n)).map_or_else(|| n.to_string(), |&word| word.to_owned())
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.rows, self.columns)
    }
}

impl FromStr for Shape {
    type Err = ShapeError;

    /// Reads `RxC`, as in `2x3`; `X` and `×` are read as `x`.
    fn from_str(text: &str) -> Result<Self, ShapeError> {
        let syntax = || ShapeError::Syntax { text: text.chars().take(40).collect() };
        let (rows, columns) = text.trim().split_once(['x', 'X', '×']).ok_or_else(syntax)?;
        let number = |text: &str| text.trim().parse::<u8>().map_err(|_| syntax());
        Self::new(number(rows)?, number(columns)?)
    }
}

impl Serialize for Shape {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// The symbol of `digit`, counted from 0: `1`..`9`, then `A`..`P`.
///
/// # Panics
///
/// When there is no such symbol (`digit >= 25`).
pub fn symbol(digit: usize) -> char {
    char::from(b"123456789ABCDEFGHIJKLMNOP"[digit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_prints() {
        for shape in Shape::COUNTED {
            assert_eq!(shape.to_string().parse(), Ok(shape));
            assert_eq!(shape.counted(), Ok(shape));
            assert_eq!(shape.transposed().counted(), Ok(shape));
        }
        assert_eq!(" 3 X 3 ".parse(), Ok(Shape::NINE));
        assert_eq!("5x5".parse::<Shape>().map(Shape::side), Ok(25));
    }

    #[test]
    fn errors_name_the_accepted_shapes_in_digits_and_words() {
        for wrong in ["", "9", "3x", "x3", "3x3x3", "-2x3", "2x300", "two by three"] {
            let error = wrong.parse::<Shape>().unwrap_err().to_string();
            assert!(error.contains("2x3 (two rows by three columns)"), "{error}");
        }
        let error = "4x4".parse::<Shape>().unwrap().counted().unwrap_err().to_string();
        assert!(error.starts_with("shape 4x4 is not one whose grids are counted here"), "{error}");
        assert!(error.ends_with("and 3x3 (three rows by three columns)"), "{error}");
        assert_eq!("5x6".parse::<Shape>(), Err(ShapeError::Side { rows: 5, columns: 6 }));
        assert_eq!("0x6".parse::<Shape>(), Err(ShapeError::Side { rows: 0, columns: 6 }));
        assert!(Shape::new(16, 16).unwrap_err().to_string().contains("side 256"));
    }

    #[test]
    fn there_are_symbols_for_every_side() {
        assert_eq!((symbol(0), symbol(8), symbol(9), symbol(24)), ('1', '9', 'A', 'P'));
    }
}
