//! Whole recounts against published totals and class by class, and methods against each other.

use rayon::prelude::*;
use shared::{
    count::{
        Audit, AuditCount, AuditOf, ClassCount, Exact, Gangster, Search, UnitProgress, audit,
        bands::band_classes,
        nine::{band_text, classes},
    },
    grid::Shape,
    literature,
};

fn gangster(shape: Shape) -> (Gangster, Vec<ClassCount>) {
    let gangster = Gangster::new(shape).unwrap();
    let counts = (0..gangster.units()).into_par_iter().map(|unit| gangster.run_unit(unit)).collect();
    (gangster, counts)
}

fn search_class(search: &Search, class: u64) -> ClassCount {
    let units = class * search.choices()..(class + 1) * search.choices();
    let found = units
        .into_par_iter()
        .map(|unit| search.run_unit(unit, UnitProgress::default(), &mut |_| false).unwrap());
    found
        .reduce_with(|a, b| ClassCount {
            class: a.class,
            bands: a.bands + b.bands,
            completions: a.completions + b.completions,
        })
        .unwrap()
}

fn audit_all(audit: &Audit) -> Vec<AuditCount> {
    let counts = (0..audit.units())
        .into_par_iter()
        .flat_map_iter(|unit| audit.run_unit(unit, UnitProgress::default(), &mut |_| false).unwrap());
    audit::gather(counts.collect()).unwrap()
}

/// Lines of a test data file, split at commas.
fn fixture(text: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    text.lines().filter(|line| !line.starts_with('#')).map(|line| line.split(',').collect())
}

fn gangsters44() -> Vec<Vec<&'static str>> {
    fixture(include_str!("../testdata/gangsters44.csv")).collect()
}

#[test]
fn gangster_finds_the_published_totals() {
    for shape in Shape::COUNTED {
        let (gangster, counts) = gangster(shape);
        let total = gangster.classes().total(&counts).unwrap();
        assert_eq!(total, literature::grids(shape).unwrap().value(), "{shape}");
    }
}

#[test]
fn all_44_classes_by_both_methods() {
    let (gangster, counts) = gangster(Shape::NINE);
    let search = Search::new(Shape::NINE).unwrap();
    let lines = gangsters44();
    assert_eq!(literature::GANGSTERS_3X3.value(), Exact::from(lines.len() as u64));
    assert_eq!(counts.len(), lines.len());
    for (class, line) in lines.iter().enumerate() {
        let [representative, pairs, fillings, completions] = line[..] else { panic!("four columns") };
        let table = gangster.classes();
        assert_eq!(table.representative(class), representative);
        assert_eq!(table.tuples(class).to_string(), pairs);
        assert_eq!(table.fillings(class, counts[class].bands).unwrap().to_string(), fillings);
        assert_eq!(counts[class].completions.to_string(), completions);
        assert_eq!(search_class(&search, class as u64), counts[class], "class {class} by search");
    }
}

#[test]
fn search_finds_every_class_of_two_bands() {
    for shape in &Shape::COUNTED[..3] {
        let (_, counts) = gangster(*shape);
        let search = Search::new(*shape).unwrap();
        for (class, count) in (0..).zip(counts) {
            assert_eq!(search_class(&search, class), count, "{shape}, class {class}");
        }
    }
}

#[test]
#[ignore = "takes CPU minutes"]
fn search_agrees_on_classes_of_2x5() {
    let gangster = Gangster::new(Shape::COUNTED[3]).unwrap();
    let search = Search::new(Shape::COUNTED[3]).unwrap();
    for class in (0..gangster.units()).step_by(29) {
        assert_eq!(search_class(&search, class), gangster.run_unit(class), "class {class}");
    }
}

#[test]
fn audits_find_the_published_totals_and_the_classes() {
    for shape in [Shape::COUNTED[0], Shape::COUNTED[1], Shape::COUNTED[2], Shape::NINE] {
        let audit = Audit::new(shape, AuditOf::ColumnSets).unwrap();
        let found = audit_all(&audit);
        assert_eq!(audit.total(&found), literature::grids(shape).unwrap().value(), "{shape}");
        // Classes with equal completions cannot be told apart here; taken together they must be the same.
        let (gangster, counts) = gangster(shape);
        let expected = counts.iter().enumerate().map(|(class, count)| AuditCount {
            completions: count.completions,
            choices: u64::try_from(gangster.classes().tuples(class)).unwrap(),
            fillings: gangster.classes().fillings(class, count.bands).unwrap().to_u128().unwrap(),
        });
        assert_eq!(found, audit::gather(expected.collect()).unwrap(), "{shape}");
    }
}

#[test]
fn sampled_fillings_complete_like_their_classes() {
    let audit = Audit::new(Shape::NINE, AuditOf::Fillings).unwrap();
    assert_eq!(literature::BANDS_3X3_NORMALISED.value(), Exact::from(audit.units()));
    let (_, counts) = gangster(Shape::NINE);
    for unit in (17..audit.units()).step_by(3_001) {
        let found = audit.run_unit(unit, UnitProgress::default(), &mut |_| false).unwrap();
        let name = audit.unit_name(unit);
        let digits: Vec<u8> =
            name.strip_prefix("filling ").unwrap().bytes().map(|digit| digit - b'1').collect();
        let rows: Vec<[u8; 9]> = digits.chunks(9).map(|row| row.try_into().unwrap()).collect();
        let class = classes().of_band(&rows.try_into().unwrap());
        assert_eq!(
            found,
            [AuditCount { completions: counts[class].completions, choices: 1, fillings: 72 }],
            "{name}"
        );
    }
}

#[test]
fn all_416_band_classes() {
    let (_, counts) = gangster(Shape::NINE);
    let found = band_classes();
    let lines: Vec<_> = fixture(include_str!("../testdata/bands416.csv")).collect();
    assert_eq!(literature::BAND_CLASSES_3X3.value(), Exact::from(found.len() as u64));
    assert_eq!(found.len(), lines.len());
    for (class, line) in found.iter().zip(lines) {
        let gangster = classes().of_band(&class.band);
        let computed = [
            band_text(&class.band),
            class.fillings.to_string(),
            (gangster + 1).to_string(),
            counts[gangster].completions.to_string(),
            class.automorphisms.to_string(),
        ];
        assert_eq!(computed[..], line[..]);
    }
    let fillings: u64 = found.iter().map(|class| class.fillings).sum();
    assert_eq!(literature::BANDS_3X3_BOX_FIXED.value(), Exact::from(fillings));
}

#[test]
fn a_unit_can_be_stopped_anywhere_and_taken_up() {
    let cases = [(Shape::NINE, 1_234), (Shape::COUNTED[2], 100)];
    for (shape, unit) in cases {
        let search = Search::new(shape).unwrap();
        let whole = search.run_unit(unit, UnitProgress::default(), &mut |_| false).unwrap();
        let mut saved = UnitProgress::default();
        let mut attempts = 0;
        let resumed = loop {
            attempts += 1;
            let from = saved;
            let stop = &mut |progress| {
                saved = progress;
                true
            };
            if let Some(found) = search.run_unit(unit, from, stop) {
                break found;
            }
        };
        assert_eq!(resumed, whole, "{shape}");
        assert_eq!(attempts, if shape == Shape::NINE { 36 } else { 4 });
    }
}
