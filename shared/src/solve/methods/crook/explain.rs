//! Crook's method with its steps written down.

use std::fmt;

use super::{
    super::{Outcome, Settings, watch::Watch},
    Colour, Deed, Notes, Place, Reason, SetOfCells, Step, UnitName, run,
};
use crate::{
    grid::{Shape, shape::symbol},
    solve::{
        layout::{Layout, digit, members},
        marks::{Contradiction, Deduction, Marks, Observer},
        preemptive::Choice,
        reference::{self, PuzzleError},
    },
};

/// How far an explanation goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Solutions after which it ends; 2 tell whether there is one.
    pub solutions: u64,
    /// Digits written, after which it ends.
    pub nodes: u64,
    /// Steps that are kept; the others are only counted.
    pub steps: usize,
}

impl Default for Limits {
    /// Two solutions, a million digits, 100,000 steps.
    fn default() -> Self {
        Self { solutions: 2, nodes: 1_000_000, steps: 100_000 }
    }
}

/// How a puzzle is solved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The first steps, as many as were to be kept.
    pub steps: Vec<Step>,
    /// Steps that were made after those.
    pub dropped: u64,
    /// What came out.
    pub outcome: Outcome,
    /// What was to be explained.
    pub limits: Limits,
}

/// Solves a puzzle (row by row, 0 is empty) by Crook's method and tells every step.
///
/// # Errors
///
/// As [`reference::check`].
///
/// Cost: as the method; each step kept takes some hundred bytes.
///
/// ```
/// use shared::{grid::{Shape, notation::LineLayout}, solve::methods::crook::{Limits, explain}};
///
/// let puzzle = LineLayout::default().read(b"1.....3..2.....4", None).unwrap().unwrap();
/// let explanation = explain(Shape::FOUR, &puzzle.cells, Limits::default(), &|| false).unwrap();
/// assert_eq!(explanation.steps[0].to_string(), "c(2, 4) = 1: the only place for 1 in box 2");
/// assert!(explanation.to_string().ends_with("One solution, found without a guess:\n1342\n2431\n4213\n3124\n"));
/// ```
pub fn explain(
    shape: Shape,
    cells: &[u8],
    limits: Limits,
    stop: &dyn Fn() -> bool,
) -> Result<Explanation, PuzzleError> {
    reference::check(shape, cells)?;
    let settings = Settings { limit: limits.solutions, cap: limits.nodes, seed: 0 };
    let mut watch = Watch::new(settings, stop);
    let mut trace =
        Trace { steps: Vec::new(), dropped: 0, most: limits.steps, colours: Vec::new(), solutions: 0 };
    if limits.solutions > 0 {
        // How it ended is in the watch.
        let _ = run(shape, cells, &mut watch, &mut trace);
    }
    let Trace { steps, dropped, .. } = trace;
    Ok(Explanation { steps, dropped, outcome: watch.outcome(), limits })
}

/// Writes down.
struct Trace {
    steps: Vec<Step>,
    dropped: u64,
    most: usize,
    /// For each guess that stands, the solutions there were before it.
    colours: Vec<u64>,
    solutions: u64,
}

impl Trace {
    fn add(&mut self, deed: impl FnOnce() -> Deed) {
        if self.steps.len() < self.most {
            self.steps.push(Step { colour: Colour(self.colours.len()), deed: deed() });
        } else {
            self.dropped += 1;
        }
    }
}

impl Observer for Trace {
    fn see(&mut self, marks: &Marks<'_>, deduction: Deduction) {
        let layout = marks.layout();
        self.add(|| match deduction {
            Deduction::Naked { cell, digit } => Deed::Naked { place: place(layout, cell), digit },
            Deduction::Hidden { unit, cell, digit } => {
                Deed::Hidden { place: place(layout, cell), digit, unit: name(layout, unit) }
            }
            Deduction::Preemptive { unit, set, empty } => preemptive(marks, unit, set, empty),
        });
    }
}

impl Notes for Trace {
    fn guess(&mut self, marks: &Marks<'_>, cell: usize, digit: u8) {
        self.colours.push(self.solutions);
        let place = place(marks.layout(), cell);
        self.add(|| Deed::Guess { place, digit, digits: digits(marks.digits(cell)) });
    }

    fn impossible(&mut self, marks: &Marks<'_>, contradiction: Contradiction) {
        let layout = marks.layout();
        self.add(|| {
            Deed::Contradiction(match contradiction {
                Contradiction::Cell { cell } => Reason::NoDigit { place: place(layout, cell) },
                Contradiction::Place { unit, digit } => Reason::NoPlace { digit, unit: name(layout, unit) },
                Contradiction::Short { unit, set } => {
                    Reason::TooFew { unit: name(layout, unit), set: set_of_cells(layout, unit, set) }
                }
            })
        });
    }

    fn solution(&mut self, _: &Marks<'_>) {
        self.solutions += 1;
        let number = self.solutions;
        self.add(|| Deed::Solution { number });
    }

    fn erase(&mut self, marks: &Marks<'_>, cell: usize, digit: u8) {
        let impossible = self.colours.last() == Some(&self.solutions);
        let place = place(marks.layout(), cell);
        self.add(|| Deed::Erase { place, digit, impossible });
        self.colours.pop();
    }
}

/// A preemptive set with what it does: called before its digits are crossed out.
fn preemptive(marks: &Marks<'_>, unit: usize, set: Choice, empty: Choice) -> Deed {
    let layout = marks.layout();
    let cells = layout.cells(unit);
    let others = Choice { seats: empty.seats & !set.seats, digits: empty.digits & !set.digits };
    let crossed = members(others.seats).map(|seat| (cells[seat], marks.digits(cells[seat]) & set.digits));
    Deed::Preemptive {
        unit: name(layout, unit),
        set: set_of_cells(layout, unit, set),
        complement: set_of_cells(layout, unit, others),
        crossed: crossed
            .filter(|(_, crossed)| *crossed != 0)
            .map(|(cell, crossed)| (place(layout, cell), digits(crossed)))
            .collect(),
    }
}

fn place(layout: &Layout, cell: usize) -> Place {
    Place { row: cell / layout.side(), column: cell % layout.side() }
}

fn name(layout: &Layout, unit: usize) -> UnitName {
    let (unit, number) = layout.name(unit);
    UnitName { unit, number }
}

fn digits(set: u32) -> Vec<u8> {
    members(set).map(digit).collect()
}

fn set_of_cells(layout: &Layout, unit: usize, set: Choice) -> SetOfCells {
    let cells = members(set.seats).map(|seat| place(layout, layout.cells(unit)[seat]));
    SetOfCells { cells: cells.collect(), digits: digits(set.digits) }
}

impl fmt::Display for Explanation {
    /// The steps, a line each, then what they prove, then the solution, a line for each row.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, step) in (1..).zip(&self.steps) {
            writeln!(f, "{number}. {step}")?;
        }
        if self.dropped > 0 {
            writeln!(f, "({} more steps are not shown)", self.dropped)?;
        }
        writeln!(f, "{}", self.verdict())?;
        let Some(solution) = &self.outcome.first else { return Ok(()) };
        for row in solution.chunks(solution.len().isqrt().max(1)) {
            let row: String = row.iter().map(|&digit| symbol(usize::from(digit) - 1)).collect();
            writeln!(f, "{row}")?;
        }
        Ok(())
    }
}

impl Explanation {
    /// What the steps prove, in a sentence.
    fn verdict(&self) -> String {
        let Outcome { solutions, finished, effort, .. } = &self.outcome;
        let guesses = match effort.guesses {
            0 => "without a guess".to_owned(),
            1 => "with one guess".to_owned(),
            more => format!("with {more} guesses"),
        };
        let all = *finished && *solutions < self.limits.solutions;
        match (solutions, all) {
            (0, true) => format!("No solution: this is proved {guesses}."),
            (1, true) => format!("One solution, found {guesses}:"),
            (many, true) => format!("{many} solutions, found {guesses}; the first:"),
            (0, false) => format!("Stopped {guesses} before any solution was found."),
            (1, false) if *finished => format!("A solution, found {guesses}; no other was looked for:"),
            (many, false) if *finished => format!("At least {many} solutions, found {guesses}; the first:"),
            (many, false) => {
                format!("Stopped {guesses}; found so far: {many}. Whether there are more is open. The first:")
            }
        }
    }
}
