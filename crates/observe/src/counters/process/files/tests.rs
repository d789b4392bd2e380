use super::*;
use crate::fixture::Tree;
use std::path::Path;
use std::process::{Child, Command};

fn files(proc: &Path) -> Files {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Files::new(rustix::fs::open(proc, flags, Mode::empty()).expect("a directory of processes"))
}

fn sleeper() -> Child {
    Command::new("sleep").arg("60").spawn().expect("a process")
}

#[test]
fn a_file_that_stays_open_is_read_anew_each_time() {
    let tree = Tree::new();
    let mut files = files(&tree.real("/"));
    let mut buffer = [0; 64];
    for keep in [false, true] {
        for text in ["one", "twenty", "3"] {
            tree.file("/7/stat", text);
            let read = files.read(7, Name::Stat, keep, &mut buffer);
            assert_eq!(read, Ok(text.as_bytes()), "keep {keep}");
        }
    }
    assert_eq!(files.kept.len(), 1);
    files.close(7);
    assert_eq!(files.kept.len(), 0);
}

#[test]
fn an_ended_process_says_nothing_any_more() {
    let mut files = files(Path::new("/proc"));
    let mut buffer = [0; 4096];
    let mut child = sleeper();
    let read = files.read(child.id(), Name::Stat, true, &mut buffer);
    assert!(
        read.expect("a process that runs")
            .starts_with(child.id().to_string().as_bytes())
    );
    child.kill().expect("a kill");
    child.wait().expect("its end");
    assert_eq!(
        files.read(child.id(), Name::Stat, true, &mut buffer),
        Err(Errno::SRCH)
    );
    files.close(child.id());
    assert_eq!(
        files.read(child.id(), Name::Stat, true, &mut buffer),
        Err(Errno::NOENT)
    );
}

#[test]
fn no_more_files_stay_open_than_there_is_room_for() {
    let tree = Tree::new();
    let mut files = files(&tree.real("/"));
    let mut buffer = [0; 64];
    let pids = 1..=OPEN_MAX as u32 + 10;
    for pid in pids.clone() {
        tree.file(&format!("/{pid}/io"), pid.to_string());
    }
    for pid in pids.clone().chain(pids) {
        let read = files.read(pid, Name::Io, true, &mut buffer);
        assert_eq!(read, Ok(pid.to_string().as_bytes()));
    }
    assert_eq!(files.kept.len(), OPEN_MAX);
}
