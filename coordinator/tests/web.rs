//! The page's port, as browsers and scripts use it: what each path answers, who may ask, and what is told as it happens.
//! Real coordinators, real workers, real sockets.

mod farm;
#[path = "web/secured.rs"]
mod secured;
#[path = "web/told.rs"]
mod told;

use farm::{
    Farm, Shown, free_address,
    http::{Answer, Events, Headers, get, post, request, send, send_encrypted},
    page::texts,
    run, until,
};
use serde_json::{Value, json};

/// A farm, and where its page is.
struct Site {
    farm: Farm,
    web: String,
}

impl Site {
    fn start(workers: usize, options: &[&str]) -> Self {
        Self::start_as(workers, options, Shown::default())
    }

    fn start_as(workers: usize, options: &[&str], shown: Shown) -> Self {
        let web = free_address();
        let options = [&["--web", &web, "--lease-ms", "300", "--silence-ms", "2000"], options].concat();
        Self { farm: Farm::start_as(workers, &options, shown, free_address()), web }
    }

    fn get(&self, path: &str) -> Answer {
        self.get_as(path, &[])
    }

    fn get_as(&self, path: &str, headers: Headers) -> Answer {
        get(&self.web, path, headers).expect("an answer")
    }

    /// What is there, as JSON.
    fn seen(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")), "{path}");
        answer.json()
    }

    fn post(&self, path: &str) -> Answer {
        self.post_as(path, &[])
    }

    fn post_as(&self, path: &str, headers: Headers) -> Answer {
        post(&self.web, path, headers, "{}").expect("an answer")
    }

    fn listen(&self, headers: Headers) -> Result<Events, Answer> {
        Events::open(&self.web, "/api/v1/events", headers)
    }

    /// Submits a job of the hidden kind; its name.
    fn submit(&self, args: &[&str]) -> String {
        let job = self.farm.ask(&[&["submit", "noop"], args].concat());
        job["name"].as_str().expect("a name").to_owned()
    }
}

/// What a refusal says.
fn why(answer: &Answer) -> String {
    answer.json()["error"].as_str().expect("a reason").to_owned()
}

#[test]
fn jobs_workers_ranges_and_reports_are_as_the_command_line_tells_them() {
    let site = Site::start(2, &[]);
    let name = site.submit(&["--units", "300", "--fail", "7", "--fail", "150"]);
    let status = site.farm.wait(&name);
    let job = site.seen(&format!("/api/v1/jobs/{name}"));
    assert_eq!(
        (&job["name"], &job["kind"], &job["state"]),
        (&status["name"], &"noop".into(), &"finished".into())
    );
    assert_eq!((&job["units"], &job["done"], &job["given_up"]), (&"300".into(), &"298".into(), &"2".into()));
    assert_eq!(job["done_per_mille"], 993);
    let given_up = job["given_up_units"].as_array().expect("units");
    let named: Vec<_> = given_up.iter().map(|unit| [&unit["unit"], &unit["name"], &unit["error"]]).collect();
    assert_eq!(named[0], [&json!("7"), &json!("no-op 7"), &json!("unit 7 was asked to fail")]);
    assert_eq!(named[1][0], "150");
    assert_eq!(site.seen("/api/v1/jobs/noop")["name"], name.as_str(), "its kind will do");

    let picture = site.seen(&format!("/api/v1/jobs/{name}/ranges"));
    assert_eq!((&picture["known"], &picture["units"]), (&true.into(), &"300".into()));
    let places: Vec<_> = picture["places"].as_array().expect("places").iter().map(|p| p.as_str()).collect();
    let place = |name: &str| places.iter().position(|p| *p == Some(name)).expect("a place");
    let stretches = picture["stretches"].as_array().expect("stretches");
    assert_eq!(stretches.len(), 300, "a stretch is a unit");
    for (unit, shares) in stretches.iter().enumerate() {
        let is = if unit == 7 || unit == 150 { "given_up" } else { "done" };
        assert_eq!(shares[place(is)], 1000, "unit {unit}: {shares}");
    }

    let result = site.farm.ask_code(&["result", &name], 3);
    let report = |form: &str| {
        let answer = site.get(&format!("/api/v1/jobs/{name}/{form}"));
        assert_eq!(answer.status, 200, "{form}: {answer:?}");
        let policy = answer.header("content-security-policy").expect("a policy");
        assert!(
            policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'self'"),
            "{policy}"
        );
        assert!(!policy.contains("script-src"), "a report has no scripts: {policy}");
        answer
    };
    let answer = report("report");
    assert_eq!((&answer.json()["sum"], &answer.json()["units"]), (&result["sum"], &"298".into()));
    let answer = report("report.html");
    assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(texts(&answer.body, "h1").concat().contains("noop"), "{}", answer.body);
    assert_eq!(report("report.csv").header("content-type"), Some("text/csv; charset=utf-8"));
    assert_eq!(report("report.txt").header("content-type"), Some("text/plain; charset=utf-8"));

    let crew = site.seen("/api/v1/workers");
    assert_eq!((&crew["connected"], &crew["slots"], &crew["leases"]), (&2.into(), &2.into(), &0.into()));
    let told = site.farm.ask(&["workers"]);
    for worker in crew["workers"].as_array().expect("workers") {
        let same =
            told.as_array().expect("workers").iter().find(|told| told["id"] == worker["id"]).expect("known");
        assert_eq!(worker["name"], same["name"]);
        assert_eq!(worker["units_done"], same["units_done"].to_string());
        assert_eq!(worker["labels"], same["labels"]);
        assert_eq!(worker["failures"], same["failures"].to_string());
    }
}

#[test]
fn lists_are_searched_and_cut() {
    let site = Site::start(2, &[]);
    let names: Vec<_> = ["a", "b", "c"].map(|label| site.submit(&["--units", "5", "--label", label])).into();
    names.iter().for_each(|name| drop(site.farm.wait(name)));
    let paused = site.submit(&["--units", "7", "--label", "p"]);
    site.farm.wait(&paused);
    let listed = |query: &str| -> Vec<String> {
        let view = site.seen(&format!("/api/v1/jobs{query}"));
        let jobs = view["jobs"].as_array().expect("jobs").iter();
        jobs.map(|job| job["name"].as_str().expect("a name").to_owned()).collect()
    };
    let newest_first: Vec<_> = [&paused, &names[2], &names[1], &names[0]].map(Clone::clone).into();
    assert_eq!(listed(""), newest_first);
    assert_eq!(listed("?limit=2"), newest_first[..2]);
    assert_eq!(listed("?skip=1&limit=2"), newest_first[1..3]);
    assert_eq!(listed(&format!("?q={}", &names[1][..8])), [names[1].clone()]);
    assert_eq!(listed("?q=noo&state=finished").len(), 4);
    assert_eq!(listed("?state=running"), Vec::<String>::new());
    assert_eq!(site.seen("/api/v1/jobs?limit=1")["matching"], 4);
    assert_eq!(site.seen("/api/v1/jobs?limit=1")["by_state"], json!({ "finished": 4 }));
    until("both workers are there", || site.seen("/api/v1/workers")["connected"] == 2);
    let workers = site.seen("/api/v1/workers?q=W1");
    assert_eq!((&workers["matching"], &workers["workers"][0]["name"]), (&1.into(), &"w1".into()));
    for (query, said) in [
        ("?limit=x", "expected a number"),
        ("?skip=-1", "expected a number"),
        ("?state=tired", "expected one of running"),
        ("?order=name", "expected q, state, skip or limit"),
    ] {
        let answer = site.get(&format!("/api/v1/jobs{query}"));
        assert_eq!(answer.status, 400, "{answer:?}");
        assert!(why(&answer).contains(said), "{answer:?}");
    }
}

#[test]
fn operators_do_what_the_command_line_does() {
    let site = Site::start(2, &[]);
    let name = site.submit(&["--units", "100000", "--unit-us", "1000", "--fail", "3"]);
    let doing = |verb: &str, state: &str| {
        let answer = site.post(&format!("/api/v1/jobs/{name}/{verb}"));
        assert_eq!((answer.status, &answer.json()["state"]), (200, &state.into()), "{verb}: {answer:?}");
        assert_eq!(site.farm.ask(&["status", &name])["state"], state);
        answer.json()
    };
    doing("pause", "paused");
    doing("resume", "running");
    until("a unit is given up", || site.seen("/api/v1/jobs/noop")["given_up"] == "1");
    // In the answer: soon after, the unit has failed again.
    assert_eq!(doing("retry", "running")["given_up"], "0");
    doing("cancel", "cancelled");
    let answer = site.post(&format!("/api/v1/jobs/{name}/pause"));
    assert_eq!(answer.status, 409, "{answer:?}");
    assert_eq!(site.post("/api/v1/jobs/0123/pause").status, 404);
    assert_eq!(site.post(&format!("/api/v1/jobs/{name}/eat")).status, 404);
    assert_eq!(site.get(&format!("/api/v1/jobs/{name}/pause")).status, 404);
    assert_eq!(site.get("/api/v1/jobs/0123").status, 404);
    assert_eq!(site.get("/api/v1/nothing").status, 404);
    assert!(why(&site.get("/api/v1/jobs/0123")).contains("no job"));

    let crew = site.seen("/api/v1/workers");
    let worker = crew["workers"].as_array().expect("workers").iter().find(|w| w["name"] == "w1").expect("w1");
    let path = format!("/api/v1/workers/{}", worker["id"].as_str().expect("an id"));
    assert_eq!(site.post(&format!("{path}/readmit")).status, 404, "it is believed");
    assert_eq!(site.post(&format!("{path}/eat")).status, 404);
    assert_eq!(site.post(&format!("{path}/drain")).json()["worker"], "w1");
    until("it has left", || site.seen("/api/v1/workers")["gone"][0]["name"] == "w1");
    assert_eq!(site.seen("/api/v1/workers")["gone"][0]["how"], "left");

    let acts = site.farm.ask(&["audit"]);
    let acts = acts.as_array().expect("acts");
    let done: Vec<_> = acts.iter().map(|act| act["action"].as_str().expect("a word")).collect();
    assert_eq!(done, ["submit", "pause", "resume", "retry", "cancel", "drain"]);
    assert!(acts.iter().all(|act| act["who"] == "local"), "{acts:?}");
}

#[test]
fn the_page_is_whole_and_needs_nothing_from_elsewhere() {
    let site = Site::start(0, &[]);
    let page = site.get("/");
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    let policy = page.header("content-security-policy").expect("a policy");
    for part in [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    ] {
        assert!(policy.contains(part), "{part} is missing in {policy}");
    }
    assert!(!policy.contains("unsafe") && !policy.contains('*'), "{policy}");
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
    ] {
        assert_eq!(page.header(name), Some(value));
    }
    // What a page with this policy must not have.
    for inline in [" style=", " onclick=", "<style", "javascript:"] {
        assert!(!page.body.contains(inline), "{inline} in the page");
    }
    assert!(
        page.body.matches("<script").count() == page.body.matches("<script src=").count(),
        "inline scripts"
    );

    let quoted = |text: &str, mark: &str| -> Vec<String> {
        let starts = text.match_indices(mark).map(|(at, _)| &text[at + mark.len()..]);
        starts.map(|rest| rest.split('"').next().unwrap_or_default().to_owned()).collect()
    };
    let mut wanted: Vec<_> =
        quoted(&page.body, "src=\"").into_iter().chain(quoted(&page.body, "href=\"")).collect();
    wanted.retain(|path| path != "#");
    let mut seen = Vec::new();
    while let Some(path) = wanted.pop() {
        if seen.contains(&path) {
            continue;
        }
        assert!(path.starts_with('/') && !path.starts_with("//"), "{path} is elsewhere");
        let file = site.get(&path);
        assert_eq!(file.status, 200, "{path}");
        let kind = file.header("content-type").expect("a type").to_owned();
        if kind.starts_with("text/javascript") {
            let imports = quoted(&file.body, "from \"").into_iter();
            wanted.extend(imports.map(|import| import.replacen("./", "/", 1)));
        }
        let plain = file.body.replace("http://www.w3.org/2000/svg", "");
        assert!(!plain.contains("http://") && !plain.contains("https://"), "{path} names another place");
        // It is asked for each time, and sent when it has changed.
        let tag = file.header("etag").expect("a tag").to_owned();
        assert_eq!(file.header("cache-control"), Some("no-cache"));
        let again = site.get_as(&path, &[("If-None-Match", &tag)]);
        assert_eq!((again.status, again.body.as_str()), (304, ""), "{path}");
        assert_eq!(site.get_as(&path, &[("If-None-Match", "\"other\"")]).status, 200);
        seen.push(path);
    }
    assert!(seen.len() > 4, "{seen:?}");
    assert_eq!(site.get("/healthz").body, "ok\n");
    assert_eq!(site.get("/readyz").body, "leads\n");
}

#[test]
fn what_another_site_sends_is_refused_and_does_nothing() {
    let site = Site::start(0, &[]);
    let name = site.submit(&["--units", "10"]);
    let path = format!("/api/v1/jobs/{name}/cancel");
    let own = format!("http://{}", site.web);
    let json = ("Content-Type", "application/json");
    let evil: [(u16, &[(&str, &str)]); 8] = [
        (403, &[json, ("Origin", "https://evil.example")]),
        (403, &[json, ("Origin", "null")]),
        (403, &[json, ("Origin", "http://127.0.0.1:1")]),
        (403, &[json, ("Sec-Fetch-Site", "cross-site")]),
        (403, &[json, ("Sec-Fetch-Site", "same-site"), ("Origin", &own)]),
        // Its own name, which it lets point to this machine.
        (403, &[json, ("Host", "evil.example:7780"), ("Origin", "http://evil.example:7780")]),
        (415, &[("Content-Type", "application/x-www-form-urlencoded"), ("Origin", &own)]),
        (415, &[("Content-Type", "text/plain")]),
    ];
    for (status, headers) in evil {
        let answer =
            send(&site.web, &request(&site.web, ("POST", &path), headers, Some("{}"))).expect("an answer");
        assert_eq!(answer.status, status, "{headers:?}: {answer:?}");
    }
    assert_eq!(site.farm.ask(&["status", &name])["state"], "running");
    for path in ["/api/v1/jobs", "/api/v1/workers", "/api/v1/whoami", "/api/v1/events"] {
        let answer = site.get_as(path, &[("Host", "evil.example")]);
        assert_eq!(answer.status, 403, "{path}");
        assert!(why(&answer).contains("evil.example"), "{answer:?}");
        assert_eq!(site.get_as(path, &[("Sec-Fetch-Site", "cross-site")]).status, 403, "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
    let port = site.web.rsplit_once(':').expect("a port").1;
    assert_eq!(site.get_as("/api/v1/jobs", &[("Host", &format!("localhost:{port}"))]).status, 200);
    let meant = [("Origin", own.as_str()), ("Sec-Fetch-Site", "same-origin")];
    assert_eq!(site.post_as(&path, &meant).json()["state"], "cancelled");
}

#[test]
fn requests_are_bounded() {
    let site = Site::start(0, &[]);
    let name = site.submit(&["--units", "10"]);
    let path = format!("/api/v1/jobs/{name}/cancel");
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(8 << 10));
    let answer = post(&site.web, &path, &[], &long).expect("an answer");
    assert_eq!(answer.status, 413, "{answer:?}");
    for body in ["", "[]", "nonsense", "{\"force\":true}"] {
        let answer = post(&site.web, &path, &[], body).expect("an answer");
        assert_eq!(answer.status, 400, "{body}: {answer:?}");
    }
    assert_eq!(site.farm.ask(&["status", &name])["state"], "running");
    let head = "x".repeat(40 << 10);
    let answer = get(&site.web, "/api/v1/jobs", &[("X-Long", &head)]);
    assert!(answer.is_none_or(|answer| answer.status == 431), "a head of 40 KiB");
    assert_eq!(site.get("/healthz").status, 200, "it goes on");
    let many: Vec<_> = (0..200).map(|_| ("X-Many", "x")).collect();
    let answer = get(&site.web, "/api/v1/jobs", &many);
    assert!(answer.is_none_or(|answer| answer.status == 431), "a head of 200 lines");
    assert_eq!(site.get("/healthz").status, 200, "it goes on");
    // A verb that there is not.
    let delete = request(&site.web, ("DELETE", &path), &[("Content-Type", "application/json")], Some("{}"));
    assert_eq!(send(&site.web, &delete).expect("an answer").status, 405);

    // Reports are put together for each who asks: a few at once are fine, many are not.
    let reports = || site.get(&format!("/api/v1/jobs/{name}/report")).status;
    let answers: Vec<_> = (0..40).map(|_| reports()).collect();
    assert!(answers[..10].iter().all(|status| *status == 200), "{answers:?}");
    assert!(answers.contains(&429), "{answers:?}");
    assert_eq!(site.get("/api/v1/jobs").status, 200, "everything else goes on");
}
