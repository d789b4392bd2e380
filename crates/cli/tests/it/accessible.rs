//! All pages by axe-core, the checker of the Web Content Accessibility Guidelines: no serious finding, in light, in dark, and in the dark on a
//! phone.
//!
//! It comes from npm's cache: `npm cache add axe-core@4.14.1` (as `cargo xtask ci` does), or `FATHOM_AXE` with the path of `axe.min.js`.

use crate::harness::{Place, skipped, tool};
use crate::served::Serving;
use crate::served::devtools::{Browser, find};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The script, where it is there.
fn script(place: &Place) -> Option<String> {
    if let Some(path) = std::env::var_os("FATHOM_AXE") {
        return Some(std::fs::read_to_string(path).expect("the script that FATHOM_AXE names"));
    }
    let dir = place.path("npm");
    std::fs::create_dir(&dir).expect("a folder");
    let install = format!(
        "npm install --offline --ignore-scripts --no-audit --no-fund --silent --prefix {} axe-core@4.14.1",
        dir.display()
    );
    tool(&install).ok()?;
    std::fs::read_to_string(dir.join("node_modules/axe-core/axe.min.js")).ok()
}

/// Waits until what is asked for is so.
fn wait(browser: &mut Browser, what: &str, expression: &str) {
    let begin = Instant::now();
    while browser.evaluate(expression) != json!(true) {
        assert!(
            begin.elapsed() < Duration::from_mins(1),
            "{what}: {:?}",
            browser.complaints()
        );
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// What axe finds to be serious or critical on the page that is shown; `rules`: all of them, or those named.
fn serious(browser: &mut Browser, axe: &str, rules: &str) -> Vec<String> {
    if browser.evaluate("typeof axe") != json!("object") {
        browser.evaluate(&format!("{axe};null"));
    }
    let found = browser.evaluate(&format!(
        "axe.run({{resultTypes: ['violations']{rules}}}).then((found) => found.violations.map((one) => ({{id: one.id, impact: one.impact, \
         nodes: one.nodes.map((node) => node.html.slice(0, 200) + ' ' + node.failureSummary)}})))"
    ));
    let found = found.as_array().expect("findings").iter();
    let grave = found.filter(|one| matches!(one["impact"].as_str(), Some("serious" | "critical")));
    let told = |one: &Value| format!("{}: {} of {}", one["impact"], one["id"], one["nodes"]);
    grave.map(told).collect()
}

#[test]
fn no_page_has_a_serious_finding() {
    let test = "no_page_has_a_serious_finding";
    let Some(program) = find() else {
        return skipped(test, "chromium");
    };
    let place = Place::new();
    let Some(axe) = script(&place) else {
        return skipped(test, "axe-core in npm's cache (npm cache add axe-core@4.14.1)");
    };
    for (name, disk) in [("a", "P15"), ("b", "P20")] {
        place
            .fathom(&format!(
                "run --name load --rw randrw --bs 4k --iodepth 16 --direct 1 --size 1g --time_based --runtime 30 --record -q -o \
                 runs/{name} --on model:azure/{disk}"
            ))
            .expect(0);
    }
    place
        .fathom("sweep --rw randread --bs 4k,64k --iodepth 1,8 --duration 5s --size 1g --on model:azure/P15 -q -o runs/sweep")
        .expect(0);
    place
        .fathom("plan --iops 5000 --gib 512 --vcpus 4 -q -o plan.html")
        .expect(0);
    let browse = Serving::start(&mut place.command("browse runs --serve=0 -q"));
    let live = Serving::start(&mut place.command(
        "run --name load --rw randrw --bs 4k --iodepth 8 --time_based --runtime 120 --direct 1 --size 1g --serve=0 --serve-after 4m -o \
         none --on model:aws/gp2:100GiB",
    ));
    let sweep = Serving::start(&mut place.command(
        "sweep --rw randread --bs 4k,64k --iodepth 1,8 --duration 5s --size 1g --on model:azure/P15 -q -o again --serve=0 --serve-after 4m",
    ));
    let served = Serving::start(
        &mut place.command("disk serve model:azure/P10 --nbd unix:nbd --control ctl --serve=0"),
    );
    let charts = "Number(document.documentElement?.dataset.charts) > 2";
    let ended = "document.documentElement?.dataset.ended === '1'";
    let shown = "document.querySelector('main, body > *') !== null && document.readyState === 'complete'";
    let file = |name: &str| format!("file://{}", place.path(name).display());
    let pages = [
        (format!("http://{}/", live.at), ended),
        (format!("http://{}/", sweep.at), ended),
        (
            format!("http://{}/", served.at),
            "document.querySelectorAll('#served-disks tr').length === 1",
        ),
        (format!("http://{}/", browse.at), shown),
        (format!("http://{}/note/a", browse.at), shown),
        (format!("http://{}/compare?a=a", browse.at), shown),
        (format!("http://{}/report/a", browse.at), charts),
        (format!("http://{}/report/sweep", browse.at), charts),
        (format!("http://{}/compare?a=a&b=b", browse.at), shown),
        (file("plan.html"), shown),
    ];
    let mut browser = Browser::start(&program);
    // The pages' own policy would keep the checker out.
    browser.call("Page.setBypassCSP", &json!({"enabled": true}));
    for (url, is_there) in pages {
        browser.visit(&url);
        wait(&mut browser, &url, is_there);
        for look in ["light", "dark", "phone"] {
            // In the dark other colours are shown, of the same elements.
            let rules = match look {
                "dark" => ", runOnly: ['color-contrast']",
                _ => "",
            };
            match look {
                "dark" => browser.scheme(true),
                "phone" => browser.phone(),
                _ => {}
            }
            let found = serious(&mut browser, &axe, rules);
            assert_eq!(found, Vec::<String>::new(), "{url}, {look}");
        }
        // What is drawn anew is the next page, which need not be waited for here.
        browser.call("Emulation.clearDeviceMetricsOverride", &json!({}));
        browser.call("Emulation.setEmulatedMedia", &json!({"features": []}));
    }
    // It would have found something.
    browser.evaluate("document.querySelector('main').insertAdjacentHTML('beforeend', '<img src=\"data:,\"><button></button>')");
    let found = serious(&mut browser, &axe, "");
    assert!(found.iter().any(|one| one.contains("image-alt")), "{found:?}");
}
