//! What the page shows: some of the jobs, some of the workers, and where a job's units are. However large the farm, an
//! answer is small, and costs a walk over what there is.

use proto::v1::{JobStatus, QuarantinedWorker, State, WorkerStatus};

use super::{Answer, Ask, Refusal, core::Core, departed::Departed, job_entry::Past, status::wire_state};
use crate::{
    ledger::JobState,
    scheduler::{Held, Picture, RangeSet, Totals, hex},
};

/// Which jobs, or workers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Start of a job's kind or name; part of a worker's name, or start of its id.
    pub text: String,
    /// Jobs in this state alone.
    pub state: Option<State>,
    /// So many that would come first are left out.
    pub skip: usize,
    /// So many are shown at most.
    pub most: usize,
}

/// Some of the jobs.
#[derive(Clone, Debug, Default)]
pub(crate) struct JobsView {
    /// All that there are, by state.
    pub by_state: Vec<(State, usize)>,
    /// Those that are meant.
    pub matching: usize,
    /// Those that are shown: running and paused ones first, then the newest. Settings are cut.
    pub jobs: Vec<JobStatus>,
}

/// Some of the workers.
#[derive(Clone, Debug, Default)]
pub(crate) struct CrewView {
    /// All that are connected.
    pub crew: Totals,
    /// Those that are meant.
    pub matching: usize,
    /// Those that are shown, by the time of their connection.
    pub workers: Vec<Seen>,
    /// Those whose results are not believed.
    pub quarantined: Vec<QuarantinedWorker>,
    /// Those that went, the last to go first.
    pub departed: Vec<Departed>,
}

/// A worker, and what it does.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub status: WorkerStatus,
    pub held: Vec<(String, String, Held)>,
}

/// Where the units of a job are.
#[derive(Clone, Debug)]
pub(crate) struct PictureView {
    /// None while that is not known.
    pub picture: Option<Picture>,
}

/// Leases of a worker that are shown.
const MOST_HELD: usize = 4;
/// Stretches of a picture.
const STRETCHES: usize = 400;
/// Quarantined workers that are shown.
const MOST_QUARANTINED: usize = 100;
/// Bytes of a job's settings in a list.
const MOST_SETTINGS: usize = 200;

impl Core {
    pub(super) fn view_jobs(&self, wanted: &Wanted) -> JobsView {
        let text = wanted.text.to_ascii_lowercase();
        let mut by_state: Vec<(State, usize)> = Vec::new();
        let (mut live, mut rest) = (Vec::new(), Vec::new());
        for (&id, entry) in self.jobs.iter().rev() {
            let state = wire_state(entry);
            match by_state.iter_mut().find(|(known, _)| *known == state) {
                Some((_, count)) => *count += 1,
                None => by_state.push((state, 1)),
            }
            let meant = wanted.state.is_none_or(|wanted| wanted == state)
                && (text.is_empty()
                    || entry.record.kind.starts_with(&text)
                    || hex(&entry.record.name).starts_with(&text));
            if meant {
                let live_one = matches!(state, State::Running | State::Paused);
                if live_one { live.push(id) } else { rest.push(id) }
            }
        }
        let matching = live.len() + rest.len();
        let shown = live.into_iter().chain(rest).skip(wanted.skip).take(wanted.most);
        let jobs = shown.filter_map(|id| self.status_of(id, MOST_SETTINGS, 0).ok()).collect();
        JobsView { by_state, matching, jobs }
    }

    pub(super) fn view_crew(&self, wanted: &Wanted) -> CrewView {
        let now = self.now();
        let mut view = CrewView { crew: self.scheduler.totals(), ..CrewView::default() };
        let text = wanted.text.to_lowercase();
        for id in self.scheduler.session_ids() {
            let Some(session) = self.sessions.peek(id) else { continue };
            let meant = text.is_empty()
                || session.name.to_lowercase().contains(&text)
                || hex(&session.worker.0).starts_with(&text);
            view.matching += usize::from(meant);
            if !meant || view.matching <= wanted.skip || view.workers.len() >= wanted.most {
                continue;
            }
            let Some(known) = self.scheduler.session(id) else { continue };
            let status = session.status(&known, now);
            let named = |held: Held| {
                let entry = self.jobs.get(&held.job)?;
                Some((hex(&entry.record.name), entry.record.kind.clone(), held))
            };
            let held = self.scheduler.held(id, MOST_HELD).into_iter().filter_map(named).collect();
            view.workers.push(Seen { status, held });
        }
        view.quarantined = self.list_quarantined();
        view.quarantined.truncate(MOST_QUARANTINED);
        let gone = |departed: &&Departed| !self.scheduler.is_connected(departed.worker);
        view.departed = self.departed.newest_first().filter(gone).cloned().collect();
        view
    }

    pub(super) fn picture(&mut self, job: String, answer: Answer<PictureView>) {
        let id = match self.find(&job) {
            Ok(id) => id,
            Err(refusal) => return drop(answer.send(Err(refusal))),
        };
        let Some(entry) = self.jobs.get(&id) else { return };
        let units = entry.record.units;
        let picture = match (self.scheduler.picture(id, STRETCHES), &entry.past) {
            (Some(picture), _) => Some(picture),
            // All that it has not given up.
            (None, _) if entry.state == JobState::Finished && entry.job.is_ok() => {
                let mut done: RangeSet = std::iter::once(0..units).collect();
                for range in entry.quarantined.iter() {
                    done.remove(&range);
                }
                Some(Picture::of_rest(units, &done, &entry.quarantined, STRETCHES))
            }
            (None, Past::Known(_)) => {
                Some(Picture::of_rest(units, &entry.done_at_rest, &entry.quarantined, STRETCHES))
            }
            (None, _) if entry.job.is_ok() => return self.park(id, Ask::Picture(job, answer)),
            (None, _) => None,
        };
        drop(answer.send(Ok(PictureView { picture })));
    }
}

impl super::Engine {
    /// Some of the jobs.
    ///
    /// # Errors
    ///
    /// When the engine is stopping.
    pub(crate) async fn view_jobs(&self, wanted: Wanted) -> Result<JobsView, Refusal> {
        self.ask(|answer| super::Input::Ask(Ask::ViewJobs(wanted, answer))).await
    }

    /// Some of the workers, and what they do.
    ///
    /// # Errors
    ///
    /// When the engine is stopping.
    pub(crate) async fn view_crew(&self, wanted: Wanted) -> Result<CrewView, Refusal> {
        self.ask(|answer| super::Input::Ask(Ask::ViewCrew(wanted, answer))).await
    }

    /// Where the units of a job are.
    ///
    /// # Errors
    ///
    /// When `job` names none, or several.
    pub(crate) async fn picture(&self, job: String) -> Result<PictureView, Refusal> {
        self.ask(|answer| super::Input::Ask(Ask::Picture(job, answer))).await
    }
}

/// The start of a text, as long as it may be.
pub(super) fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    format!("{}…", &text[..end])
}
