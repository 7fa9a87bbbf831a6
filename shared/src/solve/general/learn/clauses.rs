//! What was learnt: clauses, of which at least one statement is true.

use super::trail::{Lit, Reason, Trail};

/// A clause of at least two statements.
struct Clause {
    start: usize,
    len: usize,
    /// Number of different levels its statements were on when it was last looked at (the "glue" of Audemard and Simon,
    /// 2009); 0 for one that must stay.
    glue: u32,
    /// Whether a conflict needed it since the last clearance.
    used: bool,
}

/// A clause to look at when a statement becomes false.
#[derive(Clone, Copy)]
pub(super) struct Watch {
    pub clause: u32,
    /// If this one is true, the clause need not be looked at.
    pub other: Lit,
}

/// All clauses; the first two statements of each are watched.
pub(super) struct Clauses {
    lits: Vec<Lit>,
    spans: Vec<Clause>,
    pub watches: Vec<Vec<Watch>>,
    /// Clauses that may go.
    loose: usize,
}

impl Clauses {
    pub fn new(vars: usize) -> Self {
        Self { lits: Vec::new(), spans: Vec::new(), watches: vec![Vec::new(); 2 * vars], loose: 0 }
    }

    /// The number of clauses that may be forgotten.
    pub fn loose(&self) -> usize {
        self.loose
    }

    #[inline]
    pub fn lits(&self, clause: u32) -> &[Lit] {
        let clause = &self.spans[clause as usize];
        &self.lits[clause.start..clause.start + clause.len]
    }

    #[inline]
    pub fn lits_mut(&mut self, clause: u32) -> &mut [Lit] {
        let clause = &self.spans[clause as usize];
        &mut self.lits[clause.start..clause.start + clause.len]
    }

    pub fn glue(&self, clause: u32) -> u32 {
        self.spans[clause as usize].glue
    }

    /// Notes that a conflict needed a clause, which has this glue now.
    pub fn needed(&mut self, clause: u32, glue: u32) {
        let clause = &mut self.spans[clause as usize];
        clause.glue = glue.min(clause.glue);
        clause.used = true;
    }

    /// Adds a clause of at least two statements.
    pub fn add(&mut self, lits: &[Lit], glue: u32) -> u32 {
        let number = u32::try_from(self.spans.len()).expect("fewer clauses than 2^32");
        self.spans.push(Clause { start: self.lits.len(), len: lits.len(), glue, used: true });
        self.lits.extend_from_slice(lits);
        self.loose += usize::from(glue > 0);
        self.watch(number);
        number
    }

    fn watch(&mut self, clause: u32) {
        let &[a, b, ..] = self.lits(clause) else { unreachable!("clauses have at least two statements") };
        self.watches[a.index()].push(Watch { clause, other: b });
        self.watches[b.index()].push(Watch { clause, other: a });
    }

    /// Forgets the worse half of the clauses that are neither reasons, nor of little glue, nor needed lately.
    pub fn forget(&mut self, trail: &mut Trail) {
        let mut reasons = vec![false; self.spans.len()];
        for lit in &trail.lits {
            if let Reason::Clause(clause) = trail.reason_of(lit.var()) {
                reasons[clause as usize] = true;
            }
        }
        let mut worst: Vec<usize> = (0..self.spans.len())
            .filter(|&at| {
                let clause = &self.spans[at];
                clause.glue > 2 && !reasons[at] && !(clause.used && clause.glue <= 6)
            })
            .collect();
        worst.sort_by_key(|&at| (std::cmp::Reverse(self.spans[at].glue), at));
        worst.truncate(worst.len() / 2);
        let mut gone = vec![false; self.spans.len()];
        worst.iter().for_each(|&at| gone[at] = true);
        self.loose -= worst.len();
        let renamed = self.compact(&gone);
        for lit in trail.lits.clone() {
            if let Reason::Clause(clause) = trail.reason_of(lit.var()) {
                trail.rename(lit.var(), Reason::Clause(renamed[clause as usize]));
            }
        }
    }

    /// Moves the clauses that stay together and gives their new numbers.
    fn compact(&mut self, gone: &[bool]) -> Vec<u32> {
        let (mut renamed, mut lits, mut kept) = (vec![0; gone.len()], Vec::new(), Vec::new());
        for (at, clause) in
            std::mem::take(&mut self.spans).into_iter().enumerate().filter(|(at, _)| !gone[*at])
        {
            renamed[at] = u32::try_from(kept.len()).expect("fewer clauses than 2^32");
            let start = lits.len();
            lits.extend_from_slice(&self.lits[clause.start..clause.start + clause.len]);
            kept.push(Clause { start, used: false, ..clause });
        }
        (self.lits, self.spans) = (lits, kept);
        self.watches.iter_mut().for_each(Vec::clear);
        (0..self.spans.len()).for_each(|at| self.watch(u32::try_from(at).expect("fewer clauses than 2^32")));
        renamed
    }
}
