//! What was found and done.

use serde_json::{Value, json};

use super::{
    plan::Plan,
    queue::{Phase, Task, reasons},
};
use crate::cli::{args::Format, format::table};

/// What `nonet scale` tells.
#[derive(Debug)]
pub struct Report<'a> {
    /// The pool.
    pub pool: &'a str,
    /// Workers that are wanted.
    pub wanted: u32,
    /// What was there before.
    pub tasks: &'a [Task],
    /// What was planned.
    pub plan: &'a Plan,
    /// Workers that leave when they are free.
    pub leaving: u32,
    /// Arrays that were submitted, with their tasks.
    pub submitted: &'a [(u64, u64)],
    /// What the user may want to know.
    pub notes: &'a [String],
}

impl Report<'_> {
    /// As text. Notes are for standard error, but scripts find them in JSON.
    pub fn text(&self, format: Format) -> String {
        match format {
            Format::Json => self.json().to_string() + "\n",
            Format::Csv => {
                let head = "pool,wanted,running,waiting,submitted,cancelled,leaving,not_placed";
                let (running, waiting) = (self.count(Phase::Running), self.count(Phase::Waiting));
                let (pool, wanted, leaving) = (self.pool, self.wanted, self.leaving);
                let (submitted, cancelled) = (self.submitted_tasks(), self.plan.cancel.len());
                let not_placed = self.plan.not_placed;
                format!(
                    "{head}\n{pool},{wanted},{running},{waiting},{submitted},{cancelled},{leaving},{not_placed}\n"
                )
            }
            Format::Table => self.table(),
        }
    }

    fn count(&self, phase: Phase) -> usize {
        self.tasks.iter().filter(|task| task.phase == phase).count()
    }

    fn submitted_tasks(&self) -> u64 {
        self.submitted.iter().map(|(_, tasks)| tasks).sum()
    }

    fn json(&self) -> Value {
        let arrays = self.submitted.iter().map(|(job, tasks)| json!({ "job": job, "tasks": tasks }));
        let waits = reasons(self.tasks).into_iter();
        let waits = waits.map(|(reason, tasks)| json!({ "reason": reason, "tasks": tasks }));
        json!({
            "pool": self.pool,
            "wanted": self.wanted,
            "running": self.count(Phase::Running),
            "waiting": self.count(Phase::Waiting),
            "waiting_for": waits.collect::<Vec<_>>(),
            "submitted": self.submitted_tasks(),
            "arrays": arrays.collect::<Vec<_>>(),
            "cancelled": self.plan.cancel.len(),
            "leaving": self.leaving,
            "not_placed": self.plan.not_placed,
            "because": self.plan.because,
            "notes": self.notes,
        })
    }

    fn table(&self) -> String {
        let mut rows = vec![["wanted".into(), self.wanted.to_string(), String::new()]];
        let mut row = |what: &str, count: u64, more: String| {
            if count > 0 {
                rows.push([what.into(), count.to_string(), more]);
            }
        };
        row("running", self.count(Phase::Running) as u64, "before".into());
        let waits = reasons(self.tasks);
        let waits: Vec<_> = waits.iter().map(|(reason, tasks)| format!("{reason} {tasks}")).collect();
        row("waiting", self.count(Phase::Waiting) as u64, format!("before: {}", waits.join(", ")));
        let jobs: Vec<_> = self.submitted.iter().map(|(job, _)| job.to_string()).collect();
        let plural = if jobs.len() == 1 { "array" } else { "arrays" };
        row("submitted", self.submitted_tasks(), format!("{plural} {}", jobs.join(", ")));
        row("cancelled", self.plan.cancel.len() as u64, "that waited".into());
        row("leaving", self.leaving.into(), "as soon as they are free".into());
        row("not placed", self.plan.not_placed, self.plan.because.clone().unwrap_or_default());
        table(["POOL", self.pool, ""], &rows)
    }
}
