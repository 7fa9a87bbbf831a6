//! How many connections there may be, in all and from one address: whoever opens thousands keeps nobody else out.

use std::{
    collections::HashMap,
    hash::Hash,
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, PoisonError},
};

use crate::access::Caller;

/// A number of places, for each of whom `K` tells apart.
#[derive(Debug)]
pub struct Places<K: Eq + Hash> {
    most: usize,
    most_of_one: usize,
    taken: Mutex<Taken<K>>,
}

#[derive(Debug)]
struct Taken<K> {
    in_all: usize,
    by: HashMap<K, usize>,
}

/// A place; free again when dropped.
#[derive(Debug)]
pub struct Place<K: Eq + Hash> {
    places: Arc<Places<K>>,
    who: K,
}

impl<K: Eq + Hash + Clone> Places<K> {
    /// `most` in all, and `most_of_one` for one.
    pub fn new(most: usize, most_of_one: usize) -> Arc<Self> {
        let taken = Taken { in_all: 0, by: HashMap::new() };
        Arc::new(Self { most, most_of_one, taken: Mutex::new(taken) })
    }

    /// A place for somebody, if there is one.
    pub fn take(self: &Arc<Self>, who: K) -> Option<Place<K>> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let theirs = taken.by.get(&who).copied().unwrap_or(0);
        if taken.in_all >= self.most || theirs >= self.most_of_one {
            return None;
        }
        taken.in_all += 1;
        taken.by.insert(who.clone(), theirs + 1);
        Some(Place { places: Arc::clone(self), who })
    }
}

impl<K: Eq + Hash> Drop for Place<K> {
    fn drop(&mut self) {
        let mut taken = self.places.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.in_all -= 1;
        if let Some(theirs) = taken.by.get_mut(&self.who) {
            *theirs -= 1;
            if *theirs == 0 {
                taken.by.remove(&self.who);
            }
        }
    }
}

/// Whose requests and streams are counted together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Who {
    /// That of a token, or of a certificate.
    Name(String),
    /// Where nobody has a name.
    Address(IpAddr),
    /// In this process.
    Here,
}

impl Who {
    /// The first name that was shown, or else where the caller is.
    pub fn of(caller: &Caller) -> Self {
        match (caller.identities.first(), caller.peer) {
            (Some(identity), _) => Self::Name(identity.name.clone()),
            (None, Some(peer)) => Self::Address(neighbourhood(peer.ip())),
            (None, None) => Self::Here,
        }
    }
}

/// What counts as one address: of IPv6, a customer has a whole /64.
pub fn neighbourhood(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_takes_its_share_and_gives_it_back() {
        let places = Places::new(5, 3);
        let address = |text: &str| text.parse::<IpAddr>().expect("an address");
        let take = |text: &str| places.take(neighbourhood(address(text)));
        let mut first: Vec<_> = (0..4).map(|_| take("192.0.2.1")).collect();
        assert_eq!(first.iter().flatten().count(), 3);
        // The same address as IPv6 tells it.
        assert!(take("::ffff:192.0.2.1").is_none());
        let second: Vec<_> = ["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"].map(take).into();
        assert_eq!(second.iter().flatten().count(), 2);
        first.clear();
        assert!(take("2001:db8::3").is_some());
        drop(second);
        assert!(places.taken.lock().expect("free").by.is_empty());
    }
}
