//! TLS as all connections between machines use it: version 1.3 over ring, with certificates on both ends.
//!
//! `files.rs` reads what an operator has put on disk, `shared.rs` looks who else can; `trouble.rs` says in words what went wrong between two machines.

mod files;
mod shared;
mod trouble;

pub use self::{
    files::{TlsError, TlsFiles},
    shared::warn_if_shared,
    trouble::{Fault, TlsTrouble, certificate_trouble},
};
