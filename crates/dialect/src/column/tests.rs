use super::parse_column;

fn values(text: &str, wanted: Option<&str>) -> Vec<f64> {
    parse_column(text, wanted).expect(text).values
}

#[test]
fn numbers_are_read_line_by_line_or_from_a_column() {
    assert_eq!(values("1.5\n2e3\n\n# aside\n-3\r\n", None), [1.5, 2000.0, -3.0]);
    let table = "run,\"time, s\",note\n1,11456.5,a\n2,\"11517.5\",\"b \"\"c\"\"\"\n";
    assert_eq!(values(table, Some("time, s")), [11456.5, 11517.5]);
    assert_eq!(values(table, Some("2")), [11456.5, 11517.5]);
    assert_eq!(values("1;2\n3;4\n", Some("2")), [2.0, 4.0]);
    let named = parse_column("seconds\n1\n2\n", None).expect("one column");
    assert_eq!(named.name.as_deref(), Some("seconds"));
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    for (text, wanted, line, words) in [
        ("", None, 0, "empty"),
        ("# nothing\n\n", None, 0, "empty"),
        ("1\n2\nabc\n", None, 3, "`abc` is not a number"),
        ("1\nNaN\n", None, 2, "no number that can be compared"),
        ("1\ninf\n", None, 2, "no number that can be compared"),
        ("1\n", None, 1, "one number only"),
        ("seconds\n", None, 1, "no number below"),
        (
            "a,b\n1,2\n",
            None,
            1,
            "which column? Write FILE:COLUMN; its columns are a, b",
        ),
        ("a,b\n1,2\n", Some("c"), 1, "no column c"),
        ("a,b\n1,2\n3\n", Some("b"), 3, "1 cell here and 2 cells in line 1"),
        ("1,2\n3,4\n", Some("3"), 1, "have no names: 1 to 2"),
        ("{\n\"jobs\": []\n}\n", None, 2, "not a number"),
    ] {
        let error = parse_column(text, wanted).expect_err(text);
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(error.message.contains(words), "{text}: {error}");
    }
}
