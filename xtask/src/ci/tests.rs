use super::*;

#[test]
fn what_is_mounted_within_is_hidden_first() {
    let mounts = "sysfs /sys sysfs rw 0 0\ndebugfs /sys/kernel/debug debugfs rw 0 0\n\
                  tracefs /sys/kernel/debug/tracing tracefs rw 0 0\ntracefs /sys/kernel/tracing tracefs rw 0 0\n";
    assert_eq!(
        trace_mounts(mounts),
        [
            "/sys/kernel/tracing",
            "/sys/kernel/debug/tracing",
            "/sys/kernel/debug"
        ]
    );
    assert_eq!(trace_mounts("proc /proc proc rw 0 0\n"), [""; 0]);
}

#[test]
fn passed_tests_are_counted_by_their_closing_line() {
    let line =
        "test result: ok. 64 passed; 0 failed; 0 ignored; 0 measured; 115 filtered out; finished in 3.24s";
    assert_eq!(passed_in(line), Some(64));
}
