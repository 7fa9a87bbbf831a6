//! How puzzles are solved, by name.

use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::{Deserialize, Serialize};
use shared::solve::methods;

/// A way to solve puzzles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Method {
    /// The fast way: 9x9 puzzles side by side, others one by one.
    #[default]
    Bitslice,
    /// One of those that people learn from.
    Taught(methods::Method),
}

impl Method {
    /// All there are.
    pub fn all() -> impl Iterator<Item = Self> {
        std::iter::once(Self::Bitslice).chain(methods::Method::ALL.into_iter().map(Self::Taught))
    }

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bitslice => "bitslice",
            Self::Taught(method) => method.name(),
        }
    }

    /// What it does, in a line.
    pub fn about(self) -> &'static str {
        match self {
            Self::Bitslice => {
                "the fast one: a puzzle a bit, or alone with learning from conflicts where not 9x9"
            }
            Self::Taught(method) => method.about(),
        }
    }

    /// Whether it proves how many solutions there are; the others only look for one, from where the seed says.
    pub fn proves(self) -> bool {
        match self {
            Self::Bitslice => true,
            Self::Taught(method) => method.searches(),
        }
    }

    /// Guesses, nodes or iterations after which a puzzle is given up unless something else is asked for.
    pub fn usual_cap(self) -> u64 {
        match self {
            // Some ten seconds of a large puzzle.
            Self::Bitslice => 1_000_000,
            Self::Taught(method) => method.default_cap(),
        }
    }

    /// Reads a name on a command line.
    pub fn parser() -> impl TypedValueParser<Value = Self> {
        let value = |method: Self| PossibleValue::new(method.name()).help(method.about());
        PossibleValuesParser::new(Self::all().map(value)).try_map(|name| name.parse())
    }
}

impl FromStr for Method {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::all().find(|method| method.name() == name).ok_or_else(|| format!("no method is called {name}"))
    }
}

impl TryFrom<String> for Method {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        name.parse()
    }
}

impl From<Method> for String {
    fn from(method: Method) -> Self {
        method.name().into()
    }
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
