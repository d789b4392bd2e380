//! Sockets: only those that fathom made are removed.

use crate::harness::{Outcome, Place, finish, signal, start};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

const SERVE: &str = "disk serve null: --size 1MiB -q";

fn wait_for(path: &Path) {
    let begun = Instant::now();
    while UnixStream::connect(path).is_err() {
        assert!(begun.elapsed() < Duration::from_secs(30), "nobody listens");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn serve(place: &Place) -> Child {
    let child = start(&mut place.command(&format!("{SERVE} --nbd unix:nbd --control ctl")));
    wait_for(&place.path("nbd"));
    wait_for(&place.path("ctl"));
    child
}

#[track_caller]
fn refused(outcome: &Outcome) {
    assert_eq!(outcome.code, Some(3), "{outcome:?}");
    assert!(outcome.stderr.contains("fathom did not make"), "{outcome:?}");
}

#[test]
fn a_socket_of_another_program_stays_though_nobody_listens() {
    let place = Place::new();
    let path = place.path("theirs");
    drop(UnixListener::bind(&path).expect("a socket"));
    let inode = || std::fs::symlink_metadata(&path).expect("it is there").ino();
    let before = inode();
    refused(&place.fathom(&format!("{SERVE} --nbd unix:theirs --duration 1s")));
    refused(&place.fathom(&format!("{SERVE} --nbd unix:nbd --control theirs --duration 1s")));
    let key = place.write("key", "7".repeat(64));
    std::fs::set_permissions(key, std::fs::Permissions::from_mode(0o600)).expect("chmod");
    let outcome = place.fathom("fio --server=sock:theirs --key key");
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let unix = "fio --name=a --ioengine=net --protocol=unix --listen --filename=theirs --rw=read --size=4k --eta=never";
    let outcome = place.fathom(unix);
    assert_ne!(outcome.code, Some(0), "{outcome:?}");
    assert_eq!(inode(), before);
    assert_eq!(place.names(), ["key", "theirs"]);
}

#[test]
fn a_server_takes_the_place_of_one_that_was_killed_and_of_no_other() {
    let place = Place::new();
    let mut first = serve(&place);
    let outcome = place.fathom(&format!("{SERVE} --nbd unix:nbd --duration 1s"));
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert!(
        outcome.stderr.contains("another server listens there"),
        "{outcome:?}"
    );
    wait_for(&place.path("nbd"));
    first.kill().expect("killed");
    finish(first);
    assert!(
        std::fs::symlink_metadata(place.path("nbd"))
            .expect("it is left")
            .file_type()
            .is_socket()
    );
    let second = serve(&place);
    signal(&second, "TERM");
    finish(second).expect(0);
    assert_eq!(place.names(), Vec::<String>::new());
}
