use super::*;

#[test]
fn what_is_ignored_is_read_from_the_status() {
    let status =
        |mask: &str| format!("Name:\tfathom\nSigBlk:\t0000000000000000\nSigIgn:\t{mask}\nSigCgt:\t01\n");
    assert!(ignores(&status("0000000000000001"), SIGHUP));
    assert!(ignores(&status("0000000000001001"), SIGHUP));
    assert!(!ignores(&status("0000000000001000"), SIGHUP));
    assert!(ignores(&status("0000000000001002"), SIGINT));
    assert!(!ignores("", SIGHUP));
}
