//! What each lane works on: its puzzle, and the branches it has put off.

use super::{
    record::{Record, WORDS},
    word::{Bits, MAX_GROUPS},
};

/// Branches a lane can have put off at once.
///
/// Each stands for an asserted triad on the way to the lane's state. There are 54 pairs of a digit and a chute; one is
/// branched on when two permutations of it are left at least, asserting a triad leaves two of six at most, so that one
/// is asserted in at most twice on any way: 108.
const DEPTH: usize = 108;

/// The lanes and their stacks.
pub struct Lanes {
    /// Number of the puzzle.
    puzzle: Vec<u32>,
    /// Branchings made for it.
    guesses: Vec<u32>,
    /// Entries of the lane's stack, from the oldest one that has not been stolen to the newest.
    bottom: Vec<u8>,
    top: Vec<u8>,
    /// Entry `k` of a lane is at `k * lanes + lane`: most lanes have few, which are close together then.
    stack: Vec<Record>,
    /// How many entries there are in all, and the lane where the search for one to steal goes on.
    entries: usize,
    thief: usize,
    /// Whether lanes may be at work on the same puzzle.
    shared: bool,
}

impl Lanes {
    pub fn new(lanes: usize) -> Self {
        Self {
            puzzle: vec![0; lanes],
            guesses: vec![0; lanes],
            bottom: vec![0; lanes],
            top: vec![0; lanes],
            // Untouched memory costs nothing: the allocation is zeroed by the system, page by page when needed.
            stack: vec![[0; WORDS]; lanes * DEPTH],
            entries: 0,
            thief: 0,
            shared: false,
        }
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.puzzle.len()
    }

    /// Before a batch.
    pub fn reset(&mut self) {
        self.shared = false;
    }

    /// Whether no branch is put off in any lane.
    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// The number of a lane's puzzle.
    #[inline(always)]
    pub fn puzzle(&self, lane: usize) -> usize {
        self.puzzle[lane] as usize
    }

    /// Gives a lane a puzzle.
    #[inline(always)]
    pub fn take_up(&mut self, lane: usize, puzzle: u32) {
        self.puzzle[lane] = puzzle;
        (self.bottom[lane], self.top[lane], self.guesses[lane]) = (0, 0, 0);
    }

    /// Branchings made for a puzzle since the lane took it up.
    #[inline(always)]
    pub fn guesses(&self, lane: usize) -> u32 {
        self.guesses[lane]
    }

    /// Room for a branch that is put off.
    #[inline(always)]
    pub fn push(&mut self, lane: usize) -> &mut Record {
        let top = usize::from(self.top[lane]);
        debug_assert!(top < DEPTH);
        self.top[lane] += 1;
        self.guesses[lane] += 1;
        self.entries += 1;
        let at = top * self.len() + lane;
        &mut self.stack[at]
    }

    /// The branch that [`pop`](Self::pop) would give, or some other one.
    #[inline(always)]
    pub fn newest(&self, lane: usize) -> &Record {
        &self.stack[usize::from(self.top[lane].saturating_sub(1)) * self.len() + lane]
    }

    /// The branch put off last.
    #[inline(always)]
    pub fn pop(&mut self, lane: usize) -> Option<&Record> {
        if self.top[lane] == self.bottom[lane] {
            return None;
        }
        self.entries -= 1;
        self.top[lane] -= 1;
        Some(&self.stack[usize::from(self.top[lane]) * self.len() + lane])
    }

    /// The oldest branch of some lane, in turn: the largest piece of work it can give away.
    pub fn steal(&mut self) -> Option<(u32, &Record)> {
        if self.entries == 0 {
            return None;
        }
        self.shared = true;
        while self.top[self.thief] == self.bottom[self.thief] {
            self.thief = (self.thief + 1) % self.len();
        }
        let lane = self.thief;
        self.thief = (lane + 1) % self.len();
        let at = usize::from(self.bottom[lane]) * self.len() + lane;
        self.bottom[lane] += 1;
        self.entries -= 1;
        Some((self.puzzle[lane], &self.stack[at]))
    }

    /// Drops the branches of a lane, and of all others at work on the same puzzle: enough is known of it. Says which
    /// lanes these are.
    pub fn abandon(&mut self, lane: usize) -> Bits {
        let mut lanes = [0; MAX_GROUPS];
        let puzzle = self.puzzle[lane];
        let range = if self.shared { 0..self.len() } else { lane..lane + 1 };
        for lane in range {
            if self.puzzle[lane] == puzzle {
                self.entries -= usize::from(self.top[lane] - self.bottom[lane]);
                (self.bottom[lane], self.top[lane]) = (0, 0);
                lanes[lane / 64] |= 1 << (lane % 64);
            }
        }
        lanes
    }
}
