//! What of ours is in Slurm's queue.

use std::collections::BTreeMap;

/// Fields of squeue, the only ones that every version since 16.05 prints alike; the comment, which is free text, comes last.
pub const FORMAT: &str = "%F|%K|%T|%r|%k";

/// One task of a job array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The array it belongs to.
    pub array: u64,
    /// Its place there; none in a job that is no array.
    pub index: Option<u64>,
    /// Where it is.
    pub phase: Phase,
    /// Slurm's reason for that, as `Priority` or `BeginTime`.
    pub reason: String,
    /// Which farm it belongs to.
    pub comment: String,
}

/// Where a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It waits for its turn, for the first time or again.
    Waiting,
    /// It has a node.
    Running,
    /// It is being cleared away. It may come back, when it was requeued.
    Ending,
}

/// Reads what squeue prints with [`FORMAT`].
///
/// # Errors
///
/// With the first line that is something else.
pub fn parse(text: &str) -> Result<Vec<Task>, String> {
    text.lines().filter(|line| !line.trim().is_empty()).map(task).collect()
}

fn task(line: &str) -> Result<Task, String> {
    let bad = || format!("squeue printed {line:?}, which is no line of the format {FORMAT:?}");
    let mut fields = line.trim().splitn(5, '|');
    let mut next = || fields.next().ok_or_else(bad);
    let (array, index, state, reason, comment) = (next()?, next()?, next()?, next()?, next()?);
    let array = array.parse().map_err(|_| bad())?;
    let index = if index == "N/A" { None } else { Some(index.parse().map_err(|_| bad())?) };
    Ok(Task { array, index, phase: phase(state), reason: reason.into(), comment: comment.into() })
}

/// What is not known counts as a node that is in use: nothing is made or cancelled because of it.
fn phase(state: &str) -> Phase {
    match state {
        "PENDING" | "REQUEUED" | "REQUEUE_HOLD" | "REQUEUE_FED" | "SPECIAL_EXIT" | "RESV_DEL_HOLD" => {
            Phase::Waiting
        }
        "COMPLETING" | "CANCELLED" | "COMPLETED" | "FAILED" | "TIMEOUT" | "NODE_FAIL" | "PREEMPTED"
        | "OUT_OF_MEMORY" | "BOOT_FAIL" | "DEADLINE" | "STAGE_OUT" | "REVOKED" => Phase::Ending,
        _ => Phase::Running,
    }
}

/// Names of tasks as scancel takes them: `17_[0-3,8]`, one an array. None is longer than a command line likes.
pub fn names(tasks: &[Task]) -> Vec<String> {
    let mut arrays: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    let mut names = Vec::new();
    for task in tasks {
        match task.index {
            Some(index) => arrays.entry(task.array).or_default().push(index),
            None => names.push(task.array.to_string()),
        }
    }
    for (array, mut indexes) in arrays {
        indexes.sort_unstable();
        indexes.dedup();
        for some in ranges(&indexes).chunks(RANGES_PER_NAME) {
            names.push(format!("{array}_[{}]", some.join(",")));
        }
    }
    names
}

/// Slurm refuses the text of an array beyond some 64 KiB.
const RANGES_PER_NAME: usize = 1_000;

fn ranges(indexes: &[u64]) -> Vec<String> {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for &index in indexes {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == index => *last = index,
            _ => ranges.push((index, index)),
        }
    }
    let text = |(first, last)| if first == last { format!("{first}") } else { format!("{first}-{last}") };
    ranges.into_iter().map(text).collect()
}

/// Why tasks wait, with how many wait for it, the most frequent first.
pub fn reasons(tasks: &[Task]) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for task in tasks.iter().filter(|task| task.phase == Phase::Waiting) {
        *counts.entry(&task.reason).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().map(|(reason, n)| (reason.to_owned(), n)).collect();
    counts.sort_by_key(|&(_, tasks)| std::cmp::Reverse(tasks));
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As 22.05.8 printed it.
    const QUEUE: &str = "\
5|8|PENDING|Resources|nonet farm
5|9|PENDING|BeginTime|a|b
5|0|RUNNING|None|nonet farm
1|3|COMPLETING|None|
7|N/A|PENDING|JobHeldUser|(null)
";

    #[test]
    fn lines_of_squeue_are_read() {
        let tasks = parse(QUEUE).expect("good");
        assert_eq!(tasks.len(), 5);
        assert_eq!((tasks[0].array, tasks[0].index, tasks[0].phase), (5, Some(8), Phase::Waiting));
        assert_eq!(tasks[1].comment, "a|b");
        assert_eq!((tasks[2].phase, tasks[3].phase), (Phase::Running, Phase::Ending));
        assert_eq!(tasks[4].index, None);
        assert_eq!(parse("\n").expect("empty"), []);
        for bad in ["5|8|PENDING", "x|8|PENDING|None|", "5|[8-9]|PENDING|None|"] {
            assert!(parse(bad).expect_err(bad).contains("squeue printed"));
        }
    }

    #[test]
    fn names_are_short() {
        let task = |array, index| Task { array, index, ..parse(QUEUE).expect("good")[0].clone() };
        let tasks = [1, 2, 3, 8, 5].map(|index| task(17, Some(index)));
        assert_eq!(names(&tasks), ["17_[1-3,5,8]"]);
        assert_eq!(names(&[task(18, None), task(4, Some(0))]), ["18", "4_[0]"]);
        let many: Vec<_> = (0..2_500).map(|i| task(9, Some(2 * i))).collect();
        assert_eq!(names(&many).len(), 3);
    }

    #[test]
    fn reasons_are_counted() {
        let text = format!("{QUEUE}5|10|PENDING|Resources|\n");
        let reasons = reasons(&parse(&text).expect("good"));
        assert_eq!(reasons[0], ("Resources".into(), 2));
        assert_eq!(reasons.len(), 3);
    }
}
