//! The live page in a headless Chromium, while a run goes on and when it has ended.

use super::devtools::{Browser, find};
use super::{Serving, get, load};
use crate::harness::{Place, skipped};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// On a machine that also builds.
const PATIENCE: Duration = Duration::from_mins(1);

pub(super) fn wait(browser: &mut Browser, what: &str, expression: &str) {
    let begin = Instant::now();
    while browser.evaluate(expression) != json!(true) {
        assert!(
            begin.elapsed() < PATIENCE,
            "{what}: not so after {PATIENCE:?}; errors: {}; {:?}",
            browser.evaluate("document.documentElement?.dataset.errors || ''"),
            browser.complaints()
        );
        std::thread::sleep(Duration::from_millis(100));
    }
}

pub(super) fn sound(browser: &mut Browser, at: &str) {
    assert_eq!(
        browser.evaluate("document.documentElement?.dataset.errors || ''"),
        json!("")
    );
    assert_eq!(browser.complaints(), Vec::<String>::new());
    let own = format!("http://{at}/");
    let others = browser
        .requests()
        .into_iter()
        .filter(|url| !url.starts_with(&own));
    assert_eq!(
        others.collect::<Vec<String>>(),
        Vec::<String>::new(),
        "requests elsewhere"
    );
}

/// Pictures, where they are asked for.
pub(crate) fn pictures(browser: &mut Browser, name: &str) {
    let Some(directory) = std::env::var_os("FATHOM_SCREENSHOTS").map(PathBuf::from) else {
        return;
    };
    std::fs::create_dir_all(&directory).expect("a directory for pictures");
    for dark in [false, true] {
        browser.scheme(dark);
        let look = if dark { "dark" } else { "light" };
        browser.picture(&directory.join(format!("{name}-{look}.png")));
    }
    browser.scheme(false);
    browser.phone();
    browser.picture(&directory.join(format!("{name}-phone.png")));
    browser.desktop();
}

/// Nothing is wider than a phone.
pub(super) fn fits_a_phone(browser: &mut Browser) {
    let wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    browser.phone();
    assert_eq!(browser.evaluate(wide), json!(0), "wider than a phone");
    browser.desktop();
}

/// Ends what is served: the page is told, and is as sound as before.
pub(super) fn ends(browser: &mut Browser, serving: Serving) {
    let at = serving.at.clone();
    let ends = std::thread::spawn(move || serving.end());
    wait(
        browser,
        "the end",
        "document.documentElement?.dataset.ended === '1'",
    );
    ends.join().expect("it ends");
    sound(browser, &at);
}

pub(super) const SHOWN: &str = "Array.from(document.querySelectorAll('.chart.live')).filter((place) => \
                     place.querySelectorAll('.main-svg').length > 0).length";

#[test]
fn a_run_fills_the_page_in_while_ten_look() {
    let test = "a_run_fills_the_page_in_while_ten_look";
    let Some(program) = find() else {
        return skipped(test, "chromium");
    };
    let place = Place::new();
    let serving = load(&place, 10, "");
    let mut viewers = Vec::new();
    for _ in 0..9 {
        let at = serving.at.clone();
        viewers.push(std::thread::spawn(move || {
            let answer = get(&at, "/events", "");
            answer.lines().filter(|line| *line == "event: interval").count()
        }));
    }
    let mut browser = Browser::start(&program);
    browser.visit(&format!("http://{}/", serving.at));
    wait(&mut browser, "charts", &format!("{SHOWN} >= 8"));
    wait(
        &mut browser,
        "under way",
        "document.getElementById('state')?.textContent === 'Under way.'",
    );
    wait(
        &mut browser,
        "intervals",
        "Number(document.documentElement?.dataset.events) > 8",
    );
    sound(&mut browser, &serving.at);
    wait(
        &mut browser,
        "the end of the load",
        "Number(document.querySelector('#cards .value')?.textContent.split(' ')[0]) >= 9",
    );
    std::thread::sleep(Duration::from_millis(1500));
    pictures(&mut browser, "live");
    fits_a_phone(&mut browser);
    let names = browser.evaluate(
        "Array.from(document.querySelectorAll('.chart.live')).every((place) => place.getAttribute('aria-label'))",
    );
    assert_eq!(names, json!(true), "charts have names");
    ends(&mut browser, serving);
    for viewer in viewers {
        let intervals = viewer.join().expect("a viewer");
        assert!(intervals >= 9, "{intervals} intervals");
    }
}

/// A viewer who comes when all has happened sees all of it; limits are lines, credit a chart.
#[test]
fn a_modelled_disk_is_shown_with_its_limits() {
    let test = "a_modelled_disk_is_shown_with_its_limits";
    let Some(program) = find() else {
        return skipped(test, "chromium");
    };
    let place = Place::new();
    let serving = Serving::start(&mut place.command(
        "run --name model --rw randrw --bs 4k --iodepth 8 --time_based --runtime 200 --direct 1 --size 1g --serve=0 --serve-after 60s -o \
         none --on model:aws/gp2:100GiB",
    ));
    let mut browser = Browser::start(&program);
    browser.visit(&format!("http://{}/", serving.at));
    wait(
        &mut browser,
        "the end",
        "document.documentElement?.dataset.ended === '1'",
    );
    wait(&mut browser, "charts", &format!("{SHOWN} >= 9"));
    sound(&mut browser, &serving.at);
    let limits = browser.evaluate("document.querySelectorAll('#limit-rows tr').length");
    assert!(limits.as_u64().is_some_and(|limits| limits >= 1), "{limits}");
    let lines: Value = browser.evaluate("document.getElementById('chart-iops').data.length");
    assert!(
        lines.as_u64().is_some_and(|lines| lines >= 3),
        "both directions and a limit: {lines}"
    );
    pictures(&mut browser, "live-model");
}
