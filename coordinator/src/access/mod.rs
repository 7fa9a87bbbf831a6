//! Who may do what.
//!
//! A certificate or a token gives a [`Role`]; a role gives [`Right`]s; every rpc needs one right ([`role::METHODS`]). The server's
//! gate (`server/gate.rs`) is the one place that asks.

mod caller;
pub mod rates;
mod role;
pub mod tokens;

pub use self::{
    caller::{Caller, Identity, MAX_NAME_BYTES, certificate_identity, certificate_uri, check_name},
    role::{METHODS, Right, Role, right_for},
};
