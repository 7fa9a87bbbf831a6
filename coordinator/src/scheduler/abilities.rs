//! Who can compute what: a worker's abilities, and what a job needs of them.

use std::collections::BTreeMap;

use super::Requirement;

/// What a worker has.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Abilities {
    /// Job kinds that it knows, and in which revision.
    pub kinds: BTreeMap<String, u32>,
    /// What it says of itself.
    pub labels: BTreeMap<String, String>,
}

/// What a worker must have to compute a job. That the revision is the same is what "same range, same bytes" rests on.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Need {
    /// The job's kind; empty: any worker does.
    pub kind: String,
    /// In this revision.
    pub revision: u32,
    /// All of these.
    pub requirements: Vec<Requirement>,
}

impl Need {
    /// Whether a worker with these abilities may compute the job.
    pub fn met_by(&self, abilities: &Abilities) -> bool {
        let known = self.kind.is_empty() || abilities.kinds.get(&self.kind) == Some(&self.revision);
        let label = |name: &str| abilities.labels.get(name).map(String::as_str);
        known && self.requirements.iter().all(|requirement| requirement.met_by(label(requirement.name())))
    }
}

impl Abilities {
    /// The pool that it belongs to; empty: none.
    pub fn pool(&self) -> &str {
        self.labels.get(proto::labels::POOL).map_or("", String::as_str)
    }
}
