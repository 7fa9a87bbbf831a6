//! TLS as all connections between machines use it: version 1.3 over ring, with certificates on both ends.
//!
//! `files.rs` reads what an operator has put on disk; `trouble.rs` says in words what went wrong between two machines.

mod files;
mod trouble;

pub use self::{
    files::{TlsError, TlsFiles},
    trouble::{Fault, TlsTrouble, certificate_trouble},
};
