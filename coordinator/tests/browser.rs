//! The page in a real browser: what people see and do, with eyes and hands that are not ours. Skipped where there is no
//! Chromium, unless `NONET_REQUIRE_BROWSER=1`.

#[path = "browser/driver.rs"]
mod driver;
mod farm;
#[path = "browser/looks.rs"]
mod looks;

use driver::{Browser, ENTER, ESCAPE, SPACE, TAB, is_here};
use farm::{Farm, Shown, free_address, run, until};

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
        let options = [&["--web", &web, "--lease-ms", "500", "--silence-ms", "3000"], options].concat();
        Self { farm: Farm::start_as(workers, &options, shown, free_address()), web }
    }

    /// Submits a job of the hidden kind; its name.
    fn submit(&self, args: &[&str]) -> String {
        let job = self.farm.ask(&[&["submit", "noop"], args].concat());
        job["name"].as_str().expect("a name").to_owned()
    }

    /// Opens the page, and waits until it is told what goes on.
    fn open(&self) -> Browser {
        let browser = Browser::open(&self.web);
        browser.until_text("#link", "live");
        browser
    }

    fn state(&self, job: &str) -> String {
        self.farm.ask(&["status", job])["state"].as_str().expect("a state").to_owned()
    }
}

/// Of a job in the list, an element.
fn of_job(name: &str, selector: &str) -> String {
    format!("[data-key=\"{name}\"] {selector}")
}

/// Of a worker's row, what its elements say.
fn of_worker(name: &str, selector: &str) -> String {
    format!(
        "[...document.querySelectorAll('#workers tr')].find(row => row.querySelector('strong').innerText === {name:?})\
         ?.querySelector({selector:?})?.innerText"
    )
}

#[test]
fn a_job_is_watched_to_its_end_and_a_killed_worker_is_shown_lost() {
    if !is_here() {
        return;
    }
    let mut site = Site::start(2, &[]);
    let browser = site.open();
    browser.until("document.querySelectorAll('#workers tr').length === 2");
    assert!(browser.text("main").contains("No jobs yet"), "{}", browser.text("main"));
    let name = site.submit(&["--units", "6000", "--unit-us", "2000", "--fail", "5999"]);
    browser.until_text(&of_job(&name, ".state"), "running");
    browser.until_text(&of_job(&name, ".rest"), "units/s");
    browser.until_text(&of_job(&name, ".rest"), "to go");
    let bar = format!("document.querySelector({:?})", of_job(&name, ".progress"));
    let share = |browser: &Browser| -> i64 {
        let now = browser.value(&format!("{bar}.getAttribute('aria-valuenow')"));
        now.as_str().and_then(|now| now.parse().ok()).expect("a number")
    };
    let before = share(&browser);
    browser.until(&format!("Number({bar}.getAttribute('aria-valuenow')) > {}", before.max(1)));
    browser.until(&format!("{} === 'computing'", of_worker("w0", ".state")));
    browser.until(&format!("{}?.startsWith('noop ')", of_worker("w0", ".leases a")));
    browser.keep("running");

    site.farm.kill_worker(0);
    browser.until(&format!("{} === 'lost'", of_worker("w0", ".state")));
    browser.until(&format!("{} !== 'lost'", of_worker("w1", ".state")));
    browser.until_text("#said", "w0: lost");
    browser.until_text("#figures", "1 lost");
    browser.keep("lost");

    // The last unit fails on the one that is left, and on another one.
    site.farm.workers.push(None);
    site.farm.start_worker(2);
    browser.until_text(&of_job(&name, ".state"), "finished");
    assert_eq!(browser.text(&of_job(&name, ".share")), "99.9 %");
    assert!(browser.text(&of_job(&name, ".detail")).contains("1 unit given up"));

    browser.ask(&format!("document.querySelector({:?}).click()", of_job(&name, ".title")));
    browser.until_text("#detail-state", "finished");
    browser.until_text("#legend", "done 5,999");
    browser.until_text("#legend", "given up 1");
    browser.until_text("#given-up-units", "unit 5999 was asked to fail");
    // The first square is all done, the last one is not.
    let colours = browser.ask(
        "const canvas = document.getElementById('canvas'), brush = canvas.getContext('2d');\
         const dots = brush.getImageData(0, 0, canvas.width, canvas.height).data;\
         const at = (x, y) => [...dots.subarray(4 * (y * canvas.width + x), 4 * (y * canvas.width + x) + 3)].join();\
         const done = at(6, 6), seen = new Set();\
         for (let y = 2; y < canvas.height; y += 2) for (let x = 2; x < canvas.width; x += 2) seen.add(at(x, y));\
         const of = name => { brush.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name);\
           const hex = brush.fillStyle; return [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16)).join(); };\
         return { done: done === of('--done'), failed: seen.has(of('--given_up')) };",
    );
    assert_eq!(colours, serde_json::json!({ "done": true, "failed": true }));
    browser.until("document.getElementById('result').contentDocument?.body?.innerText.includes('noop')");
    let sum = site.farm.ask_code(&["result", &name], 3)["sum"].as_str().expect("a sum").to_owned();
    let shown = browser.value("document.getElementById('result').contentDocument.body.innerText").to_string();
    assert!(shown.contains(&sum) || shown.contains(&grouped(&sum)), "{sum} is missing in {shown}");
    browser.keep("finished");
    let elsewhere = browser.value(
        "performance.getEntriesByType('resource').map(r => r.name).filter(name => !name.startsWith(location.origin))",
    );
    assert_eq!(elsewhere, serde_json::json!([]));
    assert_eq!(browser.console(), Vec::<String>::new());
}

/// As people write a number.
fn grouped(digits: &str) -> String {
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Tokens for a viewer, an operator and the workers, and what workers and users show.
fn tokens(dir: &std::path::Path) -> (String, [String; 2], Shown) {
    let path = |name: &str| dir.join(name).to_str().expect("UTF-8").to_owned();
    let file = path("tokens.toml");
    let secret = |name: &str, role: &str| {
        let (code, secret, said) = run(&["tokens", "add", name, "--role", role, "--file", &file]);
        assert_eq!(code, Some(0), "{said}");
        let kept = path(&format!("{name}.token"));
        std::fs::write(&kept, &secret).expect("written");
        (secret.trim().to_owned(), vec!["--token-file".to_owned(), kept])
    };
    let (_, by_workers) = secret("node", "worker");
    let (viewer, _) = secret("eve", "viewer");
    let (operator, by_users) = secret("ada", "operator");
    (file, [viewer, operator], Shown { by_workers, by_users })
}

/// Buttons that can be seen and do something to a job or a worker.
const BUTTONS: &str =
    "[...document.querySelectorAll('button[data-verb]')].filter(b => b.checkVisibility()).length";

#[test]
fn a_viewer_sees_no_buttons_and_an_operator_needs_no_mouse() {
    if !is_here() {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let (file, [viewer, operator], shown) = tokens(dir.path());
    let site = Site::start_as(1, &["--tokens", &file], shown);
    let name = site.submit(&["--units", "100000", "--unit-us", "1000"]);
    let called = format!("noop {}", &name[..12]);
    let browser = Browser::open(&site.web);
    let log_in = |secret: &str| {
        // The page has its place in the field.
        browser.until("document.activeElement.id === 'token'");
        browser.press(secret.chars().chain([ENTER]));
        browser.until_text("#link", "live");
        browser.until_text(&of_job(&name, ".state"), "running");
    };
    browser.keep("login");
    browser.until("document.activeElement.id === 'token'");
    browser.press("guessed".chars().chain([ENTER]));
    browser.until_text("#login-error", "does not know the token");
    browser.ask("document.getElementById('token').value = ''");

    log_in(&viewer);
    assert!(browser.text("#who").contains("eve (viewer)"));
    browser.until("document.querySelectorAll('#workers tr').length === 1");
    assert_eq!(browser.value(BUTTONS), 0);
    assert_eq!(
        browser
            .value("[...document.querySelectorAll('main button')].filter(b => b.checkVisibility()).length"),
        0
    );
    browser.tab_to("noop");
    browser.press([ENTER]);
    browser.until_text("#legend", "running");
    assert_eq!(browser.value(BUTTONS), 0);
    // Whoever has a page open and sends what its buttons would have sent is refused all the same.
    let refused = browser.ask(&format!(
        "const sent = new XMLHttpRequest(); sent.open('POST', '/api/v1/jobs/{name}/pause', false);\
         sent.setRequestHeader('Content-Type', 'application/json'); sent.send('{{}}'); return sent.status;"
    ));
    assert_eq!((refused.as_u64(), site.state(&name).as_str()), (Some(403), "running"));
    let refusals = browser.console();
    assert_eq!(refusals.len(), 2, "the token that was guessed, and what was refused just now: {refusals:?}");

    browser.tab_to("Log out");
    browser.press([ENTER]);
    browser.go("/");
    log_in(&operator);
    browser.until(&format!("{BUTTONS} === 3"));

    // From the top of the page: a link that skips what is there always.
    browser.go("/");
    browser.until(&format!("{BUTTONS} === 3"));
    browser.press([TAB]);
    assert_eq!(browser.focused(), "Skip to the content");
    assert!(
        browser.value("document.activeElement.getBoundingClientRect().left").as_f64() >= Some(0.0),
        "it is seen"
    );
    browser.press([ENTER]);
    browser.until("document.activeElement.id === 'main'");
    browser.tab_to(&format!("Pause {called}"));
    assert_eq!(browser.value("document.activeElement.matches(':focus-visible')"), true);
    let outline = browser.value("getComputedStyle(document.activeElement).outlineStyle");
    assert_ne!(outline, "none", "one sees where one is");
    browser.keep("focus");
    browser.press([ENTER]);
    browser.until_text(&of_job(&name, ".state"), "paused");
    assert_eq!(site.state(&name), "paused");
    // The place stays, and the button under it takes it back.
    assert_eq!(browser.focused(), format!("Resume {called}"));
    browser.press([SPACE]);
    browser.until_text(&of_job(&name, ".state"), "running");
    assert_eq!(site.state(&name), "running");

    browser.tab_to(&format!("Cancel {called}"));
    browser.press([ENTER]);
    browser.until("document.getElementById('confirm').open");
    assert_eq!(browser.focused(), "No", "what does no harm comes first");
    browser.keep("question");
    browser.press([ESCAPE]);
    browser.until("!document.getElementById('confirm').open");
    assert_eq!((browser.focused(), site.state(&name).as_str()), (format!("Cancel {called}"), "running"));
    browser.press([ENTER]);
    browser.until("document.getElementById('confirm').open");
    browser.tab_to("Cancel it");
    browser.press([ENTER]);
    browser.until_text(&of_job(&name, ".state"), "cancelled");
    assert_eq!(site.state(&name), "cancelled");

    browser.tab_to("Drain w0");
    browser.press([ENTER]);
    browser.until("document.getElementById('confirm').open");
    browser.tab_to("Drain it");
    browser.press([ENTER]);
    browser.until(&format!("{} === 'left'", of_worker("w0", ".state")));
    assert_eq!(browser.console(), Vec::<String>::new());
    let acts = site.farm.ask(&["audit"]);
    let acts = acts.as_array().expect("acts").iter();
    let acts: Vec<_> = acts.map(|act| (act["action"].as_str(), act["who"].as_str())).collect();
    let done = ["submit", "pause", "resume", "cancel", "drain"];
    assert_eq!(acts, done.map(|deed| (Some(deed), Some("ada"))));
}

#[test]
fn a_page_catches_up_by_itself_when_its_coordinator_was_killed() {
    if !is_here() {
        return;
    }
    let mut site = Site::start(1, &[]);
    let name = site.submit(&["--units", "4000", "--unit-us", "2000"]);
    let browser = site.open();
    browser.until_text(&of_job(&name, ".rest"), "units/s");
    browser.ask("window.same = true");
    site.farm.kill_coordinator();
    browser.until_text("#link", "not connected");
    browser.until_text("#banner", "What is shown is old; trying again");
    browser.keep("killed");
    // What cannot be done now is said, and is not forgotten by what is heard later.
    browser.ask("document.querySelector('button[data-verb=pause]').click()");
    browser.until_text("#trouble", "does not answer");
    site.farm.start_coordinator();
    browser.until_text("#link", "live");
    browser.until_text("#said", "The connection is back");
    assert!(browser.text("#trouble").contains("does not answer"));
    browser.tab_to("Dismiss");
    browser.press([ENTER]);
    assert_eq!(browser.text("#trouble"), "");
    assert_eq!(browser.value("document.getElementById('banner').hidden"), true);
    browser.until_text(&of_job(&name, ".state"), "finished");
    assert_eq!(browser.value("window.same"), true, "nobody has loaded it again");
    let strange: Vec<_> = browser.console().into_iter().filter(|line| !line.contains("net::ERR_")).collect();
    assert_eq!(strange, Vec::<String>::new());
    assert_eq!(site.state(&name), "finished");
}

#[test]
fn a_job_that_lacks_workers_and_one_that_waits_say_so() {
    if !is_here() {
        return;
    }
    let site = Site::start(1, &[]);
    let browser = site.open();
    browser.until("document.querySelectorAll('#workers tr').length === 1");
    let name = site.submit(&["--units", "10", "--require", "gpu"]);
    let told = site.farm.ask(&["status", &name])["detail"].as_str().expect("words").to_owned();
    assert!(told.contains("gpu"), "{told}");
    browser.until_text(&of_job(&name, ".detail"), &told);
    browser.go(&format!("/#/jobs/{name}"));
    browser.until_text("#detail-notice", &told);
    browser.until_text("#detail-facts", "gpu");
    until("the worker says what it is", || browser.text("#legend").contains("waiting 10"));
    browser.go("/#/jobs/00000000000000000000000000000000");
    browser.until_text("#trouble", "This job is gone");
    browser.until("!document.getElementById('overview').hidden");
}
