use super::{NAME_MAX, NOTE_FILE, Note, read_note, write_note};

#[test]
fn a_note_comes_back_and_replaces_the_one_before() {
    let dir = tempfile::tempdir().expect("a directory");
    assert_eq!(read_note(dir.path()).expect("none"), Note::default());
    for name in ["first", "\"second\"\n</script>"] {
        let note = Note {
            name: name.to_owned(),
            text: String::from("two\nlines"),
        };
        write_note(dir.path(), &note).expect("written");
        assert_eq!(read_note(dir.path()).expect("read"), note);
    }
    let names: Vec<_> = std::fs::read_dir(dir.path()).expect("a directory").collect();
    assert_eq!(names.len(), 1, "nothing else is left");
}

#[test]
fn what_is_no_note_is_said_with_its_file() {
    let dir = tempfile::tempdir().expect("a directory");
    for text in ["", "{}", "{\"schema\":\"fathom.note/2\"}", "[1]"] {
        std::fs::write(dir.path().join(NOTE_FILE), text).expect("a file");
        let error = read_note(dir.path()).expect_err(text).to_string();
        assert!(error.contains(NOTE_FILE), "{error}");
        let error = write_note(dir.path(), &Note::default())
            .expect_err(text)
            .to_string();
        assert!(error.contains(NOTE_FILE), "{error}");
        let there = std::fs::read_to_string(dir.path().join(NOTE_FILE)).expect("a file");
        assert_eq!(there, text, "it stays");
    }
    let long = Note {
        name: "x".repeat(NAME_MAX + 1),
        text: String::new(),
    };
    assert!(write_note(dir.path(), &long).is_err());
}

/// Where somebody put a link, what it leads to stays as it is.
#[test]
fn a_link_is_replaced_not_followed() {
    let dir = tempfile::tempdir().expect("a directory");
    let other = dir.path().join("other");
    std::fs::write(&other, "theirs").expect("a file");
    std::os::unix::fs::symlink(&other, dir.path().join(NOTE_FILE)).expect("a link");
    write_note(dir.path(), &Note::default()).expect("written");
    assert_eq!(std::fs::read_to_string(&other).expect("theirs"), "theirs");
}

/// Reading a pipe would wait for whoever writes to it, and a link leads elsewhere.
#[test]
fn a_pipe_and_a_link_are_no_notes() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join(NOTE_FILE);
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
    let error = read_note(dir.path()).expect_err("a pipe").to_string();
    assert!(error.contains("it is no regular file"), "{error}");
    std::fs::remove_file(&path).expect("removed");
    std::os::unix::fs::symlink("/etc/passwd", &path).expect("a link");
    let error = read_note(dir.path()).expect_err("a link").to_string();
    assert!(error.contains("links are not followed"), "{error}");
}
