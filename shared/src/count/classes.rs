//! What the counting methods have in common: classes of bands, and how their counts make a total.

use serde::{Deserialize, Serialize};

use super::{
    exact::Exact,
    nine::{NineClasses, band_text, classes as nine_classes},
    two::{TwoClass, two_classes},
};
use crate::grid::{Shape, ShapeError, shape::symbol};

/// The classes of bands of one shape.
///
/// 3x3 has its top band; 2xC is counted on its side, as Cx2, which has two bands of C boxes: its representatives are
/// bands of C rows and 2C columns (the first stack of a 2xC grid, read column by column).
pub enum Classes {
    /// 3x3.
    Nine(&'static NineClasses),
    /// 2xC.
    Two {
        /// The shape, with two rows a box.
        shape: Shape,
        /// The classes.
        list: Vec<TwoClass>,
    },
}

/// What a method found for one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ClassCount {
    /// Number of the class, from 0.
    pub class: u32,
    /// Bands whose columns hold given sets of digits of this class.
    pub bands: u128,
    /// Ways to fill the rest of the grid below a band of this class.
    pub completions: u128,
}

/// A count that cannot be the count of its class.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("class {class}: {bands} bands with given column sets do not make whole numbers of fillings")]
pub struct ImpossibleCount {
    /// Number of the class, from 1.
    pub class: u64,
    /// What was said to be the number of bands.
    pub bands: u128,
}

impl Classes {
    /// Enumerates the classes of a shape: some 1.3 ms for 3x3, 20 ms for 2x5.
    ///
    /// # Errors
    ///
    /// When the shape is not one of [`Shape::COUNTED`] or the transposed of one.
    pub fn new(shape: Shape) -> Result<Self, ShapeError> {
        let shape = shape.counted()?;
        if shape == Shape::NINE {
            return Ok(Self::Nine(nine_classes()));
        }
        Ok(Self::Two { shape, list: two_classes(shape.columns()) })
    }

    /// The shape, with no more rows than columns a box.
    pub fn shape(&self) -> Shape {
        match self {
            Self::Nine(_) => Shape::NINE,
            Self::Two { shape, .. } => *shape,
        }
    }

    /// Number of classes.
    pub fn len(&self) -> usize {
        match self {
            Self::Nine(classes) => classes.list.len(),
            Self::Two { list, .. } => list.len(),
        }
    }

    /// Whether there are none: never.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `class` as an index.
    ///
    /// # Panics
    ///
    /// When there is no such class.
    pub(crate) fn index(&self, class: u64) -> usize {
        let index = usize::try_from(class).ok().filter(|&index| index < self.len());
        index.unwrap_or_else(|| panic!("there is no class {class} among {}", self.len()))
    }

    /// A band of the class, row by row: on 3x3 the first in lexicographic order.
    ///
    /// # Panics
    ///
    /// When there is no such class.
    pub fn representative(&self, class: usize) -> String {
        match self {
            Self::Nine(classes) => band_text(&classes.list[class].band),
            Self::Two { list, .. } => {
                list[class].band().iter().flatten().map(|&digit| symbol(digit.into())).collect()
            }
        }
    }

    /// How many ways there are to choose the column sets of the boxes after the first so that the band is of this
    /// class; the columns of a box are not told apart.
    ///
    /// # Panics
    ///
    /// When there is no such class.
    pub fn tuples(&self, class: usize) -> u128 {
        match self {
            Self::Nine(classes) => classes.list[class].pairs.into(),
            Self::Two { list, .. } => list[class].tuples,
        }
    }

    /// Fillings of the other boxes of a band whose first box is filled, such that the band is of this class.
    ///
    /// Of the bands with given column sets, the first box has one of `rows!^columns` fillings, all equally often when
    /// taken over the whole class. The columns of every other box can be exchanged: `columns!` each.
    ///
    /// ```text
    /// fillings = tuples * bands * columns!^(boxes - 1) / rows!^columns
    /// ```
    ///
    /// 3x3: `pairs * bands * 36 / 216`.
    ///
    /// # Errors
    ///
    /// When the division leaves a remainder: the count is wrong.
    ///
    /// # Panics
    ///
    /// When there is no such class.
    pub fn fillings(&self, class: usize, bands: u128) -> Result<Exact, ImpossibleCount> {
        let (rows, columns) = self.band_box();
        let boxes = u32::try_from(self.shape().side() / columns).expect("few boxes");
        let orders = Exact::factorial(columns as u64).power(boxes - 1);
        let first_box = Exact::factorial(rows as u64).power(u32::try_from(columns).expect("few columns"));
        let all = Exact::from(self.tuples(class)).times(&Exact::from(bands)).times(&orders);
        all.divided_exactly(&first_box).ok_or(ImpossibleCount { class: class as u64 + 1, bands })
    }

    /// Rows and columns of a box as it is counted: 2xC lies on its side.
    fn band_box(&self) -> (usize, usize) {
        match self {
            Self::Nine(_) => (3, 3),
            Self::Two { shape, .. } => (shape.columns(), shape.rows()),
        }
    }

    /// Grids with a band of one of these classes: `side! * sum fillings * completions`. With one count for each class
    /// this is the number of all grids.
    ///
    /// # Errors
    ///
    /// When one of the counts is impossible.
    ///
    /// # Panics
    ///
    /// When a count is of no class.
    pub fn total(&self, counts: &[ClassCount]) -> Result<Exact, ImpossibleCount> {
        let first_box = Exact::factorial(self.shape().side() as u64);
        let mut sum = Exact::default();
        for count in counts {
            let fillings = self.fillings(self.index(count.class.into()), count.bands)?;
            sum = sum.plus(&fillings.times(&Exact::from(count.completions)));
        }
        Ok(first_box.times(&sum))
    }
}
