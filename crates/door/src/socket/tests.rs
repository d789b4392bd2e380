use super::*;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};

fn directory() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("read");
    let name = |entry: io::Result<fs::DirEntry>| {
        let name = entry.expect("an entry").file_name();
        name.to_string_lossy().into_owned()
    };
    let mut names: Vec<String> = entries.map(name).collect();
    names.sort();
    names
}

/// As a server that is killed leaves it: its lock goes with it, its files stay.
fn kill(listener: UnixListener, name: SocketName) {
    drop(listener);
    name.record.file.unlock().expect("unlocked");
    std::mem::forget(name);
}

#[test]
fn a_socket_goes_with_its_name() {
    let directory = directory();
    let path = directory.path().join("s");
    let (listener, name) = listen(&path).expect("listening");
    UnixStream::connect(&path).expect("connected");
    assert!(matches!(listen(&path), Err(SocketError::InUse { .. })));
    UnixStream::connect(&path).expect("still there");
    // The name goes, whoever has the listener still.
    drop(name);
    assert_eq!(names(directory.path()), Vec::<String>::new());
    drop(listener);
}

#[test]
fn what_a_killed_server_left_is_taken() {
    let directory = directory();
    let path = directory.path().join("s");
    for _ in 0..3 {
        let (listener, name) = listen(&path).expect("listening");
        UnixStream::connect(&path).expect("connected");
        kill(listener, name);
        assert_eq!(names(directory.path()), [".s.fathom", "s"]);
    }
    // Its socket may be gone, and the record not.
    fs::remove_file(&path).expect("removed");
    drop(listen(&path).expect("listening"));
    assert_eq!(names(directory.path()), Vec::<String>::new());
}

#[test]
fn nothing_of_anybody_else_s_goes() {
    let directory = directory();
    let path = directory.path().join("s");
    let inode = || fs::symlink_metadata(&path).expect("it is there").ino();
    let refused = || match listen(&path) {
        Err(SocketError::Taken { kind, .. }) => kind,
        other => panic!("{other:?}"),
    };
    // A socket that nobody listens at, of another program's.
    drop(UnixListener::bind(&path).expect("a socket"));
    let before = inode();
    assert_eq!(refused(), "a socket");
    assert_eq!(inode(), before);
    assert_eq!(names(directory.path()), ["s"]);
    // The same in place of one of fathom's.
    fs::remove_file(&path).expect("removed");
    let (listener, name) = listen(&path).expect("listening");
    kill(listener, name);
    fs::rename(&path, directory.path().join("ours")).expect("renamed");
    drop(UnixListener::bind(&path).expect("a socket"));
    let before = inode();
    assert_eq!(refused(), "a socket");
    assert_eq!(inode(), before);
    fs::remove_file(&path).expect("removed");
    fs::write(&path, "dear").expect("written");
    assert_eq!(refused(), "a regular file");
    assert_eq!(fs::read(&path).expect("read"), b"dear");
    fs::remove_file(&path).expect("removed");
    symlink("ours", &path).expect("a link");
    assert_eq!(refused(), "a symbolic link");
    assert!(directory.path().join("ours").exists());
}

#[test]
fn what_took_its_place_stays() {
    let directory = directory();
    let path = directory.path().join("s");
    let (_listener, name) = listen(&path).expect("listening");
    fs::remove_file(&path).expect("removed");
    fs::write(&path, "dear").expect("written");
    drop(name);
    assert_eq!(fs::read(&path).expect("read"), b"dear");
}

#[test]
fn a_file_where_the_record_would_be_stays() {
    let directory = directory();
    let path = directory.path().join("s");
    let at = directory.path().join(".s.fathom");
    for text in ["", "dear", "fathom.socket/1 but of another length"] {
        fs::write(&at, text).expect("written");
        assert!(matches!(listen(&path), Err(SocketError::Taken { .. })), "{text}");
        assert_eq!(fs::read_to_string(&at).expect("read"), text);
    }
    fs::remove_file(&at).expect("removed");
    symlink("nowhere", &at).expect("a link");
    assert!(matches!(listen(&path), Err(SocketError::Taken { .. })));
    assert_eq!(names(directory.path()), [".s.fathom"]);
}

/// Of many that begin at once, one listens.
#[test]
fn one_of_many_listens() {
    let directory = directory();
    let path = directory.path().join("s");
    let (listener, name) = listen(&path).expect("listening");
    kill(listener, name);
    let begin = std::sync::Barrier::new(8);
    let results: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    begin.wait();
                    listen(&path)
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("no panic"))
            .collect()
    });
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    for result in &results {
        assert!(
            matches!(result, Ok(_) | Err(SocketError::InUse { .. })),
            "{result:?}"
        );
    }
    UnixStream::connect(&path).expect("connected");
    drop(results);
    assert_eq!(names(directory.path()), Vec::<String>::new());
}
