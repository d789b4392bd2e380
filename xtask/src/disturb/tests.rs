use super::*;

#[test]
fn runs_of_a_kind_are_one_row() {
    let lines = r#"{"kind":"a","told":"right","accused":[],"said":"1 device","why":""}
{"kind":"a","told":"wrong","accused":["dd"],"said":"1 competing_io by dd","why":""}
{"kind":"b","told":"no effect","accused":[],"said":"nothing","why":"1.2 times as slow"}
"#;
    let (text, all) = table(lines).expect("a table");
    assert_eq!(
        text.lines().skip(2).collect::<Vec<_>>(),
        [
            "| a | 1 | 0 | 1 | 1 | 0 | 1 device; 1 competing_io by dd |",
            "| b | 0 | 0 | 0 | 0 | 1 | no effect: 1.2 times as slow |",
            "| all | 1 | 0 | 1 | 1 | 1 | right in 50 % of 2 |",
        ]
    );
    assert_eq!((all.sum(), all.not_run), (3, 1));
}
