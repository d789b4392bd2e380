use super::super::fixture::{SECOND, job, outcome};
use super::*;

#[test]
fn a_star_stands_for_any_letters() {
    for (pattern, name) in [
        ("test4", "test4"),
        ("*", ""),
        ("*", "anything"),
        ("matrix/*-4k-*", "matrix/rand-w000-4k-q01"),
        ("*-4k", "a-4k-4k"),
        ("é*", "éa"),
    ] {
        assert!(matches(pattern, name), "{pattern} {name}");
    }
    for (pattern, name) in [
        ("test4", "test44"),
        ("matrix/*-4k-*", "matrix/rand-w000-64k-q01"),
        ("a*b", "abc"),
        ("", "a"),
    ] {
        assert!(!matches(pattern, name), "{pattern} {name}");
    }
}

#[test]
fn sections_and_outcomes_are_found() {
    let outcomes = [
        outcome("one", &[job("warm", 0, &[1], 1), job("main", 1, &[1], 1)]),
        outcome("two", &[job("main", 0, &[1], 1)]),
    ];
    let found = |text: &str| -> Vec<(String, Vec<u32>)> {
        let found = Selection::find(text, &outcomes).into_iter();
        found
            .map(|selection| (selection.outcome.name.clone(), selection.jobs))
            .collect()
    };
    assert_eq!(found("one"), [(String::from("one"), vec![0, 1])]);
    assert_eq!(
        found("*@main"),
        [(String::from("one"), vec![1]), (String::from("two"), vec![0])]
    );
    assert_eq!(found("two@warm"), []);
    assert_eq!(found("three"), []);
}

#[test]
fn groups_run_one_after_another_and_their_jobs_together() {
    let outcomes = [outcome(
        "run",
        &[job("a", 0, &[1], 3), job("b", 0, &[1], 5), job("c", 1, &[1], 7)],
    )];
    let runtime = |text: &str| Selection::find(text, &outcomes)[0].runtime_ns();
    assert_eq!(runtime("run"), 12 * SECOND);
    assert_eq!(runtime("run@a"), 3 * SECOND);
    assert_eq!(Selection::find("run", &outcomes)[0].depth(), 1 + 2 + 3);
}
