//! The loop that keeps all lanes busy.

use super::{
    Answer,
    choice::{self, Masks},
    kernels::Kernels,
    lanes::Lanes,
    parse::Waiting,
    record::{self, Records, SPARE},
    state::State,
    word::{MAX_GROUPS, Word},
};

/// Bits of lanes.
type Bits = [u64; MAX_GROUPS];

/// All that an engine keeps between batches.
pub struct Batch<K: Kernels> {
    state: Box<State<K::W>>,
    turn: Turn,
    /// Where puzzles are read.
    scratch: Box<State<K::W>>,
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
            turn: Turn {
                records: Records::new(groups),
                lanes: Lanes::new(64 * groups),
                waiting: Waiting::new(groups),
                masks: choice::masks(),
                live: [0; MAX_GROUPS],
                guesses: 0,
            },
            work: Work::default(),
        }
    }

    pub fn work(&self) -> Work {
        Work { guesses: self.turn.guesses, ..self.work }
    }

    pub fn solve(&mut self, puzzles: &[[u8; 81]], limit: u32, answers: &mut [Answer]) {
        let Self { state, turn, scratch, work } = self;
        turn.waiting.reset();
        let every = std::array::from_fn(|g| if g < K::W::GROUPS { u64::MAX } else { 0 });
        let mut classes = Classes { free: every, ..Classes::default() };
        let mut downwards = false;
        loop {
            K::turn(turn, &classes, scratch, puzzles, limit, answers);
            let live = turn.live;
            if live == [0; MAX_GROUPS] {
                break;
            }
            K::load(state, &turn.records);
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
            K::unload(state, &mut turn.records);
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

/// Calls `f` with each lane of `bits`.
#[inline(always)]
fn each(bits: &Bits, mut f: impl FnMut(usize)) {
    for (g, &group) in bits.iter().enumerate() {
        let mut left = group;
        while left != 0 {
            f(64 * g + left.trailing_zeros() as usize);
            left &= left - 1;
        }
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
    guesses: u64,
}

impl Turn {
    /// Branches, takes solutions down and gives free lanes something to do.
    #[inline(always)]
    pub fn run<W: Word>(
        &mut self,
        classes: &Classes,
        scratch: &mut State<W>,
        puzzles: &[[u8; 81]],
        limit: u32,
        answers: &mut [Answer],
    ) {
        let mut free = classes.free;
        each(&classes.stuck, |lane| {
            let answer = &mut answers[self.lanes.puzzle(lane)];
            if answer.solutions < limit {
                answer.guesses += 1;
                self.guesses += 1;
                self.branch(lane);
            } else {
                free[lane / 64] |= 1 << (lane % 64);
            }
        });
        each(&classes.solved, |lane| {
            let answer = &mut answers[self.lanes.puzzle(lane)];
            if answer.solutions < limit {
                answer.solutions += 1;
                if answer.solutions == 1 {
                    answer.solution = record::digits(&self.records.get(lane));
                }
            }
        });
        let mut idle = [0; MAX_GROUPS];
        each(&free, |lane| {
            if self.next(lane, scratch, puzzles, limit, answers) {
                self.live[lane / 64] |= 1 << (lane % 64);
            } else {
                self.live[lane / 64] &= !(1 << (lane % 64));
            }
        });
        if self.waiting.first + self.waiting.len == puzzles.len() {
            for (idle, live) in idle.iter_mut().zip(&self.live).take(W::GROUPS) {
                *idle = !live;
            }
            self.share(&idle, limit, answers);
        }
    }

    /// Puts the second child off and leaves the first one in the lane.
    #[inline(always)]
    fn branch(&mut self, lane: usize) {
        let mut record = self.records.get(lane);
        let code = record[9] >> SPARE;
        let d = (code & 0xF) as usize;
        let masks = &self.masks[(code >> 4 & 0x1F) as usize];
        let (word, from) = record::high(d);
        let low = record[d];
        let high = record[word];
        *self.records.word_mut(d, lane) = low & masks.asserted.0;
        *self.records.word_mut(word, lane) = high & !(!masks.asserted.1 << from & 0x1FFFF << from);
        record[d] = low & masks.ruled_out.0;
        record[word] = high & !(!masks.ruled_out.1 << from & 0x1FFFF << from);
        self.lanes.push(lane, record);
    }

    /// Gives a lane the branch it put off last, or the next puzzle. Whether there was one.
    #[inline(always)]
    fn next<W: Word>(
        &mut self,
        lane: usize,
        scratch: &mut State<W>,
        puzzles: &[[u8; 81]],
        limit: u32,
        answers: &mut [Answer],
    ) -> bool {
        let puzzle = self.lanes.puzzle(lane);
        if let Some(record) = self.lanes.pop(lane) {
            if answers[puzzle].solutions < limit {
                self.records.set(lane, record);
                return true;
            }
            self.lanes.clear(lane);
        }
        let waiting = &mut self.waiting;
        loop {
            while waiting.taken < waiting.len {
                let place = waiting.taken;
                waiting.taken += 1;
                let number = waiting.first + place;
                if waiting.wrong[place / 64] >> (place % 64) & 1 == 1 {
                    answers[number].invalid = true;
                    continue;
                }
                self.records.set(lane, &waiting.records.get(place));
                #[allow(clippy::cast_possible_truncation)] // Engine::solve takes no more.
                self.lanes.take_up(lane, number as u32);
                return true;
            }
            if waiting.first + waiting.len == puzzles.len() {
                self.lanes.rest(lane);
                return false;
            }
            waiting.read(puzzles, scratch);
        }
    }

    /// Gives idle lanes branches that others have put off.
    fn share(&mut self, idle: &Bits, limit: u32, answers: &[Answer]) {
        each(idle, |lane| {
            while let Some((puzzle, record)) = self.lanes.steal() {
                if answers[puzzle as usize].solutions < limit {
                    self.records.set(lane, &record);
                    self.lanes.take_up(lane, puzzle);
                    self.live[lane / 64] |= 1 << (lane % 64);
                    break;
                }
            }
        });
    }
}
