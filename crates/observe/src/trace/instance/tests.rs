use super::*;
use expect_test::expect;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use tempfile::TempDir;

fn tree() -> (TempDir, SystemRoot) {
    let dir = TempDir::new().expect("a directory");
    let root = SystemRoot::new(dir.path());
    (dir, root)
}

fn put(dir: &TempDir, path: &str, text: &str) {
    let path = dir.path().join(path);
    fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
    fs::write(path, text).expect("a file");
}

#[test]
fn what_is_missing_is_said_with_a_remedy() {
    let (dir, root) = tree();
    // A directory to mount it on is there.
    fs::create_dir_all(dir.path().join("sys/kernel/tracing")).expect("a directory");
    let error = Instance::create(&root).expect_err("nothing there");
    assert!(matches!(error, TraceUnavailable::NotMounted { .. }), "{error}");

    let refused = || io::Error::from(io::ErrorKind::PermissionDenied);
    let path = PathBuf::from("/sys/kernel/tracing");
    let error = TraceUnavailable::of(path.clone(), refused(), false);
    expect![[r#"/sys/kernel/tracing may not be used (permission denied): run as root; in a container also make it writable and lift AppArmor's profile (`appArmorProfile: Unconfined`), which keeps writers out of /sys/kernel"#]]
        .assert_eq(&error.to_string());
    let error = TraceUnavailable::of(path.clone(), refused(), true);
    expect![[r#"the kernel is locked down to `confidentiality`, which closes its trace files: only a boot with `lockdown=integrity` or without lockdown opens them"#]]
        .assert_eq(&error.to_string());
    let read_only = io::Error::from(io::ErrorKind::ReadOnlyFilesystem);
    let error = TraceUnavailable::of(path, read_only, false);
    assert!(matches!(error, TraceUnavailable::NotPermitted { .. }));
}

#[test]
fn a_tree_that_may_not_be_read_is_not_permitted() {
    let (dir, root) = tree();
    let place = dir.path().join("sys/kernel/tracing");
    fs::create_dir_all(&place).expect("a directory");
    fs::set_permissions(&place, fs::Permissions::from_mode(0o000)).expect("a mode");
    if fs::read_dir(&place).is_ok() {
        fathom_testkit::skipped(
            "a_tree_that_may_not_be_read_is_not_permitted",
            "a user who may not read all",
        );
    } else {
        let error = Instance::create(&root).expect_err("refused");
        assert!(matches!(error, TraceUnavailable::NotPermitted { .. }), "{error}");
    }
    fs::set_permissions(&place, fs::Permissions::from_mode(0o700)).expect("a mode");
}

#[test]
fn a_clock_that_does_not_take_is_found_out() {
    let (dir, root) = tree();
    // A made-up instance has no files: nothing can be set.
    fs::create_dir_all(dir.path().join("sys/kernel/tracing/instances")).expect("a directory");
    let error = Instance::create(&root).expect_err("nothing to set");
    assert!(matches!(error, TraceUnavailable::Setup { .. }), "{error}");
    assert_eq!(
        root.list("/sys/kernel/tracing/instances").expect("a list"),
        Vec::<String>::new()
    );
    // The clock is a file that keeps what is written, and never shows it as chosen.
    put(&dir, "i/trace_clock", "[local] global");
    let instance = Instance {
        root: root.clone(),
        tracefs: Tracefs::at("/"),
        dir: "/i".into(),
        held: None,
        removed: true,
    };
    let error = instance.use_monotonic_clock().expect_err("not taken");
    assert!(matches!(error, TraceUnavailable::NoClock { .. }), "{error}");
}

#[test]
fn the_kernels_counts_are_added_up() {
    let (dir, root) = tree();
    let stats = |overrun: u64, nested: u64, dropped: u64| {
        format!(
            "entries: 13\noverrun: {overrun}\ncommit overrun: {nested}\nbytes: 900\noldest event ts:  1.5\n\
             now ts: 2.0\ndropped events: {dropped}\nread events: 7\n"
        )
    };
    put(&dir, "i/per_cpu/cpu0/stats", &stats(3, 0, 40));
    put(&dir, "i/per_cpu/cpu11/stats", &stats(4, 1, 0));
    let instance = Instance {
        root,
        tracefs: Tracefs::at("/"),
        dir: "/i".into(),
        held: None,
        removed: true,
    };
    let lost = instance.lost().expect("counts");
    assert_eq!((lost.overwritten, lost.dropped, lost.total()), (7, 41, 48));
}
