//! The example in AWS: HCL against what the provider knows, and what its machines do when they start.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write,
    process::{Command, Stdio},
};

use hcl::{Block, Body, Structure};
use serde_json::Value;

use super::{
    files::{below, deploy, items, parse, strings, text, words},
    program, readmes, schema,
};

/// All of the example: the blocks, and the text without comments.
fn example() -> (Vec<Block>, String) {
    let (mut blocks, mut all) = (Vec::new(), String::new());
    for path in
        below(&deploy("terraform/aws")).iter().filter(|path| path.extension().is_some_and(|e| e == "tf"))
    {
        let text = text(path);
        let body: Body = hcl::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        blocks.extend(body.into_inner().into_iter().map(|one| match one {
            Structure::Block(block) => block,
            Structure::Attribute(one) => panic!("{}: {} stands outside", path.display(), one.key()),
        }));
        all.extend(
            text.lines().filter(|line| !line.trim_start().starts_with('#')).map(|line| format!("{line}\n")),
        );
    }
    assert!(blocks.len() > 30, "{}", blocks.len());
    (blocks, all)
}

fn labels(block: &Block) -> Vec<&str> {
    block.labels.iter().map(hcl::BlockLabel::as_str).collect()
}

/// Arguments that every resource takes.
const META: [&str; 5] = ["for_each", "count", "depends_on", "provider", "lifecycle"];

/// Compares a body with what the provider knows of it.
fn check(body: &Body, known: &Value, what: &str, wrong: &mut Vec<String>) {
    let mut there = BTreeSet::new();
    for one in body {
        let (key, inner) = match one {
            Structure::Attribute(one) => (one.key(), None),
            // `dynamic "override"` makes blocks of that name out of its `content`.
            Structure::Block(block) if block.identifier() == "dynamic" => {
                let content = block.body.blocks().find(|one| one.identifier() == "content");
                (labels(block)[0], Some(&content.expect("content").body))
            }
            Structure::Block(block) => (block.identifier(), Some(&block.body)),
        };
        if META.contains(&key) {
            continue;
        }
        there.insert(key);
        match (&known[key], inner) {
            (Value::Null, _) => wrong.push(format!("{what} knows no {key}")),
            (one, Some(inner)) if one["block"].is_object() => {
                check(inner, &one["block"], &format!("{what}.{key}"), wrong);
            }
            (_, Some(_)) => wrong.push(format!("{what}.{key} is no block")),
            (_, None) => {}
        }
    }
    for (key, one) in known.as_object().expect("arguments") {
        if one["required"] == true && !there.contains(key.as_str()) {
            wrong.push(format!("{what} needs {key}"));
        }
    }
}

#[test]
fn resources_are_what_the_provider_knows() {
    let known = schema::read("aws-6.json");
    let (blocks, _) = example();
    let mut seen = 0;
    for block in blocks.iter().filter(|block| ["resource", "data"].contains(&block.identifier())) {
        let kind = labels(block)[0];
        let name = if block.identifier() == "data" { format!("data.{kind}") } else { kind.to_owned() };
        let arguments = &known[&name]["arguments"];
        assert!(arguments.is_object(), "the provider knows no {name}");
        let mut wrong = Vec::new();
        check(&block.body, arguments, &name, &mut wrong);
        assert!(wrong.is_empty(), "{}: {}", labels(block).join("."), wrong.join("\n"));
        seen += 1;
    }
    assert!(seen > 25, "{seen}");
    let bad: Body = hcl::from_str("bucket = 1\nrule {\n id = 1\n sattus = 2\n}\n").expect("HCL");
    let mut wrong = Vec::new();
    check(&bad, &known["aws_s3_bucket_lifecycle_configuration"]["arguments"], "x", &mut wrong);
    assert_eq!(wrong, ["x.rule knows no sattus", "x.rule needs status"]);
}

/// `a.b.c` and so on, wherever it stands in the text.
fn paths<'a>(text: &'a str, start: &'a str) -> BTreeSet<Vec<&'a str>> {
    let part = |c: char| c.is_ascii_alphanumeric() || "_.".contains(c);
    let begins = |at: usize| !text[..at].ends_with(|c: char| part(c) || "-\"".contains(c));
    let ends = |rest: &'a str| &rest[..rest.find(|c| !part(c)).unwrap_or(rest.len())];
    let found = text.match_indices(start).filter(|(at, _)| begins(*at)).map(|(at, _)| ends(&text[at..]));
    found.map(|path| path.split('.').collect()).collect()
}

#[test]
fn what_is_referred_to_exists() {
    let (blocks, text) = example();
    let known = schema::read("aws-6.json");
    let named = |kind: &str| -> BTreeSet<String> {
        blocks
            .iter()
            .filter(|block| block.identifier() == kind)
            .map(|block| labels(block).join("."))
            .collect()
    };
    let used: BTreeSet<String> = paths(&text, "var.").iter().map(|path| path[1].to_owned()).collect();
    assert_eq!(used, named("variable"), "variables that are used, and those that there are");
    for block in blocks.iter().filter(|block| block.identifier() == "variable") {
        for key in ["description", "type", "default"] {
            let there = block.body.attributes().any(|one| one.key() == key);
            assert!(there, "variable {} has no {key}", labels(block)[0]);
        }
    }
    let locals: BTreeSet<&str> = blocks
        .iter()
        .filter(|block| block.identifier() == "locals")
        .flat_map(|block| block.body.attributes().map(hcl::Attribute::key))
        .collect();
    assert_eq!(paths(&text, "local.").iter().map(|path| path[1]).collect::<BTreeSet<_>>(), locals);
    let (resources, data) = (named("resource"), named("data"));
    let mut seen = 0;
    for path in paths(&text, "aws_").into_iter().chain(paths(&text, "data.aws_")) {
        let is_data = path[0] == "data";
        let rest = &path[usize::from(is_data)..];
        // A type alone is the label of a block.
        let [kind, name, attribute, ..] = rest[..] else { continue };
        let (there, full) =
            if is_data { (&data, format!("data.{kind}")) } else { (&resources, kind.to_owned()) };
        assert!(there.contains(&format!("{kind}.{name}")), "there is no {path:?}");
        let attributes = strings(&known[&full]["attributes"]);
        assert!(attributes.iter().any(|one| one == attribute), "{full} has no {attribute}");
        seen += 1;
    }
    assert!(seen > 20, "{seen}");
    let outputs = named("output");
    let readme = super::files::text(&deploy("terraform/README.md"));
    for line in readme.split("output -raw ").skip(1) {
        let name = line.split([')', ' ']).next().expect("a name");
        assert!(outputs.contains(name), "terraform/README.md: there is no output {name}");
    }
    for told in readme.split("-var ").skip(1) {
        let name = told.trim_start_matches(['\'', ' ']).split('=').next().expect("a name");
        assert!(used.contains(name), "terraform/README.md: there is no variable {name}");
    }
}

/// The one block of this kind and these labels.
fn one<'a>(blocks: &'a [Block], path: &[&str]) -> &'a Block {
    let found = |block: &&Block| block.identifier() == path[0] && labels(block) == path[1..];
    blocks.iter().find(found).unwrap_or_else(|| panic!("there is no {path:?}"))
}

/// What stands behind a key, as text, however deep it is.
fn all_of(body: &Body, key: &str) -> Vec<String> {
    let mut found = Vec::new();
    for one in body {
        match one {
            Structure::Attribute(one) if one.key() == key => found.push(one.expr().to_string()),
            Structure::Attribute(_) => {}
            Structure::Block(block) => found.extend(all_of(&block.body, key)),
        }
    }
    found
}

#[test]
fn nothing_is_open_that_need_not_be() {
    let (blocks, _) = example();
    let blocked = &one(&blocks, &["resource", "aws_s3_bucket_public_access_block", "farm"]).body;
    for key in ["block_public_acls", "block_public_policy", "ignore_public_acls", "restrict_public_buckets"] {
        assert_eq!(all_of(blocked, key), ["true"], "{key}");
    }
    let life = &one(&blocks, &["resource", "aws_s3_bucket_lifecycle_configuration", "farm"]).body;
    assert_eq!((all_of(life, "days_after_initiation").len(), all_of(life, "expiration").len()), (1, 0));
    for (kind, name) in [("aws_instance", "coordinator"), ("aws_launch_template", "worker")] {
        let body = &one(&blocks, &["resource", kind, name]).body;
        assert_eq!(all_of(body, "http_tokens"), ["\"required\""], "{kind}");
        assert_eq!(all_of(body, "encrypted"), ["true"], "{kind}");
    }
    assert_eq!(all_of(&one(&blocks, &["resource", "aws_ebs_volume", "ledger"]).body, "encrypted"), ["true"]);
    for block in &blocks {
        let what = labels(block).join(".");
        if what.starts_with("aws_vpc_security_group_ingress_rule") {
            let from = all_of(&block.body, "cidr_ipv4");
            assert!(from.iter().all(|cidr| !cidr.contains("0.0.0.0")), "{what}: {from:?}");
        }
        if what.starts_with("aws_iam_policy_document") {
            for key in ["actions", "resources"] {
                for list in all_of(&block.body, key) {
                    assert!(!list.contains("\"*\"") && !list.contains(":*\""), "{what}: {key} {list}");
                    assert!(!list.contains("Delete"), "{what}: {list}");
                }
            }
        }
    }
    let nobody = all_of(&one(&blocks, &["variable", "operator_cidrs"]).body, "default");
    assert_eq!(nobody, ["[]"]);
    // Spot machines alone, none by default, and one that ends is gone.
    let group = &one(&blocks, &["resource", "aws_autoscaling_group", "workers"]).body;
    for key in ["on_demand_base_capacity", "on_demand_percentage_above_base_capacity", "min_size"] {
        assert_eq!(all_of(group, key), ["0"], "{key}");
    }
    let template = &one(&blocks, &["resource", "aws_launch_template", "worker"]).body;
    assert_eq!(all_of(template, "instance_initiated_shutdown_behavior"), ["\"terminate\""]);
}

/// What cloud-init of one kind of machine gets, with something in each place of the template.
fn cloud_init(role: &str) -> Value {
    let template = text(&deploy(&format!("terraform/aws/{role}.yaml.tftpl")));
    let (_, source) = example();
    let call = source.split(&format!("{role}.yaml.tftpl\", {{")).nth(1).expect("the template is used");
    let call = call.split("})").next().expect("a part");
    let given: BTreeSet<&str> =
        call.lines().filter_map(|line| line.split_once(" = ")).map(|(key, _)| key.trim()).collect();
    let wanted: BTreeSet<&str> =
        template.split("${").skip(1).map(|rest| rest.split('}').next().expect("a name")).collect();
    assert_eq!(wanted, given, "{role}.yaml.tftpl: what it wants, and what it gets");
    assert!(source.contains(&format!("systemd/nonet-{role}.service")), "{role}: the unit of deploy/systemd");
    assert_eq!(template.lines().next(), Some("#cloud-config"));
    let filled =
        wanted.iter().fold(template.clone(), |text, name| text.replace(&format!("${{{name}}}"), "FILLED"));
    parse(&filled).unwrap_or_else(|e| panic!("{role}.yaml.tftpl: {e}")).swap_remove(0)
}

#[test]
fn machines_start_what_there_is_with_the_secrets_that_they_fetch() {
    let mut fetched = BTreeMap::new();
    for role in ["coordinator", "worker"] {
        let config = cloud_init(role);
        let files: BTreeMap<&str, &str> = items(&config["write_files"])
            .map(|file| (file["path"].as_str().expect("a path"), file["content"].as_str().expect("text")))
            .collect();
        let unit = format!("nonet-{role}");
        assert_eq!(files[&*format!("/etc/systemd/system/{unit}.service")], "FILLED");
        let runs = strings(&config["runcmd"]);
        assert_eq!(
            (runs[0].as_str(), runs.last()),
            ("set -e", Some(&format!("systemctl enable --now {unit}"))),
            "{role}"
        );
        // The program is where the unit has it.
        assert!(runs.iter().any(|line| line.ends_with(" FILLED /usr/local/bin/nonet")), "{runs:?}");
        for script in runs.iter().filter(|line| line.starts_with("/usr/local/sbin/")) {
            let text = files.get(script.as_str()).unwrap_or_else(|| panic!("{role}: there is no {script}"));
            assert!(text.starts_with("#!/bin/sh\n") && text.contains("set -eu"), "{role}: {script}");
            shell(text, script);
        }
        shell(&runs.join("\n"), role);
        let env = files["/etc/nonet.env"];
        let names: Vec<&str> =
            env.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
        program::knows_variables(role, names.iter().copied(), role);
        let drop_in = files[&*format!("/etc/systemd/system/{unit}.service.d/cloud.conf")];
        program::knows_variables(role, words(drop_in, "NONET_"), role);
        let secrets = files["/usr/local/sbin/nonet-secrets"];
        let list =
            secrets.split("for name in ").nth(1).and_then(|rest| rest.split(';').next()).expect("a list");
        let list: BTreeSet<String> = list.split(' ').map(String::from).collect();
        let loaded = drop_in.lines().filter_map(|line| line.trim().strip_prefix("LoadCredential="));
        let loaded: BTreeSet<String> = loaded
            .map(|line| {
                let (name, path) = line.split_once(':').expect("a name and a path");
                assert_eq!(path, format!("/etc/nonet/{name}"), "{role}");
                name.to_owned()
            })
            .collect();
        assert_eq!(loaded, list, "{role}: what systemd hands over, and what is fetched");
        if role == "worker" {
            assert!(
                env.contains("NONET_NOTICE=aws\n") && drop_in.contains("SuccessAction=poweroff"),
                "{env}"
            );
        }
        fetched.insert(role, list);
    }
    let readme = text(&deploy("terraform/README.md"));
    let commands = readmes::commands(&readme).join("\n");
    for (role, list) in fetched {
        for name in list {
            let put = commands.contains(&format!("put {role}/{name} "))
                || (commands.contains(&format!("put {role}/$file "))
                    && ["ca.pem", "cert.pem", "key.pem"].contains(&name.as_str()));
            assert!(put, "terraform/README.md puts no {role}/{name}");
            assert!(
                commands.contains(&format!("/nonet/{role}/{name}")),
                "terraform/README.md leaves {role}/{name}"
            );
        }
    }
}

/// Panics unless a shell can read it.
fn shell(script: &str, what: &str) {
    let mut child =
        Command::new("sh").arg("-n").stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("sh");
    child.stdin.take().expect("piped").write_all(script.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("sh ends");
    assert!(output.status.success(), "{what}: {}", String::from_utf8_lossy(&output.stderr));
}
