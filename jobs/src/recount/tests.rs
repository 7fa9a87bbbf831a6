//! The kind as the machinery sees it.

use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

use super::*;
use crate::{
    kind::UnitCheckpoint,
    laws::{self, run},
};

fn job(shape: &str, method: Method, fillings: bool) -> Recount {
    Recount::new(RecountArgs { shape: shape.parse().unwrap(), method, fillings }).unwrap()
}

fn finished(job: &Recount) -> Progress {
    Progress { units: job.units(), done: job.units(), ..Progress::default() }
}

#[test]
fn small_shapes_agree_with_the_literature_by_every_method() {
    for (shape, total) in [("2x2", "288"), ("2x3", "28200960"), ("3x2", "28200960")] {
        for method in [Method::Gangster, Method::Search, Method::Audit] {
            let job = job(shape, method, false);
            let partial = run(&job, 0..job.units());
            let report = job.report(&partial, &finished(&job)).unwrap();
            assert_eq!(report.json["total"], total, "{shape} {method:?}");
            assert_eq!(report.json["agrees"], true, "{shape} {method:?}");
            assert_eq!(report.alarm, None, "{shape} {method:?}");
        }
    }
}

#[test]
fn nine_is_reported_as_scripts_expect() {
    let job = job("3x3", Method::Gangster, false);
    let report = job.report(&run(&job, 0..44), &finished(&job)).unwrap();
    assert_eq!(report.json["total"], "6670903752021072936960");
    assert_eq!(report.json["shape"], "3x3");
    assert_eq!(report.json["method"], "gangster");
    let first = &report.json["classes"][0];
    assert_eq!(first["representative"], "123456789456789123789123456");
    assert_eq!((&first["fillings"], &first["completions"]), (&"288".into(), &"7802998272".into()));
    assert_eq!(report.json["classes"].as_array().unwrap().len(), 44);
    assert_eq!(report.json["comparisons"]["band_stack_estimate"]["value_over_total"], "0.997928");
    assert!(report.table.contains("they agree"), "{}", report.table);
    assert!(report.table.contains("1.52841e31"), "{}", report.table);
    assert_eq!(report.csv.lines().count(), 45);
    assert_eq!(report.alarm, None);
}

#[test]
fn any_split_and_order_give_the_same_bytes() {
    for (shape, method) in [("2x3", Method::Search), ("2x3", Method::Audit), ("2x4", Method::Gangster)] {
        let job = job(shape, method, false);
        laws::splits_agree(&job, 0..job.units(), [1, job.units() / 3, job.units() - 1]);
    }
}

#[test]
fn unfinished_jobs_say_what_is_known() {
    let job = job("2x3", Method::Search, false);
    let partial = run(&job, 0..10);
    let progress = Progress { units: job.units(), done: 10, ..Progress::default() };
    let report = job.report(&partial, &progress).unwrap();
    assert_eq!(report.json["complete"], false);
    assert_eq!(report.json["agrees"], serde_json::Value::Null);
    assert_eq!(report.json["classes"].as_array().unwrap().len(), 1);
    assert!(report.table.contains("unfinished: 10 of 36 units"), "{}", report.table);
    assert_eq!(report.alarm, None);
    assert!(job.report(&job.empty(), &Progress { done: 0, ..progress }).is_ok());
}

#[test]
fn a_wrong_count_sounds_the_alarm() {
    let job = job("2x2", Method::Gangster, false);
    let Partial::Classes(mut list) = run(&job, 0..2) else { panic!("gangster counts classes") };
    list[0].completions += 1;
    let report = job.report(&Partial::Classes(list), &finished(&job)).unwrap();
    assert_eq!(report.json["agrees"], false);
    assert!(report.alarm.unwrap().contains("not the published one"));
}

#[test]
fn foreign_partials_are_refused() {
    let search = job("2x3", Method::Search, false);
    let audit = job("2x3", Method::Audit, false);
    let (a, b) = (run(&search, 0..12), run(&audit, 0..12));
    assert!(search.check(0..12, &b).is_err());
    assert!(audit.check(0..12, &a).is_err());
    assert!(search.check(1..13, &a).is_err());
    assert!(search.check(0..11, &a).is_err());
    assert!(audit.check(0..11, &b).is_err());
    let mut sum = a.clone();
    assert!(search.merge(&mut sum, b).is_err());
    assert!(search.merge(&mut sum, a.clone()).is_err(), "counted twice");
    assert_eq!(sum, a, "a refused partial changes nothing");
}

#[test]
fn bad_settings_say_what_would_be_right() {
    let new = |shape: &str, method, fillings| {
        let args = RecountArgs { shape: shape.parse().unwrap(), method, fillings };
        Recount::new(args).map(|_| ()).unwrap_err().0
    };
    assert!(new("4x4", Method::Search, false).contains("2x3 (two rows by three columns)"));
    assert!(new("3x3", Method::Search, true).contains("--method audit"));
    assert!(new("2x3", Method::Audit, true).contains("3x3"));
}

#[test]
fn a_stopped_unit_goes_on_where_it_was() {
    struct Memory(Mutex<Option<Vec<u8>>>);
    impl UnitCheckpoint for Memory {
        fn load(&self) -> Option<Vec<u8>> {
            self.0.lock().unwrap().clone()
        }
        fn save(&self, progress: Vec<u8>) {
            *self.0.lock().unwrap() = Some(progress);
        }
    }
    let job = job("3x3", Method::Search, false);
    let expected = job.run_unit(61, &UnitContext::free()).unwrap();
    let memory = Memory(Mutex::new(None));
    // Stops after every fifth step: eight attempts for 36 steps.
    let polls = AtomicUsize::new(0);
    let stop = || polls.fetch_add(1, Ordering::Relaxed) % 5 == 4;
    let context = UnitContext::new(&stop, Some(&memory));
    let mut attempts = 1;
    let resumed = loop {
        match job.run_unit(61, &context) {
            Ok(partial) => break partial,
            Err(error) => assert_eq!(error, UnitError::Stopped),
        }
        attempts += 1;
    };
    assert_eq!(resumed, expected);
    assert_eq!(attempts, 8);
    memory.save(vec![0xFF; 40]);
    assert_eq!(
        job.run_unit(61, &UnitContext::new(&|| false, Some(&memory))),
        Ok(expected),
        "garbage is ignored"
    );
}
