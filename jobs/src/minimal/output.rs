//! The list of puzzles.

use std::io;

use shared::{
    catalogue::small::GridClass,
    grid::notation::{drawing, text},
    unavoidable::CellSet,
};

use super::{
    List,
    every::{Every, place},
};
use crate::parts::{Finished, Form, OutputError, each_rendered};

/// A part: the clues of the essentially different puzzles of a grid.
pub fn encode(different: &[CellSet]) -> Vec<u8> {
    postcard::to_stdvec(different).expect("sets can be written")
}

/// Writes the list that is asked for.
pub fn assemble(
    job: &Every,
    finished: &Finished<'_>,
    out: &mut (dyn io::Write + Send),
) -> Result<(), OutputError> {
    let drawn = finished.form == Form::Drawn;
    if !drawn {
        writeln!(out, "puzzle,clues,solution,stands_for")?;
    }
    let render = |unit, part: Vec<u8>| {
        let different: Vec<CellSet> = postcard::from_bytes(&part)
            .map_err(|error| OutputError::Part(format!("part {unit} cannot be read: {error}")))?;
        let cells = CellSet::below(job.cells());
        if let Some(clues) = different.iter().find(|clues| !clues.is_within(cells)) {
            let what = "has a puzzle with cells that the grid has not";
            return Err(OutputError::Part(format!("part {unit} {what}: {:#x}", clues.0)));
        }
        let class = &job.grids().classes()[place(unit)];
        let rows = different.into_iter().flat_map(|clues| listed(job, class, clues));
        Ok(rows.map(|row| if drawn { row.drawn(job) } else { row.csv(job) }).collect::<String>())
    };
    each_rendered(job.units(), finished, render, |text| Ok(out.write_all(text.as_bytes())?))
}

/// A puzzle of the list.
struct Row {
    grid: Vec<u8>,
    clues: CellSet,
    /// How many puzzles it stands for.
    stands_for: u64,
}

/// What the list has for one of the essentially different puzzles.
fn listed(job: &Every, class: &GridClass, clues: CellSet) -> Vec<Row> {
    let grids = job.grids();
    let renamings = grids.renamings();
    if job.list == List::Different {
        // Of the images of the grid each has as many puzzles of this kind as automorphisms make of this one.
        let same = class.first_of_its_kind(clues).unwrap_or(1);
        let stands_for = class.grids * (class.automorphisms.len() as u64 / same) * renamings;
        return vec![Row { grid: grids.all()[class.first].clone(), clues, stands_for }];
    }
    let alike = grids.alike(class.first, clues).into_iter();
    let rows =
        alike.map(|(grid, clues)| Row { grid: grids.all()[grid].clone(), clues, stands_for: renamings });
    if job.list == List::Relabelling { rows.collect() } else { rows.flat_map(|row| renamed(&row)).collect() }
}

/// A puzzle with its digits renamed in every way.
fn renamed(row: &Row) -> Vec<Row> {
    let side = row.grid.iter().copied().max().unwrap_or(0);
    let rename = |names: Vec<u8>| {
        let grid = row.grid.iter().map(|&digit| names[usize::from(digit) - 1]).collect();
        Row { grid, clues: row.clues, stands_for: 1 }
    };
    orders((1..=side).collect()).into_iter().map(rename).collect()
}

/// All orders of some things, the first of them in front first.
fn orders(things: Vec<u8>) -> Vec<Vec<u8>> {
    if things.len() < 2 {
        return vec![things];
    }
    let mut all = Vec::new();
    for place in 0..things.len() {
        let mut others = things.clone();
        let first = others.remove(place);
        all.extend(orders(others).into_iter().map(|order| [vec![first], order].concat()));
    }
    all
}

impl Row {
    fn puzzle(&self) -> Vec<u8> {
        let given = |(cell, &digit)| if self.clues.contains(cell) { digit } else { 0 };
        self.grid.iter().enumerate().map(given).collect()
    }

    fn csv(&self, job: &Every) -> String {
        let [puzzle, solution] = [&self.puzzle(), &self.grid].map(|cells| text(job.shape, cells));
        format!("{puzzle},{},{solution},{}\n", self.clues.len(), self.stands_for)
    }

    fn drawn(&self, job: &Every) -> String {
        let head = format!("{} clues, stands for {}\n", self.clues.len(), self.stands_for);
        head + &drawing(job.shape, &self.puzzle()) + "\n"
    }
}
