//! The report: what every class fixes, and the number of essentially different grids.

use std::fmt::Write;

use serde_json::{Map, Value, json};
use shared::{
    count::Exact,
    literature::{self, Doubted, Published},
    symmetry::ConjugacyClass,
};

use super::{Burnside, partial::ClassPartial};
use crate::kind::{BadPartial, Progress, Report};

/// Where the number of grids that the identity fixes comes from.
enum Identity {
    /// A finished recount.
    Recount(Exact),
    /// The literature: no method here counts this shape.
    Published(Exact, Published),
    /// The recount is not finished.
    Unknown,
}

/// What is known of all classes.
struct Found {
    /// Fixed grids up to relabelling, by class; `None` as long as units are missing.
    fixed: Vec<Option<Exact>>,
    identity: Identity,
    /// The sum of size times fixed grids, over the classes that are known.
    sum: Exact,
    /// The sum divided by the group's order, and what is left over, when all classes are known.
    quotient: Option<(Exact, Exact)>,
    published: Option<Published>,
    /// That the published number is held to be wrong.
    doubted: Option<Doubted>,
}

/// Words the report.
pub fn report(job: &Burnside, partial: &[ClassPartial], progress: &Progress) -> Result<Report, BadPartial> {
    let found = found(job, partial, progress)?;
    let alarm = alarm(&found);
    Ok(Report {
        json: json(job, &found),
        table: table(job, &found, progress),
        csv: csv(job, &found),
        alarm,
        plots: Vec::new(),
    })
}

fn found(job: &Burnside, partial: &[ClassPartial], progress: &Progress) -> Result<Found, BadPartial> {
    let group = job.grids.group();
    let identity = identity(job, progress)?;
    let known = |class: usize| {
        let units = job.grids.units_of(class);
        let counted = partial.iter().find(|count| count.class as usize == class);
        match counted {
            _ if units.is_empty() => Some(Exact::default()),
            Some(count) if count.units == units.end - units.start => Some(Exact::from(count.fixed)),
            _ => None,
        }
    };
    let classes = job.grids.classes();
    let fixed: Vec<Option<Exact>> = (0..)
        .zip(classes)
        .map(|(number, class)| match &identity {
            Identity::Recount(grids) | Identity::Published(grids, _) if class.is_identity() => {
                Some(grids.clone())
            }
            Identity::Unknown if class.is_identity() => None,
            _ => known(number),
        })
        .collect();
    let terms =
        classes.iter().zip(&fixed).filter_map(|(class, fixed)| Some(class.size.times(fixed.as_ref()?)));
    let sum: Exact = terms.sum();
    let complete = fixed.iter().all(Option::is_some);
    let quotient = complete.then(|| sum.divided(&group.order()).expect("a group has elements"));
    let published = literature::essentially_different(job.shape, group.with_transpose());
    let doubted = literature::doubted(job.shape);
    Ok(Found { fixed, identity, sum, quotient, published, doubted })
}

/// Grids up to relabelling: all grids, divided by the number of relabellings.
fn identity(job: &Burnside, progress: &Progress) -> Result<Identity, BadPartial> {
    let relabellings = Exact::factorial(job.shape.side() as u64);
    let divided = |grids: &Exact| {
        let what =
            || BadPartial(format!("{grids} grids are no multiple of their {relabellings} relabellings"));
        grids.divided_exactly(&relabellings).ok_or_else(what)
    };
    match progress.needed.first() {
        Some(Some(recount)) if recount.complete => {
            let total = recount.json["total"].as_str().and_then(|digits| digits.parse::<Exact>().ok());
            let total = total.ok_or_else(|| BadPartial("the recount's report has no total".into()))?;
            Ok(Identity::Recount(divided(&total)?))
        }
        Some(_) => Ok(Identity::Unknown),
        None => match literature::grids(job.shape) {
            Some(published) => Ok(Identity::Published(divided(&published.value())?, published)),
            None => Ok(Identity::Unknown),
        },
    }
}

impl Found {
    /// Essentially different grids, when all is known and the division leaves nothing over.
    fn different(&self) -> Option<&Exact> {
        self.quotient.as_ref().filter(|(_, left_over)| left_over.is_zero()).map(|(quotient, _)| quotient)
    }

    /// Whether the result is another than published, and the one that is held to be right.
    fn contradicts_a_doubted_number(&self) -> bool {
        let doubted = self.doubted.as_ref().map(Doubted::value);
        doubted.is_some() && doubted.as_ref() == self.different()
    }

    fn agrees(&self) -> Option<bool> {
        let (published, different) = (self.published.as_ref()?, self.different()?);
        Some(published.value() == *different)
    }
}

/// What is wrong with a complete result.
fn alarm(found: &Found) -> Option<String> {
    let (quotient, left_over) = found.quotient.as_ref()?;
    if !left_over.is_zero() {
        return Some(format!(
            "the sum {} is no multiple of the group's order: {left_over} are left over",
            found.sum
        ));
    }
    (found.agrees() == Some(false) && !found.contradicts_a_doubted_number())
        .then(|| format!("{} essentially different grids are not as many as published", quotient.grouped()))
}

fn json(job: &Burnside, found: &Found) -> Value {
    let classes = job.grids.classes().iter().zip(&found.fixed).map(|(class, fixed)| {
        let g = &class.representative;
        let cycles: Map<String, Value> =
            class.cycle_type.iter().map(|(length, times)| (length.to_string(), json!(times))).collect();
        json!({
            "order": class.order,
            "size": class.size.to_string(),
            "cycle_type": cycles,
            "representative": { "transposed": g.transposed(), "rows": g.rows(), "columns": g.columns() },
            "name": class.name(),
            "fixed": fixed.as_ref().map(Exact::to_string),
        })
    });
    json!({
        "shape": job.shape.to_string(),
        "transpose": job.grids.group().with_transpose(),
        "group_order": job.grids.group().order().to_string(),
        "complete": found.quotient.is_some(),
        "total": found.sum.to_string(),
        "remainder": found.quotient.as_ref().map(|(_, left_over)| left_over.to_string()),
        "essentially_different": found.different().map(Exact::to_string),
        "published": found.published.map(|number| json!({
            "essentially_different": number.value().to_string(), "what": number.what, "source": number.source,
            "doubted": found.doubted.map(|doubted| doubted.why),
        })),
        "agrees": found.agrees(),
        "identity": match &found.identity {
            Identity::Recount(_) => json!("recount"),
            Identity::Published(_, number) => json!(number.source),
            Identity::Unknown => Value::Null,
        },
        "classes": classes.collect::<Vec<_>>(),
    })
}

/// The classes that fix grids, and the sum.
fn table(job: &Burnside, found: &Found, progress: &Progress) -> String {
    let (group, classes) = (job.grids.group(), job.grids.classes());
    let mut text = String::new();
    let mut line = |words: &str| {
        text.push_str(words.trim_end());
        text.push('\n');
    };
    line(&format!("{:>5}  {:>7}  {:>17}  symmetry", "order", "size", "fixed grids"));
    let known = |fixed: &Option<Exact>| fixed.as_ref().is_some_and(|fixed| !fixed.is_zero());
    for (class, fixed) in classes.iter().zip(&found.fixed).filter(|(_, fixed)| known(fixed)) {
        let fixed = fixed.as_ref().map_or(String::new(), Exact::to_string);
        line(&row(class, &fixed));
    }
    line("");
    let zero = found.fixed.iter().flatten().filter(|fixed| fixed.is_zero()).count();
    let unknown = found.fixed.iter().filter(|fixed| fixed.is_none()).count();
    let nonzero = classes.len() - zero - unknown;
    let square = job.shape.rows() == job.shape.columns();
    let transposing = if group.with_transpose() || !square { "" } else { ", without transposition" };
    line(&format!(
        "shape {} ({}){transposing}: {} classes, {nonzero} fix grids, {zero} fix none",
        job.shape,
        job.shape.words(),
        classes.len()
    ));
    if unknown > 0 {
        line(&format!(
            "unfinished: {unknown} classes are not known yet; {} of {} units are done",
            progress.done, progress.units
        ));
    }
    if let Identity::Published(_, number) = &found.identity {
        line(&format!("the identity's number is taken from the literature: {}", number.source));
    }
    line(&format!("sum of size * fixed    {}", found.sum.grouped()));
    line(&format!("order of the group     {}", group.order().grouped()));
    if let Some((quotient, left_over)) = &found.quotient {
        line(&format!("essentially different  {}, remainder {left_over}", quotient.grouped()));
    }
    if let Some(number) = &found.published {
        line(&format!("published              {}  ({})", number.digits, number.source));
    }
    match found.agrees() {
        Some(true) => line("they agree"),
        Some(false) => {
            line("THEY DO NOT AGREE");
            if let Some(doubted) = found.doubted.filter(|_| found.contradicts_a_doubted_number()) {
                line(&format!("the published number is held to be wrong: {}", doubted.why));
            }
        }
        None => {}
    }
    text
}

fn row(class: &ConjugacyClass, fixed: &str) -> String {
    format!("{:>5}  {:>7}  {fixed:>17}  {}", class.order, class.size.to_string(), class.name())
}

fn csv(job: &Burnside, found: &Found) -> String {
    let mut text = "order,size,cycle_type,fixed,name\n".to_owned();
    for (class, fixed) in job.grids.classes().iter().zip(&found.fixed) {
        let cycles: Vec<String> =
            class.cycle_type.iter().map(|(length, times)| format!("{length}^{times}")).collect();
        let fixed = fixed.as_ref().map_or(String::new(), Exact::to_string);
        let name = class.name();
        writeln!(text, "{},{},{},{fixed},\"{name}\"", class.order, class.size, cycles.join(" "))
            .expect("strings take everything");
    }
    text
}
