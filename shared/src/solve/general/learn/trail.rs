//! What is assumed and what followed from it, in the order it came.

use super::cover::Var;

/// A statement about a candidate: twice its number if it holds, and one more if it does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lit(pub u32);

impl Lit {
    pub fn holds(var: Var) -> Self {
        Self(2 * var)
    }

    pub fn fails(var: Var) -> Self {
        Self(2 * var + 1)
    }

    pub fn var(self) -> Var {
        self.0 / 2
    }

    pub fn positive(self) -> bool {
        self.0 & 1 == 0
    }

    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl std::ops::Not for Lit {
    type Output = Self;

    fn not(self) -> Self {
        Self(self.0 ^ 1)
    }
}

/// Why a statement is true.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reason {
    /// It was assumed.
    Guess,
    /// A candidate that holds excludes this one.
    Rival(Var),
    /// All other members of the group are false.
    Group(u32),
    /// All other statements of the clause are false.
    Clause(u32),
}

/// The true statements.
pub(super) struct Trail {
    /// For each statement: 1 if true, -1 if false, 0 if open.
    truth: Vec<i8>,
    level: Vec<u32>,
    reason: Vec<Reason>,
    pub lits: Vec<Lit>,
    /// Length of `lits` before each guess.
    starts: Vec<usize>,
    /// Statements before this have been followed up.
    pub head: usize,
}

impl Trail {
    pub fn new(vars: usize) -> Self {
        Self {
            truth: vec![0; 2 * vars],
            level: vec![0; vars],
            reason: vec![Reason::Guess; vars],
            lits: Vec::with_capacity(vars),
            starts: Vec::new(),
            head: 0,
        }
    }

    #[inline]
    pub fn is_true(&self, lit: Lit) -> bool {
        self.truth[lit.index()] > 0
    }

    #[inline]
    pub fn is_false(&self, lit: Lit) -> bool {
        self.truth[lit.index()] < 0
    }

    #[inline]
    pub fn is_open(&self, var: Var) -> bool {
        self.truth[Lit::holds(var).index()] == 0
    }

    /// The number of guesses under which a candidate was decided.
    #[inline]
    pub fn level_of(&self, var: Var) -> u32 {
        self.level[var as usize]
    }

    #[inline]
    pub fn reason_of(&self, var: Var) -> Reason {
        self.reason[var as usize]
    }

    /// The number of guesses.
    #[inline]
    pub fn level(&self) -> u32 {
        u32::try_from(self.starts.len()).expect("there are at most 15625 guesses")
    }

    #[inline]
    pub fn set(&mut self, lit: Lit, reason: Reason) {
        self.truth[lit.index()] = 1;
        self.truth[(!lit).index()] = -1;
        self.level[lit.var() as usize] = self.level();
        self.reason[lit.var() as usize] = reason;
        self.lits.push(lit);
    }

    pub fn guess(&mut self, lit: Lit) {
        self.starts.push(self.lits.len());
        self.set(lit, Reason::Guess);
    }

    /// Gives another name to the reason of a candidate.
    pub fn rename(&mut self, var: Var, reason: Reason) {
        self.reason[var as usize] = reason;
    }

    /// The guesses, in order.
    pub fn guesses(&self) -> impl DoubleEndedIterator<Item = Lit> {
        self.starts.iter().map(|&start| self.lits[start])
    }

    /// Takes guesses back until `level` are left; `undone` gets each statement, and whether it had been followed up.
    pub fn back(&mut self, level: u32, mut undone: impl FnMut(Lit, bool)) {
        if level >= self.level() {
            return;
        }
        let start = self.starts[level as usize];
        for at in (start..self.lits.len()).rev() {
            let lit = self.lits[at];
            self.truth[lit.index()] = 0;
            self.truth[(!lit).index()] = 0;
            undone(lit, at < self.head);
        }
        self.lits.truncate(start);
        self.starts.truncate(level as usize);
        self.head = start;
    }
}
