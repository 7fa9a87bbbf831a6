//! Crook's method with pencil, paper and coloured pens: J. F. Crook, "A Pencil-and-Paper Algorithm for Solving Sudoku
//! Puzzles", Notices of the AMS 56 (2009), 460-468.
//!
//! 1. Forced digits: for each digit, the most frequent one first, boxes that have one place for it.
//! 2. The mark-up of every empty cell.
//! 3. Cells with one digit left, digits with one place left; when there are none, a preemptive set (see
//!    `solve/preemptive.rs`) to cross its digits out, the easiest one to see. Then again from the beginning of 3.
//! 4. When that leads no further, a guess: the lowest digit of the first cell with the fewest digits, in a new colour.
//!    Whatever follows from it is written in that colour.
//! 5. When a guess turns out to be impossible, everything in its colour is erased, and its digit crossed out in the
//!    colour before. When it led to a solution and more are asked for, the same.
//!
//! Every branch ends, and a guess and its crossing out cover all solutions between them, each once: so the number of
//! solutions is proved. [`explain`] tells the steps; it is this same method with someone looking on.
//!
//! Cost: some 50 microseconds a guess for 9x9, most of it to find the easiest preemptive set.

mod explain;
mod step;

pub use explain::{Explanation, Limits, explain};
pub use step::{Colour, Deed, Place, Reason, SetOfCells, Step, UnitName};

use std::ops::ControlFlow;

use super::watch::{Flow, Watch};
use crate::{
    grid::Shape,
    solve::{
        layout::{Layout, digit},
        marks::{Contradiction, Marks, Observer},
    },
};

/// Who looks on at the method: every deduction, and what is done with colours.
pub(super) trait Notes: Observer {
    /// A digit is guessed in a cell, in a new colour.
    fn guess(&mut self, marks: &Marks<'_>, cell: usize, digit: u8);
    /// The current colour is impossible.
    fn impossible(&mut self, marks: &Marks<'_>, contradiction: Contradiction);
    /// All is filled.
    fn solution(&mut self, marks: &Marks<'_>);
    /// The current colour is erased; what it began with is crossed out.
    fn erase(&mut self, marks: &Marks<'_>, cell: usize, digit: u8);
}

impl Notes for () {
    fn guess(&mut self, _: &Marks<'_>, _: usize, _: u8) {}
    fn impossible(&mut self, _: &Marks<'_>, _: Contradiction) {}
    fn solution(&mut self, _: &Marks<'_>) {}
    fn erase(&mut self, _: &Marks<'_>, _: usize, _: u8) {}
}

pub(super) fn run(shape: Shape, cells: &[u8], watch: &mut Watch<'_>, notes: &mut impl Notes) -> Flow {
    let layout = Layout::new(shape);
    let mut marks = Marks::new(&layout, cells);
    // The mark-up before each guess, and the guess.
    let mut colours: Vec<(Marks<'_>, usize, u8)> = Vec::new();
    forced(&mut marks, watch, notes)?;
    loop {
        deduce(&mut marks, watch, notes)?;
        if let Some(contradiction) = marks.contradiction() {
            notes.impossible(&marks, contradiction);
        } else if let Some(cell) = marks.tightest() {
            let digit = digit(marks.digits(cell).trailing_zeros() as usize);
            watch.node(true)?;
            notes.guess(&marks, cell, digit);
            colours.push((marks.clone(), cell, digit));
            marks.write(cell, digit);
            continue;
        } else {
            notes.solution(&marks);
            watch.solution(|| marks.cells())?;
        }
        let Some((before, cell, digit)) = colours.pop() else { return Flow::Continue(()) };
        notes.erase(&marks, cell, digit);
        marks = before;
        marks.cross_out(cell, 1 << (digit - 1));
    }
}

/// Goes through the digits, the most frequent first, and writes them where a box has one place, until there is none.
fn forced(marks: &mut Marks<'_>, watch: &mut Watch<'_>, notes: &mut impl Notes) -> Flow {
    let side = marks.layout().side();
    while written(marks, watch, |marks| {
        let cells = marks.cells();
        let mut bits: Vec<usize> = (0..side).collect();
        bits.sort_by_key(|&bit| cells.iter().filter(|&&cell| usize::from(cell) != bit + 1).count());
        for bit in bits {
            let mut before = usize::MAX;
            while marks.empty() < before {
                before = marks.empty();
                (2 * side..3 * side).for_each(|unit| marks.last_place(unit, bit, notes));
            }
        }
    })? {}
    Flow::Continue(())
}

/// Deduces until all is written, something is impossible, or there is nothing more to deduce.
fn deduce(marks: &mut Marks<'_>, watch: &mut Watch<'_>, notes: &mut impl Notes) -> Flow {
    while !marks.is_over() {
        let singles = written(marks, watch, |marks| {
            let _ = marks.naked(notes) || marks.hidden(notes);
        })?;
        if !singles && !marks.preempt(notes) {
            break;
        }
    }
    Flow::Continue(())
}

/// Whether digits were written; each is a node.
fn written(
    marks: &mut Marks<'_>,
    watch: &mut Watch<'_>,
    write: impl FnOnce(&mut Marks<'_>),
) -> ControlFlow<(), bool> {
    let before = marks.empty();
    write(marks);
    for _ in marks.empty()..before {
        watch.node(false)?;
    }
    ControlFlow::Continue(marks.empty() < before)
}
