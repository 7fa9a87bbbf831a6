//! The coordinator: ledger, scheduler, gRPC, and the command line `nonet` over them.

pub mod access;
pub mod certificate;
pub mod certs;
pub mod cli;
pub mod client;
pub mod engine;
pub mod ledger;
pub mod metrics;
pub mod scheduler;
pub mod seat;
pub mod server;
mod shown;
pub mod telemetry;
pub mod traces;
pub mod web;
