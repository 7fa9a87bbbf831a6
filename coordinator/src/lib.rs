//! The coordinator: ledger, scheduler, gRPC, and the command line `nonet` over them.

pub mod certificate;
pub mod cli;
pub mod client;
pub mod engine;
pub mod ledger;
pub mod scheduler;
pub mod seat;
pub mod server;
