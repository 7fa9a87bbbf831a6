//! Any bytes as lines of `nonet canonical`, a list of photographs, a configuration file, and plots.

#![no_main]

use std::{fs, path::Path, sync::LazyLock};

use coordinator_fuzz::{folder, settings};
use jobs::plot;
use libfuzzer_sys::fuzz_target;
use shared::{
    grid::{
        Shape,
        notation::{LineLayout, text},
    },
    symmetry::minlex,
};
use worker::config_file::ConfigFile;

fn canonical(line: &[u8]) {
    let Ok(Some(puzzle)) = LineLayout::default().read(line, None) else { return };
    drop(text(puzzle.shape, &puzzle.cells));
    if puzzle.candidates.is_some() {
        return;
    }
    if let (Shape::NINE, Ok(cells)) = (puzzle.shape, <&[u8; 81]>::try_from(&puzzle.cells[..])) {
        let form = minlex::puzzle(cells).form;
        assert_eq!(minlex::puzzle(&form).form, form);
    } else if [Shape::FOUR, Shape::SIX].contains(&puzzle.shape) {
        let form = minlex::brute::canonical(puzzle.shape, &puzzle.cells).cells;
        assert_eq!(form.len(), puzzle.cells.len());
    }
}

/// Settings of a job of one photograph.
static PHOTOS: LazyLock<serde_json::Value> = LazyLock::new(|| {
    let photo = folder().join("photo.png");
    fs::write(&photo, b"").expect("written");
    let settings = settings(jobs::find("photos").expect("a kind"), &[photo.to_str().expect("UTF-8")]);
    serde_json::from_str(&settings.expect("settings")).expect("JSON")
});

fn photos(list: &[u8], path: &Path) {
    let lines = list.split_inclusive(|&byte| byte == b'\n').count().max(1);
    let listing = serde_json::json!({
        "at": path, "photos": lines, "digest": blake3::hash(list).to_hex().to_string(),
    });
    let mut settings = PHOTOS.clone();
    settings["photos"] = serde_json::json!([{ "listed": listing }]);
    let kind = jobs::find("photos").expect("a kind");
    let Ok(job) = kind.open(&settings.to_string()) else { return };
    let _ = [0, job.units() - 1].map(|unit| job.unit_name(unit));
}

fn plots(json: &str) {
    let Ok(plots) = plot::from_json(json) else { return };
    let again = plot::to_json(&plots);
    assert!(again.len() <= plot::MAX_PLOTS_BYTES);
    drop(plot::from_json(&again).expect("it was just written"));
    plots.iter().for_each(|plot| drop(plot.svg()));
}

fuzz_target!(|bytes: &[u8]| {
    let Some((which, rest)) = bytes.split_first() else { return };
    let path = folder().join("file");
    match which % 4 {
        0 => canonical(rest),
        1 => {
            fs::write(&path, rest).expect("written");
            photos(rest, &path);
        }
        2 => {
            fs::write(&path, rest).expect("written");
            drop(ConfigFile::read(Some(&path)));
        }
        _ => std::str::from_utf8(rest).into_iter().for_each(plots),
    }
});
