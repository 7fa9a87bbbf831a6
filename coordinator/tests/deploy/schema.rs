//! JSON schemas. `schemas/make.py` says where they are from.

use std::path::Path;

use jsonschema::Validator;
use serde_json::{Value, json};

use super::files::text;

/// A file of `schemas/`.
pub fn read(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/deploy/schemas").join(name);
    serde_json::from_str(&text(&path)).expect("JSON")
}

/// What checks one kind of Kubernetes, such as `io.k8s.api.apps.v1.Deployment`, if the schema has it.
pub fn of_kind(schema: &Value, kind: &str) -> Option<Validator> {
    schema["$defs"].get(kind)?;
    let one = json!({
        "$schema": schema["$schema"],
        "$ref": format!("#/$defs/{kind}"),
        "$defs": schema["$defs"],
    });
    Some(jsonschema::validator_for(&one).expect("a schema"))
}

/// Panics with all that is wrong.
pub fn check(validator: &Validator, value: &Value, what: &str) {
    let wrong: Vec<_> = validator.iter_errors(value).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(wrong.is_empty(), "{what}:\n{}", wrong.join("\n"));
}
