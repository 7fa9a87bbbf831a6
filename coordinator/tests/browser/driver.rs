//! A headless Chromium, moved by chromedriver. Calls block, as everything else in these tests.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    time::Instant,
};

use fantoccini::{
    Client, ClientBuilder,
    actions::{InputSource, KeyAction, KeyActions},
    wd::{Capabilities, WebDriverCompatibleCommand},
};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use url::{ParseError, Url};

use crate::farm::{PATIENCE, Process, pause};

/// Keys without a letter.
pub const TAB: char = '\u{e004}';
pub const ENTER: char = '\u{e007}';
pub const ESCAPE: char = '\u{e00c}';
pub const SPACE: char = ' ';

/// Whether there is a browser, which `NONET_REQUIRE_BROWSER` may demand.
pub fn is_here() -> bool {
    let answers = |program: &str| {
        let mut command = Command::new(program);
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let here = answers("chromedriver") && answers("chromium");
    assert!(
        here || std::env::var_os("NONET_REQUIRE_BROWSER").is_none(),
        "chromium and chromedriver are required"
    );
    if !here {
        println!("SKIPPED: chromium and chromedriver are not here");
    }
    here
}

/// A browser with one page. It is closed when the test is over, however it ends.
pub struct Browser {
    runtime: Runtime,
    client: Option<Client>,
    site: String,
    _driver: Process,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Opens `http://ADDRESS/`.
    pub fn open(address: &str) -> Self {
        let (driver, port) = start_driver();
        let profile = tempfile::tempdir().expect("a folder");
        let options = json!({
            "binary": "/usr/bin/chromium",
            "args": [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                "--disable-background-networking", "--disable-component-update", "--disable-sync",
                "--disable-dev-shm-usage", "--window-size=1200,900",
                format!("--user-data-dir={}", profile.path().display()),
            ],
        });
        let mut wanted = Capabilities::new();
        wanted.insert("goog:chromeOptions".into(), options);
        wanted.insert("goog:loggingPrefs".into(), json!({ "browser": "ALL" }));
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime");
        let mut builder = ClientBuilder::new(HttpConnector::new());
        builder.capabilities(wanted);
        let url = format!("http://127.0.0.1:{port}");
        let client = runtime.block_on(builder.connect(&url)).expect("a session");
        let browser = Self {
            runtime,
            client: Some(client),
            site: format!("http://{address}"),
            _driver: driver,
            _profile: profile,
        };
        browser.go("/");
        browser
    }

    fn client(&self) -> &Client {
        self.client.as_ref().expect("open")
    }

    /// Opens another page of the site.
    pub fn go(&self, path: &str) {
        self.runtime.block_on(self.client().goto(&format!("{}{path}", self.site))).expect("the page");
    }

    /// What a script returns.
    pub fn ask(&self, script: &str) -> Value {
        let answer = self.runtime.block_on(self.client().execute(script, Vec::new()));
        answer.unwrap_or_else(|e| panic!("{script}: {e}"))
    }

    /// What an expression is worth.
    pub fn value(&self, expression: &str) -> Value {
        self.ask(&format!("return {expression};"))
    }

    /// The text that is to be read in an element.
    pub fn text(&self, selector: &str) -> String {
        let text = self.value(&seen_text(selector));
        text.as_str().expect("text").to_owned()
    }

    /// Waits until an expression is true.
    pub fn until(&self, expression: &str) {
        let begun = Instant::now();
        while self.value(&format!("Boolean({expression})")) != true {
            if begun.elapsed() > PATIENCE {
                let page = self.text("body");
                panic!(
                    "waited too long for {expression}; the console says {:?}; the page:\n{page}",
                    self.console()
                );
            }
            pause();
        }
    }

    /// Waits until an element has this text.
    pub fn until_text(&self, selector: &str, text: &str) {
        self.until(&format!("({}).includes({text:?})", seen_text(selector)));
    }

    /// Presses keys, one after the other, wherever the page has its place.
    pub fn press(&self, keys: impl IntoIterator<Item = char>) {
        let mut actions = KeyActions::new("keys".into());
        for value in keys {
            actions = actions.then(KeyAction::Down { value }).then(KeyAction::Up { value });
        }
        self.runtime.block_on(self.client().perform_actions(actions)).expect("keys are pressed");
    }

    /// Goes on by the key Tab until the place is an element of this name.
    pub fn tab_to(&self, name: &str) {
        for _ in 0..100 {
            if self.focused() == name {
                return;
            }
            self.press([TAB]);
        }
        panic!("{name:?} is not reached by Tab:\n{}", self.text("body"));
    }

    /// The name of the element that has the keyboard's place.
    pub fn focused(&self) -> String {
        let name = self.value(
            "(e => e.getAttribute('aria-label') || e.labels?.[0]?.innerText || e.innerText || e.id)(document.activeElement)",
        );
        name.as_str().unwrap_or_default().trim().to_owned()
    }

    /// As a telephone of this width, or any other screen.
    pub fn be_wide(&self, width: u32, height: u32, mobile: bool) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile });
        self.tell_chromium("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Light or dark.
    pub fn prefer(&self, scheme: &str) {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.tell_chromium("Emulation.setEmulatedMedia", &features);
    }

    /// What has been written to the console since this was asked last: errors, and what the page's policy has forbidden.
    pub fn console(&self) -> Vec<String> {
        let log = self.vendor("se/log", json!({ "type": "browser" }));
        let lines = log.as_array().expect("a log").iter();
        lines.map(|line| line["message"].as_str().expect("text").to_owned()).collect()
    }

    /// Keeps a picture, where `NONET_SCREENSHOTS` says so.
    pub fn keep(&self, name: &str) {
        let Some(dir) = std::env::var_os("NONET_SCREENSHOTS") else { return };
        let whole = json!({ "captureBeyondViewport": true, "format": "png" });
        let shot = self.tell_chromium("Page.captureScreenshot", &whole);
        let bytes = base64::Engine::decode(
            &base64::engine::general_purpose::STANDARD,
            shot["data"].as_str().expect("a picture"),
        );
        let path = std::path::Path::new(&dir).join(format!("{name}.png"));
        std::fs::write(path, bytes.expect("a picture")).expect("written");
    }

    fn tell_chromium(&self, command: &str, params: &Value) -> Value {
        self.vendor("goog/cdp/execute", json!({ "cmd": command, "params": params }))
    }

    fn vendor(&self, path: &'static str, body: Value) -> Value {
        self.runtime.block_on(self.client().issue_cmd(Vendor { path, body })).expect("an answer")
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Chromium ends with its session.
        if let Some(client) = self.client.take() {
            drop(self.runtime.block_on(client.close()));
        }
    }
}

/// A command that only chromedriver knows.
#[derive(Debug)]
struct Vendor {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for Vendor {
    fn endpoint(&self, base_url: &Url, session_id: Option<&str>) -> Result<Url, ParseError> {
        base_url.join(&format!("session/{}/{}", session_id.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &Url) -> (tonic::codegen::http::Method, Option<String>) {
        (tonic::codegen::http::Method::POST, Some(self.body.to_string()))
    }
}

/// What an element says to those who see it. Of one that is hidden, `innerText` is what it would say.
fn seen_text(selector: &str) -> String {
    format!("(e => e?.checkVisibility() ? e.innerText : '')(document.querySelector({selector:?}))")
}

/// A driver, and its port.
fn start_driver() -> (Process, u16) {
    let mut command = Command::new("chromedriver");
    command.arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("chromedriver starts");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines().map_while(Result::ok);
    let driver = Process(child);
    // It says first that it starts on port 0, and then where it has started.
    let port = lines.find_map(|line| {
        let port = line.split("on port ").nth(1)?.trim_end_matches('.').parse().ok()?;
        (port != 0).then_some(port)
    });
    // It writes on, and must not wait for a reader.
    std::thread::spawn(move || lines.for_each(drop));
    (driver, port.expect("a port"))
}
