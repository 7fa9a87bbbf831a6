//! Scores for people and for programs.

use serde_json::{Value, json};
use shared::unavoidable::CellSet;

use super::{
    super::{args::Format, format},
    score::{Score, Sum},
};

/// All scores, and if `wrong` those photographs too that have wrong cells.
pub fn print(scores: &[Score], format: Format, wrong: bool) -> String {
    let mut sums: Vec<(&str, Sum)> = Sum::by_source(scores).into_iter().collect();
    sums.push(("all", Sum::of_all(scores)));
    let wrongly = scores.iter().filter(|score| wrong && !score.wrong().is_empty());
    match format {
        Format::Json => {
            let mut json = json!({
                "sources": sums.iter().map(|(source, sum)| row_json(source, sum)).collect::<Vec<_>>(),
                "unreadable": scores.iter().filter_map(unreadable).collect::<Vec<_>>(),
            });
            if wrong {
                json["wrong"] = wrongly.map(wrong_json).collect();
            }
            json.to_string() + "\n"
        }
        Format::Csv if wrong => {
            let row = |score: &Score| {
                let cells = spaced(score.read.as_ref().map_or(CellSet::EMPTY, |read| read.flagged));
                let file = score.file.replace('"', "\"\"");
                format!(
                    "\"{file}\",{},{},{cells},{}\n",
                    truth(score),
                    score.read_text(),
                    spaced(score.unflagged())
                )
            };
            "file,truth,read,flagged,wrong_not_flagged\n".to_owned() + &wrongly.map(row).collect::<String>()
        }
        Format::Csv => {
            let line = |cells: [String; 15]| cells.join(",") + "\n";
            let rows = sums.iter().map(|(source, sum)| line(row(&source.replace(',', "_"), sum)));
            HEAD.join(",").replace([' ', '-'], "_") + "\n" + &rows.collect::<String>()
        }
        Format::Table => {
            let rows: Vec<_> = sums.iter().map(|(source, sum)| row(source, sum)).collect();
            let mut table = format::table(HEAD, &rows);
            for score in wrongly {
                let flagged = score.read.as_ref().map_or(CellSet::EMPTY, |read| read.flagged);
                table += &format!(
                    "\n{}\n  truth    {}\n  read     {}\n",
                    score.file,
                    truth(score),
                    score.read_text()
                );
                table += &format!("  flagged  {}\n", marks(flagged));
                table += &format!("  wrong    {}\n", marks(score.wrong()));
            }
            for score in scores.iter().filter(|score| score.unreadable.is_some()) {
                let why = score.unreadable.as_deref().unwrap_or_default();
                table += &format!("\n{}: unreadable: {why}\n", score.file);
            }
            table
        }
    }
}

const HEAD: [&str; 15] = [
    "source",
    "photos",
    "found",
    "refused",
    "unreadable",
    "right",
    "right-%",
    "exact",
    "wrong",
    "not-flagged",
    "not-flagged-per-1000",
    "flagged",
    "others",
    "others-read",
    "ms",
];

fn row(source: &str, sum: &Sum) -> [String; 15] {
    [
        source.to_owned(),
        sum.photos.to_string(),
        sum.found.to_string(),
        sum.refused.to_string(),
        sum.unreadable.to_string(),
        sum.right.to_string(),
        format!("{:.3}", sum.right_percent()),
        sum.exact.to_string(),
        sum.wrong.to_string(),
        sum.unflagged.to_string(),
        format!("{:.1}", sum.unflagged_per_thousand()),
        sum.flagged.to_string(),
        sum.others.to_string(),
        sum.others_read.to_string(),
        format!("{:.1}", sum.ms_per_photo()),
    ]
}

fn row_json(source: &str, sum: &Sum) -> Value {
    json!({
        "source": source,
        "photos": sum.photos,
        "found": sum.found,
        "refused": sum.refused,
        "unreadable": sum.unreadable,
        "cells_right": sum.right,
        "cells_right_percent": sum.right_percent(),
        "boards_right": sum.exact,
        "cells_wrong": sum.wrong,
        "cells_wrong_not_flagged": sum.unflagged,
        "photos_with_wrong_not_flagged": sum.photos_unflagged,
        "wrong_not_flagged_per_1000_photos": sum.unflagged_per_thousand(),
        "cells_flagged": sum.flagged,
        "without_sudoku": sum.others,
        "without_sudoku_refused": sum.others_refused,
        "without_sudoku_refused_percent": sum.others_refused_percent(),
        "without_sudoku_read_as_board": sum.others_read,
        "ms_per_photo": sum.ms_per_photo(),
    })
}

fn unreadable(score: &Score) -> Option<Value> {
    score.unreadable.as_ref().map(|why| json!({ "file": score.file, "problem": why }))
}

fn wrong_json(score: &Score) -> Value {
    let flagged = score.read.as_ref().map_or(CellSet::EMPTY, |read| read.flagged);
    let cells = |set: CellSet| set.iter().collect::<Vec<_>>();
    json!({
        "file": score.file,
        "truth": truth(score),
        "read": score.read_text(),
        "flagged": cells(flagged),
        "wrong": cells(score.wrong()),
        "wrong_not_flagged": cells(score.unflagged()),
    })
}

fn truth(score: &Score) -> String {
    score.truth.as_deref().map(jobs::photos::record::text).unwrap_or_default()
}

fn spaced(cells: CellSet) -> String {
    cells.iter().map(|cell| cell.to_string()).collect::<Vec<_>>().join(" ")
}

/// A mark below each cell of a set.
fn marks(cells: CellSet) -> String {
    (0..81).map(|cell| if cells.contains(cell) { '^' } else { ' ' }).collect::<String>().trim_end().to_owned()
}
