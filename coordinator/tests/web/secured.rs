//! Rights: tokens, logins, certificates.

use std::path::{Path, PathBuf};

use coordinator::access::Role;

use super::{
    Answer, Farm, Shown, Site, farm::authority::Authority, free_address, get, post, request, run,
    send_encrypted, until, why,
};

const VIEWED: [&str; 7] = [
    "/metrics",
    "/api/v1/jobs",
    "/api/v1/jobs/noop",
    "/api/v1/jobs/noop/ranges",
    "/api/v1/jobs/noop/report",
    "/api/v1/jobs/noop/report.html",
    "/api/v1/workers",
];

/// Tokens of everybody, and the file that they are in.
struct Tokens {
    dir: tempfile::TempDir,
    secrets: Vec<(&'static str, String)>,
}

impl Tokens {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let mut tokens = Self { dir, secrets: Vec::new() };
        for role in ["worker", "viewer", "operator"] {
            let file = tokens.file();
            let (code, secret, said) =
                run(&["tokens", "add", &format!("my-{role}"), "--role", role, "--file", &file]);
            assert_eq!(code, Some(0), "{said}");
            tokens.secrets.push((role, secret.trim().to_owned()));
        }
        tokens
    }

    fn file(&self) -> String {
        text(&self.dir.path().join("tokens.toml"))
    }

    fn secret(&self, role: &str) -> &str {
        &self.secrets.iter().find(|(of, _)| *of == role).expect("a token").1
    }

    /// The header that shows one.
    fn shown(&self, role: &str) -> String {
        format!("Bearer {}", self.secret(role))
    }

    /// What workers and users of a farm show.
    fn for_farm(&self) -> Shown {
        let option = |role: &str| {
            let path: PathBuf = self.dir.path().join(format!("{role}.token"));
            std::fs::write(&path, self.secret(role)).expect("written");
            vec!["--token-file".to_owned(), text(&path)]
        };
        Shown { by_workers: option("worker"), by_users: option("operator") }
    }

    fn site(&self, workers: usize) -> Site {
        Site::start_as(workers, &["--tokens", &self.file()], self.for_farm())
    }
}

fn text(path: &Path) -> String {
    path.to_str().expect("UTF-8").into()
}

/// The cookie that an answer sets, without what is said of it.
fn cookie(answer: &Answer) -> String {
    let set = answer.header("set-cookie").expect("a cookie");
    set.split(';').next().expect("a pair").to_owned()
}

#[test]
fn viewers_see_operators_do_and_nobody_else_does_anything() {
    let tokens = Tokens::new();
    let site = tokens.site(1);
    site.submit(&["--units", "100000", "--unit-us", "1000"]);
    until("the worker is there", || {
        site.get_as("/api/v1/workers", &[("Authorization", &tokens.shown("viewer"))]).json()["connected"] == 1
    });
    let crew = site.get_as("/api/v1/workers", &[("Authorization", &tokens.shown("viewer"))]).json();
    let worker = crew["workers"][0]["id"].as_str().expect("an id").to_owned();
    let done = |role: &str, path: &str| {
        let header = tokens.shown(role);
        let shown = if role.is_empty() { vec![] } else { vec![("Authorization", header.as_str())] };
        site.post_as(path, &shown)
    };
    let control = ["pause", "resume", "retry", "cancel"].map(|verb| format!("/api/v1/jobs/noop/{verb}"));
    let lead = ["drain", "readmit"].map(|verb| format!("/api/v1/workers/{worker}/{verb}"));
    for path in control.iter().chain(&lead) {
        for (role, status) in [("viewer", 403), ("worker", 403)] {
            let answer = done(role, path);
            assert_eq!(answer.status, status, "{role} {path}: {answer:?}");
            assert!(
                why(&answer).contains(&format!("my-{role} has role {role}, and this needs role operator"))
            );
        }
        let nobody = site.post(path);
        assert_eq!((nobody.status, nobody.header("www-authenticate")), (401, Some("Bearer")), "{nobody:?}");
    }
    for path in VIEWED {
        let asked = |role: &str| site.get_as(path, &[("Authorization", &tokens.shown(role))]).status;
        assert_eq!((asked("viewer"), asked("operator"), asked("worker")), (200, 200, 403), "{path}");
        let nobody = site.get(path);
        assert_eq!(nobody.status, 401, "{path}");
        assert!(why(&nobody).contains("nonet tokens add"), "{nobody:?}");
        assert_eq!(site.get_as(path, &[("Authorization", "Bearer guessed")]).status, 401);
    }
    assert_eq!(site.listen(&[]).err().expect("refused").status, 401);
    let worker_token = tokens.shown("worker");
    assert_eq!(site.listen(&[("Authorization", &worker_token)]).err().expect("refused").status, 403);
    let status = site.farm.ask(&["status", "noop"]);
    assert_eq!(
        (&status["state"], site.farm.ask(&["workers"])[0]["draining"].clone()),
        (&"running".into(), false.into())
    );

    assert_eq!(done("operator", &control[0]).json()["state"], "paused");
    assert_eq!(done("operator", &control[3]).json()["state"], "cancelled");
    assert_eq!(done("operator", &lead[0]).status, 200);
    let acts = site.farm.ask(&["audit"]);
    let by: Vec<_> =
        acts.as_array().expect("acts").iter().map(|act| act["who"].as_str().expect("a name")).collect();
    assert_eq!(by, ["my-operator"; 4], "{acts}");
}

#[test]
fn a_login_is_a_cookie_that_ends_with_it_and_with_its_token() {
    let tokens = Tokens::new();
    let site = tokens.site(0);
    let log_in = |secret: &str| {
        let body = serde_json::json!({ "token": secret }).to_string();
        post(&site.web, "/api/v1/login", &[], &body).expect("an answer")
    };
    let who = |cookie: &str| site.get_as("/api/v1/whoami", &[("Cookie", cookie)]).json();
    let nobody = who("");
    assert_eq!(
        (&nobody["asks_for_token"], &nobody["may_view"], &nobody["may_operate"]),
        (&true.into(), &false.into(), &false.into())
    );
    assert_eq!(nobody["who"], serde_json::Value::Null);

    let viewer = log_in(tokens.secret("viewer"));
    assert_eq!(
        (viewer.status, &viewer.json()["who"], &viewer.json()["role"]),
        (200, &"my-viewer".into(), &"viewer".into())
    );
    let set = viewer.header("set-cookie").expect("a cookie");
    assert!(
        set.contains("; HttpOnly") && set.contains("; SameSite=Strict") && set.contains("; Path=/"),
        "{set}"
    );
    assert!(!set.contains("Secure"), "there is no encryption: {set}");
    assert!(!set.contains(tokens.secret("viewer")), "the token itself is not kept in browsers");
    let viewer = cookie(&viewer);
    let seen = who(&viewer);
    assert_eq!(
        (&seen["may_view"], &seen["may_operate"], &seen["who"]),
        (&true.into(), &false.into(), &"my-viewer".into())
    );
    assert_eq!(site.get_as("/api/v1/jobs", &[("Cookie", &viewer)]).status, 200);
    // Among others, as browsers send them.
    assert_eq!(site.get_as("/api/v1/jobs", &[("Cookie", &format!("a=b; {viewer}; c=d"))]).status, 200);
    assert_eq!(site.post_as("/api/v1/jobs/noop/pause", &[("Cookie", &viewer)]).status, 403);
    let operator = cookie(&log_in(tokens.secret("operator")));
    assert_eq!(who(&operator)["may_operate"], true);
    assert_eq!(site.post_as("/api/v1/jobs/noop/pause", &[("Cookie", &operator)]).status, 404, "no such job");

    assert_eq!(log_in("guessed").status, 401);
    let worker = log_in(tokens.secret("worker"));
    assert_eq!(worker.status, 403, "{worker:?}");
    assert!(why(&worker).contains("role viewer or operator"), "{worker:?}");
    assert_eq!(post(&site.web, "/api/v1/login", &[], "{\"token\":7}").expect("an answer").status, 400);

    let gone = site.post_as("/api/v1/logout", &[("Cookie", &operator)]);
    assert!(gone.header("set-cookie").expect("a cookie").contains("Max-Age=0"), "{gone:?}");
    assert_eq!(site.get_as("/api/v1/jobs", &[("Cookie", &operator)]).status, 401);

    // A token that is taken away ends what was begun with it.
    let mut events = site.listen(&[("Cookie", &viewer)]).expect("events");
    events.until("standing", |_| true);
    assert_eq!(run(&["tokens", "remove", "my-viewer", "--file", &tokens.file()]).0, Some(0));
    let mut last = String::new();
    while let Some((name, _)) = events.next() {
        last = name;
    }
    assert_eq!(last, "over");
    assert_eq!(site.get_as("/api/v1/jobs", &[("Cookie", &viewer)]).status, 401);

    let tried: Vec<_> = (0..40).map(|_| log_in("guessed").status).collect();
    assert!(tried.contains(&429), "guessing is slow: {tried:?}");
}

#[test]
fn with_certificates_the_page_is_encrypted_and_its_cookies_are_too() {
    let (authority, tokens) = (Authority::new(), Tokens::new());
    let head = authority.issue_for("head", Role::Coordinator, 30, &["127.0.0.1"]);
    let web = free_address();
    let mut shown = tokens.for_farm();
    shown.by_users.extend(["--tls".to_owned(), authority.issue("me", Role::Operator)]);
    let options = ["--tls", &head, "--tokens", &tokens.file(), "--web", &web];
    let farm = Farm::start_as(0, &options, shown, free_address());
    farm.ask(&["submit", "noop", "--units", "10"]);
    let asked = |method: &str, path: &str, headers: super::Headers, body: Option<&str>| {
        send_encrypted(&web, &authority.ca(), &request(&web, (method, path), headers, body))
    };
    assert_eq!(asked("GET", "/", &[], None).status, 200);
    assert_eq!(
        asked("GET", "/api/v1/jobs", &[], None).status,
        401,
        "a browser shows no certificate, but a token"
    );
    let bearer = tokens.shown("viewer");
    assert_eq!(asked("GET", "/api/v1/jobs", &[("Authorization", &bearer)], None).json()["matching"], 1);
    let body = serde_json::json!({ "token": tokens.secret("operator") }).to_string();
    let origin = format!("https://{web}");
    let json = [("Content-Type", "application/json"), ("Origin", origin.as_str())];
    let login = asked("POST", "/api/v1/login", &json, Some(&body));
    assert_eq!(login.status, 200, "{login:?}");
    assert!(login.header("set-cookie").expect("a cookie").contains("; Secure"), "{login:?}");
    let cookie = cookie(&login);
    let headers = [&json[..], &[("Cookie", cookie.as_str())]].concat();
    let paused = asked("POST", "/api/v1/jobs/noop/pause", &headers, Some("{}"));
    assert_eq!(paused.json()["state"], "paused", "{paused:?}");
    assert_eq!(farm.ask(&["status", "noop"])["state"], "paused");
    let plain = get(&web, "/", &[]).expect("an answer");
    assert_eq!((plain.status, plain.body.as_str()), (400, "this port speaks TLS: use https://"));
}

#[test]
fn a_page_that_others_can_reach_asks_for_tokens_and_encryption() {
    let (authority, tokens) = (Authority::new(), Tokens::new());
    let head = authority.issue("head", Role::Coordinator);
    let dir = tempfile::tempdir().expect("a folder");
    let state = text(&dir.path().join("state"));
    let refused = |options: &[&str], parts: &[&str]| {
        let listen = free_address();
        let args = [&["coordinator", "--listen", &listen, "--state", &state], options].concat();
        let (code, _, said) = run(&args);
        assert_eq!(code, Some(2), "{options:?}: {said}");
        for part in parts {
            assert!(said.contains(part), "{options:?}: {part:?} is missing in {said}");
        }
    };
    refused(&["--web", "0.0.0.0:0"], &["--web 0.0.0.0:0", "no encryption", "--tls DIR", "--allow-plaintext"]);
    refused(&["--web", "0.0.0.0:0", "--allow-plaintext"], &["--tokens FILE", "nonet tokens add"]);
    refused(&["--web", "[::]:0", "--tls", &head], &["--tokens FILE"]);
    refused(&["--web", "0.0.0.0:0", "--tokens", &tokens.file()], &["no encryption"]);
    refused(&["--web", "nonsense"], &["--web nonsense"]);
}
