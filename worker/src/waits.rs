//! What the agent waits for, in forms that can wait for nothing.

use std::time::Duration;

use proto::v1::{FromWorker, ToWorker};
use tokio::{
    sync::mpsc,
    task::JoinHandle,
    time::{Instant, Interval, MissedTickBehavior, interval, sleep_until},
};

use crate::link::{self, Link, LinkError};

pub(crate) fn beat(period: Duration) -> Interval {
    let mut beat = interval(period);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beat
}

pub(crate) async fn receive(link: &mut Option<Link>) -> Result<ToWorker, LinkError> {
    match link {
        Some(link) => match link.incoming.message().await {
            Ok(Some(message)) => Ok(message),
            Ok(None) => Err(LinkError::Broken("it closed the stream".into())),
            Err(status) => Err(link::judge(&status)),
        },
        None => std::future::pending().await,
    }
}

pub(crate) async fn send_slot(
    outgoing: Option<mpsc::Sender<FromWorker>>,
    not_before: Instant,
) -> Option<mpsc::OwnedPermit<FromWorker>> {
    match outgoing {
        Some(outgoing) => {
            sleep_until(not_before).await;
            outgoing.reserve_owned().await.ok()
        }
        None => std::future::pending().await,
    }
}

pub(crate) async fn connected(
    connecting: &mut Option<JoinHandle<Result<Link, LinkError>>>,
) -> Result<Link, LinkError> {
    match connecting {
        Some(task) => task.await.unwrap_or_else(|e| Err(LinkError::Broken(e.to_string()))),
        None => std::future::pending().await,
    }
}

pub(crate) async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}
