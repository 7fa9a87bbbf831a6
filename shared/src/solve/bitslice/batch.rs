//! The loop that keeps all lanes busy.

use super::{
    Answer,
    choice::Open,
    kernels::Kernels,
    state::State,
    turn::{Classes, Turn},
    word::{Bits, MAX_GROUPS, Word},
};

/// All that an engine keeps between batches.
pub struct Batch<K: Kernels> {
    state: Box<State<K::W>>,
    turn: Turn,
    /// Where puzzles are read.
    scratch: Box<State<K::W>>,
    open: Box<Open<K::W>>,
    /// Whether the next sweep starts with the last digit.
    downwards: bool,
    work: Work,
}

/// What was done, in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Sweeps over all lanes.
    pub sweeps: u64,
    /// Times that lanes got new states.
    pub turns: u64,
    /// Branchings.
    pub guesses: u64,
}

impl<K: Kernels> Batch<K> {
    pub fn new() -> Self {
        let groups = K::W::GROUPS;
        Self {
            state: Box::new(State::new()),
            scratch: Box::new(State::new()),
            open: Box::new(Open::new()),
            turn: Turn::new(groups),
            downwards: false,
            work: Work::default(),
        }
    }

    pub fn work(&self) -> Work {
        Work { guesses: self.turn.guesses, ..self.work }
    }

    pub fn solve(&mut self, puzzles: &[[u8; 81]], limit: u32, answers: &mut [Answer]) {
        self.turn.reset::<K::W>(limit);
        let mut classes = Classes::default();
        loop {
            let Self { state, turn, scratch, open, .. } = self;
            if turn.is_light(&classes) {
                if classes.solved != [0; MAX_GROUPS] {
                    K::show(state, &mut turn.waiting.digits);
                }
                K::finish_all(turn, &classes, answers);
                if turn.hungry != [0; MAX_GROUPS] && turn.waiting.is_left(puzzles) {
                    K::feed_directly(turn, puzzles, answers, state, scratch);
                }
            } else {
                K::unload(state, open, &mut turn.records);
                K::branch(turn, &classes, answers);
                K::feed(turn, answers);
                while turn.hungry != [0; MAX_GROUPS] && turn.waiting.more(puzzles) {
                    K::read(&mut turn.waiting, puzzles, scratch);
                    K::feed(turn, answers);
                }
                turn.share();
                K::load(state, &mut turn.records);
            }
            if turn.live == [0; MAX_GROUPS] {
                break;
            }
            self.work.turns += 1;
            self.sweep();
            classes = self.classify();
        }
    }

    /// Sweeps until half of the lanes at work are solved, dead or stuck.
    fn sweep(&mut self) {
        let Self { state, turn, work, downwards, .. } = self;
        let count = ones(&turn.live);
        // The first sweep has to know the triads that hold three digits: where there are few clues little else tells a
        // lane that it is dead.
        let mut full = true;
        loop {
            if full {
                K::full_triads(state);
            }
            K::sweep(state, full, *downwards);
            *downwards = !*downwards;
            work.sweeps += 1;
            let finished = bits(state.dead.or(state.changed.and(state.unsolved).not()));
            if 2 * ones(&and(&finished, &turn.live)) >= count {
                return;
            }
            full = !full;
        }
    }

    /// What lanes need.
    fn classify(&self) -> Classes {
        let Self { state, turn, .. } = self;
        let good = bits(K::solved(state));
        let dead = bits(state.dead);
        let unsolved = bits(state.unsolved);
        let changed = bits(state.changed);
        let mut classes = Classes::default();
        for g in 0..MAX_GROUPS {
            let live = turn.live[g];
            let done = live & !dead[g] & !unsolved[g];
            classes.solved[g] = done & good[g];
            classes.free[g] = live & dead[g] | done;
            classes.stuck[g] = live & !dead[g] & unsolved[g] & !changed[g];
        }
        classes
    }
}

fn bits<W: Word>(word: W) -> Bits {
    let mut bits = [0; MAX_GROUPS];
    word.store(&mut bits);
    bits
}

fn and(a: &Bits, b: &Bits) -> Bits {
    std::array::from_fn(|g| a[g] & b[g])
}

fn ones(bits: &Bits) -> u32 {
    bits.iter().map(|group| group.count_ones()).sum()
}
