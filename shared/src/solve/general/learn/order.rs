//! Which candidate to guess about next: the one that conflicts have been about most, lately.
//!
//! The activities of `MiniSat` (Eén and Sörensson, 2003) in whole numbers: each conflict counts for a twentieth more than
//! the one before.

use super::cover::Var;

/// Activities are scaled down when one reaches this.
const MAX: u64 = 1 << 60;
/// By how many bits.
const SCALE: u32 = 36;

/// A heap of candidates by activity. All that are open are in it; others may be.
pub(super) struct Order {
    activity: Vec<u64>,
    step: u64,
    heap: Vec<Var>,
    /// Place in the heap, or `ABSENT`.
    place: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;

impl Order {
    /// All candidates, with these activities to begin with.
    pub fn new(activity: Vec<u64>) -> Self {
        let vars = u32::try_from(activity.len()).expect("there are at most 15625 candidates");
        let mut order =
            Self { activity, step: 1 << 20, heap: Vec::new(), place: vec![ABSENT; vars as usize] };
        (0..vars).for_each(|var| order.insert(var));
        order
    }

    /// Makes a candidate more active.
    pub fn bump(&mut self, var: Var) {
        self.activity[var as usize] += self.step;
        if self.activity[var as usize] > MAX {
            self.activity.iter_mut().for_each(|activity| *activity >>= SCALE);
            self.step >>= SCALE;
        }
        if self.place[var as usize] != ABSENT {
            self.up(self.place[var as usize] as usize);
        }
    }

    /// Makes all earlier activity count less.
    pub fn age(&mut self) {
        self.step += self.step / 20;
    }

    pub fn insert(&mut self, var: Var) {
        if self.place[var as usize] == ABSENT {
            self.heap.push(var);
            self.up(self.heap.len() - 1);
        }
    }

    /// The most active candidate, which leaves the heap.
    pub fn pop(&mut self) -> Option<Var> {
        let last = self.heap.pop()?;
        let Some(&top) = self.heap.first() else {
            self.place[last as usize] = ABSENT;
            return Some(last);
        };
        self.place[top as usize] = ABSENT;
        self.heap[0] = last;
        self.down();
        Some(top)
    }

    fn put(&mut self, at: usize, var: Var) {
        self.heap[at] = var;
        self.place[var as usize] = u32::try_from(at).expect("there are at most 15625 candidates");
    }

    fn up(&mut self, mut at: usize) {
        let var = self.heap[at];
        while at > 0 {
            let parent = self.heap[(at - 1) / 2];
            if self.activity[var as usize] <= self.activity[parent as usize] {
                break;
            }
            self.put(at, parent);
            at = (at - 1) / 2;
        }
        self.put(at, var);
    }

    fn down(&mut self) {
        let (mut at, var) = (0, self.heap[0]);
        let active = |var: Var| self.activity[var as usize];
        let mut moves = Vec::new();
        while let Some(&left) = self.heap.get(2 * at + 1) {
            let (mut child, mut next) = (2 * at + 1, left);
            if let Some(&right) = self.heap.get(2 * at + 2)
                && active(right) > active(left)
            {
                (child, next) = (2 * at + 2, right);
            }
            if active(next) <= active(var) {
                break;
            }
            moves.push((at, next));
            at = child;
        }
        for (at, next) in moves {
            self.put(at, next);
        }
        self.put(at, var);
    }
}
