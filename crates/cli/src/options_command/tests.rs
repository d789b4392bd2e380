//! The table in words.

use super::{in_full, list, options};
use fathom_dialect::{find, table};

#[test]
fn every_option_has_a_line_and_a_page() {
    let list = list();
    for row in table() {
        let line = list
            .lines()
            .find(|line| line.split_whitespace().next() == Some(row.name));
        let line = line.unwrap_or_else(|| panic!("no line for {}", row.name));
        assert!(line.contains(row.support.word()), "{line}");
        assert!(in_full(row).starts_with(&format!("{}: ", row.name)));
    }
}

#[test]
fn one_option_in_full_has_its_words_and_reasons() {
    let row = find("ioengine").expect("ioengine");
    let text = in_full(row);
    for expected in ["default:", "psync", "io_uring", "support:", "values:"] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
}

#[test]
fn an_unknown_option_gets_the_nearest_one() {
    let error = options(Some("blocksze")).expect_err("unknown").to_string();
    assert!(error.contains("did you mean `blocksize`?"), "{error}");
}
