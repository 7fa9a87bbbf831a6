//! Who may come, and what they may do: real processes, real sockets, real certificates.

mod farm;

use std::{
    fs,
    net::{SocketAddr, UdpSocket},
    os::unix::fs::PermissionsExt,
    path::Path,
    time::{Duration, Instant},
};

use coordinator::access::Role;
use farm::{Farm, Shown, authority::Authority, etcd::Etcd, free_address, run, until};
use serde_json::Value;
use worker::{
    credentials::Credentials,
    dial::{Dial, DialError},
    tls::TlsFiles,
};

/// Runs `args`, which must fail with `code` and one line that has all of `parts` in it.
fn refused(args: &[&str], code: i32, parts: &[&str]) {
    let (got, stderr) = farm::spawn(args).end();
    assert_eq!(got, Some(code), "{args:?}: {stderr}");
    for part in parts {
        assert!(stderr.contains(part), "{args:?}: {part:?} is missing in {stderr}");
    }
    let said = stderr.lines().filter(|line| line.starts_with("nonet: ")).count();
    assert_eq!(said, 1, "{stderr}");
}

fn tls(dir: &str) -> Vec<String> {
    vec!["--tls".into(), dir.into()]
}

/// A farm with certificates for everybody.
fn encrypted(authority: &Authority, workers: usize, listen: String) -> Farm {
    let head = authority.issue("head", Role::Coordinator);
    let shown = Shown {
        by_workers: tls(&authority.issue("node", Role::Worker)),
        by_users: tls(&authority.issue("alice", Role::Operator)),
    };
    Farm::start_as(workers, &["--tls", &head, "--lease-ms", "200"], shown, listen)
}

fn acts(farm: &Farm) -> Vec<[String; 4]> {
    let acts = farm.ask(&["audit"]);
    let text = |act: &Value, key: &str| act[key].as_str().expect("text").to_owned();
    let acts = acts.as_array().expect("acts").iter();
    acts.map(|act| ["who", "role", "action", "detail"].map(|key| text(act, key))).collect()
}

#[test]
fn an_encrypted_farm_computes_and_its_audit_record_survives_a_kill() {
    let authority = Authority::new();
    let mut farm = encrypted(&authority, 2, free_address());
    farm.ask(&["submit", "noop", "--units", "2000", "--unit-us", "200"]);
    let name = farm.wait("noop")["name"].as_str().expect("a name").to_owned();
    assert_eq!(farm.ask(&["result", "noop"])["sum"], "1999000");
    farm.ask(&["submit", "noop", "--units", "100000", "--unit-us", "1000"]);
    let long = farm.ask(&["jobs"])[1]["name"].as_str().expect("a name").to_owned();
    farm.ask(&["pause", &long]);
    farm.ask(&["pause", &long]);
    farm.ask(&["resume", &long]);
    farm.ask(&["cancel", &long]);
    let (code, _, said) =
        run(&["drain", "w0", "--coordinator", &farm.url, "--tls", &authority.issue("bob", Role::Operator)]);
    assert_eq!(code, Some(0), "{said}");

    let before = acts(&farm);
    let expected = [
        ("alice", "submit", format!("noop {name}")),
        ("alice", "submit", format!("noop {long}")),
        ("alice", "pause", format!("noop {long}")),
        ("alice", "resume", format!("noop {long}")),
        ("alice", "cancel", format!("noop {long}")),
        ("bob", "drain", "worker w0 ".into()),
    ];
    assert_eq!(before.len(), expected.len(), "{before:?}");
    for ([who, role, action, detail], (name, deed, of)) in before.iter().zip(&expected) {
        assert_eq!((who.as_str(), role.as_str(), action.as_str()), (*name, "operator", *deed));
        assert!(detail.starts_with(of.as_str()), "{detail}");
    }
    farm.kill_coordinator();
    farm.start_coordinator();
    assert_eq!(acts(&farm), before);
    farm.ask(&["submit", "noop", "--units", "2000", "--unit-us", "200", "--fresh"]);
    let after = acts(&farm);
    let last: Vec<_> = after[before.len()..].iter().map(|[_, _, action, _]| action.as_str()).collect();
    assert_eq!(last, ["replace", "submit"]);

    farm.check_ledger();
    let (code, export, _) = run(&["ledger", "export", "--state", farm.state().to_str().expect("UTF-8")]);
    assert_eq!(code, Some(0));
    let lines = export.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let exported: Vec<_> =
        lines.filter(|line| line["entry"] == "act").map(|line| line["who"].clone()).collect();
    assert_eq!(exported.len(), after.len());
    assert!(exported.iter().any(|who| who == "bob"));
}

#[test]
fn whoever_is_not_trusted_is_refused_with_the_reason() {
    let (authority, other) = (Authority::new(), Authority::new());
    let port = free_address().rsplit_once(':').expect("a port").1.to_owned();
    let farm = encrypted(&authority, 0, format!("0.0.0.0:{port}"));
    let url = format!("https://127.0.0.1:{port}");
    let alice = authority.issue("alice", Role::Operator);
    let jobs = |more: &[&str]| {
        let mut args = vec!["jobs", "--coordinator", &url];
        args.extend(more);
        args.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let refused = |more: &[&str], code, parts: &[&str]| {
        let args = jobs(more);
        refused(&args.iter().map(String::as_str).collect::<Vec<_>>(), code, parts);
    };
    assert_eq!(run(&["jobs", "--coordinator", &url, "--tls", &alice]).0, Some(0));

    let (ca, eve) = (authority.ca(), other.issue("eve", Role::Operator));
    let (eve_cert, eve_key) = (format!("{eve}/cert.pem"), format!("{eve}/key.pem"));
    refused(&[], 2, &["whose certificates to trust", "--tls"]);
    refused(&["--tls-ca", &ca], 1, &["no safe connection to", "asks for a certificate", "--tls-cert"]);
    refused(
        &["--tls-ca", &ca, "--tls-cert", &eve_cert, "--tls-key", &eve_key],
        1,
        &["does not take our certificate", "eve/cert.pem", "another CA"],
    );
    refused(&["--tls", &eve], 1, &["coordinator's certificate", "another CA than", "eve/ca.pem"]);
    // Nor is any of several asked again that would say the same: none of them is waited for as if it were being elected.
    let several = format!("{url},https://localhost:{port}");
    let begun = Instant::now();
    self::refused(&["jobs", "--coordinator", &several, "--tls", &eve], 1, &["another CA than"]);
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    refused(
        &["--tls", &authority.issue_for("old", Role::Operator, 0, &[])],
        2,
        &["old/cert.pem", "has expired"],
    );
    refused(&["--tls-ca", &ca, "--tls-cert", &eve_cert], 2, &["--tls-key is missing"]);
    let alice_cert = format!("{alice}/cert.pem");
    refused(
        &["--tls-ca", &ca, "--tls-cert", &alice_cert, "--tls-key", &eve_key],
        2,
        &["eve/key.pem", "not that of"],
    );
    refused(&["--tls", "/nowhere"], 2, &["/nowhere/ca.pem", "No such file"]);
    // The certificate of a coordinator makes no client.
    refused(&["--tls", &authority.issue("head2", Role::Coordinator)], 2, &["was not made for this"]);

    let elsewhere = format!("https://127.0.0.2:{port}");
    let wrong_name = ["jobs", "--coordinator", &elsewhere, "--tls", &alice];
    self::refused(&wrong_name, 1, &["localhost, 127.0.0.1", "not for 127.0.0.2", "--host 127.0.0.2"]);
    let plain = format!("http://127.0.0.1:{port}");
    self::refused(&["jobs", "--coordinator", &plain, "--tls", &alice], 1, &["speaks TLS", "https://"]);
    let unencrypted = Farm::start(0, &[]);
    let wrong_scheme = unencrypted.url.replace("http:", "https:");
    self::refused(
        &["jobs", "--coordinator", &wrong_scheme, "--tls", &alice],
        1,
        &["does not speak TLS", "http://"],
    );

    // Workers that can never be let in end, and say why.
    let state = farm.dir.path().join("w");
    let state = state.to_str().expect("UTF-8");
    let worker = ["worker", "--coordinator", &url, "--state", state];
    let foreign = ["--tls-ca", &ca, "--tls-cert", &eve_cert, "--tls-key", &eve_key];
    self::refused(&[&worker[..], &foreign].concat(), 1, &["refuses this worker", "another CA"]);
    self::refused(
        &[&worker[..], &["--tls", &alice]].concat(),
        1,
        &["alice has role operator", "needs role worker"],
    );
    // A coordinator that nobody would believe does not start.
    let listen = ["coordinator", "--listen", "127.0.0.1:0", "--state", state];
    let old_head = authority.issue_for("old-head", Role::Coordinator, 0, &[]);
    self::refused(&[&listen[..], &["--tls", &old_head]].concat(), 2, &["old-head/cert.pem", "has expired"]);
    self::refused(
        &[&listen[..], &["--tls", &alice]].concat(),
        2,
        &["was not made for this", "role coordinator"],
    );
}

/// A client that does not look at its own certificate first, so that the coordinator has to.
fn careless(dir: &str) -> tokio_rustls::TlsConnector {
    use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
    let read = |name: &str| CertificateDer::from_pem_file(Path::new(dir).join(name)).expect("a certificate");
    let mut roots = rustls::RootCertStore::empty();
    roots.add(read("ca.pem")).expect("a CA");
    let key = PrivateKeyDer::from_pem_file(Path::new(dir).join("key.pem")).expect("a key");
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("TLS 1.3")
        .with_root_certificates(roots)
        .with_client_auth_cert(vec![read("cert.pem")], key)
        .expect("a certificate");
    std::sync::Arc::new(config).into()
}

async fn shake_hands(
    connector: &tokio_rustls::TlsConnector,
    farm: &Farm,
) -> tokio_rustls::client::TlsStream<tokio::net::TcpStream> {
    let stream = tokio::net::TcpStream::connect(farm.url.trim_start_matches("https://")).await;
    let name = rustls::pki_types::ServerName::try_from("localhost").expect("a name");
    let stream = connector.connect(name, stream.expect("connected")).await;
    stream.expect("our half of the handshake")
}

#[tokio::test]
async fn a_certificate_that_has_expired_is_refused_by_the_coordinator_too() {
    use tokio::io::AsyncReadExt;
    let authority = Authority::new();
    let farm = encrypted(&authority, 0, free_address());
    let old = careless(&authority.issue_for("old", Role::Operator, 0, &[]));
    let error = shake_hands(&old, &farm).await.read(&mut [0; 64]).await.expect_err("refused");
    assert!(error.to_string().contains("CertificateExpired"), "{error}");
    until("the log has it", || farm.log().contains("expired"));
}

#[tokio::test]
async fn every_connection_shows_its_certificate_anew() {
    use tokio::io::AsyncReadExt;
    let authority = Authority::new();
    let farm = encrypted(&authority, 0, free_address());
    let alice = careless(&authority.issue("alice", Role::Operator));
    for _ in 0..2 {
        let mut stream = shake_hands(&alice, &farm).await;
        assert_eq!(stream.get_ref().1.handshake_kind(), Some(rustls::HandshakeKind::Full));
        // What a session could be resumed with would come before the first word.
        assert!(stream.read(&mut [0; 64]).await.expect("a word") > 0);
    }
}

/// Somebody on the way answers our hello with an alert: nobody has proved who says so, and a worker tries again.
#[tokio::test]
async fn an_alert_in_plain_text_is_no_refusal_of_the_coordinator() {
    use rustls::AlertDescription as Alert;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let authority = Authority::new();
    let tls = TlsFiles::in_folder(Path::new(&authority.issue("node", Role::Worker)));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("https://{}", listener.local_addr().expect("an address"));
    let dial = Dial::tcp(&url, Credentials { tls: Some(tls), ..Credentials::default() }).expect("an address");
    for alert in [Alert::AccessDenied, Alert::BadCertificate, Alert::CertificateRequired, Alert::UnknownCA] {
        let answer = async {
            let (mut stream, _) = listener.accept().await.expect("a client");
            let mut head = [0; 5];
            stream.read_exact(&mut head).await.expect("the head of a hello");
            let mut hello = vec![0; usize::from(u16::from_be_bytes([head[3], head[4]]))];
            stream.read_exact(&mut hello).await.expect("a hello");
            stream.write_all(&[21, 3, 3, 0, 2, 2, u8::from(alert)]).await.expect("written");
            stream
        };
        let (connected, _stream) = tokio::join!(dial.connect(), answer);
        let error = connected.expect_err("an alert");
        assert!(matches!(error, DialError::Tls { .. }) && !error.is_refusal(), "{error}");
    }
}

/// Adds a token with the command line; the path of a file with its secret.
fn token(dir: &Path, name: &str, role: &str) -> String {
    let file = dir.join("tokens.toml");
    let (code, secret, said) =
        run(&["tokens", "add", name, "--role", role, "--file", file.to_str().expect("UTF-8")]);
    assert_eq!(code, Some(0), "{said}");
    let path = dir.join(format!("{name}.token"));
    fs::write(&path, secret).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("changed");
    path.to_str().expect("UTF-8").into()
}

#[test]
fn a_token_gives_its_role_and_no_more_and_the_file_may_change_meanwhile() {
    let dir = tempfile::tempdir().expect("a folder");
    let dir = dir.path();
    let roles = ["worker", "viewer", "operator"];
    let [worker, viewer, operator] = roles.map(|role| token(dir, &format!("the-{role}"), role));
    let tokens = dir.join("tokens.toml");
    let tokens = tokens.to_str().expect("UTF-8");
    let shown = |file: &str| vec!["--token-file".to_owned(), file.to_owned()];
    let shown = Shown { by_workers: shown(&worker), by_users: shown(&operator) };
    let farm = Farm::start_as(1, &["--tokens", tokens], shown, free_address());
    let url = farm.url.as_str();
    farm.ask(&["submit", "noop", "--units", "500"]);
    assert_eq!(farm.wait("noop")["state"], "finished");

    let ask =
        |args: &[&str], token: &str| run(&[args, &["--coordinator", url, "--token-file", token]].concat());
    let denied = |args: &[&str], token: &str, needed: &str| {
        let (code, _, said) = ask(args, token);
        assert_eq!((code, said.contains(needed)), (Some(1), true), "{args:?}: {said}");
    };
    let submit = ["submit", "noop", "--units", "600"];
    for args in [&["jobs"][..], &["status", "noop"], &["result", "noop"], &["workers"]] {
        assert_eq!(ask(args, &viewer).0, Some(0), "{args:?}");
        assert_eq!(ask(args, &operator).0, Some(0), "{args:?}");
        denied(args, &worker, "the-worker has role worker, and this needs role viewer or operator");
    }
    for args in [
        &submit[..],
        &["pause", "noop"],
        &["cancel", "noop"],
        &["retry", "noop"],
        &["drain", "w0"],
        &["audit"],
    ] {
        denied(args, &viewer, "the-viewer has role viewer, and this needs role operator");
        denied(args, &worker, "the-worker has role worker, and this needs role operator");
    }
    let state = dir.join("w");
    let several = format!("{url},{url}");
    let begun = Instant::now();
    refused(&["jobs", "--coordinator", &several], 1, &["asks for a token"]);
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    let work = ["worker", "--state", state.to_str().expect("UTF-8")];
    denied(&work, &operator, "needs role worker");
    refused(
        &[&work[..], &["--coordinator", url]].concat(),
        1,
        &["refuses this worker", "asks for a token", "--token-file"],
    );
    refused(&["jobs", "--coordinator", url], 1, &["asks for a token", "nonet tokens add", "NONET_TOKEN"]);
    let stray = dir.join("stray");
    fs::write(&stray, "nonet_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA").expect("written");
    denied(&["jobs"], stray.to_str().expect("UTF-8"), "does not know the token");
    fs::write(&stray, "two words").expect("written");
    let (code, _, said) = ask(&["jobs"], stray.to_str().expect("UTF-8"));
    assert_eq!((code, said.contains("one line")), (Some(2), true), "{said}");

    // By variable; and made while the coordinator runs.
    let late = token(dir, "late", "viewer");
    let secret = fs::read_to_string(&late).expect("a token");
    let by_variable = || {
        let mut command = farm::nonet(&["jobs", "--coordinator", url]);
        command.env("NONET_TOKEN", secret.trim()).output().expect("runs").status.code()
    };
    until("the new token is known", || by_variable() == Some(0));
    let (code, ..) = run(&["tokens", "remove", "late", "--file", tokens]);
    assert_eq!(code, Some(0));
    until("it is void", || by_variable() == Some(1));
    let (_, listed, _) = run(&["tokens", "list", "--file", tokens]);
    assert!(
        listed.contains("the-viewer") && !listed.contains("late") && !listed.contains("nonet_"),
        "{listed}"
    );

    // A broken file changes nothing, and is complained about.
    let good = fs::read_to_string(tokens).expect("text");
    fs::write(tokens, "nonsense").expect("written");
    until("the log has it", || farm.log().contains("tokens not read again"));
    assert_eq!(ask(&["jobs"], &viewer).0, Some(0));
    fs::write(tokens, good).expect("written");
    until("it is read again", || farm.log().contains("tokens read again"));
    let read = || farm.log().matches("tokens read again").count();
    let before = read();
    farm.coordinator.as_ref().expect("running").signal("HUP");
    until("it is read on SIGHUP", || read() > before);
    assert_eq!(ask(&["jobs"], &viewer).0, Some(0));

    let acts = acts(&farm);
    assert!(acts.iter().all(|[who, ..]| who == "the-operator") && acts[0][2] == "submit", "{acts:?}");
}

#[tokio::test]
async fn a_token_that_is_removed_ends_what_it_has_opened() {
    use proto::v1::{StatusRequest, jobs_client::JobsClient};
    let dir = tempfile::tempdir().expect("a folder");
    let dir = dir.path();
    let [node, viewer, operator] = [("node", "worker"), ("viewer", "viewer"), ("operator", "operator")]
        .map(|(n, role)| token(dir, n, role));
    let tokens = dir.join("tokens.toml");
    let tokens = tokens.to_str().expect("UTF-8");
    let shown = |file: &str| vec!["--token-file".to_owned(), file.to_owned()];
    let shown = Shown { by_workers: shown(&node), by_users: shown(&operator) };
    let mut farm = Farm::start_as(1, &["--tokens", tokens, "--lease-ms", "200"], shown, free_address());
    farm.ask(&["submit", "noop", "--units", "1000000", "--unit-us", "1000"]);
    until("the worker works", || farm.ask(&["status", "noop"])["done"].as_u64() > Some(0));

    let channel = tonic::transport::Channel::from_shared(farm.url.clone()).expect("a URL");
    let mut client = JobsClient::new(channel.connect().await.expect("connected"));
    let mut request = tonic::Request::new(StatusRequest { job: "noop".into(), watch: true });
    let secret = fs::read_to_string(viewer).expect("a token");
    let bearer = format!("Bearer {}", secret.trim()).parse().expect("a token");
    request.metadata_mut().insert("authorization", bearer);
    let mut watching = client.status(request).await.expect("admitted").into_inner();
    assert!(watching.message().await.expect("a status").is_some());

    let remove = |name: &str| assert_eq!(run(&["tokens", "remove", name, "--file", tokens]).0, Some(0));
    remove("viewer");
    let ended = tokio::time::timeout(farm::PATIENCE, async {
        loop {
            match watching.message().await {
                Ok(Some(_)) => {}
                ended => break ended,
            }
        }
    });
    let status = ended.await.expect("in time").expect_err("ended");
    assert_eq!(status.code(), tonic::Code::Unauthenticated, "{status}");
    assert!(status.message().contains("does not know the token, or no longer"), "{status}");
    // What others have opened goes on.
    assert_eq!(farm.ask(&["workers"]).as_array().map(Vec::len), Some(1));
    remove("node");
    let worker = farm.workers[0].take().expect("a worker");
    assert_eq!(worker.end().0, Some(1));
    let log = fs::read_to_string(farm.dir.path().join("w0.log")).expect("a log");
    assert!(log.contains("refuses this worker") && log.contains("no longer"), "{log}");
    // Its token was in a file that everybody can read.
    assert!(log.contains("node.token is a secret"), "{log}");
}

#[test]
fn a_token_goes_into_a_file_that_is_its_owners_alone() {
    let dir = tempfile::tempdir().expect("a folder");
    let (file, output) = (dir.path().join("tokens.toml"), dir.path().join("alice.token"));
    let (file, output) = (file.to_str().expect("UTF-8"), output.to_str().expect("UTF-8"));
    let add = |name: &str| run(&["tokens", "add", name, "--role", "viewer", "--file", file, "-o", output]);
    let (code, stdout, said) = add("alice");
    assert_eq!((code, stdout.as_str()), (Some(0), ""), "{said}");
    assert_eq!(fs::metadata(output).expect("a file").permissions().mode() & 0o777, 0o600);
    let secret = fs::read_to_string(output).expect("a token");
    assert!(secret.starts_with("nonet_") && secret.ends_with('\n'), "{secret}");
    // It is not written over, and nobody is added whose secret nobody has.
    assert_eq!(add("bob").0, Some(1));
    assert_eq!(fs::read_to_string(output).expect("a token"), secret);
    assert!(!fs::read_to_string(file).expect("tokens").contains("bob"));
}

#[test]
fn what_changes_or_costs_anything_is_on_record() {
    let mut farm = Farm::start(0, &[]);
    farm.ask(&["submit", "noop", "--units", "10"]);
    farm.ask(&["submit", "noop", "--units", "10", "--replicas", "2"]);
    farm.ask(&["submit", "noop", "--units", "10", "--replicas", "2"]);
    let (code, _, said) = run(&["verify", "noop", "--sample", "100%", "--coordinator", &farm.url]);
    assert!(code.is_some(), "{said}");
    let actions = |farm: &Farm| acts(farm).into_iter().map(|[_, _, action, _]| action).collect::<Vec<_>>();
    assert_eq!(actions(&farm), ["submit", "replicas", "verify"]);
    farm.kill_coordinator();
    farm.start_coordinator();
    assert_eq!(actions(&farm), ["submit", "replicas", "verify"]);
    farm.check_ledger();
}

#[test]
fn a_worker_that_one_coordinator_does_not_know_asks_the_others() {
    let dir = tempfile::tempdir().expect("a folder");
    let (known, unknown) = (dir.path().join("known"), dir.path().join("unknown"));
    for dir in [&known, &unknown] {
        fs::create_dir(dir).expect("a folder");
    }
    let (worker, operator) = (token(&known, "w", "worker"), token(&known, "o", "operator"));
    token(&unknown, "other", "worker");
    let file = |dir: &Path| dir.join("tokens.toml").to_str().expect("UTF-8").to_owned();
    let stranger = Farm::start_as(0, &["--tokens", &file(&unknown)], Shown::default(), free_address());
    let shown = |file: &str| vec!["--token-file".to_owned(), file.to_owned()];
    let shown = Shown { by_workers: shown(&worker), by_users: shown(&operator) };
    let mut farm = Farm::start_as(0, &["--tokens", &file(&known)], shown, free_address());
    let url = std::mem::take(&mut farm.url);
    farm.url = format!("{},{url}", stranger.url);
    farm.workers.push(None);
    farm.start_worker(0);
    farm.url = url;
    farm.ask(&["submit", "noop", "--units", "50"]);
    assert_eq!(farm.wait("noop")["state"], "finished", "{}", farm.log());
}

#[test]
fn a_token_and_a_certificate_must_both_have_the_right() {
    let dir = tempfile::tempdir().expect("a folder");
    let operator = token(dir.path(), "boss", "operator");
    let tokens = dir.path().join("tokens.toml");
    let authority = Authority::new();
    let head = authority.issue("head", Role::Coordinator);
    let options = ["--tls", &head, "--tokens", tokens.to_str().expect("UTF-8")];
    let farm = Farm::start_as(0, &options, Shown::default(), free_address());
    let submit = |who: &str, role: Role| {
        let dir = authority.issue(who, role);
        let args = ["submit", "noop", "--units", "7", "--coordinator", &farm.url, "--tls", &dir];
        run(&[&args[..], &["--token-file", &operator]].concat())
    };
    let (code, _, said) = submit("node", Role::Worker);
    assert_eq!((code, said.contains("node has role worker")), (Some(1), true), "{said}");
    assert_eq!(submit("desk", Role::Operator).0, Some(0));
    let desk = authority.issue("desk", Role::Operator);
    refused(&["jobs", "--coordinator", &farm.url, "--tls", &desk], 1, &["asks for a token"]);
    let audit = ["audit", "--coordinator", &farm.url, "--tls", &desk, "--token-file", &operator];
    let (_, table, said) = run(&audit);
    assert!(table.contains("boss with desk") && table.contains("submit"), "{table}{said}");
}

/// An address of this machine that others can reach.
fn own_address() -> Option<SocketAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    // Nothing is sent: the system only chooses the address that it would be sent from.
    socket.connect("198.51.100.1:9").ok()?;
    socket.local_addr().ok().filter(|address| !address.ip().is_loopback() && !address.ip().is_unspecified())
}

#[test]
fn plain_text_leaves_the_machine_only_when_it_is_asked_for_by_name() {
    for url in ["http://192.0.2.200:7700", "http://head.invalid:7700"] {
        refused(&["jobs", "--coordinator", url], 2, &["not encrypted", "https://", "--allow-plaintext"]);
        let dir = tempfile::tempdir().expect("a folder");
        let state = dir.path().join("w");
        let state = state.to_str().expect("UTF-8");
        refused(
            &["worker", "--coordinator", url, "--state", state],
            2,
            &["not encrypted", "--allow-plaintext"],
        );
        assert!(!Path::new(state).exists());
    }
    let ledger = ["coordinator", "--listen", "127.0.0.1:0", "--ledger", "etcd://localhost,etcd.invalid"];
    refused(&ledger, 2, &["etcd.invalid:2379", "not encrypted", "--allow-plaintext"]);
    let Some(address) = own_address() else {
        println!("skipped: this machine has no address but loopback");
        return;
    };
    let port = free_address().rsplit_once(':').expect("a port").1.to_owned();
    let listen = format!("{}:{port}", address.ip());
    let dir = tempfile::tempdir().expect("a folder");
    let state = dir.path().join("c");
    let args = ["coordinator", "--listen", &listen, "--state", state.to_str().expect("UTF-8")];
    refused(&args, 2, &[&listen, "no encryption", "--tls", "--allow-plaintext"]);
    let plainly = || vec!["--allow-plaintext".to_owned()];
    let shown = Shown { by_workers: plainly(), by_users: plainly() };
    let farm = Farm::start_as(1, &["--allow-plaintext"], shown, listen);
    farm.ask(&["submit", "noop", "--units", "50"]);
    assert_eq!(farm.wait("noop")["state"], "finished");
    assert_eq!(acts(&farm)[0][0], "anybody");
    assert!(farm.log().contains("no encryption and no passwords"), "{}", farm.log());
    refused(&["jobs", "--coordinator", &farm.url], 2, &["not encrypted"]);
}

#[test]
fn certificates_are_renewed_while_the_coordinator_runs() {
    let authority = Authority::new();
    let port = free_address().rsplit_once(':').expect("a port").1.to_owned();
    let farm = encrypted(&authority, 0, format!("0.0.0.0:{port}"));
    let (alice, url) = (authority.issue("alice", Role::Operator), format!("https://127.0.0.2:{port}"));
    let jobs = || run(&["jobs", "--coordinator", &url, "--tls", &alice]).0;
    assert_eq!(jobs(), Some(1));
    authority.issue_for("head", Role::Coordinator, 1, &["127.0.0.2"]);
    until("the new certificate is used", || jobs() == Some(0));
    assert!(farm.log().contains("certificates read again"));
}

#[test]
fn on_one_machine_nothing_is_asked_for_and_acts_are_kept_all_the_same() {
    let mut farm = Farm::start(1, &[]);
    farm.ask(&["submit", "burnside", "--shape", "2x2"]);
    assert_eq!(farm.wait("burnside")["state"], "finished");
    let acts = acts(&farm);
    let [of_recount, of_burnside] = acts.as_slice() else { panic!("{acts:?}") };
    assert_eq!([&of_recount[0], &of_recount[1], &of_recount[2]], ["local", "", "submit"]);
    assert!(of_recount[3].starts_with("recount ") && of_burnside[3].starts_with("burnside "), "{acts:?}");
    let (code, _, said) = run(&["submit", "noop", "--units", "9007199254740993", "--coordinator", &farm.url]);
    assert_eq!((code, said.contains("at most 9007199254740992")), (Some(2), true), "{said}");
    farm.check_ledger();
}

#[test]
fn a_ledger_in_etcd_is_reached_with_certificates_or_not_at_all() {
    if !farm::etcd::is_here() {
        return;
    }
    let authority = Authority::new();
    let etcd = Etcd::start_encrypted(1, &authority.issue_for("etcd", Role::Coordinator, 1, &["127.0.0.1"]));
    let ledger = etcd.ledger("x");
    let head = authority.issue("head", Role::Coordinator);
    let shown = Shown {
        by_workers: tls(&authority.issue("node", Role::Worker)),
        by_users: tls(&authority.issue("alice", Role::Operator)),
    };
    let client = authority.issue("head-at-etcd", Role::Operator);
    let options = ["--tls", &head, "--ledger", &ledger, "--ledger-tls", &client, "--lease-ms", "200"];
    let farm = Farm::start_as(1, &options, shown, free_address());
    farm::until("it leads", || farm.log().contains("this coordinator leads"));
    farm.ask(&["submit", "noop", "--units", "2000"]);
    farm.wait("noop");
    let check = ["ledger", "check", "--ledger", &ledger];
    let (code, stdout, stderr) = run(&[&check[..], &["--ledger-tls", &client]].concat());
    assert!(code == Some(0) && stdout.contains("2000 of 2000 units"), "{stdout}{stderr}");
    refused(&check, 2, &["--ledger-tls"]);
    let others = Authority::new();
    let stranger = others.issue("head", Role::Operator);
    refused(&[&check[..], &["--ledger-tls", &stranger]].concat(), 1, &["the ledger in etcds://"]);
    let far = ["coordinator", "--listen", "127.0.0.1:0", "--ledger", "etcd://192.0.2.1"];
    refused(&far, 2, &["etcd://192.0.2.1:2379/nonet is not encrypted", "etcds://", "--allow-plaintext"]);
    let plain = ledger.replace("etcds://", "etcd://");
    refused(&["ledger", "check", "--ledger", &plain], 1, &["the ledger in etcd://"]);
}
