use super::{MountRow, Server, parse_mounts, parse_started, servers};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[test]
fn mounts_of_servers_are_known_by_their_names() {
    let table = "/dev/vda / ext4 rw 0 0\nfathom-disk:4711:99:4026531836 /mnt/a\\040b fuse.fathom rw 0 0\n\
                 fathom-disk:x /mnt/c fuse rw 0 0\nfathom-disk:4711:99:1:1 /mnt/d fuse rw 0 0\n";
    let mounts = parse_mounts(table);
    let expected = MountRow {
        source: String::from("fathom-disk:4711:99:4026531836"),
        at: PathBuf::from("/mnt/a b"),
    };
    assert_eq!(mounts[1], expected);
    let server = Server {
        pid: 4711,
        started_ticks: 99,
        namespace: 4_026_531_836,
    };
    assert_eq!(
        servers(&mounts).collect::<Vec<_>>(),
        [(server, Path::new("/mnt/a b"))]
    );
    assert_eq!(server.mount_name(), mounts[1].source);
}

#[test]
fn a_number_that_is_used_again_is_another_server() {
    let this = Server::this().expect("this process");
    assert_eq!(Server::of(&this.mount_name()), Some(this));
    assert!(!this.is_gone().expect("/proc"));
    let before = Server {
        started_ticks: this.started_ticks - 1,
        ..this
    };
    assert!(before.is_gone().expect("/proc"));
    // In a container the same number is another process: nothing is known of it.
    let elsewhere = Server {
        namespace: this.namespace + 1,
        ..before
    };
    assert!(!elsewhere.is_gone().expect("/proc"));
}

#[test]
fn a_server_that_was_killed_is_gone_before_it_is_reaped() {
    let mut sleep = Command::new("sleep")
        .arg("600")
        .stdin(Stdio::null())
        .spawn()
        .expect("sleep");
    let this = Server::this().expect("this process");
    let server = Server {
        pid: sleep.id(),
        started_ticks: super::started_ticks(sleep.id())
            .expect("/proc")
            .expect("it lives"),
        ..this
    };
    assert!(!server.is_gone().expect("/proc"));
    sleep.kill().expect("kill it");
    // The kernel takes a moment to end it.
    while !server.is_gone().expect("/proc") {
        std::thread::yield_now();
    }
    sleep.wait().expect("reap it");
    assert!(server.is_gone().expect("/proc"));
}

#[test]
fn a_start_is_read_behind_any_name() {
    let line = |name: &str, state: &str| {
        format!(
            "7 ({name}) {state} 1 7 7 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 9 0 123456 1000 20 18446744073709551615 1 1\n"
        )
    };
    assert_eq!(parse_started(&line("fathom", "S")), Some(123_456));
    assert_eq!(parse_started(&line("a) R 5 (b c", "R")), Some(123_456));
    assert_eq!(parse_started(&line("fathom", "Z")), None);
    assert_eq!(parse_started("7 (fathom"), None);
}
