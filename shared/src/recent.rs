//! A few large values that were used lately, each made once.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The values of the keys asked for last. Who asks for one that is being made waits for it.
pub struct Recent<V> {
    most: usize,
    kept: Mutex<Vec<(usize, Slot<V>)>>,
}

/// A value, or the place for it.
type Slot<V> = Arc<OnceLock<V>>;

impl<V> Recent<V> {
    /// Keeps at most `most` values.
    pub fn new(most: usize) -> Self {
        Self { most, kept: Mutex::default() }
    }

    /// The place of a key's value: get it, or make it, with [`OnceLock::get_or_init`].
    pub fn slot(&self, key: usize) -> Arc<OnceLock<V>> {
        // Nothing that is guarded is ever left half-way.
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().position(|(number, _)| *number == key);
        let entry = found.map_or_else(|| (key, Arc::default()), |place| kept.remove(place));
        let slot = Arc::clone(&entry.1);
        kept.insert(0, entry);
        kept.truncate(self.most);
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_ones_are_kept_and_made_once() {
        let recent = Recent::new(2);
        let mut made = Vec::new();
        for key in [1, 2, 1, 3, 1, 2] {
            recent.slot(key).get_or_init(|| made.push(key));
        }
        assert_eq!(made, [1, 2, 3, 2]);
    }
}
