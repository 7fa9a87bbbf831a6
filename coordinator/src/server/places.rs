//! How many connections there may be, in all and from one address: whoever opens thousands keeps nobody else out.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, PoisonError},
};

/// A number of places.
#[derive(Debug)]
pub struct Places {
    most: usize,
    most_of_one: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    in_all: usize,
    by: HashMap<IpAddr, usize>,
}

/// A place; free again when dropped.
#[derive(Debug)]
pub struct Place {
    places: Arc<Places>,
    who: IpAddr,
}

impl Places {
    /// `most` in all, and `most_of_one` for one address.
    pub fn new(most: usize, most_of_one: usize) -> Arc<Self> {
        Arc::new(Self { most, most_of_one, taken: Mutex::default() })
    }

    /// A place for somebody at this address, if there is one.
    pub fn take(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        let who = neighbourhood(address);
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let theirs = taken.by.get(&who).copied().unwrap_or(0);
        if taken.in_all >= self.most || theirs >= self.most_of_one {
            return None;
        }
        taken.in_all += 1;
        taken.by.insert(who, theirs + 1);
        Some(Place { places: Arc::clone(self), who })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.in_all -= 1;
        let theirs = taken.by.get(&self.who).copied().unwrap_or(0);
        if theirs > 1 {
            taken.by.insert(self.who, theirs - 1);
        } else {
            taken.by.remove(&self.who);
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
        let mut first: Vec<_> = (0..4).map(|_| places.take(address("192.0.2.1"))).collect();
        assert_eq!(first.iter().flatten().count(), 3);
        // The same address as IPv6 tells it.
        assert!(places.take(address("::ffff:192.0.2.1")).is_none());
        let second: Vec<_> =
            ["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"].map(|a| places.take(address(a))).into();
        assert_eq!(second.iter().flatten().count(), 2);
        first.clear();
        assert!(places.take(address("2001:db8::3")).is_some());
        drop(second);
        assert!(places.taken.lock().expect("free").by.is_empty());
    }
}
