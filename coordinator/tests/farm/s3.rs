//! A real S3 server on loopback.

use std::{
    path::{Path, PathBuf},
    pin::Pin,
    process::Command,
};

use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto::Builder,
};
use s3s::{
    S3Result,
    access::{S3Access, S3AccessContext},
    auth::SimpleAuth,
    s3_error,
    service::S3ServiceBuilder,
};
use s3s_fs::FileSystem;
use tokio::{net::TcpListener, runtime::Runtime};

const KEY: &str = "key";
const SECRET: &str = "secret";
/// A key that may not write.
pub const READER: &str = "reader";

/// What the server itself does not look after: buckets have to be there, and readers only read.
struct Guard {
    root: PathBuf,
}

impl S3Access for Guard {
    // What `async_trait` makes of `async fn`.
    fn check<'a, 'b, 'c, 'all>(
        &'a self,
        context: &'b mut S3AccessContext<'c>,
    ) -> Pin<Box<dyn Future<Output = S3Result<()>> + Send + 'all>>
    where
        'a: 'all,
        'b: 'all,
        'c: 'all,
        Self: 'all,
    {
        let there = context.s3_path().get_bucket_name().is_none_or(|bucket| self.root.join(bucket).is_dir());
        let reads = ["GET", "HEAD"].contains(&context.method().as_str());
        let may = context.credentials().is_some_and(|key| key.access_key == KEY || reads);
        Box::pin(async move {
            match (may, there) {
                (false, _) => Err(s3_error!(AccessDenied)),
                (_, false) => Err(s3_error!(NoSuchBucket)),
                (true, true) => Ok(()),
            }
        })
    }
}

/// A server of the buckets below a folder.
pub fn serve(root: &Path) -> (Runtime, String) {
    serve_at(root, "127.0.0.1:0")
}

/// The same at an address.
pub fn serve_at(root: &Path, address: &str) -> (Runtime, String) {
    let runtime = Runtime::new().expect("a runtime");
    let mut service = S3ServiceBuilder::new(FileSystem::new(root).expect("a folder"));
    let mut keys = SimpleAuth::from_single(KEY, SECRET);
    keys.register(READER.into(), SECRET.into());
    service.set_auth(keys);
    service.set_access(Guard { root: root.to_owned() });
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
