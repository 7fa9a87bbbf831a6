//! The READMEs: their links, and the commands that they give.

use std::fs;

use super::{
    files::{below, deploy, text},
    program,
};

/// The commands of a README, whole and without their comments.
pub fn commands(readme: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let (mut in_console, mut goes_on) = (false, false);
    for line in readme.lines() {
        if line.starts_with("```") {
            in_console = line == "```console";
            continue;
        }
        // `$ command`, `# command` of root, `head$ command`.
        let prompt = line.split_once(' ').filter(|(prompt, _)| prompt.ends_with('$') || *prompt == "#");
        let command = if goes_on { Some(line) } else { prompt.map(|(_, command)| command) };
        let Some(command) = command.filter(|_| in_console) else { continue };
        let command = command.split(" # ").next().expect("a part").trim();
        let (command, more) = command.strip_suffix('\\').map_or((command, false), |command| (command, true));
        match found.last_mut().filter(|_| goes_on) {
            Some(last) => last.push_str(command),
            None => found.push(command.into()),
        }
        goes_on = more;
    }
    found.iter().map(|command| command.trim().to_owned()).collect()
}

/// The arguments that a line gives to `nonet`, each time that it does.
fn arguments(line: &str) -> Vec<Vec<String>> {
    let words = line.split_whitespace().collect::<Vec<_>>();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let begins = at == 0 || ["&&", "|", ";", "do", "--"].contains(&words[at - 1]);
        if !begins || !["nonet", "/usr/local/bin/nonet"].contains(word) {
            continue;
        }
        let rest = words[at + 1..].iter();
        let ends = |word: &&&str| ["&&", "|", ">", ">>", "&", ";", "..."].contains(*word);
        let bare = |word: &&str| word.trim_end_matches(';').trim_matches('\'').to_owned();
        found.push(rest.take_while(|word| !ends(word)).map(bare).collect());
    }
    found
}

/// All READMEs of `deploy/`.
fn readmes() -> Vec<std::path::PathBuf> {
    let found: Vec<_> =
        below(&deploy("")).into_iter().filter(|path| path.extension().is_some_and(|e| e == "md")).collect();
    assert!(found.len() >= 8, "{found:?}");
    found
}

#[test]
fn commands_are_those_of_the_program() {
    let mut seen = 0;
    for path in readmes() {
        for line in commands(&text(&path)) {
            for args in arguments(&line) {
                // Behind `--` of `nonet scale` are a worker's.
                let own = args.split(|arg| arg == "--").next().expect("a part").to_vec();
                program::takes(&own, &format!("{}: {line}", path.display()));
                seen += 1;
            }
        }
    }
    assert!(seen > 30, "{seen}");
}

#[test]
fn commands_are_read_as_they_are_meant() {
    let text = "```console\n$ nonet a --b 1   # c\n# nonet d \\\n    --e && nonet f > g\nhead$ nonet h | nonet i\nout\n```\n$ nonet j\n";
    let all: Vec<_> = commands(text).iter().flat_map(|line| arguments(line)).collect();
    assert_eq!(all, [&["a", "--b", "1"][..], &["d", "--e"], &["f"], &["h"], &["i"]]);
}

#[test]
fn links_lead_somewhere() {
    let mut seen = 0;
    for path in readmes() {
        for (at, _) in text(&path).match_indices("](") {
            let text = text(&path);
            let target = text[at + 2..].split(')').next().expect("a part");
            let target = target.split('#').next().expect("a part");
            if target.is_empty() || target.starts_with("https://") {
                continue;
            }
            seen += 1;
            let there = path.parent().expect("a folder").join(target);
            assert!(there.exists(), "{}: there is no {target}", path.display());
        }
    }
    assert!(seen > 10, "{seen}");
}

#[test]
fn the_map_shows_every_folder_and_every_folder_says_what_it_is() {
    let map = text(&deploy("README.md"));
    for entry in fs::read_dir(deploy("")).expect("deploy") {
        let name = entry.expect("an entry").file_name().into_string().expect("UTF-8");
        if name != "README.md" {
            assert!(map.contains(&name), "deploy/README.md does not name {name}");
        }
    }
    for folder in ["compose", "grafana", "kubernetes", "prometheus", "slurm", "systemd", "terraform"] {
        let readme = text(&deploy(&format!("{folder}/README.md")));
        assert!(map.contains(&format!("]({folder}/README.md)")), "deploy/README.md does not link {folder}");
        if !["grafana", "prometheus"].contains(&folder) {
            let low = readme.to_lowercase();
            assert!(low.contains("check") && low.contains("costs") && low.contains("starts"), "{folder}");
        }
    }
}
