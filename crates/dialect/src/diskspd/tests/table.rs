//! The table of flags: complete, documented, and each row with its test.

use super::{parsed_as, refused};
use crate::diskspd::{Dialect, InLinuxPort, flag_rows};
use std::collections::BTreeSet;
use std::fmt::Write as _;

const DOCUMENT: &str = include_str!("../../../../../docs/diskspd.md");
const TESTS: [&str; 5] = [
    include_str!("flags.rs"),
    include_str!("lowering.rs"),
    include_str!("dialects.rs"),
    include_str!("words.rs"),
    include_str!("xml_profiles.rs"),
];

/// Every letter that diskspd v2.2 reads (`CmdLineParser.cpp`), with its sub-flags.
const ALL: [&str; 41] = [
    "?", ":", "a", "b", "B", "c", "C", "d", "D", "e", "f", "F", "g", "h", "i", "I", "j", "l", "L", "n", "N",
    "o", "O", "p", "P", "r", "rd", "rs", "R", "s", "si", "S", "t", "T", "v", "vs", "w", "W", "x", "X", "y",
];

#[test]
fn the_table_has_every_flag_once() {
    let mut expected: BTreeSet<&str> = ALL.into_iter().collect();
    expected.extend(["z", "Z", "Zr"]);
    let rows: Vec<&str> = flag_rows().map(|row| row.flag).collect();
    assert_eq!(rows.iter().copied().collect::<BTreeSet<_>>(), expected);
    assert_eq!(rows.len(), expected.len());
}

#[test]
fn each_row_has_a_test_and_an_example_that_is_read() {
    for row in flag_rows() {
        let head = format!("fn {}()", row.test);
        assert!(
            TESTS.iter().any(|file| file.contains(&head)),
            "-{}: no test {}",
            row.flag,
            row.test
        );
        assert!(!row.doc.is_empty(), "-{}", row.flag);
        let beside = match row.flag {
            "N" => "-Sm",
            "rd" => "-r",
            "i" => "-j1",
            "j" => "-i1",
            "O" => "-F2",
            "T" => "-t2",
            "X" => {
                assert!(refused("-Xprofile.xml").contains("no such file"));
                continue;
            }
            _ => "",
        };
        let line = format!("{beside} {} data", row.example);
        let parsed = parsed_as(Dialect::Windows, &line);
        assert_eq!(
            parsed.errors().next().is_some(),
            row.support.is_refused(),
            "{line}: {parsed:?}"
        );
    }
}

/// The table as the documentation has it.
fn as_markdown() -> String {
    let mut text = String::from(
        "| flag | what it does | without it | support | in the Linux port | test |\n|---|---|---|---|---|---|\n",
    );
    let cell = |text: &str| text.replace('|', "\\|");
    for row in flag_rows() {
        let support = match row.support.reason() {
            None => String::from("exact"),
            Some(why) => format!("{}: {why}", row.support.word()),
        };
        let linux = match row.linux {
            InLinuxPort::Same => "the same",
            InLinuxPort::Missing => "—",
            InLinuxPort::Differs(how) => how,
        };
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} | {} | `{}` |",
            cell(&row.spelling()),
            cell(row.doc),
            cell(row.default),
            cell(&support),
            cell(linux),
            row.test
        );
    }
    text
}

#[test]
fn the_documentation_has_the_table() {
    let table = as_markdown();
    assert!(
        DOCUMENT.contains(&table),
        "docs/diskspd.md lacks this table, or has another:\n{table}"
    );
}
