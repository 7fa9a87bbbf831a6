//! What this worker says of itself, for jobs that ask for it.

use std::{collections::BTreeMap, path::Path};

use proto::labels::{MAX_LABELS, POOL, check_name, check_value};
use shared::solve::bitslice::Level;

/// Name and value of each label, ascending by name.
pub type Labels = BTreeMap<String, String>;

/// What can be told without being asked: `os`, `arch`, `cores`, `memory_gib`, and `avx2` and `avx512` where this program makes
/// use of them.
#[must_use]
pub fn of_this_machine() -> Labels {
    let mut labels = Labels::new();
    let mut tell = |name: &str, value: String| drop(labels.insert(name.into(), value));
    tell("os", std::env::consts::OS.into());
    tell("arch", std::env::consts::ARCH.into());
    tell("cores", std::thread::available_parallelism().map_or(1, std::num::NonZero::get).to_string());
    if let Some(gib) = memory_gib(Path::new("/")) {
        tell("memory_gib", gib.to_string());
    }
    for (level, name) in [(Level::Avx2, "avx2"), (Level::Avx512, "avx512")] {
        if level.is_available() {
            tell(name, "yes".into());
        }
    }
    labels
}

/// Adds `NAME=VALUE` texts, each in place of what was said under its name before.
///
/// # Errors
///
/// Says which is none, or that there are too many.
pub fn add(labels: &mut Labels, texts: &[String]) -> Result<(), String> {
    for text in texts {
        let (name, value) =
            text.split_once('=').ok_or_else(|| format!("--label {text:?}: expected NAME=VALUE"))?;
        set(labels, name.trim(), value.trim()).map_err(|error| format!("--label {text:?}: {error}"))?;
    }
    Ok(())
}

/// Adds the pool.
///
/// # Errors
///
/// When it can be the name of none.
pub fn add_pool(labels: &mut Labels, pool: &str) -> Result<(), String> {
    set(labels, POOL, pool).map_err(|error| format!("--pool: {error}"))
}

/// Adds a label, in place of what was said under its name before.
///
/// # Errors
///
/// When it is none, or there are too many.
pub fn set(labels: &mut Labels, name: &str, value: &str) -> Result<(), String> {
    check_name(name)?;
    check_value(value)?;
    labels.insert(name.into(), value.into());
    if labels.len() > MAX_LABELS { Err(format!("more than {MAX_LABELS} labels")) } else { Ok(()) }
}

/// What processes here may use. Of the machine's memory the system keeps a part for itself, so the nearest whole number is
/// meant: 16 GiB are 16. A limit of a control group is exact.
fn memory_gib(root: &Path) -> Option<u64> {
    let total = machine_bytes(&std::fs::read_to_string(root.join("proc/meminfo")).ok()?)?;
    let nearest = (total + (1 << 29)) >> 30;
    Some(group_bytes(root).map_or(nearest, |limit| nearest.min(limit >> 30)))
}

fn machine_bytes(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The lowest limit of the control groups (version 2) that this process is in.
fn group_bytes(root: &Path) -> Option<u64> {
    let groups = std::fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let mounted = root.join("sys/fs/cgroup");
    let place = mounted.join(own);
    // In a container its own group is the root of what it sees.
    let limits = place.ancestors().take_while(|group| group.starts_with(&mounted));
    limits
        .filter_map(|group| std::fs::read_to_string(group.join("memory.max")).ok()?.trim().parse().ok())
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_replace_what_was_said_before_and_are_checked() {
        let mut labels = of_this_machine();
        assert!(labels.contains_key("os") && labels.contains_key("cores"));
        let texts = ["cores=3", "zone = eu/1"].map(String::from);
        add(&mut labels, &texts).expect("labels");
        add_pool(&mut labels, "spot").expect("a pool");
        assert_eq!(
            (labels["cores"].as_str(), labels["zone"].as_str(), labels["pool"].as_str()),
            ("3", "eu/1", "spot")
        );
        for (bad, word) in [("cores", "NAME=VALUE"), ("=3", "name of a label"), ("a=", "value of a label")] {
            let error = add(&mut labels, &[bad.into()]).expect_err(bad);
            assert!(error.contains(word) && error.contains("--label"), "{error}");
        }
        let many: Vec<_> = (0..MAX_LABELS).map(|n| format!("a{n}=1")).collect();
        assert!(add(&mut labels, &many).expect_err("too many").contains("more than 64"));
    }

    #[test]
    fn memory_is_the_machines_or_what_a_group_allows() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path();
        let write = |file: &str, text: &str| {
            let path = root.join(file);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
            std::fs::write(path, text).expect("written");
        };
        assert_eq!(memory_gib(root), None);
        write("proc/meminfo", "MemTotal:       16265464 kB\nMemFree:          100 kB\n");
        assert_eq!(memory_gib(root), Some(16), "15.5 GiB are left of 16");
        write("proc/self/cgroup", "0::/a/b\n");
        write("sys/fs/cgroup/a/b/memory.max", "max\n");
        assert_eq!(memory_gib(root), Some(16));
        write("sys/fs/cgroup/a/memory.max", "4294967295\n");
        assert_eq!(memory_gib(root), Some(3), "less than 4 GiB");
        write("sys/fs/cgroup/a/b/memory.max", "2147483648\n");
        assert_eq!(memory_gib(root), Some(2));
        // What is above the mount point is not ours to read.
        write("memory.max", "1\n");
        assert_eq!(memory_gib(root), Some(2));
    }
}
