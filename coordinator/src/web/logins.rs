//! Who has logged in: a cookie stands for a token, so that the token itself is not kept in a browser.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use blake3::Hash;

/// How long a login is good for.
pub const LIFETIME: Duration = Duration::from_secs(12 * 3600);
/// Logins at a time, and of one token: its oldest makes room.
const MOST: usize = 10_000;
const MOST_OF_ONE: usize = 64;
const ID_BYTES: usize = 32;

/// All logins. They end with the process, and with the token that they stand for.
#[derive(Default)]
pub struct Logins(Mutex<HashMap<Hash, Login>>);

struct Login {
    token: Hash,
    since: Instant,
}

impl Logins {
    /// A new one; its id, of which a hash is kept. None when there are too many.
    pub fn open(&self, token: Hash, now: Instant) -> Option<String> {
        let mut bytes = [0; ID_BYTES];
        rustls::crypto::ring::default_provider().secure_random.fill(&mut bytes).ok()?;
        let id = URL_SAFE_NO_PAD.encode(bytes);
        let mut logins = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        logins.retain(|_, login| now.duration_since(login.since) < LIFETIME);
        let own = |logins: &HashMap<Hash, Login>| {
            logins
                .iter()
                .filter(|(_, login)| login.token == token)
                .map(|(id, login)| (login.since, *id))
                .collect::<Vec<_>>()
        };
        let mut theirs = own(&logins);
        if theirs.len() >= MOST_OF_ONE {
            theirs.sort_by_key(|(since, _)| *since);
            logins.remove(&theirs[0].1);
        }
        if logins.len() >= MOST {
            return None;
        }
        logins.insert(blake3::hash(id.as_bytes()), Login { token, since: now });
        Some(id)
    }

    /// The token that a login stands for.
    pub fn find(&self, id: &str, now: Instant) -> Option<Hash> {
        let logins = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let login = logins.get(&blake3::hash(id.as_bytes()))?;
        (now.duration_since(login.since) < LIFETIME).then_some(login.token)
    }

    /// Ends one.
    pub fn close(&self, id: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&blake3::hash(id.as_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logins_are_bounded_end_and_are_told_apart() {
        let logins = Logins::default();
        let begun = Instant::now();
        let (alice, bob) = (blake3::hash(b"alice"), blake3::hash(b"bob"));
        let first = logins.open(alice, begun).expect("room");
        let other = logins.open(bob, begun).expect("room");
        assert!(first != other && first.len() == 43, "{first}");
        assert_eq!(
            (logins.find(&first, begun), logins.find(&other, begun), logins.find("", begun)),
            (Some(alice), Some(bob), None)
        );
        let now = begun + Duration::from_secs(1);
        let more: Vec<_> = (0..MOST_OF_ONE).map(|_| logins.open(alice, now).expect("room")).collect();
        assert_eq!(logins.find(&first, now), None, "the oldest has made room");
        assert!(more.iter().all(|id| logins.find(id, now) == Some(alice)));
        logins.close(&more[0]);
        assert_eq!((logins.find(&more[0], now), logins.find(&other, now)), (None, Some(bob)));
        let now = now + LIFETIME;
        assert_eq!((logins.find(&more[1], now), logins.find(&other, now)), (None, None));
    }
}
