//! Who is served: the engine of this process while it leads, nobody while another coordinator does.

use std::sync::Arc;

use tokio::sync::watch;

use crate::engine::Engine;

/// Another coordinator, which leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leading {
    /// Where workers and users reach it.
    pub url: String,
    /// Where its page is; empty where that is not known.
    pub page: String,
}

/// Who sits there.
#[derive(Clone)]
enum Sitting {
    Engine(Engine),
    /// Another coordinator leads, if one is known.
    Standby(Option<Leading>),
}

/// The server's view.
#[derive(Clone)]
pub struct Seat(watch::Receiver<Sitting>);

/// The end of who decides.
#[derive(Clone)]
pub struct SeatHolder(Arc<watch::Sender<Sitting>>);

impl Seat {
    /// A seat that is empty until its holder says otherwise.
    #[must_use]
    pub fn empty() -> (SeatHolder, Self) {
        let (holder, seat) = watch::channel(Sitting::Standby(None));
        (SeatHolder(Arc::new(holder)), Self(seat))
    }

    /// The seat of an engine that leads as long as it lives.
    #[must_use]
    pub fn of(engine: Engine) -> Self {
        Self(watch::channel(Sitting::Engine(engine)).1)
    }

    /// The engine; or, while this coordinator stands by, the address of the one that leads.
    ///
    /// # Errors
    ///
    /// When this coordinator does not lead.
    pub fn engine(&self) -> Result<Engine, Option<String>> {
        match &*self.0.borrow() {
            Sitting::Engine(engine) => Ok(engine.clone()),
            Sitting::Standby(leader) => Err(leader.as_ref().map(|leader| leader.url.clone())),
        }
    }

    /// Who leads, if it is another one and known.
    pub fn leader(&self) -> Option<Leading> {
        match &*self.0.borrow() {
            Sitting::Engine(_) => None,
            Sitting::Standby(leader) => leader.clone(),
        }
    }
}

impl SeatHolder {
    /// From now on this engine is served.
    pub fn lead(&self, engine: Engine) {
        self.0.send_replace(Sitting::Engine(engine));
    }

    /// From now on another coordinator leads.
    pub fn stand_by(&self, leader: Option<Leading>) {
        self.0.send_replace(Sitting::Standby(leader));
    }
}
