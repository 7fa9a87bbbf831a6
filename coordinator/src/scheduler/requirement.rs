//! What a job asks of its workers: a few comparisons of labels, all of which must hold.

use std::{fmt, str::FromStr};

use proto::labels::{check_name, check_value};
use serde::{Deserialize, Serialize};

/// One comparison. Its text is its one spelling: `avx512`, `!gpu`, `pool=slurm`, `pool!=spot`, `memory_gib>=16`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Requirement {
    name: String,
    test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Test {
    /// The worker has the label, whatever its value.
    Has,
    /// It does not.
    Lacks,
    /// The label has this value.
    Is(String),
    /// It has another one, or the worker does not have the label.
    IsNot(String),
    /// The value is a whole number, and compares so.
    Number(Order, u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Order {
    AtLeast,
    AtMost,
    Above,
    Below,
}

/// Requirements of a job.
pub const MAX_REQUIREMENTS: usize = 16;

/// Two-letter operators first, or `>=` would be read as `>` and a value that begins with `=`.
const OPERATORS: [&str; 6] = [">=", "<=", "!=", ">", "<", "="];

impl Requirement {
    /// Whether a worker with this value of the label meets it.
    pub fn met_by(&self, value: Option<&str>) -> bool {
        match &self.test {
            Test::Has => value.is_some(),
            Test::Lacks => value.is_none(),
            Test::Is(wanted) => value == Some(wanted),
            Test::IsNot(unwanted) => value != Some(unwanted),
            Test::Number(order, bound) => {
                value.and_then(|value| value.parse().ok()).is_some_and(|n: u64| match order {
                    Order::AtLeast => n >= *bound,
                    Order::AtMost => n <= *bound,
                    Order::Above => n > *bound,
                    Order::Below => n < *bound,
                })
            }
        }
    }

    /// The label that it is about.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl FromStr for Requirement {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let found = OPERATORS.iter().filter_map(|operator| text.find(operator).map(|at| (at, *operator)));
        // The first in the text; of two at the same place the longer one.
        let first = found.min_by_key(|(at, operator)| (*at, 2 - operator.len()));
        let Some((at, operator)) = first.filter(|(at, _)| *at > 0) else {
            let (name, test) = text.strip_prefix('!').map_or((text, Test::Has), |name| (name, Test::Lacks));
            check_name(name).map_err(|error| format!("requirement {text:?}: {error}"))?;
            return Ok(Self { name: name.into(), test });
        };
        let (name, value) = (text[..at].trim_end(), text[at + operator.len()..].trim_start());
        let number = |order| {
            let bound = value.parse();
            bound.map(|bound| Test::Number(order, bound)).map_err(|_| {
                format!("requirement {text:?}: {operator} compares whole numbers, and {value:?} is none")
            })
        };
        check_name(name).map_err(|error| format!("requirement {text:?}: {error}"))?;
        check_value(value).map_err(|error| format!("requirement {text:?}: {error}"))?;
        let test = match operator {
            "=" => Test::Is(value.into()),
            "!=" => Test::IsNot(value.into()),
            ">=" => number(Order::AtLeast)?,
            "<=" => number(Order::AtMost)?,
            ">" => number(Order::Above)?,
            _ => number(Order::Below)?,
        };
        Ok(Self { name: name.into(), test })
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        match &self.test {
            Test::Has => write!(f, "{name}"),
            Test::Lacks => write!(f, "!{name}"),
            Test::Is(value) => write!(f, "{name}={value}"),
            Test::IsNot(value) => write!(f, "{name}!={value}"),
            Test::Number(Order::AtLeast, bound) => write!(f, "{name}>={bound}"),
            Test::Number(Order::AtMost, bound) => write!(f, "{name}<={bound}"),
            Test::Number(Order::Above, bound) => write!(f, "{name}>{bound}"),
            Test::Number(Order::Below, bound) => write!(f, "{name}<{bound}"),
        }
    }
}

impl TryFrom<String> for Requirement {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Requirement> for String {
    fn from(requirement: Requirement) -> Self {
        requirement.to_string()
    }
}

/// Reads several, in one order and each once: what is the same is spelt the same.
///
/// # Errors
///
/// Says which is none, or that there are too many.
pub fn parse_requirements(texts: &[String]) -> Result<Vec<Requirement>, String> {
    if texts.len() > MAX_REQUIREMENTS {
        return Err(format!("{} requirements: at most {MAX_REQUIREMENTS}", texts.len()));
    }
    let mut all = texts.iter().map(|text| text.parse()).collect::<Result<Vec<Requirement>, _>>()?;
    all.sort();
    all.dedup();
    Ok(all)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn met(requirement: &str, value: Option<&str>) -> bool {
        requirement.parse::<Requirement>().expect(requirement).met_by(value)
    }

    #[test]
    fn comparisons_hold_as_they_read() {
        assert!(met("avx512", Some("yes")) && !met("avx512", None));
        assert!(met("!gpu", None) && !met("!gpu", Some("a100")));
        assert!(met("pool=slurm", Some("slurm")) && !met("pool=slurm", Some("spot")));
        assert!(met("pool!=spot", Some("slurm")) && met("pool!=spot", None));
        assert!(!met("pool!=spot", Some("spot")) && !met("pool=slurm", None));
        assert!(met("memory_gib>=16", Some("16")) && !met("memory_gib >= 16", Some("15")));
        assert!(met("cores<8", Some("7")) && !met("cores<8", Some("8")) && met("cores<=8", Some("8")));
        assert!(met("cores>8", Some("9")) && !met("cores>8", None) && !met("cores>8", Some("many")));
    }

    #[test]
    fn what_is_none_is_told_in_its_own_words() {
        for (bad, word) in [
            ("", "name of a label"),
            ("=5", "name of a label"),
            ("!", "name of a label"),
            ("a b", "name of a label"),
            ("pool=", "value of a label"),
            ("pool==x", "value of a label"),
            ("a>=b", "whole numbers"),
            ("a>-1", "whole numbers"),
            ("a>=99999999999999999999", "whole numbers"),
            ("pool=a b", "value of a label"),
            ("pool='x'", "value of a label"),
        ] {
            let error = bad.parse::<Requirement>().expect_err(bad);
            assert!(error.contains(word) && error.contains("requirement"), "{bad}: {error}");
        }
        let many: Vec<_> = (0..=MAX_REQUIREMENTS).map(|n| format!("a{n}")).collect();
        assert!(parse_requirements(&many).expect_err("too many").contains("at most 16"));
    }

    #[test]
    fn several_have_one_spelling() {
        let read = |texts: [&str; 3]| parse_requirements(&texts.map(String::from)).expect("good");
        assert_eq!(read(["b", "a >= 1", "b"]), read([" a>=1", "b", "a>=1"]));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_and_what_is_read_reads_again(text in "[a-c!<>= 1\\PC]{0,12}") {
            if let Ok(requirement) = text.parse::<Requirement>() {
                prop_assert_eq!(requirement.to_string().parse(), Ok(requirement));
            }
        }
    }
}
