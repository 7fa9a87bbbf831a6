//! What follows from the statements on the trail.

use super::{
    Learner,
    clauses::Watch,
    cover::Var,
    trail::{Lit, Reason},
};

/// Statements that cannot all be as they are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Conflict {
    /// Two candidates that exclude each other both hold.
    Rivals(Var, Var),
    /// No member of the group holds.
    Group(u32),
    /// No statement of the clause is true.
    Clause(u32),
}

impl Learner {
    /// Follows up the statements that were not yet.
    pub(super) fn propagate(&mut self) -> Result<(), Conflict> {
        while let Some(&lit) = self.trail.lits.get(self.trail.head) {
            self.trail.head += 1;
            if lit.positive() {
                self.exclude_rivals(lit.var())?;
            } else {
                self.look_for_last(lit.var())?;
            }
            self.follow_clauses(!lit)?;
        }
        Ok(())
    }

    /// A candidate holds: the others of its groups do not.
    fn exclude_rivals(&mut self, var: Var) -> Result<(), Conflict> {
        for (group, bit) in self.cover.groups(var) {
            for rival in self.cover.others(group, bit) {
                let lit = Lit::fails(rival);
                if self.trail.is_false(lit) {
                    return Err(Conflict::Rivals(var, rival));
                }
                if !self.trail.is_true(lit) {
                    self.trail.set(lit, Reason::Rival(var));
                }
            }
        }
        Ok(())
    }

    /// A candidate does not hold: one of its groups may have only one left.
    fn look_for_last(&mut self, var: Var) -> Result<(), Conflict> {
        self.cover.remove(var);
        for (group, _) in self.cover.groups(var) {
            if let Some(last) = self.cover.last(group) {
                let lit = Lit::holds(last);
                if self.trail.is_false(lit) {
                    return Err(Conflict::Group(group));
                }
                if !self.trail.is_true(lit) {
                    self.trail.set(lit, Reason::Group(group));
                }
            }
        }
        Ok(())
    }

    /// A statement is false: clauses that watch it must watch another one, or leave only one.
    fn follow_clauses(&mut self, lit: Lit) -> Result<(), Conflict> {
        let mut watches = std::mem::take(&mut self.clauses.watches[lit.index()]);
        let (mut kept, mut at) = (0, 0);
        let mut result = Ok(());
        'watches: while let Some(&watch) = watches.get(at) {
            at += 1;
            if self.trail.is_true(watch.other) {
                watches[kept] = watch;
                kept += 1;
                continue;
            }
            let lits = self.clauses.lits_mut(watch.clause);
            if lits[0] == lit {
                lits.swap(0, 1);
            }
            let first = lits[0];
            let moved = Watch { other: first, ..watch };
            if !self.trail.is_true(first) {
                for other in 2..lits.len() {
                    if !self.trail.is_false(lits[other]) {
                        lits.swap(1, other);
                        let new = lits[1];
                        self.clauses.watches[new.index()].push(moved);
                        continue 'watches;
                    }
                }
            }
            watches[kept] = moved;
            kept += 1;
            if self.trail.is_false(first) {
                result = Err(Conflict::Clause(watch.clause));
                break;
            }
            if !self.trail.is_true(first) {
                self.trail.set(first, Reason::Clause(watch.clause));
            }
        }
        watches.copy_within(at.., kept);
        watches.truncate(kept + watches.len() - at);
        self.clauses.watches[lit.index()] = watches;
        result
    }
}
