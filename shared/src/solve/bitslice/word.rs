//! Vectors of bits: a lane is a bit, and all that kernels do with lanes is in [`Word`].

use super::{
    planes::{self, Planes},
    record::Record,
};

/// Groups of the widest word.
pub const MAX_GROUPS: usize = 8;

/// A set of lanes.
pub type Bits = [u64; MAX_GROUPS];

/// What the kernels need of a vector: `64 * GROUPS` lanes, lane `64 g + r` being bit `r` of the 64-bit group `g`.
///
/// Every implementation computes the same functions of single bits, so kernels give the same answers with each. The
/// three-operand functions are here because some instruction sets have them in one instruction.
pub trait Word: Copy {
    /// Groups of 64 lanes.
    const GROUPS: usize;

    /// All lanes the same in each group.
    fn splat(group: u64) -> Self;

    /// From `GROUPS` groups.
    fn load(groups: &[u64]) -> Self;

    /// To `GROUPS` groups.
    fn store(self, groups: &mut [u64]);

    /// Both.
    fn and(self, other: Self) -> Self;

    /// One or both.
    fn or(self, other: Self) -> Self;

    /// Exactly one.
    fn xor(self, other: Self) -> Self;

    /// `self` and not `other`.
    fn without(self, other: Self) -> Self;

    /// Groups shifted to higher lanes.
    fn up<const BY: i32>(self) -> Self;

    /// Groups shifted to lower lanes.
    fn down<const BY: i32>(self) -> Self;

    /// No lane.
    #[inline(always)]
    fn zero() -> Self {
        Self::splat(0)
    }

    /// The other lanes.
    #[inline(always)]
    fn not(self) -> Self {
        self.xor(Self::splat(u64::MAX))
    }

    /// At least one of three.
    #[inline(always)]
    fn any3(self, b: Self, c: Self) -> Self {
        self.or(b).or(c)
    }

    /// An odd number of three.
    #[inline(always)]
    fn odd3(self, b: Self, c: Self) -> Self {
        self.xor(b).xor(c)
    }

    /// At least two of three.
    #[inline(always)]
    fn two3(self, b: Self, c: Self) -> Self {
        self.and(b).or(self.or(b).and(c))
    }

    /// Sum and carry of three.
    #[inline(always)]
    fn add3(self, b: Self, c: Self) -> (Self, Self) {
        let half = self.xor(b);
        (half.xor(c), self.and(b).or(half.and(c)))
    }

    /// `self` or `b` and `c`.
    #[inline(always)]
    fn or_both(self, b: Self, c: Self) -> Self {
        self.or(b.and(c))
    }

    /// `a` where `self`, `b` elsewhere.
    #[inline(always)]
    fn choose(self, a: Self, b: Self) -> Self {
        a.and(self).or(b.without(self))
    }

    /// Exchanges the bits `mask << BY` of `a` with the bits `mask` of `b`, where `mask` has the lanes with bit `BY`
    /// of their number clear: a step of the transposition of 64x64 bits.
    #[inline(always)]
    fn exchange<const BY: i32>(a: Self, b: Self, mask: Self) -> (Self, Self) {
        let t = a.down::<BY>().xor(b).and(mask);
        (a.xor(t.up::<BY>()), b.xor(t))
    }

    /// Says that a record will be needed soon.
    #[inline(always)]
    fn prefetch(_record: &Record) {}

    /// See [`planes::gather`].
    #[inline(always)]
    fn gather(cells: &[u8; 81]) -> Planes {
        planes::gather(cells)
    }

    /// See [`planes::scatter`].
    #[inline(always)]
    fn scatter(planes: &Planes, cells: &mut [u8; 81]) {
        planes::scatter(planes, cells);
    }
}

/// The word for every machine: plain integers, which compilers put in whatever vectors there are.
#[derive(Clone, Copy)]
#[repr(align(16))]
pub struct Portable<const N: usize>([u64; N]);

/// A function of each group.
macro_rules! each_group {
    ($a:expr, $b:expr, $f:expr) => {{
        let mut groups = $a.0;
        for g in 0..N {
            groups[g] = $f(groups[g], $b.0[g]);
        }
        Self(groups)
    }};
}

impl<const N: usize> Word for Portable<N> {
    const GROUPS: usize = N;

    #[inline(always)]
    fn splat(group: u64) -> Self {
        Self([group; N])
    }

    #[inline(always)]
    fn load(groups: &[u64]) -> Self {
        let mut word = [0; N];
        word.copy_from_slice(&groups[..N]);
        Self(word)
    }

    #[inline(always)]
    fn store(self, groups: &mut [u64]) {
        groups[..N].copy_from_slice(&self.0);
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        each_group!(self, other, |a, b| a & b)
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        each_group!(self, other, |a, b| a | b)
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        each_group!(self, other, |a, b| a ^ b)
    }

    #[inline(always)]
    fn without(self, other: Self) -> Self {
        each_group!(self, other, |a, b: u64| a & !b)
    }

    #[inline(always)]
    fn up<const BY: i32>(self) -> Self {
        each_group!(self, self, |a, _| a << BY)
    }

    #[inline(always)]
    fn down<const BY: i32>(self) -> Self {
        each_group!(self, self, |a, _| a >> BY)
    }
}
