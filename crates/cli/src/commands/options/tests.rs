//! The table in words.

use super::{in_full, list, options};
use fathom_dialect::{find, table};

#[test]
fn every_option_has_a_line_and_a_page() {
    for columns in [60, 80, 200] {
        let list = list(columns);
        for row in table() {
            let mut lines = list.lines().skip_while(|line| {
                line.strip_prefix("  ").and_then(|line| line.split(' ').next()) != Some(row.name)
            });
            let line = lines.next().unwrap_or_else(|| panic!("no line for {}", row.name));
            // A long name has a line of its own.
            let next = lines.next().unwrap_or_default();
            assert!(format!("{line}{next}").contains(row.support.word()), "{line}");
            let page = in_full(row, columns);
            assert!(page.starts_with(&format!("{}: ", row.name)));
            for line in page.lines().chain(list.lines()) {
                assert!(line.chars().count() <= columns, "{columns}: {line}");
            }
        }
    }
}

#[test]
fn one_option_in_full_has_its_words_and_reasons() {
    let row = find("ioengine").expect("ioengine");
    let text = in_full(row, 80);
    for expected in ["default:", "psync", "io_uring", "support:", "values:"] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
}

#[test]
fn an_unknown_option_gets_the_nearest_one() {
    let error = options(Some("blocksze")).expect_err("unknown").to_string();
    assert!(error.contains("did you mean `blocksize`?"), "{error}");
}
