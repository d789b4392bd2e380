//! Each rule finds its breach.

use super::*;

fn breaches(file: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    check_words(Path::new(file), text, &mut found);
    check_source(Path::new(file), text, &mut found);
    found
}

#[test]
fn clean_source_passes() {
    assert_eq!(
        breaches("crates/x/src/a.rs", "//! Duty.\nfn f() {\n}\n"),
        Vec::<String>::new()
    );
}

#[test]
fn each_rule_finds_its_breach() {
    let cases = [
        ("fn f() {}\n".to_owned(), "no `//!`"),
        (format!("//! Duty.\n// FIX{} later\n", "ME"), "FIX"),
        (
            "//! Duty.\n#[cfg(test)]\nmod tests {\n}\n"
                .replace("tests {", "tests  {")
                .replace("  {", " {"),
            "sibling",
        ),
        (
            format!("//! Duty.\nfn f() {{\n    un{} {{ g() }}\n}}\n", "safe"),
            "crates/sys",
        ),
        (
            "//! Duty.\n//! ```text\n//! a\n//! ```\n/// ```\n/// f();\n/// ```\nfn f() {}\n".to_owned(),
            "a.rs:5: checks do not run examples",
        ),
    ];
    for (text, want) in cases {
        let found = breaches("crates/x/src/a.rs", &text);
        assert!(
            found.len() == 1 && found[0].contains(want),
            "want {want}, found {found:?}"
        );
    }
}

#[test]
fn sys_may_be_unsafe() {
    let text = format!("//! Duty.\nfn f() {{\n    un{} {{ g() }}\n}}\n", "safe");
    assert!(breaches("crates/sys/src/a.rs", &text).is_empty());
}

#[test]
fn what_is_long_is_pointed_out() {
    let long = format!(
        "//! Duty.\nfn f() {{\n{}}}\n",
        "    g();\n".repeat(FUNCTION_LINES + 1)
    );
    let file = format!("//! Duty.\n{}", "//\n".repeat(FILE_LINES));
    for (text, want) in [(long, "a function of"), (file, "lines: is it")] {
        let mut signals = Vec::new();
        lengths(Path::new("crates/x/src/a.rs"), &text, &mut signals);
        assert!(signals.len() == 1 && signals[0].contains(want), "{signals:?}");
    }
}

#[test]
fn the_root_holds_what_belongs_there() {
    for (file, breaches) in [
        ("crates/x/src/a.rs", 0),
        ("README.md", 0),
        ("p15/run.json", 1),
        ("note.txt", 1),
    ] {
        let mut found = Vec::new();
        check_place(Path::new(file), &mut found);
        assert_eq!(found.len(), breaches, "{file}: {found:?}");
    }
}
