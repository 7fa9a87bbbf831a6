//! The report: how many grids have how many automorphisms, and what that agrees with.

use std::{collections::BTreeMap, fmt::Write};

use serde_json::{Value, json};
use shared::{count::Exact, literature, symmetry::automorphic::Alike};

use super::{
    Automorphic,
    partial::{ClassPartial, Partial},
};
use crate::kind::{Progress, Report};

/// What is known.
struct Found {
    /// Essentially different grids by number of automorphisms; empty as long as units are missing.
    grids: BTreeMap<u32, Exact>,
    total: Exact,
    /// For each class that is listed: its number, its name, the fixed grids listed so far, those that burnside counted.
    classes: Vec<(usize, String, u128, Option<Exact>)>,
    complete: bool,
    alarm: Option<String>,
}

/// Words the report.
pub fn report(job: &Automorphic, partial: &Partial, progress: &Progress) -> Report {
    let found = found(job, partial, progress);
    Report {
        json: json(partial, &found),
        table: table(&found, progress),
        csv: csv(&found),
        alarm: found.alarm,
        plots: Vec::new(),
    }
}

fn found(job: &Automorphic, partial: &Partial, progress: &Progress) -> Found {
    let burnside = progress.needed.first().and_then(Option::as_ref).filter(|report| report.complete);
    let burnside = burnside.map(|report| &report.json);
    let classes = job.grids.classes().map(|(number, class)| {
        let listed = partial.classes.iter().find(|listed| listed.class as usize == number);
        let counted = burnside.and_then(|json| number_of(&json["classes"][number]["fixed"]));
        (number, class.name(), listed.map_or(0, ClassPartial::total), counted)
    });
    let classes = classes.collect();
    let mut found =
        Found { grids: BTreeMap::new(), total: Exact::default(), classes, complete: false, alarm: None };
    if !progress.complete() {
        return found;
    }
    found.complete = true;
    match essentially_different(job, partial) {
        Ok(grids) => found.grids = grids,
        Err(alarm) => found.alarm = Some(alarm),
    }
    found.total = found.grids.values().cloned().sum();
    let alarm = found.alarm.take();
    found.alarm = alarm
        .or_else(|| burnside.and_then(|json| against_burnside(&found, json)))
        .or_else(|| published(&found));
    found
}

fn number_of(digits: &Value) -> Option<Exact> {
    digits.as_str()?.parse().ok()
}

/// By number of automorphisms, from the fixed grids of all units.
fn essentially_different(job: &Automorphic, partial: &Partial) -> Result<BTreeMap<u32, Exact>, String> {
    let mut fixed: BTreeMap<Alike, Vec<(usize, u64)>> = BTreeMap::new();
    for class in &partial.classes {
        for &(alike, count) in &class.fixed {
            fixed.entry(alike).or_default().push((class.class as usize, count));
        }
    }
    let mut grids: BTreeMap<u32, Exact> = BTreeMap::new();
    for (alike, fixed) in fixed {
        let more = job.grids.essentially_different(alike, &fixed).ok_or_else(|| {
            format!(
                "the fixed grids with {} automorphisms, {} of them of prime order, do not make whole classes",
                alike.automorphisms, alike.of_prime_order
            )
        })?;
        let sum = grids.entry(alike.automorphisms).or_default();
        *sum = sum.plus(&more);
    }
    Ok(grids)
}

/// What contradicts the burnside job.
fn against_burnside(found: &Found, burnside: &Value) -> Option<String> {
    for (_, name, listed, counted) in &found.classes {
        if counted.as_ref().is_some_and(|counted| Exact::from(*listed) != *counted) {
            return Some(format!(
                "{listed} grids are listed for \"{name}\", and burnside counts another number"
            ));
        }
    }
    // A grid with a automorphisms is |G| / a of all grids up to relabelling: all those without any would be |G|
    // each, so what is missing to (essentially different) * |G| is (1 - 1 / a) |G| for each of ours.
    let different = number_of(&burnside["essentially_different"])?;
    let order = number_of(&burnside["group_order"])?;
    let all = number_of(&burnside["classes"][0]["fixed"])?;
    let missing = found.grids.iter().map(|(&automorphisms, grids)| {
        let automorphisms = u64::from(automorphisms);
        let size = order.divided_exactly(&Exact::from(automorphisms))?;
        Some(grids.times(&size).times(&Exact::from(automorphisms - 1)))
    });
    let missing: Exact = missing.collect::<Option<Vec<_>>>()?.into_iter().sum();
    (all.plus(&missing) != different.times(&order))
        .then(|| "these grids and those without symmetry are not all grids together".into())
}

/// What contradicts the literature.
fn published(found: &Found) -> Option<String> {
    let published =
        literature::AUTOMORPHISMS_3X3.map(|(automorphisms, grids)| (automorphisms, Exact::from(grids)));
    (found.grids != BTreeMap::from(published) || found.total != literature::AUTOMORPHIC_3X3.value())
        .then(|| format!("{} grids are not distributed as published", found.total.grouped()))
}

fn json(partial: &Partial, found: &Found) -> Value {
    let classes = found.classes.iter().map(|(number, name, listed, counted)| {
        json!({
            "class": number + 1,
            "name": name,
            "listed": listed.to_string(),
            "burnside": counted.as_ref().map(Exact::to_string),
        })
    });
    let distribution: serde_json::Map<String, Value> = found
        .grids
        .iter()
        .map(|(automorphisms, grids)| (automorphisms.to_string(), json!(grids.to_string())))
        .collect();
    json!({
        "complete": found.complete,
        "grids": found.complete.then(|| found.total.to_string()),
        "by_automorphisms": distribution,
        "published": { "grids": literature::AUTOMORPHIC_3X3.value().to_string(), "source": literature::AUTOMORPHIC_3X3.source },
        "agrees": found.complete.then_some(found.alarm.is_none()),
        "classes": classes.collect::<Vec<_>>(),
        "parts": partial.parts.hex(),
    })
}

fn table(found: &Found, progress: &Progress) -> String {
    let mut text = String::new();
    let mut line = |words: String| {
        text.push_str(words.trim_end());
        text.push('\n');
    };
    line(format!("{:>13}  {:>13}  symmetry of prime order", "fixed, listed", "counted"));
    for (_, name, listed, counted) in &found.classes {
        let counted = counted.as_ref().map_or("unknown".to_owned(), Exact::to_string);
        line(format!("{listed:>13}  {counted:>13}  {name}"));
    }
    line(String::new());
    if !found.complete {
        line(format!("unfinished: {} of {} units are done", progress.done, progress.units));
        return text;
    }
    line(format!("{:>13}  {:>13}", "automorphisms", "grids"));
    for (automorphisms, grids) in &found.grids {
        line(format!("{automorphisms:>13}  {:>13}", grids.grouped()));
    }
    line(String::new());
    let number = literature::AUTOMORPHIC_3X3;
    line(format!("essentially different grids with symmetries  {}", found.total.grouped()));
    line(format!("published                                    {}  ({})", number.digits, number.source));
    line(if found.alarm.is_none() { "they agree".into() } else { "THEY DO NOT AGREE".into() });
    text
}

fn csv(found: &Found) -> String {
    let mut text = "automorphisms,grids\n".to_owned();
    for (automorphisms, grids) in &found.grids {
        writeln!(text, "{automorphisms},{grids}").expect("strings take everything");
    }
    text
}
