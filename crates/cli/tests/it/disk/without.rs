//! A user or a machine without what a way to the disks takes: it is said, with the way that remains.

use super::served::or_skip;
use crate::harness::{Outcome, Place, finish, start, tool};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// A directory that everybody may use, for root alone can become another user.
fn place_for_all() -> Result<Place, String> {
    if !rustix::process::geteuid().is_root() {
        return Err(String::from("root"));
    }
    let place = Place::at(std::env::temp_dir());
    std::fs::set_permissions(place.path(""), std::fs::Permissions::from_mode(0o777)).expect("let all in");
    let found = tool(&format!("{AS_NOBODY} test -x {}", env!("CARGO_BIN_EXE_fathom")));
    found
        .map(|_| place)
        .map_err(|_| String::from("a program that others may run, and setpriv"))
}

const AS_NOBODY: &str = "setpriv --reuid=65534 --regid=65534 --clear-groups";

/// `disk serve` by who has no privileges.
fn as_nobody(place: &Place, line: &str) -> Outcome {
    let line = format!(
        "{AS_NOBODY} {} disk serve {line} --control {}",
        env!("CARGO_BIN_EXE_fathom"),
        place.path("ctl").display()
    );
    let mut words = line.split_whitespace();
    let program = words.next().expect("a program");
    let mut command = place.command_by(Path::new(program), words);
    finish(start(&mut command))
}

#[test]
fn without_privileges_there_is_nbd() {
    let test = "without_privileges_there_is_nbd";
    let place = or_skip!(test, place_for_all());
    let outcome = as_nobody(&place, "model:azure/P15 --nbd unix:nbd --duration 1s").expect(0);
    assert!(outcome.stdout.contains("nbd nbd+unix:///"), "{outcome:?}");
    assert!(outcome.stdout.ends_with("ready\n"), "{outcome:?}");
}

#[test]
fn without_leave_to_mount_it_says_what_remains() {
    let test = "without_leave_to_mount_it_says_what_remains";
    let place = or_skip!(test, place_for_all());
    if tool(&format!("{AS_NOBODY} test -r /dev/fuse")).is_ok() && tool("which fusermount3").is_ok() {
        return crate::harness::skipped(test, "a machine that does not let everybody mount");
    }
    std::fs::create_dir(place.path("at")).expect("a directory");
    for (line, takes) in [
        (
            "",
            "It takes root, or fusermount3 and leave to open /dev/fuse: --nbd serves without either",
        ),
        (
            " --allow-other",
            "leave to open /dev/fuse (and user_allow_other in /etc/fuse.conf): --nbd serves without either",
        ),
    ] {
        let outcome = as_nobody(&place, &format!("model:azure/P15 --at at{line}")).expect(2);
        outcome.saying("cannot mount on ").saying(takes);
    }
    let outcome = as_nobody(&place, "model:azure/P15 --at at --loop");
    outcome.expect(2).saying("--nbd serves without either");
}

#[test]
fn without_dev_fuse_it_says_what_remains() {
    let test = "without_dev_fuse_it_says_what_remains";
    let place = or_skip!(test, place_for_all());
    or_skip!(
        test,
        tool("unshare -m true").map_err(|_| "a mount namespace of its own")
    );
    std::fs::create_dir(place.path("at")).expect("a directory");
    let script = format!(
        "mount -t tmpfs none /dev && exec {} disk serve model:azure/P15 --control ctl \"$@\"",
        env!("CARGO_BIN_EXE_fathom")
    );
    let script = place.write("without.sh", script).display().to_string();
    let serve = |way: &[&str]| {
        let words = ["-m", "sh", &script].into_iter().chain(way.iter().copied());
        finish(start(&mut place.command_by(Path::new("unshare"), words)))
    };
    serve(&["--at", "at"])
        .expect(2)
        .saying("there is no /dev/fuse here")
        .saying("--nbd serves without it");
    let outcome = serve(&["--nbd", "unix:nbd", "--duration", "1s"]).expect(0);
    assert!(outcome.stdout.ends_with("ready\n"), "{outcome:?}");
}
