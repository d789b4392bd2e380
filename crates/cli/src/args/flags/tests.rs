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
    assert_eq!(canonical(&words, &own), Ok(expected), "{typed:?}");
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
fn all_behind_two_dashes_stays() {
    check(&["--", "--direct", "1"], &["--", "--direct", "1"]);
    check(&["-o", "d", "--"], &["-o", "d", "--"]);
}

#[test]
fn unknown_flags_are_told_all_at_once_with_the_nearest_of_both_kinds() {
    let own: OwnFlags = [(String::from("dry-run"), false)].into_iter().collect();
    let words = ["--iodeph", "4", "--dryrun", "--rate_", "F", "--xyzzyx=1"].map(OsString::from);
    let diagnostics = canonical(&words, &own).expect_err("unknown");
    let text: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    expect_test::expect![[r#"
        --iodeph: error: unknown option `iodeph`; did you mean `--iodepth`?
        --dryrun: error: unknown option `dryrun`; did you mean `--dry-run`?
        --rate_: error: `rate_` is the beginning of several options; write one in full: --rate_iops, --rate_process, --rate_ignore_thinktime, --rate_min, --rate_iops_min, --rate_cycle
        --xyzzyx: error: unknown option `xyzzyx`; no option has a similar name"#]].assert_eq(&text.join("\n"));
}
