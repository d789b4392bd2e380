use super::*;
use crate::trace::real::skipped;
use std::os::unix::fs::symlink;
use std::time::SystemTime;
use tempfile::TempDir;

const OLD: Duration = Duration::from_hours(1);

/// A tracefs for the process alone, or what is missing said.
fn own(test: &str) -> Option<Tracefs> {
    match Tracefs::own(&SystemRoot::default()) {
        Ok(own) => own,
        Err(error) => {
            skipped(test, format_args!("leave to mount tracefs ({error})"));
            None
        }
    }
}

fn put(dir: &TempDir, path: &str, text: &str) {
    let path = dir.path().join(path);
    fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
    fs::write(path, text).expect("a file");
}

fn made_an_hour_ago(dir: &Path) {
    let dir = fs::File::open(dir).expect("a directory");
    dir.set_modified(SystemTime::now() - OLD).expect("a time");
}

/// Start times are in field 22 of `stat`, behind a name with anything in it.
fn stat(name: &str, started: u64) -> String {
    let between = vec!["0"; 17].join(" ");
    format!("1 ({name}) S 1 {between} {started} 4096\n")
}

#[test]
fn only_the_dead_are_swept() {
    let dir = TempDir::new().expect("a directory");
    let root = SystemRoot::new(dir.path());
    fs::create_dir_all(dir.path().join("proc/self/ns")).expect("directories");
    symlink("pid:[42]", dir.path().join("proc/self/ns/pid")).expect("a link");
    put(&dir, "proc/200/stat", &stat("fathom", 7));
    put(&dir, "proc/201/stat", &stat("a) S 3 (b", 7));
    put(&dir, "proc/300/stat", &stat("fathom", 9));
    let names = [
        ("fathom-100-5-42-0", "of a dead process", false),
        ("fathom-200-7-42-0", "of a living one", true),
        (
            "fathom-201-7-42-1",
            "of a living one with a name of its own",
            true,
        ),
        (
            "fathom-300-5-42-0",
            "of a process whose number another one has now",
            false,
        ),
        ("fathom-100-5-43-0", "of a container, a moment old", true),
        ("fathom-100-5-43-1", "of a container, an hour old", false),
        ("fathom-100-0", "of an earlier version, an hour old", false),
        ("fathom-x", "of something else", true),
        ("other", "of somebody else", true),
    ];
    let instances = dir.path().join("instances");
    for (name, of, _) in names {
        fs::create_dir_all(instances.join(name)).expect("a directory");
        if of.contains("an hour old") {
            made_an_hour_ago(&instances.join(name));
        }
    }
    Tracefs::at("/").sweep(&root);
    for (name, of, stays) in names {
        assert_eq!(instances.join(name).exists(), stays, "{name}, {of}");
    }
}

/// What cannot be seen from here is left to the kernel, which knows whose files are open.
#[test]
fn an_instance_with_an_open_file_is_never_swept() {
    let Some(tracefs) = own("an_instance_with_an_open_file_is_never_swept") else {
        return;
    };
    let root = SystemRoot::default();
    let dir = tracefs
        .instances()
        .join(format!("{PREFIX}1-1-1-{}", std::process::id()));
    fs::create_dir(&dir).expect("an instance");
    tracefs.sweep(&root);
    assert!(dir.exists(), "it may be in the making");
    made_an_hour_ago(&dir);
    let open = fs::File::open(dir.join("tracing_on")).expect("a file of it");
    tracefs.sweep(&root);
    assert!(dir.exists(), "a file of it is open");
    drop(open);
    tracefs.sweep(&root);
    assert!(!dir.exists(), "nobody uses it");
}

#[test]
fn an_own_mount_is_seen_by_nobody() {
    let mounts = || fs::read_to_string("/proc/self/mountinfo").expect("the mounts");
    let before = mounts();
    let Some(tracefs) = own("an_own_mount_is_seen_by_nobody") else {
        return;
    };
    assert_eq!(
        mounts().matches(" tracefs ").count(),
        before.matches(" tracefs ").count()
    );
    assert!(tracefs.path().join("events/sched").exists());
    assert_eq!(
        tracefs.shown(&tracefs.instances().join("fathom-1")),
        Path::new("tracefs/instances/fathom-1")
    );
    let path = tracefs.path().to_path_buf();
    drop(tracefs);
    assert!(!path.join("events/sched").exists(), "the mount outlives its use");
}

#[test]
fn names_say_who_made_an_instance() {
    let root = SystemRoot::default();
    let this = Maker::this(&root);
    assert_eq!(this.pid, std::process::id());
    assert!(this.started > 0 && this.namespace > 0, "{this:?}");
    assert_eq!(Maker::of(&name_of_instance(&root, 3)), Some(this));
    assert!(this.may_be_making(&root, Path::new("/nowhere")));
    assert_eq!(Maker::of("other"), None);
    assert_eq!(Maker::of("fathom-"), None);
}
