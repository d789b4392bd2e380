use super::{circles, expand, graph};
use std::collections::BTreeMap;

fn found(sources: &[(&str, &str)]) -> Vec<Vec<String>> {
    let sources: BTreeMap<String, String> = sources
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
        .collect();
    circles(&graph(&sources))
}

#[test]
fn a_circle_is_found_however_it_is_written() {
    for (a, b) in [
        ("use crate::b::X;\n", "use crate::a;\n"),
        ("use crate::{c, b::{X, Y}};\n", "use super::a::Z;\n"),
        ("fn f() { crate::b::g() }\n", "pub(crate) use crate::a::h;\n"),
    ] {
        let told = found(&[("", "mod a;\nmod b;\n"), ("a", a), ("b", b), ("c", "")]);
        assert_eq!(told, vec![vec!["a", "b"]], "{a}{b}");
    }
    let around = [
        ("a", "use crate::b;"),
        ("b", "use crate::c;"),
        ("c", "use crate::a;"),
    ];
    assert_eq!(found(&around), vec![vec!["a", "b", "c"]]);
    // A child that takes a type from its parent, which calls it.
    let family = [("a", "mod b;\nuse b::run;\n"), ("a::b", "use super::Settings;\n")];
    assert_eq!(found(&family), vec![vec!["a", "a::b"]]);
}

#[test]
fn what_goes_one_way_is_none() {
    let down = [
        ("a", "use crate::b;\nuse crate::c::{self, X};\n"),
        ("b", "use crate::c;\n"),
        (
            "c",
            "// use crate::a;\npub(in crate::a) fn f() {}\nuse std::fmt;\n",
        ),
    ];
    assert_eq!(found(&down), Vec::<Vec<String>>::new());
}

#[test]
fn trees_are_expanded() {
    let mut paths = Vec::new();
    expand("", "a::{b, c::{d as e, f},\n g::*}", &mut paths);
    assert_eq!(paths, ["a::b", "a::c::d", "a::c::f", "a::g::*"]);
}
