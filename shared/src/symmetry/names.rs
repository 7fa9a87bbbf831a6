//! Conjugacy classes in words: short names where there are some, otherwise what happens to rows and columns.

use super::{
    conjugacy::{ConjugacyClass, Parts},
    wreath::{BlockCycle, WreathClass},
};

/// What lines and blocks of lines are called.
struct Nouns {
    line: &'static str,
    block: &'static str,
}

const ROWS: Nouns = Nouns { line: "row", block: "band" };
const COLUMNS: Nouns = Nouns { line: "column", block: "stack" };

impl ConjugacyClass {
    /// What a symmetry of the class does, in words. Classes of one group have different names.
    ///
    /// ```
    /// use shared::{grid::Shape, symmetry::conjugacy_classes};
    ///
    /// let names: Vec<String> =
    ///     conjugacy_classes(Shape::NINE, true).iter().map(|class| class.name()).collect();
    /// assert_eq!(names[0], "identity");
    /// for name in ["half turn", "quarter turn", "diagonal reflection", "minirows cycled"] {
    ///     assert!(names.iter().any(|n| n == name), "{name}");
    /// }
    /// ```
    pub fn name(&self) -> String {
        match &self.parts {
            Parts::Lines(rows, columns) => named_lines(rows, columns),
            Parts::Transposing(square) if square.is_identity() => "diagonal reflection".into(),
            // The square of a quarter turn is a half turn: it turns the rows round.
            Parts::Transposing(square) if square.turns_round() => "quarter turn".into(),
            Parts::Transposing(square) => format!("diagonal reflection, then {}", words(square, &ROWS)),
        }
    }
}

fn named_lines(rows: &WreathClass, columns: &WreathClass) -> String {
    match (rows.is_identity(), columns.is_identity()) {
        (true, true) => "identity".into(),
        // The cells where a row meets a box are a minirow.
        (true, false) if columns.cycles_every_block() => "minirows cycled".into(),
        (false, true) if rows.cycles_every_block() => "minicolumns cycled".into(),
        (true, false) => words(columns, &COLUMNS),
        (false, true) => words(rows, &ROWS),
        (false, false) if rows.turns_round() && columns.turns_round() => "half turn".into(),
        (false, false) => format!("{}; {}", words(rows, &ROWS), words(columns, &COLUMNS)),
    }
}

impl WreathClass {
    fn is_identity(&self) -> bool {
        self.cycles().iter().all(|cycle| cycle.length == 1 && cycle.product.iter().all(|&part| part == 1))
    }

    /// Whether the lines are put in the opposite order (up to conjugation): blocks exchange in pairs, and a block that
    /// stays in the middle exchanges its lines in pairs.
    fn turns_round(&self) -> bool {
        let (blocks, size) = (self.blocks(), self.size());
        let pairs = self.cycles().iter().filter(|c| c.length == 2 && c.product.iter().all(|&part| part == 1));
        let middle = |c: &&BlockCycle| {
            c.length == 1
                && c.product.iter().all(|&part| part <= 2)
                && c.product.iter().filter(|&&part| part == 2).count() == size / 2
        };
        pairs.count() == blocks / 2 && self.cycles().iter().filter(middle).count() == blocks % 2
    }

    /// Whether in every block all lines are cycled.
    fn cycles_every_block(&self) -> bool {
        self.cycles().iter().all(|cycle| cycle.length == 1 && cycle.product.len() == 1)
    }
}

/// What is done to lines: "two rows exchanged in one band, two bands exchanged".
fn words(class: &WreathClass, nouns: &Nouns) -> String {
    let kinds = class.cycles().chunk_by(|a, b| a == b).map(|alike| (&alike[0], alike.len()));
    let said = kinds.filter_map(|(cycle, times)| said_of(cycle, times, class.blocks(), nouns));
    said.collect::<Vec<_>>().join(", ")
}

fn said_of(cycle: &BlockCycle, times: usize, blocks: usize, nouns: &Nouns) -> Option<String> {
    let lines = moved(&cycle.product, nouns.line);
    if cycle.length > 1 {
        let blocks = turned(cycle.length, times, nouns.block);
        return Some(lines.map_or(blocks.clone(), |lines| format!("{blocks} with {lines} on the way")));
    }
    let place = match times {
        _ if times == blocks => format!("every {}", nouns.block),
        1 => format!("one {}", nouns.block),
        _ => format!("{} {}s", number(times), nouns.block),
    };
    Some(format!("{} in {place}", lines?))
}

/// A permutation by its cycle lengths; nothing where nothing moves.
fn moved(lengths: &[usize], noun: &str) -> Option<String> {
    let kinds = lengths.chunk_by(|a, b| a == b).filter(|alike| alike[0] > 1);
    let said: Vec<String> = kinds.map(|alike| turned(alike[0], alike.len(), noun)).collect();
    (!said.is_empty()).then(|| said.join(" and "))
}

/// `times` cycles of `length` things.
fn turned(length: usize, times: usize, noun: &str) -> String {
    match (length, times) {
        (2, 1) => format!("two {noun}s exchanged"),
        (2, _) => format!("{} pairs of {noun}s exchanged", number(times)),
        (_, 1) => format!("{} {noun}s cycled", number(length)),
        _ => format!("{} times {} {noun}s cycled", number(times), number(length)),
    }
}

fn number(n: usize) -> String {
    const WORDS: [&str; 7] = ["no", "one", "two", "three", "four", "five", "six"];
    WORDS.get(n).map_or_else(|| n.to_string(), |&word| word.to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use crate::{
        grid::Shape,
        symmetry::{ConjugacyClass, conjugacy_classes},
    };

    #[test]
    fn no_two_classes_have_the_same_name() {
        for (rows, columns) in [(2, 2), (2, 3), (2, 4), (2, 5), (3, 3), (3, 4)] {
            let classes = conjugacy_classes(Shape::new(rows, columns).unwrap(), true);
            let names: HashSet<String> = classes.iter().map(ConjugacyClass::name).collect();
            assert_eq!(names.len(), classes.len(), "{rows}x{columns}");
        }
    }
}
