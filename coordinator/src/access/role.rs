//! Roles, rights, and what every rpc needs.

use std::fmt;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// What somebody is to the farm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Computes, and sees nothing else
    Worker,
    /// Sees jobs, results and workers
    Viewer,
    /// Sees everything, submits and controls jobs, drains workers
    Operator,
    /// Is talked to; for certificates only
    Coordinator,
}

/// What an rpc needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    /// Take leases and hand in results.
    Work,
    /// See.
    View,
    /// Change.
    Operate,
}

/// Every rpc, and what it needs. One that is not here is answered as unknown.
pub const METHODS: &[(&str, Right)] = &[
    ("/nonet.v1.Farm/Work", Right::Work),
    ("/nonet.v1.Jobs/Submit", Right::Operate),
    ("/nonet.v1.Jobs/List", Right::View),
    ("/nonet.v1.Jobs/Status", Right::View),
    ("/nonet.v1.Jobs/Result", Right::View),
    ("/nonet.v1.Jobs/Control", Right::Operate),
    ("/nonet.v1.Jobs/Workers", Right::View),
    ("/nonet.v1.Jobs/Drain", Right::Operate),
    ("/nonet.v1.Jobs/Release", Right::Operate),
    ("/nonet.v1.Jobs/Audit", Right::Operate),
    ("/nonet.v1.Jobs/Leader", Right::View),
    ("/nonet.v1.Jobs/Readmit", Right::Operate),
    ("/nonet.v1.Jobs/Verify", Right::Operate),
];

/// What the rpc at `path` needs; none when there is no such rpc.
pub fn right_for(path: &str) -> Option<Right> {
    METHODS.iter().find(|(method, _)| *method == path).map(|(_, right)| *right)
}

impl Role {
    /// Whether this role has a right.
    pub fn has(self, right: Right) -> bool {
        match right {
            Right::Work => self == Self::Worker,
            Right::View => matches!(self, Self::Viewer | Self::Operator),
            Right::Operate => self == Self::Operator,
        }
    }

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Worker => "worker",
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Coordinator => "coordinator",
        }
    }

    /// As [`Role::name`] writes it.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Worker, Self::Viewer, Self::Operator, Self::Coordinator]
            .into_iter()
            .find(|role| role.name() == name)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Right {
    /// Who has it, in words.
    pub fn needed(self) -> &'static str {
        match self {
            Self::Work => "role worker",
            Self::View => "role viewer or operator",
            Self::Operate => "role operator",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rpcs of a .proto file: its text is simple enough to be read without a parser.
    fn rpcs(text: &str) -> Vec<String> {
        let words = |line: &str| line.split(['(', ' ']).map(str::to_owned).collect::<Vec<_>>();
        let (mut found, mut service) = (Vec::new(), String::new());
        for line in text.lines().map(str::trim) {
            match words(line).as_slice() {
                [keyword, name, ..] if keyword == "service" => service.clone_from(name),
                [keyword, name, ..] if keyword == "rpc" => found.push(format!("/nonet.v1.{service}/{name}")),
                _ => {}
            }
        }
        found
    }

    #[test]
    fn every_rpc_needs_a_right_and_roles_have_no_more_than_theirs() {
        let mut declared = rpcs(include_str!("../../../proto/proto/nonet/v1/farm.proto"));
        declared.extend(rpcs(include_str!("../../../proto/proto/nonet/v1/jobs.proto")));
        let listed: Vec<_> = METHODS.iter().map(|(method, _)| (*method).to_owned()).collect();
        assert!(declared.len() > 5);
        assert_eq!(declared, listed, "each rpc, in the order of the .proto files");
        let of = |role: Role| -> Vec<&str> {
            let may = METHODS.iter().filter(|(_, right)| role.has(*right));
            may.filter_map(|(method, _)| method.rsplit('/').next()).collect()
        };
        assert_eq!(of(Role::Worker), ["Work"]);
        assert_eq!(of(Role::Viewer), ["List", "Status", "Result", "Workers", "Leader"]);
        let operator = [
            "Submit", "List", "Status", "Result", "Control", "Workers", "Drain", "Release", "Audit",
            "Leader", "Readmit", "Verify",
        ];
        assert_eq!(of(Role::Operator), operator);
        assert!(of(Role::Coordinator).is_empty());
        for role in [Role::Worker, Role::Viewer, Role::Operator, Role::Coordinator] {
            assert_eq!(Role::parse(role.name()), Some(role));
        }
        assert_eq!(right_for("/nonet.v1.Jobs/Nothing"), None);
    }
}
