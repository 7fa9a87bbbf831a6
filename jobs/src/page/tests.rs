use serde_json::json;

use super::*;
use crate::{
    plot::Plot,
    xml::{Element, elements},
};

fn report() -> Report {
    let clues = Plot::distribution("Puzzles by clues", "clues", "puzzles", [(17u32, 3), (19, 1)]);
    Report {
        json: json!({ "puzzles": "4" }),
        table: "   4  puzzles\n".into(),
        csv: "verdict,lines\nunique,4\n".into(),
        alarm: None,
        plots: clues.map(|plot| plot.with_caption("How many.")).into_iter().collect(),
    }
}

fn page(report: &Report) -> Vec<Element> {
    page_with(report, &[])
}

fn page_with(report: &Report, pictures: &[Picture]) -> Vec<Element> {
    let (about, json) = ("Job 12 & 3.", json!({ "puzzles": "4", "job": { "name": "12" } }));
    let (heading, warnings) = ("nonet <solve>", &["2 were given up".into()]);
    let page = Page { heading, about, warnings, report, json: &json, pictures };
    let html = page.html();
    assert!(html.starts_with("<!DOCTYPE html>\n<html lang=\"en\">") && html.ends_with("</html>\n"));
    assert!(!html.contains("<script") && !html.contains("<link") && !html.contains("url("));
    elements(&html)
}

fn texts<'a>(elements: &'a [Element], name: &str) -> Vec<&'a str> {
    elements.iter().filter(|element| element.name == name).map(|element| element.text.as_str()).collect()
}

#[test]
fn a_page_has_all_of_the_report() {
    let elements = page(&report());
    assert_eq!(texts(&elements, "h1"), ["nonet <solve>"]);
    assert_eq!(texts(&elements, "p"), ["Job 12 & 3.", "2 were given up"]);
    let pre = texts(&elements, "pre");
    assert_eq!(pre[0], "\n   4  puzzles\n");
    let json: Value = serde_json::from_str(pre[1]).expect("JSON");
    assert_eq!(json, json!({ "puzzles": "4", "job": { "name": "12" } }));
    assert_eq!(texts(&elements, "figcaption"), ["How many."]);
    assert_eq!(texts(&elements, "td"), ["17", "3", "19", "1", "unique", "4"]);
    assert_eq!(texts(&elements, "summary"), ["The numbers", "The main table", "JSON"]);
    assert_eq!(elements.iter().filter(|element| element.name == "svg").count(), 1);
}

#[test]
fn an_alarm_is_on_the_page() {
    let elements = page(&Report { alarm: Some("6 < 7, but \"8\"".into()), plots: vec![], ..report() });
    let warnings: Vec<_> =
        elements.iter().filter(|e| e.attributes.contains_key("role")).map(|e| &e.text).collect();
    assert_eq!(warnings, ["6 < 7, but \"8\"", "2 were given up"]);
}

#[test]
fn what_others_have_written_stays_text() {
    let hostile = "</pre></td></details><script>alert(1)</script><!-- \u{0}\u{8} ]]> &lt;";
    let plot = Plot::counts(hostile, hostile, hostile, [(hostile, 1)]).expect("a count");
    let report = Report {
        json: json!({ hostile: hostile }),
        table: format!("{hostile}\n"),
        csv: format!("a\n\"{hostile}\"\n"),
        alarm: Some(hostile.into()),
        plots: vec![plot.with_caption(hostile)],
    };
    let elements = page(&report);
    let shown = "</pre></td></details><script>alert(1)</script><!-- \u{fffd}\u{fffd} ]]> &lt;";
    assert_eq!(texts(&elements, "pre")[0], format!("\n{shown}\n"));
    assert_eq!(texts(&elements, "td"), [shown, "1", shown]);
    assert_eq!(texts(&elements, "figcaption"), [shown]);
}

#[test]
fn a_long_table_is_cut() {
    let rows: Vec<_> = (0..1500).map(|row| row.to_string()).collect();
    let elements = page(&Report { csv: format!("n\n{}\n", rows.join("\n")), plots: vec![], ..report() });
    assert_eq!(texts(&elements, "td").len(), 1000);
    assert!(texts(&elements, "p").contains(&"and 500 rows more"));
}

#[test]
fn pictures_are_on_the_page_as_far_as_there_is_place() {
    let picture = |caption: &str, bytes: usize| Picture { caption: caption.into(), jpeg: vec![0xFF; bytes] };
    let pictures = [picture("<first>\n1 cell", 3), picture("none", 0), picture("large", 9 << 20)];
    let elements = page_with(&Report { plots: vec![], ..report() }, &pictures);
    assert_eq!(texts(&elements, "figcaption"), ["<first>1 cell", "none"]);
    let sources: Vec<_> = elements.iter().filter(|e| e.name == "img").map(|e| &e.attributes["src"]).collect();
    assert_eq!(sources, ["data:image/jpeg;base64,////"]);
}
