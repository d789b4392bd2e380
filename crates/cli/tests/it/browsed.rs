//! `fathom browse`: a folder of real runs, a modelled one and a sweep among them, in a browser.

use crate::harness::{Place, skipped};
use crate::served::devtools::{Browser, find};
use crate::served::page::pictures;
use crate::served::{Serving, ask};
use serde_json::json;
use std::time::Instant;

/// Four runs of two kinds and a sweep.
fn folder() -> Place {
    let place = Place::new();
    for (name, more) in [
        ("a1", "--bs 4k --on model:azure/P15,seed=1"),
        ("a2", "--bs 4k --on model:azure/P15,seed=2"),
        ("b1", "--bs 4k --on model:azure/P20,seed=3"),
        ("b2", "--bs 4k --on model:azure/P20,seed=4"),
    ] {
        place
            .fathom(&format!(
                "run --name load --rw randread --iodepth 8 --direct 1 --size 1g --time_based --runtime 5 -q -o runs/{name} {more}"
            ))
            .expect(0);
    }
    place
        .fathom("sweep --rw randread --bs 4k,64k --iodepth 1,8 --duration 5s --size 1g --on model:azure/P15 -q -o runs/sweep")
        .expect(0);
    place
}

fn browse(place: &Place) -> Serving {
    Serving::start(&mut place.command("browse runs --serve=0 -q"))
}

#[test]
fn runs_are_listed_reported_compared_and_named() {
    let place = folder();
    let serving = browse(&place);
    let list = serving.get("/");
    for name in ["a1", "a2", "b1", "b2", "sweep"] {
        assert!(
            list.contains(&format!("<a href=\"/report/{name}\">{name}</a>")),
            "{name} is not in {list}"
        );
    }
    assert!(serving.get("/?kind=sweep").contains(": 1 of 5."));
    assert!(serving.get("/report/sweep").contains("<h1>"));
    let report = serving.get("/report/a1");
    let own = place.path("a1.html");
    place
        .fathom(&format!("report runs/a1 -o {} -q", own.display()))
        .expect(0);
    assert_eq!(
        report,
        std::fs::read_to_string(own).expect("a report"),
        "as `fathom report` makes it"
    );
    let compared = serving.get("/compare?a=a1&a=a2&b=b1&b=b2");
    assert!(compared.contains("IOPS"), "a comparison");
    for (query, status, why) in [
        ("a=a1&b=sweep", "422", "give two sides of the same kind"),
        ("a=a1", "400", "at least one"),
    ] {
        let at = &serving.at;
        let request = format!("GET /compare?{query} HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n\r\n");
        let answer = ask(at, &request);
        assert_eq!(answer.split(' ').nth(1), Some(status), "{answer}");
        assert!(answer.contains(why), "{answer}");
    }
    // A note comes by a form of the page's own.
    let page = serving.get("/note/a1");
    let (_, rest) = page.split_once("name=\"secret\" value=\"").expect("a form");
    let secret = rest.split('"').next().expect("its secret");
    let send = |form: &str, headers: &str| {
        let at = &serving.at;
        let length = form.len();
        let answer = ask(
            at,
            &format!(
                "POST /note/a1 HTTP/1.1\r\nHost: {at}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: \
                 {length}\r\n{headers}Connection: close\r\n\r\n{form}"
            ),
        );
        answer.split(' ').nth(1).expect("a status").to_owned()
    };
    assert_eq!(send("secret=guessed&name=x", ""), "400");
    assert_eq!(
        send(
            &format!("secret={secret}&name=x"),
            "Origin: http://evil.example\r\n"
        ),
        "403"
    );
    assert_eq!(
        place
            .listing("runs/a1")
            .iter()
            .filter(|name| *name == "note.json")
            .count(),
        0
    );
    assert_eq!(
        send(&format!("secret={secret}&name=the+first&text=as+bought"), ""),
        "303"
    );
    assert!(serving.get("/?q=bought").contains(">the first</a>"));
    // The record is as it was for all other commands.
    place.fathom("show runs/a1").expect(0);
    let other = serving.get("/");
    assert!(!other.contains("evil"));
}

/// 1,000 runs are listed within a second, and again at once. The bound is for a release build on a quiet machine: this one is
/// not optimized, and others may be building.
#[test]
fn a_thousand_runs_are_listed() {
    let place = Place::new();
    place
        .fathom("run --name load --rw read --bs 4k --direct 1 --size 1m -q -o runs/0 --on model:azure/P15")
        .expect(0);
    let document = std::fs::read(place.path("runs/0/run.json")).expect("a document");
    for number in 1..1000 {
        let dir = place.path(format!("runs/{number}"));
        std::fs::create_dir(&dir).expect("a directory");
        std::fs::write(dir.join("run.json"), &document).expect("a document");
    }
    let serving = browse(&place);
    for limit_s in [8.0, 4.0] {
        let begin = Instant::now();
        let list = serving.get("/");
        let seconds = begin.elapsed().as_secs_f64();
        assert_eq!(list.matches("href=\"/report/").count(), 1000);
        assert!(seconds < limit_s, "{seconds} s");
        eprintln!("a list of 1,000 runs in {seconds:.3} s");
    }
}

#[test]
fn the_pages_are_sound_in_a_browser() {
    let test = "the_pages_are_sound_in_a_browser";
    let Some(program) = find() else {
        return skipped(test, "chromium");
    };
    let place = folder();
    let serving = browse(&place);
    let mut browser = Browser::start(&program);
    for (name, path, has) in [
        (
            "browse",
            "/",
            "document.querySelectorAll('tbody tr').length === 5",
        ),
        (
            "browse-note",
            "/note/a1",
            "document.querySelectorAll('textarea').length === 1",
        ),
        (
            "browse-report",
            "/report/a1",
            "Number(document.documentElement?.dataset.charts) > 2",
        ),
        (
            "browse-compared",
            "/compare?a=a1&a=a2&b=b1&b=b2",
            "document.querySelectorAll('table').length > 0",
        ),
        (
            "browse-problem",
            "/compare?a=a1",
            "document.querySelectorAll('.notice').length === 1",
        ),
    ] {
        browser.visit(&format!("http://{}{path}", serving.at));
        let begin = Instant::now();
        while browser.evaluate(has) != json!(true) {
            assert!(
                begin.elapsed().as_secs() < 60,
                "{name}: {:?}",
                browser.complaints()
            );
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        let mut complaints = browser.complaints();
        if name == "browse-problem" {
            // A browser tells of each answer that is a failure: this page is one.
            complaints.retain(|complaint| !complaint.contains("responded with a status of 4"));
        }
        assert_eq!(complaints, Vec::<String>::new(), "{name}");
        assert_eq!(
            browser.evaluate("document.documentElement?.dataset.errors || ''"),
            json!(""),
            "{name}"
        );
        pictures(&mut browser, name);
        browser.phone();
        let wide =
            browser.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
        assert_eq!(wide, json!(0), "{name}: wider than a phone");
        browser.desktop();
    }
}
