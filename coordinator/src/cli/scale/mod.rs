//! `nonet scale`: as many workers as are wanted, from Slurm.
//!
//! Workers are tasks of job arrays. A task whose time is nearly over hands back what it holds and requeues itself, so the
//! number of tasks is the number of workers, and nothing of ours has to watch over them. More workers are more tasks.
//! Fewer: tasks that wait are cancelled, and the coordinator lets go of workers that run as they become free; a task whose
//! worker was let go ends for good. No task that runs is ever cancelled here.

mod accounts;
mod args;
mod change;
mod duration;
mod farm;
mod look;
mod plan;
mod queue;
mod refusal;
mod report;
mod script;
mod site;
mod submit;
mod tool;
mod wait;
mod worker_options;

pub use args::ScaleArgs;
pub use change::scale;
