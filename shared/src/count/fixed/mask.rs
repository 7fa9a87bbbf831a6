//! Sets of orbits of cells, as wide as they need to be.

use std::{
    fmt::Debug,
    hash::{BuildHasherDefault, Hash, Hasher},
    ops::{BitAnd, BitOr, BitXor, Not},
};

/// A set of up to [`Mask::BITS`] orbits of cells, a bit for each.
///
/// The search spends its time here, so it runs on one machine word where orbits are few (2x4, and every class that
/// matters on 3x3 and 2x5) and on two where they are not.
pub trait Mask:
    Copy
    + Debug
    + Eq
    + Hash
    + Ord
    + Send
    + Sync
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
{
    /// The set without members.
    const EMPTY: Self;
    /// Bits there are.
    const BITS: usize;
    /// The set with one member.
    fn bit(member: usize) -> Self;
    /// The least member, or [`Mask::BITS`].
    fn first(self) -> usize;
    /// The bits the other way round: orders sets by their least members.
    fn reversed(self) -> Self;
    /// A word that two different sets seldom share.
    fn word(self) -> u64;

    /// The slot of this set in a hash table with `slots` slots, a power of two above 1.
    fn slot(self, slots: usize) -> usize {
        let mixed = self.word().wrapping_mul(0x9E37_79B9_7F4A_7C15);
        usize::try_from(mixed >> (64 - slots.trailing_zeros())).expect("fewer slots than addresses")
    }

    /// The set `0..count`.
    fn below(count: usize) -> Self {
        (0..count).fold(Self::EMPTY, |set, member| set | Self::bit(member))
    }

    /// The members, ascending.
    fn members(self) -> impl Iterator<Item = usize> {
        let mut rest = self;
        std::iter::from_fn(move || {
            let member = rest.first();
            (member < Self::BITS).then(|| {
                rest = rest & !Self::bit(member);
                member
            })
        })
    }
}

impl Mask for u64 {
    const EMPTY: Self = 0;
    const BITS: usize = 64;

    fn bit(member: usize) -> Self {
        1 << member
    }

    fn first(self) -> usize {
        self.trailing_zeros() as usize
    }

    fn reversed(self) -> Self {
        self.reverse_bits()
    }

    fn word(self) -> u64 {
        self
    }
}

impl Mask for u128 {
    const EMPTY: Self = 0;
    const BITS: usize = 128;

    fn bit(member: usize) -> Self {
        1 << member
    }

    fn first(self) -> usize {
        self.trailing_zeros() as usize
    }

    fn reversed(self) -> Self {
        self.reverse_bits()
    }

    #[allow(clippy::cast_possible_truncation, reason = "the two halves are mixed")]
    fn word(self) -> u64 {
        (self as u64) ^ ((self >> 64) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

/// A hash for sets that come from nobody who wants them to collide, and are looked up by the million.
#[derive(Default)]
pub(super) struct Mixer(u64);

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(26) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn write_u128(&mut self, word: u128) {
        let [low, high] = [word & u128::from(u64::MAX), word >> 64];
        self.write_u64(u64::try_from(low).unwrap_or_default());
        self.write_u64(u64::try_from(high).unwrap_or_default());
    }

    fn finish(&self) -> u64 {
        // The high bits are mixed best, and tables look at both ends.
        self.0 ^ self.0 >> 32
    }
}

/// How [`Mixer`] is asked for.
pub(super) type Mixed = BuildHasherDefault<Mixer>;
