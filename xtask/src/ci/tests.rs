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

#[test]
fn what_a_failed_test_said_is_told_at_the_end() {
    let output = "test a ... ok\ntest b::c ... FAILED\n\nsuccesses:\n\n---- a stdout ----\nfine\n\nfailures:\n\n\
                  ---- b::c stdout ----\nthread panicked:\nleft: 1\n\nfailures:\n    b::c\n";
    assert_eq!(
        failures(output),
        ["b::c FAILED:\n  thread panicked:\n  left: 1\n  "]
    );
}
