//! What is told of a job or a verification while it goes on.

use std::future::Future;

use proto::v1::{JobStatus, State, VerifyStatus};
use tokio::sync::mpsc;
use tonic::Status;

use crate::engine::{Engine, Verifying};

/// Does what there is a place for, and gives the place back.
pub async fn holding<P, T>(place: P, task: impl Future<Output = T>) -> T {
    let done = task.await;
    drop(place);
    done
}

/// Sends a job's status whenever it has moved, until the job rests, the caller has left, or it is `over`. The engine
/// announces progress ten times a second, and a change of state at once.
pub async fn watch_job(
    engine: Engine,
    first: JobStatus,
    statuses: mpsc::Sender<Result<JobStatus, Status>>,
    over: impl Future<Output = ()>,
) {
    tokio::select! {
        () = tell_of_job(engine, first, statuses) => {}
        () = over => {}
    }
}

async fn tell_of_job(engine: Engine, first: JobStatus, statuses: mpsc::Sender<Result<JobStatus, Status>>) {
    let mut changes = engine.changes();
    let mut last = first;
    loop {
        let rests = !matches!(last.state(), State::Running | State::Paused);
        if statuses.send(Ok(last.clone())).await.is_err() || rests {
            return;
        }
        let mut next = last.clone();
        while next == last {
            tokio::select! {
                changed = changes.changed() => if changed.is_err() { return },
                () = statuses.closed() => return,
            }
            match engine.status(last.name.clone()).await {
                Ok(status) => next = status,
                Err(_) => return,
            }
        }
        last = next;
    }
}

/// Sends how a verification goes on, until it is done. When the caller leaves, or it is `over`, it is called off.
pub async fn watch_verification(
    engine: Engine,
    verifying: Verifying,
    statuses: mpsc::Sender<Result<VerifyStatus, Status>>,
    over: impl Future<Output = ()>,
) {
    let (job, number) = (verifying.job, verifying.number);
    let ended = tokio::select! {
        ended = tell_of_verification(verifying, statuses) => ended,
        () = over => false,
    };
    if !ended {
        engine.verify_stop(job, number).await;
    }
}

/// False when nobody listens any more.
async fn tell_of_verification(
    verifying: Verifying,
    statuses: mpsc::Sender<Result<VerifyStatus, Status>>,
) -> bool {
    let mut status = verifying.status;
    loop {
        let next = status.borrow_and_update().clone();
        let done = next.done;
        if statuses.send(Ok(next)).await.is_err() {
            return done;
        }
        if done {
            return true;
        }
        tokio::select! {
            changed = status.changed() => if changed.is_err() {
                let gone = Status::aborted("the job was stopped or replaced before the sample was computed again");
                drop(statuses.send(Err(gone)).await);
                return true;
            },
            () = statuses.closed() => return false,
        }
    }
}
