//! What may be skipped.

use super::required_of;

#[test]
fn what_is_required_is_not_skipped() {
    let all = "root,fio, chromium,tracefs,prometheus,promtool";
    assert_eq!(required_of("", "no fio"), None);
    assert_eq!(required_of(all, "huge pages"), None);
    assert_eq!(required_of(all, "fio --version: No such file"), Some("fio"));
    assert_eq!(required_of(all, "no chromium on the path"), Some("chromium"));
    assert_eq!(
        required_of(all, "leave to mount tracefs (EPERM)"),
        Some("tracefs")
    );
    assert_eq!(required_of(all, "losetup: Operation not permitted"), Some("root"));
    assert_eq!(required_of(all, "Debian's prometheus"), Some("prometheus"));
    assert_eq!(required_of(all, "promtool"), Some("promtool"));
    // Built by Go's proxy, which may refuse.
    assert_eq!(
        required_of(all, "version 3 (go build github.com/prometheus/prometheus)"),
        None
    );
    assert_eq!(required_of("fio", "losetup: Operation not permitted"), None);
}

#[test]
#[should_panic(expected = "no capability chrome")]
fn an_unknown_capability_is_told() {
    required_of("chrome", "anything");
}
