//! A real S3 server on loopback.

use std::{path::Path, process::Command};

use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto::Builder,
};
use s3s::{auth::SimpleAuth, service::S3ServiceBuilder};
use s3s_fs::FileSystem;
use tokio::{net::TcpListener, runtime::Runtime};

const KEY: &str = "key";
const SECRET: &str = "secret";

/// A server of the buckets below a folder.
pub fn serve(root: &Path) -> (Runtime, String) {
    serve_at(root, "127.0.0.1:0")
}

/// The same at an address.
pub fn serve_at(root: &Path, address: &str) -> (Runtime, String) {
    let runtime = Runtime::new().expect("a runtime");
    let mut service = S3ServiceBuilder::new(FileSystem::new(root).expect("a folder"));
    service.set_auth(SimpleAuth::from_single(KEY, SECRET));
    let service = service.build().into_shared();
    let listener = runtime.block_on(TcpListener::bind(address)).expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    runtime.spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let service = service.clone();
            tokio::spawn(async move {
                drop(
                    Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(socket), service).await,
                );
            });
        }
    });
    (runtime, url)
}

/// With what it takes to reach a store.
pub fn with_keys(mut command: Command, url: &str) -> Command {
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("AWS_") || name.ends_with("_proxy"))
    {
        command.env_remove(name);
    }
    command.env("AWS_ENDPOINT", url).env("AWS_ALLOW_HTTP", "true").env("AWS_REGION", "us-east-1");
    command.env("AWS_ACCESS_KEY_ID", KEY).env("AWS_SECRET_ACCESS_KEY", SECRET);
    command
}
