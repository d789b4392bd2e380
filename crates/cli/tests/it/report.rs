//! `fathom report`: pages and tables from directories alone.

use crate::harness::Place;

#[test]
fn a_recorded_run_becomes_a_page_with_what_explain_found() {
    let place = Place::new();
    let line = "run --rw randread --bs 8k --iodepth 16 --ioengine libaio --direct 1 --size 10g --runtime 30 --time_based --on \
                model:azure/P15,burst=empty --record -q -o d";
    place.fathom(line).expect(0);
    place
        .fathom("report d -o d.html -o d.md -o d.csv")
        .expect(0)
        .saying("wrote d.html");
    let read = |name: &str| std::fs::read_to_string(place.path(name)).expect("written");
    let page = read("d.html");
    for words in [
        "What limited it",
        "Limits",
        "What disturbed it",
        "Percentiles",
        "model:azure/P15",
        "Content-Security-Policy",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(page.len() < 12_000_000, "{} bytes", page.len());
    // The same numbers as the run's own report.
    let iops = place.fathom("show d --json").expect(0).json()["jobs"][0]["read"]["iops"]
        .as_f64()
        .expect("IOPS");
    assert!(read("d.md").contains(&format!("{iops:.0}")), "{iops}");
    let csv = read("d.csv");
    let lines = csv.lines().count();
    assert!(
        (31..=32).contains(&lines),
        "{lines} lines for a header and 30 seconds"
    );
    assert!(
        csv.starts_with("second,"),
        "{}",
        csv.lines().next().unwrap_or_default()
    );
}

#[test]
fn a_sweep_stands_beside_what_was_published() {
    let place = Place::new();
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../experiments/azure-a2-2016/sweep.toml"
    );
    place.fathom(&format!("sweep {file} -q -o d")).expect(0);
    place.fathom("report d -o d.html -o d.md -o d.csv -q").expect(0);
    let text = std::fs::read_to_string(place.path("d.md")).expect("written");
    for words in [
        "99.61",
        "496.24",
        "bandwidth at the most",
        "Limit on IOPS",
        "Published",
    ] {
        assert!(text.contains(words), "{words}:\n{text}");
    }
    let csv = std::fs::read_to_string(place.path("d.csv")).expect("written");
    assert_eq!(csv.lines().count(), 201);
}

#[test]
fn what_is_wrong_is_said() {
    let place = Place::new();
    place
        .fathom("report nowhere -o a.html")
        .expect(2)
        .saying("nowhere");
    place
        .fathom("report nowhere -o a.pdf")
        .expect(2)
        .saying(".html, .md or .csv");
}
