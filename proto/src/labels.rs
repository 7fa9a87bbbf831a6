//! Labels: what workers say of themselves and jobs can ask for. Both ends keep to these bounds.

/// Labels of a worker.
pub const MAX_LABELS: usize = 64;
/// Length of a label's name in bytes.
pub const MAX_NAME_BYTES: usize = 64;
/// Length of a label's value in bytes.
pub const MAX_VALUE_BYTES: usize = 128;
/// The label that groups workers which are started and released together.
pub const POOL: &str = "pool";

/// Whether this can be a label's name: a letter, then letters, digits, `_`, `-` and `.`.
///
/// # Errors
///
/// Says what it should be.
pub fn check_name(name: &str) -> Result<(), String> {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
    if begins
        && name.len() <= MAX_NAME_BYTES
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
    {
        return Ok(());
    }
    Err(format!(
        "{name:?} is no name of a label: expected a letter, then letters, digits, `_`, `-` and `.`, at most \
         {MAX_NAME_BYTES} in all"
    ))
}

/// Whether this can be a label's value: letters, digits and `_-.:/@+`.
///
/// # Errors
///
/// Says what it should be.
pub fn check_value(value: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-.:/@+".contains(c);
    if !value.is_empty() && value.len() <= MAX_VALUE_BYTES && value.chars().all(fits) {
        return Ok(());
    }
    Err(format!(
        "{value:?} is no value of a label: expected letters, digits and `_-.:/@+`, 1 to {MAX_VALUE_BYTES} of them"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_plain() {
        for good in ["a", "memory_gib", "cpu.model-2"] {
            check_name(good).expect(good);
        }
        for bad in ["", "1a", "_a", "a b", "a=b", "é", &"a".repeat(MAX_NAME_BYTES + 1)] {
            check_name(bad).expect_err(bad);
        }
        for good in ["16", "slurm", "eu-west-1/a:b@c+d_e.f"] {
            check_value(good).expect(good);
        }
        for bad in ["", "a b", "a\n", "a,b", "\u{202e}", &"a".repeat(MAX_VALUE_BYTES + 1)] {
            check_value(bad).expect_err(bad);
        }
    }
}
