//! The live page in a headless Chromium, while a run goes on and when it has ended.

use super::cut::Network;
use super::devtools::{Browser, find};
use super::hostile::HOSTILE;
use super::{Serving, get, load};
use crate::harness::{Place, number, skipped};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
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
        // A browser that took longer to start than the load takes finds it served to the end.
        "document.getElementById('state')?.textContent === 'Under way.' || document.documentElement?.dataset.ended === '1'",
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

const STATE: &str = "document.getElementById('state')?.textContent";

/// A connection that breaks is taken up where it was: no second is missing.
#[test]
fn a_connection_that_breaks_is_taken_up_without_a_gap() {
    let test = "a_connection_that_breaks_is_taken_up_without_a_gap";
    let Some(program) = find() else {
        return skipped(test, "chromium");
    };
    let place = Place::new();
    let serving = load(&place, 60, "");
    let network = Network::to(&serving.at);
    let mut browser = Browser::start(&program);
    browser.visit(&format!("http://{}/", network.at));
    let times = "(document.getElementById('chart-iops')?.data?.[0]?.x ?? [])";
    wait(&mut browser, "intervals", &format!("{times}.length >= 3"));
    network.cut();
    wait(
        &mut browser,
        "that it is lost",
        &format!("{STATE}.includes('rying again')"),
    );
    // Seconds that nobody was told of.
    std::thread::sleep(Duration::from_secs(4));
    let shown = browser
        .evaluate(&format!("{times}.length"))
        .as_u64()
        .expect("a number");
    network.mend();
    wait(
        &mut browser,
        "under way again",
        &format!("{STATE} === 'Under way.'"),
    );
    wait(&mut browser, "more", &format!("{times}.length >= {}", shown + 4));
    // Events are numbered from 1: as many came as the last one's number says.
    let told =
        browser.evaluate("document.documentElement.dataset.events === document.documentElement.dataset.had");
    assert_eq!(
        told,
        json!(true),
        "{}",
        browser.evaluate("JSON.stringify(document.documentElement.dataset)")
    );
    assert_eq!(
        browser.evaluate("document.documentElement.dataset.errors || ''"),
        json!("")
    );
}

/// Who finds no room is told so, and is let in as soon as there is some: a browser by itself would never ask again.
#[test]
fn who_finds_no_room_is_let_in_later() {
    let test = "who_finds_no_room_is_let_in_later";
    let Some(program) = find() else {
        return skipped(test, "chromium");
    };
    let place = Place::new();
    let serving = load(&place, 60, "");
    let request = format!("GET /events HTTP/1.1\r\nHost: {}\r\n\r\n", serving.at);
    // As many as may (docs/watch.md).
    let viewers: Vec<TcpStream> = (0..24)
        .map(|_| {
            let mut stream = TcpStream::connect(&serving.at).expect("a connection");
            stream.write_all(request.as_bytes()).expect("sent");
            let mut head = [0; 12];
            stream.read_exact(&mut head).expect("a head");
            assert_eq!(&head, b"HTTP/1.1 200");
            stream
        })
        .collect();
    let mut browser = Browser::start(&program);
    browser.visit(&format!("http://{}/", serving.at));
    wait(
        &mut browser,
        "that there is no room",
        &format!("{STATE}.includes('as many watch as may')"),
    );
    drop(viewers);
    wait(&mut browser, "under way", &format!("{STATE} === 'Under way.'"));
    wait(&mut browser, "charts", &format!("{SHOWN} >= 4"));
    assert_eq!(
        browser.evaluate("document.documentElement.dataset.errors || ''"),
        json!("")
    );
}

/// Names come by events too: of a job, of a file. They are letters.
#[test]
fn names_from_outside_are_letters_on_the_live_page() {
    let test = "names_from_outside_are_letters_on_the_live_page";
    let Some(program) = find() else {
        return skipped(test, "chromium");
    };
    let place = Place::new();
    let file = "<img src=x onerror=alert(1)>&amp;\"'";
    let line = "run --rw randrw --bs 4k --size 8m --iodepth 4 --ioengine libaio --rate_iops 300 --time_based --runtime 60 --serve=0 -o none";
    let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    words.extend([
        format!("--name={HOSTILE}"),
        place.path(file).display().to_string(),
    ]);
    let serving = Serving::start(&mut place.command_of(words));
    let mut browser = Browser::start(&program);
    browser.visit(&format!("http://{}/", serving.at));
    wait(
        &mut browser,
        "the job's name",
        "document.querySelector('#chart-iops .legendtext')?.textContent.startsWith('</script>') === true",
    );
    let made = browser.evaluate("document.querySelectorAll('img, main a[href], svg a').length");
    assert_eq!(made, json!(0));
    assert_ne!(browser.evaluate("document.title"), json!("taken"));
    let shown = browser.evaluate("document.querySelector('header').textContent");
    assert!(
        shown
            .as_str()
            .is_some_and(|text| text.contains("<img src=x onerror=alert(1)>&amp;")),
        "{shown}"
    );
    sound(&mut browser, &serving.at);
}

/// What else can be looked at: a sweep with its points, a recorded load replayed, a machine that is watched.
#[test]
fn a_sweep_a_replay_and_a_recording_have_pages() {
    let test = "a_sweep_a_replay_and_a_recording_have_pages";
    let Some(program) = find() else {
        return skipped(test, "chromium");
    };
    let place = Place::new();
    place
        .fathom(
            "run --name load --rw randrw --bs 4k --iodepth 4 --direct 1 --size 1g --time_based --runtime 10 --record=io -q -o recorded \
             --on model:azure/P15",
        )
        .expect(0);
    let recording = Serving::start(
        &mut place.command("record --device . --record=counters --duration 10m --serve=0 -q -o watched"),
    );
    let sweep = Serving::start(&mut place.command(
        "sweep --rw randread --bs 4k,64k --iodepth 1,8 --duration 5s --size 1g --on model:azure/P15 -q -o swept --serve=0 --serve-after 4m",
    ));
    let replay = Serving::start(
        &mut place.command("replay recorded --on model:azure/P10 -q -o replayed --serve=0 --serve-after 4m"),
    );
    let mut browser = Browser::start(&program);
    let ended = "document.documentElement?.dataset.ended === '1'";
    browser.visit(&format!("http://{}/", sweep.at));
    wait(&mut browser, "the sweep's end", ended);
    wait(
        &mut browser,
        "its points",
        "document.querySelectorAll('#points tr').length === 4",
    );
    wait(&mut browser, "its charts", &format!("{SHOWN} >= 4"));
    let rates = browser.evaluate(
        "Array.from(document.querySelectorAll('#points tr')).every((row) => Array.from(row.children).slice(1).every((cell) => \
         parseFloat(cell.textContent) > 0))",
    );
    assert_eq!(rates, json!(true), "each point has figures");
    sound(&mut browser, &sweep.at);

    browser.visit(&format!("http://{}/", replay.at));
    wait(&mut browser, "the replay's end", ended);
    wait(&mut browser, "its charts", &format!("{SHOWN} >= 4"));
    sound(&mut browser, &replay.at);
    let metrics = replay.get("/metrics");
    let done: f64 = (metrics.lines())
        .filter(|line| line.starts_with("fathom_load_ios_total{"))
        .filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok())
        .sum();
    let recorded = place.fathom("show recorded --json").expect(0).json();
    let ios = ["read", "write"].map(|op| number(&recorded, &format!("jobs.0.{op}.ios")));
    assert!(
        (done - ios.iter().sum::<f64>()).abs() < 0.5,
        "{done} of {ios:?} were replayed"
    );

    browser.visit(&format!("http://{}/", recording.at));
    wait(&mut browser, "the machine's charts", &format!("{SHOWN} >= 4"));
    sound(&mut browser, &recording.at);
    let load = browser.evaluate("document.getElementById('load').hidden");
    assert_eq!(load, json!(true), "a recording has no load");
    ends(&mut browser, recording);
}
