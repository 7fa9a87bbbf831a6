//! What each lane works on: its puzzle, and the branches it has put off.

use super::record::Record;

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
    /// Stack entries `DEPTH * lane + bottom..DEPTH * lane + top`, newest last.
    bottom: Vec<u8>,
    top: Vec<u8>,
    stack: Vec<Record>,
    /// How many entries there are in all, and the lane where the search for one to steal goes on.
    entries: usize,
    thief: usize,
}

impl Lanes {
    pub fn new(lanes: usize) -> Self {
        Self {
            puzzle: vec![0; lanes],
            bottom: vec![0; lanes],
            top: vec![0; lanes],
            // Untouched memory costs nothing: the allocation is zeroed by the system, page by page when needed.
            stack: vec![[0; 12]; lanes * DEPTH],
            entries: 0,
            thief: 0,
        }
    }

    #[inline(always)]
    pub fn len(&self) -> usize {
        self.puzzle.len()
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
        (self.bottom[lane], self.top[lane]) = (0, 0);
    }

    /// Room for a branch that is put off.
    #[inline(always)]
    pub fn push(&mut self, lane: usize) -> &mut Record {
        let top = usize::from(self.top[lane]);
        debug_assert!(top < DEPTH);
        self.top[lane] += 1;
        self.entries += 1;
        &mut self.stack[DEPTH * lane + top]
    }

    /// The branch put off last.
    #[inline(always)]
    pub fn pop(&mut self, lane: usize) -> Option<&Record> {
        if self.top[lane] == self.bottom[lane] {
            return None;
        }
        self.entries -= 1;
        self.top[lane] -= 1;
        Some(&self.stack[DEPTH * lane + usize::from(self.top[lane])])
    }

    /// Drops all branches of a lane.
    #[inline(always)]
    pub fn clear(&mut self, lane: usize) {
        self.entries -= usize::from(self.top[lane] - self.bottom[lane]);
        (self.bottom[lane], self.top[lane]) = (0, 0);
    }

    /// The oldest branch of some other lane, in turn: the largest piece of work it can give away.
    pub fn steal(&mut self) -> Option<(u32, Record)> {
        if self.entries == 0 {
            return None;
        }
        loop {
            let lane = self.thief;
            self.thief = (lane + 1) % self.len();
            if self.top[lane] > self.bottom[lane] {
                let record = self.stack[DEPTH * lane + usize::from(self.bottom[lane])];
                self.bottom[lane] += 1;
                self.entries -= 1;
                return Some((self.puzzle[lane], record));
            }
        }
    }
}
