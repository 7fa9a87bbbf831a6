//! The loop that keeps all lanes busy.

use super::{
    Answer,
    choice::{self, Masks, Open},
    kernels::Kernels,
    lanes::Lanes,
    parse::Waiting,
    record::{self, Records},
    state::State,
    word::{Bits, MAX_GROUPS, Word},
};

/// All that an engine keeps between batches.
pub struct Batch<K: Kernels> {
    state: Box<State<K::W>>,
    turn: Turn,
    /// Where puzzles are read.
    scratch: Box<State<K::W>>,
    open: Box<Open<K::W>>,
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
            turn: Turn {
                records: Records::new(groups),
                lanes: Lanes::new(64 * groups),
                waiting: Waiting::new(groups),
                masks: choice::masks(),
                live: [0; MAX_GROUPS],
                hungry: [0; MAX_GROUPS],
                abandoned: [0; MAX_GROUPS],
                guesses: 0,
            },
            work: Work::default(),
        }
    }

    pub fn work(&self) -> Work {
        Work { guesses: self.turn.guesses, ..self.work }
    }

    pub fn solve(&mut self, puzzles: &[[u8; 81]], limit: u32, answers: &mut [Answer]) {
        let Self { state, turn, scratch, open, work } = self;
        turn.waiting.reset();
        turn.lanes.reset();
        let every = std::array::from_fn(|g| if g < K::W::GROUPS { u64::MAX } else { 0 });
        turn.hungry = every;
        let mut classes = Classes::default();
        let mut downwards = false;
        loop {
            K::turn(turn, &classes, limit, answers);
            K::feed(turn, answers);
            while turn.hungry != [0; MAX_GROUPS] && turn.waiting.more(puzzles) {
                K::read(&mut turn.waiting, puzzles, scratch);
                K::feed(turn, answers);
            }
            turn.share();
            let live = turn.live;
            if live == [0; MAX_GROUPS] {
                break;
            }
            K::load(state, &mut turn.records);
            work.turns += 1;
            let count = ones(&live);
            let mut full = false;
            loop {
                K::sweep(state, full, downwards);
                downwards = !downwards;
                work.sweeps += 1;
                let finished = state.dead.or(state.changed.and(state.unsolved).not());
                if 2 * ones(&and(&bits(finished), &live)) >= count {
                    break;
                }
                full = !full;
                if full {
                    K::full_triads(state);
                }
            }
            let good = bits(K::solved(state));
            let dead = bits(state.dead);
            let unsolved = bits(state.unsolved);
            let changed = bits(state.changed);
            for g in 0..MAX_GROUPS {
                let live = live[g];
                let done = live & !dead[g] & !unsolved[g];
                classes.solved[g] = done & good[g];
                classes.free[g] = live & dead[g] | done;
                classes.stuck[g] = live & !dead[g] & unsolved[g] & !changed[g];
            }
            K::unload(state, open, &mut turn.records);
        }
    }
}

/// What to do with lanes.
#[derive(Default)]
pub struct Classes {
    /// Those that have to branch.
    stuck: Bits,
    /// Those that hold a solution.
    solved: Bits,
    /// Those that need something to do: solved ones too.
    free: Bits,
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

/// The lanes in `bits`.
struct Each<'a> {
    bits: &'a Bits,
    group: usize,
    left: u64,
}

#[inline(always)]
fn each(bits: &Bits) -> Each<'_> {
    Each { bits, group: 0, left: bits[0] }
}

impl Iterator for Each<'_> {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        while self.left == 0 {
            self.group += 1;
            self.left = *self.bits.get(self.group)?;
        }
        let lane = 64 * self.group + self.left.trailing_zeros() as usize;
        self.left &= self.left - 1;
        Some(lane)
    }
}

/// What is done lane by lane between sweeps.
pub struct Turn {
    pub records: Records,
    lanes: Lanes,
    waiting: Waiting,
    masks: [Masks; 32],
    /// Lanes at work.
    live: Bits,
    /// Lanes with nothing to do.
    hungry: Bits,
    /// Lanes whose puzzle has as many solutions as were asked for.
    abandoned: Bits,
    guesses: u64,
}

impl Turn {
    /// Branches, takes solutions down, and gives free lanes the branch they put off last. Those without one are hungry.
    #[inline(always)]
    pub fn run<W: Word>(&mut self, classes: &Classes, limit: u32, answers: &mut [Answer]) {
        let Self { records, lanes, abandoned, .. } = self;
        for lane in each(&classes.free) {
            W::prefetch(lanes.newest(lane));
        }
        let mut free = classes.free;
        let mut stuck = classes.stuck;
        for ((stuck, free), abandoned) in stuck.iter_mut().zip(&mut free).zip(&*abandoned) {
            *free |= *stuck & abandoned;
            *stuck &= !abandoned;
        }
        // One child goes on, the other one is put off.
        for lane in each(&stuck) {
            records.branch(lane, &self.masks, lanes.push(lane));
        }
        for lane in each(&classes.solved) {
            let answer = &mut answers[lanes.puzzle(lane)];
            if answer.solutions < limit {
                answer.solutions += 1;
                match answer.solutions {
                    1 => W::scatter(&record::planes(&records.get(lane)), &mut answer.solution),
                    2 => answer.solution = [0; 81],
                    _ => {}
                }
                if answer.solutions == limit {
                    let others = lanes.abandon(lane);
                    for (abandoned, other) in abandoned.iter_mut().zip(others) {
                        *abandoned |= other;
                    }
                }
            }
        }
        for lane in each(&free) {
            if let Some(record) = lanes.pop(lane) {
                records.set(lane, record);
            } else {
                self.hungry[lane / 64] |= 1 << (lane % 64);
                let guesses = lanes.guesses(lane);
                if guesses != 0 {
                    answers[lanes.puzzle(lane)].guesses += guesses;
                    self.guesses += u64::from(guesses);
                }
            }
        }
    }

    /// Gives hungry lanes the puzzles that are waiting.
    #[inline(always)]
    pub fn feed(&mut self, answers: &mut [Answer]) {
        let Self { waiting, hungry, live, abandoned, .. } = self;
        for lane in each(&hungry.clone()) {
            let bit = 1 << (lane % 64);
            live[lane / 64] &= !bit;
            while let Some((place, wrong)) = waiting.next() {
                let number = waiting.first + place;
                let answer = &mut answers[number];
                *answer = Answer { invalid: wrong, ..Answer::default() };
                if wrong {
                    continue;
                }
                self.records.set_from(lane, &waiting.records, place);
                #[allow(clippy::cast_possible_truncation)] // Engine::solve gives no more than 2^30.
                self.lanes.take_up(lane, number as u32);
                live[lane / 64] |= bit;
                hungry[lane / 64] &= !bit;
                abandoned[lane / 64] &= !bit;
                break;
            }
        }
    }

    /// Gives hungry lanes branches that others have put off. Those for which there are none rest.
    fn share(&mut self) {
        let Self { records, lanes, hungry, live, abandoned, .. } = self;
        for lane in each(&hungry.clone()) {
            let Some((puzzle, record)) = lanes.steal() else { break };
            records.set(lane, record);
            lanes.take_up(lane, puzzle);
            let bit = 1 << (lane % 64);
            live[lane / 64] |= bit;
            hungry[lane / 64] &= !bit;
            abandoned[lane / 64] &= !bit;
        }
    }
}
