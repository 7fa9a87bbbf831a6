//! What a conflict teaches: a clause that would have prevented it (the first unique implication point, as in `GRASP`,
//! `Chaff` and `MiniSat`), without the statements that follow from the others.

use super::{
    Learner,
    propagate::Conflict,
    trail::{Lit, Reason},
};

/// Whether a statement is part of the clause or follows from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mark {
    #[default]
    None,
    /// In the clause, or followed back to its reason.
    Seen,
    /// Follows from the others.
    Implied,
    /// Does not.
    Needed,
}

/// What conflicts are worked out in; empty between them.
#[derive(Default)]
pub(super) struct Scratch {
    marks: Vec<Mark>,
    marked: Vec<u32>,
    /// The false statements of a reason.
    reason: Vec<Lit>,
    /// The clause: first the one that becomes true, then one of the level to go back to.
    pub clause: Vec<Lit>,
    /// For each level the last count that saw it.
    stamps: Vec<u64>,
    stamp: u64,
}

impl Scratch {
    pub fn new(vars: usize) -> Self {
        Self { marks: vec![Mark::None; vars], stamps: vec![0; vars + 1], ..Self::default() }
    }

    fn mark(&mut self, var: u32, mark: Mark) {
        if self.marks[var as usize] == Mark::None {
            self.marked.push(var);
        }
        self.marks[var as usize] = mark;
    }
}

impl Learner {
    /// Works out the clause that a conflict teaches, into the scratch; gives the level to go back to and its glue.
    pub(super) fn analyse(&mut self, conflict: Conflict) -> (u32, u32) {
        let level = self.trail.level();
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clause.clear();
        scratch.clause.push(Lit(0));
        scratch.reason.clear();
        self.conflicting(conflict, &mut scratch.reason);
        let (mut at, mut open) = (self.trail.lits.len(), 0);
        let uip = loop {
            for i in 0..scratch.reason.len() {
                let lit = scratch.reason[i];
                let var = lit.var();
                if scratch.marks[var as usize] == Mark::None && self.trail.level_of(var) > 0 {
                    scratch.mark(var, Mark::Seen);
                    self.order.bump(var);
                    if self.trail.level_of(var) == level {
                        open += 1;
                    } else {
                        scratch.clause.push(lit);
                    }
                }
            }
            let lit = loop {
                at -= 1;
                let lit = self.trail.lits[at];
                if scratch.marks[lit.var() as usize] != Mark::None {
                    break lit;
                }
            };
            open -= 1;
            if open == 0 {
                break lit;
            }
            scratch.reason.clear();
            let reason = self.trail.reason_of(lit.var());
            self.refresh(reason, &mut scratch);
            self.explain(lit, reason, &mut scratch.reason);
        };
        scratch.clause[0] = !uip;
        self.shorten(&mut scratch);
        let back = self.second(&mut scratch.clause);
        let glue = self.glue(&mut scratch, None);
        for var in scratch.marked.drain(..) {
            scratch.marks[var as usize] = Mark::None;
        }
        self.scratch = scratch;
        (back, glue)
    }

    /// Puts a statement of the highest level but one second, and gives that level.
    fn second(&self, clause: &mut [Lit]) -> u32 {
        let level = |lit: Lit| self.trail.level_of(lit.var());
        let Some(highest) = (1..clause.len()).max_by_key(|&at| level(clause[at])) else { return 0 };
        clause.swap(1, highest);
        level(clause[1])
    }

    /// The statements of a conflict, all false.
    fn conflicting(&mut self, conflict: Conflict, out: &mut Vec<Lit>) {
        match conflict {
            Conflict::Rivals(a, b) => out.extend([Lit::fails(a), Lit::fails(b)]),
            Conflict::Group(group) => out.extend(self.cover.all(group).map(Lit::holds)),
            Conflict::Clause(clause) => out.extend_from_slice(self.clauses.lits(clause)),
        }
    }

    /// The false statements that a true one followed from.
    fn explain(&self, lit: Lit, reason: Reason, out: &mut Vec<Lit>) {
        match reason {
            Reason::Guess => {}
            Reason::Rival(rival) => out.push(Lit::fails(rival)),
            Reason::Group(group) => {
                out.extend(self.cover.all(group).filter(|&var| var != lit.var()).map(Lit::holds));
            }
            Reason::Clause(clause) => {
                out.extend(self.clauses.lits(clause).iter().filter(|&&other| other != lit));
            }
        }
    }

    /// Notes that a conflict needed a clause.
    fn refresh(&mut self, reason: Reason, scratch: &mut Scratch) {
        if let Reason::Clause(clause) = reason
            && self.clauses.glue(clause) > 2
        {
            let glue = self.glue(scratch, Some(clause));
            self.clauses.needed(clause, glue);
        }
    }

    /// The number of levels of a clause, or of the one in the scratch.
    fn glue(&self, scratch: &mut Scratch, clause: Option<u32>) -> u32 {
        scratch.stamp += 1;
        let Scratch { stamps, stamp, clause: learnt, .. } = scratch;
        let lits = clause.map_or(learnt.as_slice(), |clause| self.clauses.lits(clause));
        let mut levels = 0;
        for lit in lits {
            let seen = &mut stamps[self.trail.level_of(lit.var()) as usize];
            levels += u32::from(*seen != *stamp);
            *seen = *stamp;
        }
        levels
    }

    /// Drops the statements of the clause that follow from the others (Sörensson and Biere, 2009).
    fn shorten(&self, scratch: &mut Scratch) {
        let mut clause = std::mem::take(&mut scratch.clause);
        let mut at = 0;
        clause.retain(|&lit| {
            at += 1;
            at == 1 || !self.follows(lit, scratch, 0)
        });
        scratch.clause = clause;
    }

    /// Whether a false statement follows from those in the clause.
    fn follows(&self, lit: Lit, scratch: &mut Scratch, depth: u32) -> bool {
        let var = lit.var();
        match scratch.marks[var as usize] {
            Mark::Implied => return true,
            Mark::Needed => return false,
            Mark::Seen if depth > 0 => return true,
            Mark::None if self.trail.level_of(var) == 0 => return true,
            Mark::Seen | Mark::None => {}
        }
        let reason = self.trail.reason_of(var);
        // The depth is bounded for the sake of the stack; deeper chains are rare.
        if matches!(reason, Reason::Guess) || depth > 200 {
            return false;
        }
        let mut check = |other: Lit| self.follows(other, scratch, depth + 1);
        let follows = match reason {
            Reason::Guess => false,
            Reason::Rival(rival) => check(Lit::fails(rival)),
            Reason::Group(group) => {
                self.cover.all(group).all(|other| other == var || check(Lit::holds(other)))
            }
            Reason::Clause(clause) => {
                self.clauses.lits(clause).iter().all(|&other| other.var() == var || check(other))
            }
        };
        if depth > 0 {
            scratch.mark(var, if follows { Mark::Implied } else { Mark::Needed });
        }
        follows
    }
}
