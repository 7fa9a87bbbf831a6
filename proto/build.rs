//! Compiles the .proto files with protox: pure Rust, so that no protoc has to be installed.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files = ["nonet/v1/farm.proto", "nonet/v1/jobs.proto", "etcd/rpc.proto"];
    for file in files {
        println!("cargo::rerun-if-changed=proto/{file}");
    }
    let descriptors = protox::compile(files, ["proto"])?;
    tonic_prost_build::configure().bytes(".").compile_fds(descriptors)?;
    Ok(())
}
