use crate::{fixtures, json};
use expect_test::expect;
use fathom_core::run::{Run, Summary};

#[test]
fn it_reads_back_as_the_summary() {
    for (name, run) in fixtures::all() {
        let back: Summary = serde_json::from_str(&json::summary(&run)).expect(name);
        assert!(back == run.summary, "{name}: not what was written");
    }
}

#[test]
fn what_is_no_number_is_null() {
    let mut run = fixtures::tiny();
    run.summary.jobs[0].write.iops = f64::NAN;
    run.summary.jobs[0].write.bytes_per_second = f64::INFINITY;
    let value: serde_json::Value = serde_json::from_str(&json::summary(&run)).expect("valid JSON");
    assert!(value["jobs"][0]["write"]["iops"].is_null());
    assert!(value["jobs"][0]["write"]["bytes_per_second"].is_null());
}

/// The names that scripts rely on.
#[test]
fn keys() {
    let value: serde_json::Value =
        serde_json::from_str(&json::summary(&fixtures::random_read())).expect("valid JSON");
    let keys = |value: &serde_json::Value| {
        let map = value.as_object().expect("an object");
        map.keys().cloned().collect::<Vec<_>>().join(" ")
    };
    expect!["disks floor groups jobs schema target warnings"].assert_eq(&keys(&value));
    let read = &value["jobs"][0]["read"];
    expect!["bytes bytes_per_second clat_ns errors iops ios lat_ns response_ns runtime_ns short_ios slat_ns"]
        .assert_eq(&keys(read));
    expect!["max mean min n p1 p10 p20 p30 p40 p5 p50 p60 p70 p80 p90 p95 p99 p99_5 p99_9 p99_95 p99_99 p99_999 p99_9999 p99_99999 stddev"].assert_eq(&keys(&read["lat_ns"]));
}

#[test]
fn errors_have_their_remedies_where_they_are_known() {
    let mut run = fixtures::random_read();
    let document =
        |run: &Run| -> serde_json::Value { serde_json::from_str(&json::summary(run)).expect("JSON") };
    assert!(document(&run).get("remedies").is_none());
    let error = |errno| fathom_core::run::RunError {
        what: String::from("read"),
        errno,
        message: String::from("Input/output error (os error 5)"),
        count: 1,
        path: String::from("data.bin"),
        offset_bytes: 0,
        length_bytes: 4096,
    };
    run.summary.jobs[0].errors = vec![error(0), error(5)];
    let document = document(&run);
    let remedies = document["remedies"].as_array().expect("remedies");
    assert_eq!(remedies.len(), 1, "nothing is known of the first");
    assert_eq!(remedies[0]["errno"], 5);
    assert!(remedies[0]["remedy"].as_str().expect("text").contains("dmesg"));
    let text = crate::text::render(&run, crate::Style::default());
    assert!(
        text.contains("read failed: Input/output error (errno 5), on data.bin"),
        "{text}"
    );
    assert!(text.contains("dmesg"), "{text}");
}
