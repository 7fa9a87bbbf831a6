//! The worker: takes leases from a coordinator, computes them on a rayon pool, keeps checkpoints, hands results in.

pub mod agent;
mod backoff;
pub mod bridge;
pub mod cli;
pub mod config;
pub mod config_file;
pub mod credentials;
mod crew;
pub mod dial;
mod job_cache;
pub mod labels;
pub mod lease;
pub mod link;
pub mod log;
pub mod notice;
pub mod objects;
mod outbox;
pub mod part_index;
pub mod part_writer;
pub mod parts;
pub mod spool;
mod spool_writer;
pub mod storage;
pub mod store;
pub mod tls;
mod waits;
