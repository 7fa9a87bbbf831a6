//! What is to be done, from what is there. Asks nobody.

use super::{
    accounts::SubmitLimit,
    queue::{Phase, Task},
    site::Site,
};

/// What is there.
#[derive(Clone, Debug)]
pub struct There<'a> {
    /// Tasks of this pool and farm.
    pub tasks: &'a [Task],
    /// Workers among those that run which the coordinator is sending away.
    pub leaving: usize,
    /// Tasks of all jobs of this user: limits count them all.
    pub all_of_user: u64,
}

/// What is to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Tasks of each array to submit.
    pub arrays: Vec<u64>,
    /// Tasks that wait and are not wanted.
    pub cancel: Vec<Task>,
    /// Workers that run and will be asked to leave, as far as the coordinator has not done so.
    pub surplus: usize,
    /// Workers that are wanted and that the site does not allow.
    pub not_placed: u64,
    /// The limit that says so, with its value.
    pub because: Option<String>,
}

/// What makes `wanted` workers out of what is there.
pub fn plan(wanted: u64, there: &There<'_>, site: &Site, limits: &[SubmitLimit]) -> Plan {
    let waiting: Vec<&Task> = there.tasks.iter().filter(|task| task.phase == Phase::Waiting).collect();
    let running = there.tasks.iter().filter(|task| task.phase == Phase::Running).count();
    let staying = running.saturating_sub(there.leaving) as u64;
    let total = staying + waiting.len() as u64;
    if total >= wanted {
        let too_many = usize::try_from(total - wanted).unwrap_or(usize::MAX);
        let cancelled = too_many.min(waiting.len());
        let cancel = last_come(waiting).into_iter().take(cancelled).cloned().collect();
        return Plan { cancel, surplus: too_many - cancelled, ..Plan::default() };
    }
    let missing = wanted - total;
    let (room, because) = room(there, site, limits);
    let grow = missing.min(room);
    let not_placed = missing - grow;
    let arrays = cut(grow, array_size(site));
    Plan { arrays, not_placed, because: because.filter(|_| not_placed > 0), ..Plan::default() }
}

/// Whoever came last has waited least.
fn last_come(mut tasks: Vec<&Task>) -> Vec<&Task> {
    tasks.sort_by_key(|task| std::cmp::Reverse((task.array, task.index)));
    tasks
}

/// Most tasks of an array here.
fn array_size(site: &Site) -> u64 {
    site.max_array_tasks.map_or(site.max_array_size, |tasks| tasks.min(site.max_array_size))
}

/// How many more tasks may be submitted, and which limit it is that allows no more.
fn room(there: &There<'_>, site: &Site, limits: &[SubmitLimit]) -> (u64, Option<String>) {
    if array_size(site) == 0 {
        return (0, Some("MaxArraySize=0: this site allows no job arrays".into()));
    }
    // Slurm refuses the array that would make it full: one place stays free.
    let name = format!("what MaxJobCount={} of the site leaves", site.max_job_count);
    let jobs = [SubmitLimit { name, most: site.max_job_count.saturating_sub(1) }];
    let all = jobs.iter().chain(limits);
    let tightest = all.min_by_key(|limit| limit.most).expect("MaxJobCount is one");
    let said =
        format!("{} is {}, and {} jobs of yours count", tightest.name, tightest.most, there.all_of_user);
    (tightest.most.saturating_sub(there.all_of_user), Some(said))
}

/// `tasks` in arrays of at most `size`.
fn cut(tasks: u64, size: u64) -> Vec<u64> {
    let mut arrays = Vec::new();
    let mut left = tasks;
    while left > 0 && size > 0 {
        let some = left.min(size);
        arrays.push(some);
        left -= some;
    }
    arrays
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> Site {
        Site {
            version: "22.05.8".into(),
            max_array_size: 1_001,
            max_array_tasks: None,
            max_job_count: 10_000,
            kill_wait_s: Some(30),
            cluster: None,
            limits_enforced: false,
        }
    }

    fn tasks(phases: &[Phase]) -> Vec<Task> {
        let task = |(index, &phase): (usize, &Phase)| Task {
            array: 7,
            index: Some(index as u64),
            phase,
            reason: "None".into(),
            comment: String::new(),
        };
        phases.iter().enumerate().map(task).collect()
    }

    fn of(wanted: u64, phases: &[Phase], leaving: usize) -> Plan {
        let tasks = tasks(phases);
        let there = There { tasks: &tasks, leaving, all_of_user: tasks.len() as u64 };
        plan(wanted, &there, &site(), &[])
    }

    fn to_submit(plan: &Plan) -> u64 {
        plan.arrays.iter().sum()
    }

    use Phase::{Ending, Running, Waiting};

    #[test]
    fn what_is_missing_is_submitted() {
        assert_eq!(of(4, &[], 0).arrays, [4]);
        assert_eq!(of(4, &[Running, Waiting], 0).arrays, [2]);
        assert_eq!(of(2, &[Running, Waiting], 0), Plan::default());
        assert_eq!(of(2, &[Running, Ending], 0).arrays, [1], "what ends is as good as gone");
        assert_eq!(of(2, &[Running, Running], 1).arrays, [1], "and so is who leaves");
    }

    #[test]
    fn waiting_tasks_go_first_and_the_last_of_them() {
        let plan = of(2, &[Running, Waiting, Waiting, Running], 0);
        assert_eq!(plan.cancel.iter().map(|t| t.index).collect::<Vec<_>>(), [Some(2), Some(1)]);
        assert_eq!((plan.surplus, to_submit(&plan)), (0, 0));
        let plan = of(1, &[Running, Waiting, Running, Running], 0);
        assert_eq!((plan.cancel.len(), plan.surplus), (1, 2));
        let plan = of(1, &[Running, Waiting, Running, Running], 2);
        assert_eq!((plan.cancel.len(), plan.surplus), (1, 0), "two leave already");
        assert_eq!(of(0, &[Running], 5).surplus, 0, "more may be leaving than Slurm still shows");
    }

    #[test]
    fn arrays_are_as_large_as_the_site_allows() {
        assert_eq!(of(2_500, &[], 0).arrays, [1_001, 1_001, 498]);
        let there = There { tasks: &[], leaving: 0, all_of_user: 0 };
        let small = Site { max_array_size: 3, ..site() };
        assert_eq!(plan(4, &there, &small, &[]).arrays, [3, 1]);
        let smaller = Site { max_array_tasks: Some(2), ..small.clone() };
        assert_eq!(plan(4, &there, &smaller, &[]).arrays, [2, 2]);
        let none = plan(4, &there, &Site { max_array_size: 0, ..small }, &[]);
        assert_eq!((to_submit(&none), none.not_placed), (0, 4));
        assert!(none.because.expect("a limit").contains("MaxArraySize=0"));
    }

    #[test]
    fn a_limit_is_named_with_its_value() {
        let limits = [SubmitLimit { name: "MaxSubmitJobs of x".into(), most: 10 }];
        let there = There { tasks: &[], leaving: 0, all_of_user: 7 };
        let limited = plan(5, &there, &site(), &limits);
        assert_eq!((&limited.arrays[..], limited.not_placed), (&[3][..], 2));
        let because = limited.because.expect("a limit");
        assert!(because.contains("MaxSubmitJobs of x is 10") && because.contains("7 jobs"), "{because}");
        assert_eq!(plan(3, &there, &site(), &limits).because, None);
        let full = There { all_of_user: 70, ..there };
        assert_eq!(plan(3, &full, &site(), &limits).not_placed, 3);
        let huge = plan(20_000, &There { all_of_user: 0, ..full }, &site(), &[]);
        assert_eq!((to_submit(&huge), huge.not_placed), (9_999, 10_001));
        assert!(huge.because.expect("a limit").contains("MaxJobCount"));
    }
}
