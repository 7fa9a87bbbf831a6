//! What `deploy/` says, held against schemas, against itself, and against the program.
//!
//! No cluster, cloud or container runtime is asked. What a schema cannot know is looked up where it is: options and variables in
//! `nonet --help`, metrics in `/metrics`, secrets in the README that makes them, names of services and ports in the manifests.

mod farm;

#[path = "deploy/compose.rs"]
mod compose;
#[path = "deploy/files.rs"]
mod files;
#[path = "deploy/image.rs"]
mod image;
#[path = "deploy/kubernetes.rs"]
mod kubernetes;
#[path = "deploy/kustomize.rs"]
mod kustomize;
#[path = "deploy/network.rs"]
mod network;
#[path = "deploy/program.rs"]
mod program;
#[path = "deploy/readmes.rs"]
mod readmes;
#[path = "deploy/schema.rs"]
mod schema;
#[path = "deploy/systemd.rs"]
mod systemd;
#[path = "deploy/terraform.rs"]
mod terraform;
