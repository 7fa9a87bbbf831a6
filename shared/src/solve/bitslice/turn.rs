//! What is done lane by lane between sweeps.

use super::{
    Answer,
    choice::{self, Masks},
    lanes::Lanes,
    parse,
    planes::Planes,
    record::{self, Records},
    state::State,
    waiting::Waiting,
    word::{Bits, MAX_GROUPS, Word},
};

/// What to do with lanes.
#[derive(Default)]
pub struct Classes {
    /// Those that have to branch.
    pub stuck: Bits,
    /// Those that hold a solution.
    pub solved: Bits,
    /// Those that need something to do: solved ones too.
    pub free: Bits,
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

/// Lanes, their records and what waits for them.
pub struct Turn {
    pub records: Records,
    pub waiting: Waiting,
    lanes: Lanes,
    masks: [Masks; 32],
    /// Lanes at work.
    pub live: Bits,
    /// Lanes with nothing to do.
    pub hungry: Bits,
    /// Lanes whose puzzle has as many solutions as were asked for.
    abandoned: Bits,
    limit: u32,
    /// Branchings in all.
    pub guesses: u64,
}

impl Turn {
    pub fn new(groups: usize) -> Self {
        Self {
            records: Records::new(groups),
            waiting: Waiting::new(groups),
            lanes: Lanes::new(64 * groups),
            masks: choice::masks(),
            live: [0; MAX_GROUPS],
            hungry: [0; MAX_GROUPS],
            abandoned: [0; MAX_GROUPS],
            limit: 0,
            guesses: 0,
        }
    }

    /// Before a batch: all lanes are hungry.
    pub fn reset<W: Word>(&mut self, limit: u32) {
        self.waiting.reset();
        self.lanes.reset();
        self.limit = limit;
        self.live = [0; MAX_GROUPS];
        self.hungry = std::array::from_fn(|g| if g < W::GROUPS { u64::MAX } else { 0 });
    }

    /// Whether a turn needs no records: nobody has to branch, and no branch is put off.
    pub fn is_light(&self, classes: &Classes) -> bool {
        classes.stuck == [0; MAX_GROUPS] && self.lanes.is_empty()
    }

    /// Branches, takes solutions down, and gives free lanes the branch they put off last. Those without one are hungry.
    #[inline(always)]
    pub fn branch<W: Word>(&mut self, classes: &Classes, answers: &mut [Answer]) {
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
            let planes = record::planes(&self.records.get(lane));
            self.take_down::<W>(lane, &planes, answers);
        }
        for lane in each(&free) {
            if let Some(record) = self.lanes.pop(lane) {
                self.records.set(lane, record);
            } else {
                self.finish(lane, answers);
            }
        }
    }

    /// Takes solutions down; free lanes are hungry.
    #[inline(always)]
    pub fn finish_all<W: Word>(&mut self, classes: &Classes, answers: &mut [Answer]) {
        for lane in each(&classes.solved) {
            let planes = self.waiting.digits.get(lane);
            self.take_down::<W>(lane, &planes, answers);
        }
        for lane in each(&classes.free) {
            self.finish(lane, answers);
        }
    }

    /// Counts a solution.
    #[inline(always)]
    fn take_down<W: Word>(&mut self, lane: usize, planes: &Planes, answers: &mut [Answer]) {
        let answer = &mut answers[self.lanes.puzzle(lane)];
        if answer.solutions == self.limit {
            return;
        }
        answer.solutions += 1;
        match answer.solutions {
            1 => W::scatter(planes, &mut answer.solution),
            2 => answer.solution = [0; 81],
            _ => {}
        }
        if answer.solutions == self.limit {
            for (abandoned, other) in self.abandoned.iter_mut().zip(self.lanes.abandon(lane)) {
                *abandoned |= other;
            }
        }
    }

    /// Leaves a lane without anything to do.
    #[inline(always)]
    fn finish(&mut self, lane: usize, answers: &mut [Answer]) {
        self.hungry[lane / 64] |= 1 << (lane % 64);
        self.live[lane / 64] &= !(1 << (lane % 64));
        let guesses = self.lanes.guesses(lane);
        if guesses != 0 {
            answers[self.lanes.puzzle(lane)].guesses += guesses;
            self.guesses += u64::from(guesses);
        }
    }

    /// Sets a hungry lane to work.
    #[inline(always)]
    fn set_to_work(&mut self, lane: usize, puzzle: u32) {
        let bit = 1 << (lane % 64);
        self.lanes.take_up(lane, puzzle);
        self.live[lane / 64] |= bit;
        self.hungry[lane / 64] &= !bit;
        self.abandoned[lane / 64] &= !bit;
    }

    /// Gives hungry lanes the puzzles that have been read.
    #[inline(always)]
    pub fn feed(&mut self, answers: &mut [Answer]) {
        for lane in each(&self.hungry.clone()) {
            while let Some((place, number, wrong)) = self.waiting.next_read() {
                answers[number] = Answer { invalid: wrong, ..Answer::default() };
                if !wrong && self.limit != 0 {
                    self.records.set_from(lane, &self.waiting.records, place);
                    #[allow(clippy::cast_possible_truncation)] // Engine::solve gives no more than 2^30.
                    self.set_to_work(lane, number as u32);
                    break;
                }
            }
        }
    }

    /// Gives hungry lanes puzzles, straight from the input. Wrong ones are answered; their lanes are dead.
    #[inline(always)]
    pub fn feed_directly<W: Word>(
        &mut self,
        puzzles: &[[u8; 81]],
        answers: &mut [Answer],
        state: &mut State<W>,
        scratch: &mut State<W>,
    ) {
        let mut fed = [0; MAX_GROUPS];
        for lane in each(&self.hungry.clone()) {
            let Some(number) = self.waiting.next(puzzles) else { break };
            self.waiting.digits.set(lane, &W::gather(&puzzles[number]));
            answers[number] = Answer::default();
            #[allow(clippy::cast_possible_truncation)] // Engine::solve gives no more than 2^30.
            self.set_to_work(lane, number as u32);
            fed[lane / 64] |= 1 << (lane % 64);
        }
        let wrong = parse::givens(&mut self.waiting.digits, scratch);
        let lanes = W::load(&fed);
        parse::take(state, scratch, lanes);
        let wrong = wrong.and(lanes);
        state.dead = state.dead.without(lanes).or(wrong);
        let mut bits = [0; MAX_GROUPS];
        wrong.store(&mut bits);
        for lane in each(&bits) {
            answers[self.lanes.puzzle(lane)].invalid = true;
        }
        if self.limit == 0 {
            state.dead = state.dead.or(lanes);
        }
    }

    /// Gives hungry lanes branches that others have put off. Those for which there are none rest.
    pub fn share(&mut self) {
        for lane in each(&self.hungry.clone()) {
            let Some((puzzle, record)) = self.lanes.steal() else { break };
            self.records.set(lane, record);
            self.set_to_work(lane, puzzle);
        }
    }
}
