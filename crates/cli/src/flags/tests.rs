//! Words before and after.

use super::{OwnFlags, canonical};
use std::ffi::OsString;

fn check(typed: &[&str], expected: &[&str]) {
    let own: OwnFlags = [("on", true), ("json", false), ("output", true)]
        .into_iter()
        .map(|(name, takes)| (String::from(name), takes))
        .collect();
    let words: Vec<OsString> = typed.iter().map(OsString::from).collect();
    let expected: Vec<OsString> = expected.iter().map(OsString::from).collect();
    assert_eq!(canonical(&words, &own), expected, "{typed:?}");
}

#[test]
fn a_bare_boolean_does_not_swallow_the_file_after_it() {
    check(&["--time_based", "F"], &["--time_based=1", "F"]);
    check(&["--direct", "F"], &["--direct=1", "F"]);
    check(&["F", "--time_based"], &["F", "--time_based=1"]);
}

#[test]
fn a_boolean_takes_0_or_1_in_both_forms() {
    check(&["--direct", "1", "F"], &["--direct=1", "F"]);
    check(&["--direct", "0"], &["--direct=0"]);
    check(&["--direct=0", "1"], &["--direct=0", "1"]);
}

#[test]
fn values_are_joined_and_may_begin_with_a_dash() {
    check(&["--bs", "4k", "F"], &["--bs=4k", "F"]);
    check(&["--nice", "-5"], &["--nice=-5"]);
    check(&["--filename", "a=b"], &["--filename=a=b"]);
}

#[test]
fn dashes_aliases_and_unique_beginnings_become_the_name() {
    check(&["--time-based"], &["--time_based=1"]);
    check(&["--blocksize=4k"], &["--bs=4k"]);
    check(&["--ioeng", "null"], &["--ioengine=null"]);
}

#[test]
fn a_missing_value_is_left_for_clap_to_tell() {
    check(&["--rw", "--bs", "4k"], &["--rw", "--bs=4k"]);
    check(&["--rw"], &["--rw"]);
}

#[test]
fn own_flags_and_their_values_stay() {
    check(&["--on", "--rw", "--json"], &["--on", "--rw", "--json"]);
    check(&["--on=null:", "--rw=read"], &["--on=null:", "--rw=read"]);
    check(&["--output"], &["--output"]);
}

#[test]
fn unknown_flags_and_all_behind_two_dashes_stay() {
    check(&["--blocksze", "4k"], &["--blocksze", "4k"]);
    check(&["--", "--direct", "1"], &["--", "--direct", "1"]);
    check(&["-o", "d", "--"], &["-o", "d", "--"]);
}
