//! The first word of a worker, checked before it is believed.

use std::{collections::BTreeMap, sync::Arc};

use proto::{
    labels,
    v1::{Hello, KindVersion, Label},
};

use super::Refusal;
use crate::scheduler::{Abilities, WorkerId};

/// Job kinds that a worker may know.
const MAX_KINDS: usize = 256;
/// Leases that a worker may hold at most.
const MAX_CREDIT: u32 = 4096;
/// More workers than this are refused.
const MAX_SESSIONS: usize = 20_000;

/// What a worker has said of itself, and what is spoken with it.
pub(crate) struct Introduced {
    pub worker: WorkerId,
    pub protocol: u32,
    pub abilities: Arc<Abilities>,
    /// Job kinds that it has in another revision than this coordinator, or has not.
    pub differs: Vec<String>,
}

/// Checks the first word of a worker.
pub(crate) fn check_hello(hello: &Hello, sessions: usize) -> Result<Introduced, Refusal> {
    let invalid = |text: String| Err(Refusal::Invalid(text));
    let protocol = common_protocol(hello)?;
    let abilities = Abilities { kinds: kinds(&hello.kinds)?, labels: labels(&hello.labels)? };
    if hello.slots == 0 || hello.slots.saturating_add(hello.prefetch) > MAX_CREDIT {
        let (slots, prefetch) = (hello.slots, hello.prefetch);
        return invalid(format!("{slots} slots + {prefetch} prefetch: expected 1 to {MAX_CREDIT} in all"));
    }
    if hello.name.len() > proto::MAX_TEXT_BYTES || hello.version.len() > proto::MAX_TEXT_BYTES {
        return invalid(format!("a name of more than {} bytes", proto::MAX_TEXT_BYTES));
    }
    // Names are printed on terminals.
    if hello.name.chars().chain(hello.version.chars()).any(char::is_control) {
        return invalid("a name with control characters".into());
    }
    let differs = check_kinds(&abilities.kinds, &hello.version)?;
    if sessions >= MAX_SESSIONS {
        return Err(Refusal::NotNow(format!("{MAX_SESSIONS} workers are connected: no room for more")));
    }
    let id = hello.worker_id.as_ref().try_into();
    match id.map(WorkerId) {
        Ok(WorkerId::SEVERAL) => invalid("a worker id that stands for several workers".into()),
        Ok(worker) => Ok(Introduced { worker, protocol, abilities: Arc::new(abilities), differs }),
        Err(_) => invalid("a worker id that is not 16 bytes".into()),
    }
}

/// The newest protocol that both speak.
fn common_protocol(hello: &Hello) -> Result<u32, Refusal> {
    let (oldest, newest) = (hello.protocol, hello.newest_protocol.max(hello.protocol));
    let common = newest.min(proto::PROTOCOL);
    if common >= oldest.max(proto::OLDEST_PROTOCOL) {
        return Ok(common);
    }
    let range = |oldest: u32, newest: u32| {
        if oldest == newest { format!("{oldest}") } else { format!("{oldest} to {newest}") }
    };
    let older = if newest < proto::OLDEST_PROTOCOL { "worker" } else { "coordinator" };
    Err(Refusal::Invalid(format!(
        "worker speaks protocol {}, this coordinator {}: upgrade the {older} (coordinator is version {}, worker {})",
        range(oldest, newest),
        range(proto::OLDEST_PROTOCOL, proto::PROTOCOL),
        env!("CARGO_PKG_VERSION"),
        proto::bounded_text(hello.version.clone()),
    )))
}

fn kinds(all: &[KindVersion]) -> Result<BTreeMap<String, u32>, Refusal> {
    if all.len() > MAX_KINDS || all.iter().any(|kind| kind.name.len() > labels::MAX_NAME_BYTES) {
        return Err(Refusal::Invalid(format!(
            "{} job kinds: expected at most {MAX_KINDS}, with names of at most {} bytes",
            all.len(),
            labels::MAX_NAME_BYTES
        )));
    }
    Ok(all.iter().map(|kind| (kind.name.clone(), kind.revision)).collect())
}

fn labels(all: &[Label]) -> Result<BTreeMap<String, String>, Refusal> {
    if all.len() > labels::MAX_LABELS {
        return Err(Refusal::Invalid(format!("{} labels: at most {}", all.len(), labels::MAX_LABELS)));
    }
    for Label { name, value } in all {
        labels::check_name(name).and_then(|()| labels::check_value(value)).map_err(Refusal::Invalid)?;
    }
    Ok(all.iter().map(|label| (label.name.clone(), label.value.clone())).collect())
}

/// One of other revisions is of use as long as it shares one kind: it gets jobs of those, and of no others.
fn check_kinds(theirs: &BTreeMap<String, u32>, version: &str) -> Result<Vec<String>, Refusal> {
    let (mut shared, mut older, mut told) = (0, 0, Vec::new());
    for kind in jobs::KINDS {
        let (name, ours) = (kind.name(), kind.revision());
        match theirs.get(name) {
            Some(revision) if *revision == ours => shared += 1,
            Some(revision) => {
                older += i64::from(*revision < ours) - i64::from(*revision > ours);
                told.push(format!("{name} {revision} instead of {ours}"));
            }
            None => {
                older += 1;
                told.push(format!("no {name}"));
            }
        }
    }
    if shared > 0 {
        return Ok(told);
    }
    let whom = if older < 0 { "coordinator" } else { "worker" };
    told.truncate(3);
    Err(Refusal::Invalid(format!(
        "worker has no job kind in the revision of this coordinator ({}, ...): give both the same version, upgrade the \
         {whom} (coordinator is version {}, worker {})",
        told.join(", "),
        env!("CARGO_PKG_VERSION"),
        version,
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello() -> Hello {
        let kinds = jobs::KINDS.iter();
        Hello {
            protocol: proto::OLDEST_PROTOCOL,
            newest_protocol: proto::PROTOCOL,
            version: "0.9".into(),
            worker_id: vec![1; 16].into(),
            slots: 1,
            kinds: kinds.map(|k| KindVersion { name: k.name().into(), revision: k.revision() }).collect(),
            ..Hello::default()
        }
    }

    fn refused(change: impl FnOnce(&mut Hello)) -> String {
        let mut hello = hello();
        change(&mut hello);
        check_hello(&hello, 0).err().expect("refused").to_string()
    }

    #[test]
    fn any_common_protocol_does_and_else_it_is_told_who_is_to_be_upgraded() {
        let spoken = |oldest, newest| {
            let hello = Hello { protocol: oldest, newest_protocol: newest, ..hello() };
            check_hello(&hello, 0).map(|introduced| introduced.protocol)
        };
        assert_eq!(spoken(1, 0), Ok(1), "a worker of the first versions");
        assert_eq!(spoken(1, 2), Ok(2));
        assert_eq!(spoken(2, 0), Ok(2));
        assert_eq!(spoken(1, 99), Ok(proto::PROTOCOL), "a worker that is newer and speaks ours");
        let newer = spoken(proto::PROTOCOL + 1, proto::PROTOCOL + 3).expect_err("refused").to_string();
        assert!(newer.contains("protocol 3 to 5") && newer.contains("upgrade the coordinator"), "{newer}");
        let older = spoken(0, 0).expect_err("refused").to_string();
        assert!(older.contains("protocol 0") && older.contains("upgrade the worker"), "{older}");
    }

    #[test]
    fn one_kind_in_common_is_enough_and_none_is_told_whom_to_upgrade() {
        let mut one = hello();
        one.kinds.iter_mut().skip(1).for_each(|kind| kind.revision += 1);
        let introduced = check_hello(&one, 0).expect("of use");
        assert_eq!(introduced.abilities.kinds.get(jobs::KINDS[0].name()), Some(&jobs::KINDS[0].revision()));
        let newer = refused(|hello| hello.kinds.iter_mut().for_each(|kind| kind.revision += 1));
        assert!(newer.contains("upgrade the coordinator"), "{newer}");
        let older = refused(|hello| hello.kinds.iter_mut().for_each(|kind| kind.revision = 0));
        assert!(older.contains("upgrade the worker"), "{older}");
        assert!(refused(|hello| hello.kinds.clear()).contains("same version"));
    }

    #[test]
    fn labels_are_bounded() {
        let label = |name: &str, value: &str| Label { name: name.into(), value: value.into() };
        let good = Hello { labels: vec![label("pool", "spot"), label("cores", "8")], ..hello() };
        assert_eq!(check_hello(&good, 0).expect("good").abilities.pool(), "spot");
        assert!(refused(|hello| hello.labels = vec![label("a b", "c")]).contains("name of a label"));
        assert!(refused(|hello| hello.labels = vec![label("a", "\x1b[2J")]).contains("value of a label"));
        let many = (0..=labels::MAX_LABELS).map(|n| label(&format!("a{n}"), "b")).collect();
        assert!(refused(|hello| hello.labels = many).contains("labels: at most"));
        assert!(
            refused(|hello| hello.kinds = vec![hello.kinds[0].clone(); MAX_KINDS + 1]).contains("job kinds")
        );
    }
}
