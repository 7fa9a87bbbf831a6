//! Strangers who come in thousands: those who work do not notice.

mod farm;

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use coordinator::access::Role;
use farm::{Farm, Shown, authority::Authority, free_address};
use proto::v1::{
    JobStatus, ListRequest, StatusRequest, SubmitRequest, farm_client::FarmClient, jobs_client::JobsClient,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
};
use tonic::{Code, Streaming, body::Body, codegen::http, metadata::MetadataValue, transport::Channel};
use tower::ServiceExt;

/// A connection from another address of this machine.
async fn connect_from(from: &str, to: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::new(from.parse().expect("an address"), 0))?;
    socket.connect(to).await
}

fn address(farm: &Farm) -> SocketAddr {
    farm.url.rsplit('/').next().expect("an address").parse().expect("an address")
}

/// Starts a job of some seconds, lets `flood` go on, and the job must end as if nothing were.
async fn survive(farm: Farm, flood: impl Future<Output = ()>) {
    let submitted = ["submit", "noop", "--units", "3000", "--unit-us", "1000"];
    let farm = tokio::task::spawn_blocking(move || {
        farm.ask(&submitted);
        farm
    });
    let farm = farm.await.expect("submitted");
    flood.await;
    let ended = tokio::task::spawn_blocking(move || {
        let mut farm = farm;
        assert_eq!(farm.wait("noop")["state"], "finished", "{}", farm.log());
        assert_eq!(farm.ask(&["result", "noop"])["sum"], "4498500");
        assert!(!farm.log().contains("panicked"), "{}", farm.log());
        farm.check_ledger();
    });
    ended.await.expect("the job ends");
}

/// Ten thousand connections, each from one of two strange addresses: silent, or with half a handshake.
async fn ten_thousand(to: SocketAddr, first_words: &[u8]) {
    let begun = Instant::now();
    let (mut open, mut closed) = (Vec::new(), 0);
    for i in 0..10_000 {
        let from = if i % 2 == 0 { "127.0.0.77" } else { "127.0.0.78" };
        match connect_from(from, to).await {
            Ok(mut stream) => {
                drop(stream.write_all(first_words).await);
                open.push(stream);
            }
            Err(_) => closed += 1,
        }
    }
    // The coordinator lets few of them wait, and those not for long.
    for mut stream in open {
        let end = tokio::time::timeout(Duration::from_secs(60), async {
            while matches!(stream.read(&mut [0; 256]).await, Ok(read) if read > 0) {}
        });
        end.await.expect("it is closed in the end");
        closed += 1;
    }
    assert_eq!(closed, 10_000);
    println!("10,000 strangers came and went within {:?}", begun.elapsed());
}

fn encrypted() -> (Authority, Farm) {
    let authority = Authority::new();
    let tls = |name, role| vec!["--tls".to_owned(), authority.issue(name, role)];
    let head = authority.issue("head", Role::Coordinator);
    let shown = Shown { by_workers: tls("node", Role::Worker), by_users: tls("alice", Role::Operator) };
    let farm = Farm::start_as(1, &["--tls", &head, "--lease-ms", "200"], shown, free_address());
    (authority, farm)
}

#[tokio::test]
async fn ten_thousand_half_open_handshakes_stop_nobody() {
    let (_authority, farm) = encrypted();
    let to = address(&farm);
    // The head of a TLS record with a hello of 512 bytes, and nothing of it.
    survive(farm, ten_thousand(to, &[22, 3, 1, 2, 0, 1, 0, 1, 252])).await;
}

#[tokio::test]
async fn ten_thousand_connections_that_say_half_a_word_stop_nobody() {
    let farm = Farm::start(1, &["--lease-ms", "200"]);
    let to = address(&farm);
    survive(farm, ten_thousand(to, b"PRI * HTTP/2.0\r\n\r\nSM")).await;
}

/// HTTP/2's first words, settings that change nothing, some frames, then pings for ever, of which no answer is read. How long
/// that goes on.
async fn ping_until_closed(mut stream: TcpStream, frames: &[u8]) -> Duration {
    const PING: [u8; 17] = [0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8];
    let begun = Instant::now();
    let mut words = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    words.extend([0, 0, 0, 4, 0, 0, 0, 0, 0]);
    words.extend(frames);
    let pings = PING.repeat(1000);
    let talk = async {
        while stream.write_all(&words).await.is_ok() {
            words.clone_from(&pings);
        }
    };
    tokio::time::timeout(Duration::from_secs(60), talk).await.expect("it is closed in the end");
    begun.elapsed()
}

/// A request without a message, which is let in all the same: a frame of headers, each written out.
fn bare_request() -> Vec<u8> {
    let headers = [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", "/nonet.v1.Jobs/List"),
        (":authority", "x"),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
    ];
    let mut block = Vec::new();
    for (name, value) in headers {
        block.push(0);
        for text in [name, value] {
            block.push(u8::try_from(text.len()).expect("short"));
            block.extend(text.as_bytes());
        }
    }
    let mut frame = vec![0, 0, u8::try_from(block.len()).expect("short"), 1, 5, 0, 0, 0, 1];
    frame.extend(block);
    frame
}

#[tokio::test]
async fn whoever_speaks_and_never_reads_is_closed_in_time() {
    let farm = Farm::start(0, &[]);
    let connect = || TcpStream::connect(address(&farm));
    let (stranger, known) = (connect().await.expect("connected"), connect().await.expect("connected"));
    let request = bare_request();
    let (stranger, known) =
        tokio::join!(ping_until_closed(stranger, &[]), ping_until_closed(known, &request));
    println!("closed: a stranger after {stranger:?}, a user after {known:?}");
    // Some time for a slow machine; strangers have 10 s, others 20 s since they have read something.
    assert!(stranger < Duration::from_secs(18), "{stranger:?}");
    assert!((Duration::from_secs(19)..Duration::from_secs(45)).contains(&known), "{known:?}");
}

#[tokio::test]
async fn headers_and_requests_beyond_the_bounds_are_refused_and_stop_nobody() {
    let farm = Farm::start(1, &["--lease-ms", "200"]);
    let channel = Channel::from_shared(farm.url.clone()).expect("a URL").connect().await.expect("connected");
    let flood = async {
        let mut client = JobsClient::new(channel.clone());
        for len in [20_000, 1_000_000] {
            let mut request = tonic::Request::new(ListRequest {});
            let value = MetadataValue::try_from("x".repeat(len)).expect("a value");
            request.metadata_mut().insert("x", value);
            let error = client.list(request).await.expect_err("refused");
            println!("{len} bytes of headers: {error}");
        }
        // A message above the bound.
        let settings = " ".repeat(300 << 10);
        let error =
            client.submit(SubmitRequest { settings, ..SubmitRequest::default() }).await.expect_err("refused");
        assert!(matches!(error.code(), Code::OutOfRange | Code::ResourceExhausted), "{error}");
        // More requests than anybody has to ask.
        let answers = futures(client.clone(), 2_000).await;
        let refused = answers.iter().filter(|code| **code == Code::ResourceExhausted).count();
        let answered = answers.iter().filter(|code| **code == Code::Ok).count();
        println!("of 2,000 requests {answered} were answered, {refused} refused");
        assert!(answered >= 200 && refused > 500, "{answers:?}");
        // After a moment there is room again, at a hundred requests a second.
        let begun = Instant::now();
        while client.list(ListRequest {}).await.is_err() {
            assert!(begun.elapsed() < farm::PATIENCE);
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    };
    survive(farm, flood).await;
}

/// Sends many requests at once; what became of them.
async fn futures(client: JobsClient<Channel>, count: usize) -> Vec<Code> {
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..count {
        let mut client = client.clone();
        tasks.spawn(async move {
            client.list(ListRequest {}).await.map_or_else(|status| status.code(), |_| Code::Ok)
        });
    }
    tasks.join_all().await
}

/// A request of a user that is begun and never ended.
#[tokio::test]
async fn a_request_that_never_arrives_is_given_up() {
    let farm = Farm::start(0, &[]);
    let channel = Channel::from_shared(farm.url.clone()).expect("a URL").connect().await.expect("connected");
    for path in ["/nonet.v1.Jobs/List", "/nonet.v1.Jobs/Status"] {
        let elsewhere = channel.clone().map_request(move |mut request: http::Request<Body>| {
            *request.uri_mut() = path.parse().expect("a path");
            request
        });
        let mut client = FarmClient::new(elsewhere);
        let ended = tokio::time::timeout(Duration::from_secs(60), client.work(tokio_stream::pending()));
        let error = ended.await.expect("it is given up").expect_err("no answer");
        assert_eq!(error.code(), Code::DeadlineExceeded, "{error}");
    }
}

/// Watches from an address until there is no place; how many there were.
async fn watch_from(farm: &Farm, from: &'static str, watching: &mut Vec<Streaming<JobStatus>>) -> usize {
    let to = address(farm);
    let before = watching.len();
    loop {
        let dial = tower::service_fn(move |_: http::Uri| async move {
            connect_from(from, to).await.map(hyper_util::rt::TokioIo::new)
        });
        let endpoint = Channel::from_shared(farm.url.clone()).expect("a URL");
        let channel = endpoint.connect_with_connector(dial).await.expect("connected");
        let mut client = JobsClient::new(channel);
        // A connection has room for 64 streams.
        for _ in 0..50 {
            let request = StatusRequest { job: "noop".into(), watch: true };
            match client.status(request).await {
                Ok(stream) => watching.push(stream.into_inner()),
                Err(status) if status.message().contains("watch") => return watching.len() - before,
                // As fast as one address may ask.
                Err(status) => {
                    assert_eq!(status.code(), Code::ResourceExhausted, "{status}");
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
        }
    }
}

#[tokio::test]
async fn watchers_are_counted_by_address_and_in_all() {
    let farm = Farm::start(0, &[]);
    farm.ask(&["submit", "noop", "--units", "10"]);
    let mut watching = Vec::new();
    let mut counts = Vec::new();
    for last in 101..=117 {
        let from = String::leak(format!("127.0.0.{last}"));
        counts.push(watch_from(&farm, from, &mut watching).await);
    }
    // 64 of each, until there are 1,024.
    assert_eq!((&counts[..16], counts[16]), (&[64; 16][..], 0));
    watching.truncate(512);
    let begun = Instant::now();
    while watch_from(&farm, "127.0.0.118", &mut Vec::new()).await != 64 {
        assert!(begun.elapsed() < farm::PATIENCE, "a place is free again");
    }
}
