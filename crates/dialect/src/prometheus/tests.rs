use super::range;
use proptest::prelude::*;

const RANGE: &str = r#"{"status":"success","data":{"resultType":"matrix","result":[
    {"metric":{"__name__":"x","device":"a\"b"},"values":[[1700000000.5,"1"],[1700000015.5,"NaN"],[1700000030.5,"+Inf"],[1700000045.5,"4.5"]]},
    {"metric":{},"values":[]}]}}"#;

#[test]
fn a_range_becomes_rows_and_what_is_no_number_is_left_out() {
    let rows = range("node_disk_io_time_seconds_total", RANGE).expect("rows");
    let told: Vec<(u64, &str, f64)> = rows
        .iter()
        .map(|row| (row.at_ns, &*row.labels, row.value))
        .collect();
    assert_eq!(
        told,
        [
            (1_700_000_000_500_000_000, "device=\"a\\\"b\"", 1.0),
            (1_700_000_045_500_000_000, "device=\"a\\\"b\"", 4.5)
        ]
    );
}

#[test]
fn what_is_no_answer_is_said() {
    for (text, said) in [
        ("<html>", "expected value"),
        ("{}", "status"),
        (r#"{"status":"error","error":"no such thing"}"#, "no such thing"),
        (r#"{"status":"success"}"#, "success"),
        (
            r#"{"status":"success","data":{"result":[{"values":[["a","b"]]}]}}"#,
            "invalid type",
        ),
    ] {
        let error = range("x", text).expect_err(text);
        assert!(error.contains(said), "{text}: {error}");
    }
}

proptest! {
    #[test]
    fn any_text_is_taken_or_refused(text in "\\PC{0,200}") {
        let _taken = range("x", &text);
    }

    #[test]
    fn any_answer_is_taken_or_refused(at in any::<f64>(), value in "\\PC{0,12}", label in "\\PC{0,12}") {
        let text = serde_json::json!({"status": "success", "data": {"result": [{"metric": {"device": label}, "values": [[at, value]]}]}});
        if let Ok(rows) = range("x", &text.to_string()) {
            prop_assert!(rows.iter().all(|row| row.value.is_finite()));
        }
    }
}
