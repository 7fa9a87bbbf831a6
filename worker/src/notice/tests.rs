use std::{
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    sync::{Arc, Mutex},
    thread,
};

use super::*;

/// A web server that answers each request, given by its first line and headers, as `answer` says: code and text.
fn serve(answer: impl Fn(&str, &[String]) -> (u16, String) + Send + 'static) -> Url {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
            let Some(Ok(first)) = lines.next() else { continue };
            let headers: Vec<_> = lines
                .map_while(Result::ok)
                .take_while(|line| !line.is_empty())
                .map(|l| l.to_lowercase())
                .collect();
            let (code, text) = answer(&first, &headers);
            let len = text.len();
            drop(write!(
                stream,
                "HTTP/1.1 {code} X\r\nContent-Length: {len}\r\nConnection: close\r\n\r\n{text}"
            ));
        }
    });
    Url::parse(&url).expect("a URL")
}

async fn ask(notice: &str, endpoint: &Url) -> Result<Option<String>, String> {
    let notice = notice.parse().expect("a source");
    Source::open(&notice, Some(endpoint)).expect("opens").ask().await
}

#[test]
fn sources_are_read_as_they_are_written() {
    for text in ["file:/run/spot", "command:sleep 5; true", "http://127.0.0.1:1/x", "aws", "gcp", "azure"] {
        assert_eq!(text.parse::<Notice>().expect(text).to_string(), text);
    }
    for bad in ["", "file:", "command:", "spot", "ftp://x", "http://", "AWS", &"x".repeat(5_000)] {
        let error = bad.parse::<Notice>().expect_err(bad);
        assert!(error.contains("--notice"), "{error}");
    }
}

#[tokio::test]
async fn a_url_says_so_with_200_and_nothing_else() {
    let code = Arc::new(Mutex::new(404));
    let said = Arc::clone(&code);
    let url = serve(move |_, _| (*said.lock().expect("a code"), "body".into()));
    for silent in [404, 500, 204, 301, 403] {
        *code.lock().expect("a code") = silent;
        assert_eq!(ask(url.as_str(), &url).await, Ok(None), "{silent}");
    }
    *code.lock().expect("a code") = 200;
    assert!(ask(url.as_str(), &url).await.expect("an answer").is_some());
    let nobody = Url::parse("http://127.0.0.1:1/").expect("a URL");
    assert!(ask(nobody.as_str(), &nobody).await.expect_err("nobody").contains("refused"));
    let endless = serve(|_, _| (200, "x".repeat(1 << 20)));
    assert!(ask(endless.as_str(), &endless).await.expect_err("too long").contains("more than"));
}

#[tokio::test]
async fn clouds_are_asked_as_they_document_it() {
    let goes = Arc::new(Mutex::new(false));
    let expired = Arc::new(Mutex::new(false));
    let (going, old) = (Arc::clone(&goes), Arc::clone(&expired));
    let url = serve(move |first, headers| {
        let goes = *going.lock().expect("set");
        let has = |header: &str| headers.iter().any(|line| line == header);
        let answer = |code, text: &str| (code, text.to_owned());
        match first.trim_end_matches(" HTTP/1.1") {
            "PUT /latest/api/token" if has("x-aws-ec2-metadata-token-ttl-seconds: 21600") => {
                answer(200, "t0ken")
            }
            "GET /latest/meta-data/spot/instance-action" if !has("x-aws-ec2-metadata-token: t0ken") => {
                answer(401, "")
            }
            "GET /latest/meta-data/spot/instance-action" if *old.lock().expect("set") => answer(401, ""),
            "GET /latest/meta-data/spot/instance-action" if goes => {
                answer(200, r#"{"action":"terminate","time":"2026-12-03T08:22:00Z"}"#)
            }
            "GET /computeMetadata/v1/instance/preempted" if has("metadata-flavor: google") => {
                answer(200, if goes { "TRUE" } else { "FALSE" })
            }
            "GET /metadata/instance/compute/name?api-version=2021-02-01&format=text"
                if has("metadata: true") =>
            {
                answer(200, "farm_3")
            }
            "GET /metadata/scheduledevents?api-version=2020-07-01" if has("metadata: true") => {
                let whose = if goes { "FARM_3" } else { "farm_4" };
                let other = r#"{"EventId":"1","EventType":"Freeze","Resources":["farm_3"]}"#;
                let event = format!(r#"{{"EventId":"2","EventType":"Preempt","Resources":["{whose}"]}}"#);
                answer(200, &format!(r#"{{"DocumentIncarnation":1,"Events":[{other},{event}]}}"#))
            }
            _ => answer(404, ""),
        }
    });
    for cloud in ["aws", "gcp", "azure"] {
        *goes.lock().expect("set") = false;
        assert_eq!(ask(cloud, &url).await, Ok(None), "{cloud}");
        *goes.lock().expect("set") = true;
        let why = ask(cloud, &url).await.expect(cloud).expect("it goes");
        assert!(why.contains("cloud"), "{why}");
    }
    // A token that has expired is asked for anew.
    let mut aws = Source::open(&"aws".parse().expect("aws"), Some(&url)).expect("opens");
    *expired.lock().expect("set") = true;
    aws.ask().await.expect_err("expired");
    *expired.lock().expect("set") = false;
    assert!(aws.ask().await.expect("an answer").is_some());
    // Elsewhere nobody says anything.
    let nothing = serve(|_, _| (404, String::new()));
    for cloud in ["aws", "gcp", "azure"] {
        ask(cloud, &nothing).await.expect_err("no cloud of this kind");
    }
    let nonsense = serve(|_, _| (200, "<html>".into()));
    assert_eq!(ask("gcp", &nonsense).await, Ok(None));
    assert!(ask("azure", &nonsense).await.expect_err("no events").contains("no list of events"));
}

#[tokio::test]
async fn files_and_commands_are_asked_again_and_the_first_yes_is_enough() {
    let dir = tempfile::tempdir().expect("a folder");
    let (file, tried) = (dir.path().join("go"), dir.path().join("tried"));
    let leave = CancellationToken::new();
    let notices = [
        format!("file:{}", file.display()),
        // One that waits for ever, one that never says so, one that cannot be run.
        "command:sleep 1000".into(),
        format!("command:touch {}; exit 3", tried.display()),
        "command:/nowhere/to/be/found".into(),
        "http://127.0.0.1:1/".into(),
    ];
    let notices = notices.iter().map(|text| text.parse().expect(text)).collect();
    watch(notices, None, &leave).expect("watches");
    while !tried.exists() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(!leave.is_cancelled());
    std::fs::write(&file, "").expect("written");
    tokio::time::timeout(Duration::from_secs(20), leave.cancelled()).await.expect("heard");
    let many = vec![Notice::File(file); MAX_NOTICES + 1];
    assert!(watch(many, None, &leave).expect_err("too many").contains("at most"));
}

#[tokio::test]
async fn a_command_that_is_not_waited_for_is_ended_with_all_that_it_started() {
    let dir = tempfile::tempdir().expect("a folder");
    let pids = dir.path().join("pids");
    let command = format!("sleep 1000 & echo $! >> {0}; echo $$ >> {0}; wait", pids.display());
    let asking = tokio::spawn(async move { command::ask(&command).await });
    let read =
        || std::fs::read_to_string(&pids).unwrap_or_default().lines().map(str::to_owned).collect::<Vec<_>>();
    while read().len() < 2 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    asking.abort();
    let alive = |pid: &String| {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // One that is dead and not yet waited for is as good as gone.
        !state.is_empty() && !state.contains(") Z ")
    };
    let gone = async {
        while read().iter().any(alive) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), gone).await.expect("all are ended");
}
