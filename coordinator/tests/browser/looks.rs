//! How the page looks: on a telephone, by day and by night.

use serde_json::json;

use super::{Browser, Shown, Site, is_here, tokens};

/// Texts that are hard to read: the contrast that WCAG 2 asks for is 4.5, and 3 for large ones.
const FAINT: &str = r"
const luminance = ([r, g, b]) => {
  const part = v => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
  return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
};
const parse = text => text.match(/[\d.]+/g).map(Number);
const ground = element => {
  for (let e = element; e; e = e.parentElement) {
    const [r, g, b, a = 1] = parse(getComputedStyle(e).backgroundColor);
    if (a === 1) return [r, g, b];
  }
  return matchMedia('(prefers-color-scheme: dark)').matches ? [18, 18, 18] : [255, 255, 255];
};
const faint = [];
for (const element of document.querySelectorAll('body *')) {
  const own = [...element.childNodes].some(n => n.nodeType === Node.TEXT_NODE && n.data.trim());
  if (!own || !element.checkVisibility() || element.closest('.hidden, .skip')) continue;
  const style = getComputedStyle(element);
  const [a, b] = [luminance(parse(style.color)), luminance(ground(element))].sort((x, y) => y - x);
  const contrast = (a + 0.05) / (b + 0.05);
  const size = parseFloat(style.fontSize);
  const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
  if (contrast < (large ? 3 : 4.5)) faint.push(`${element.innerText} ${style.color} ${contrast.toFixed(2)}`);
  if (size < 12) faint.push(`${element.innerText} is small: ${size}`);
}
return faint;
";

/// What sticks out of the screen.
const WIDE: &str = "const width = document.documentElement.clientWidth;\
    return [document.documentElement.scrollWidth > width ? `the page: ${document.documentElement.scrollWidth}` : '',\
      ...[...document.querySelectorAll('body *')].filter(e => e.checkVisibility() && !e.closest('.hidden, .skip'))\
        .filter(e => e.getBoundingClientRect().right > width + 0.5).map(e => `${e.tagName} ${e.className} ${e.id}`)].filter(Boolean);";

/// What is too small for a thumb.
const SMALL: &str = "return [...document.querySelectorAll('button, input, select')].filter(e => e.checkVisibility())\
    .filter(e => e.getBoundingClientRect().height < 32).map(e => e.innerText || e.id);";

fn looks_good(browser: &Browser, what: &str) {
    for scheme in ["light", "dark"] {
        browser.prefer(scheme);
        for (device, width) in [("desktop", 1200), ("telephone", 360)] {
            browser.be_wide(width, 800, device == "telephone");
            browser.until(&format!("innerWidth === {width}"));
            browser.keep(&format!("{what}-{device}-{scheme}"));
            assert_eq!(browser.ask(WIDE), json!([]), "{what} on a {device}");
            assert_eq!(browser.ask(FAINT), json!([]), "{what} {scheme}");
        }
        assert_eq!(browser.ask(SMALL), json!([]), "{what}");
    }
}

#[test]
fn nothing_is_too_wide_too_small_or_too_faint() {
    if !is_here() {
        return;
    }
    let site = Site::start(2, &[]);
    let long = "a-name-that-has-no-end-and-no-place-to-break".repeat(4);
    let failing = site.submit(&["--units", "400", "--fail", "7", "--fail", "300", "--label", &long]);
    site.farm.wait(&failing);
    let running = site.submit(&["--units", "900000", "--unit-us", "1000", "--label", "long"]);
    site.submit(&["--units", "10", "--require", "gpu", "--require", "memory_gib>=4096"]);
    let paused = site.submit(&["--units", "1000", "--label", "rests"]);
    site.farm.ask(&["pause", &paused]);
    let mut site = site;
    let browser = site.open();
    browser.until("document.querySelectorAll('#jobs > li').length === 4");
    site.farm.kill_worker(1);
    browser.until("document.querySelectorAll('#workers tr.gone').length === 1");
    browser.until("document.querySelector('.leases a')");
    looks_good(&browser, "all");
    for (name, what) in [(&failing, "failing"), (&running, "running-job"), (&paused, "paused")] {
        browser.go(&format!("/#/jobs/{name}"));
        browser.until("document.querySelectorAll('#legend li').length > 1");
        if what == "failing" {
            browser
                .until("document.getElementById('result').contentDocument?.body?.innerText.includes('noop')");
        }
        looks_good(&browser, what);
    }
    browser.ask("document.querySelector('button[data-verb=cancel]').click()");
    browser.until("document.getElementById('confirm').open");
    looks_good(&browser, "question");
    assert_eq!(browser.console(), Vec::<String>::new());
}

#[test]
fn the_login_looks_as_good() {
    if !is_here() {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let (file, _, _) = tokens(dir.path());
    let site = Site::start_as(0, &["--tokens", &file], Shown::default());
    let browser = Browser::open(&site.web);
    browser.until("document.activeElement.id === 'token'");
    looks_good(&browser, "login");
    assert_eq!(browser.console(), Vec::<String>::new());
}
