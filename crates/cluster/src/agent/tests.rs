use super::{Said, Step, Steps, end, list, now_unix_ns, release, send, tell_time, work};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

static GO_ON: AtomicBool = AtomicBool::new(false);

fn step(name: &str, words: &[&str]) -> Step {
    Step {
        name: name.to_owned(),
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        volume: None,
        afterwards: false,
    }
}

#[test]
fn all_steps_are_tried_and_their_ends_told() {
    let dir = tempfile::tempdir().expect("a directory");
    let steps = Steps {
        out: dir.path().to_str().expect("text").to_owned(),
        prepare: None,
        steps: vec![
            step("well", &["-c", "exit 0"]),
            step("badly", &["-c", "exit 3"]),
            step("killed", &["-c", "kill -9 $$"]),
        ],
    };
    let mut out = Vec::new();
    work(Path::new("/bin/sh"), &steps, &GO_ON, &mut out).expect("told");
    let text = String::from_utf8(out).expect("text");
    let said: Vec<Said> = text.lines().filter_map(Said::read).collect();
    let exits: Vec<Option<i32>> = said
        .iter()
        .filter_map(|said| match said {
            Said::Ended { exit, .. } => Some(*exit),
            _ => None,
        })
        .collect();
    assert_eq!(exits, [Some(0), Some(3), None]);
    assert_eq!(said.last(), Some(&Said::Done));
    let mut out = Vec::new();
    work(Path::new("/nowhere"), &steps, &GO_ON, &mut out).expect("told");
    let text = String::from_utf8(out).expect("text");
    assert!(text.contains("\"failed\""), "{text}");
}

#[test]
fn lines_of_others_are_not_the_agents() {
    assert_eq!(Said::read("warning: x"), None);
    assert_eq!(Said::read("fathom-agent {\"said\":\"else\"}"), None);
    assert_eq!(Said::read("fathom-agent {\"said\":\"done\"}"), Some(Said::Done));
    // As older ones say it.
    assert_eq!(
        Said::read("fathom-agent {\"said\":\"ended\",\"step\":\"a\",\"exit\":1}"),
        Some(Said::Ended {
            step: String::from("a"),
            exit: Some(1),
            took_ms: None
        })
    );
}

#[test]
fn regular_files_are_listed_and_sent_from_any_place() {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::create_dir(dir.path().join("run")).expect("made");
    std::fs::write(dir.path().join("run/a"), b"0123456789").expect("written");
    std::fs::write(dir.path().join("b"), b"").expect("written");
    std::os::unix::fs::symlink("/etc/passwd", dir.path().join("link")).expect("linked");
    let kept = list(dir.path()).expect("listed");
    let paths: Vec<(&str, u64)> = kept
        .iter()
        .map(|one| (one.path.as_str(), one.size_bytes))
        .collect();
    assert_eq!(paths, [("b", 0), ("run/a", 10)]);
    // sha256sum of "0123456789"
    assert_eq!(
        kept[1].sha256,
        "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882"
    );
    let mut out = Vec::new();
    send(&dir.path().join("run/a"), 7, &mut out).expect("sent");
    assert_eq!(out, b"789");
}

#[test]
fn members_prepare_and_begin_at_the_moment_that_they_are_told() {
    let dir = tempfile::tempdir().expect("a directory");
    let steps = Steps {
        out: dir.path().to_str().expect("text").to_owned(),
        prepare: Some(step("files", &["-c", "true"])),
        steps: vec![step("load", &["-c", "true"])],
    };
    let due = now_unix_ns() + 200_000_000;
    release(dir.path(), due).expect("written");
    let mut out = Vec::new();
    work(Path::new("/bin/sh"), &steps, &GO_ON, &mut out).expect("told");
    let text = String::from_utf8(out).expect("text");
    let said: Vec<Said> = text.lines().filter_map(Said::read).collect();
    assert_eq!(said[2], Said::Ready);
    let Said::Released {
        due_unix_ns,
        at_unix_ns,
    } = said[3]
    else {
        panic!("{text}");
    };
    assert_eq!(due_unix_ns, due);
    assert!(at_unix_ns >= due, "not before: {text}");
    let left = list(dir.path()).expect("listed");
    let left: Vec<&str> = left.iter().map(|one| one.path.as_str()).collect();
    assert_eq!(left, ["files.txt", "load.txt"], "and nothing of the agent's own");
}

#[test]
fn a_step_is_ended_as_by_ctrl_c() {
    let dir = tempfile::tempdir().expect("a directory");
    let listens = dir.path().join("listens");
    let steps = Steps {
        out: dir.path().to_str().expect("text").to_owned(),
        prepare: None,
        steps: vec![step(
            "long",
            // What was started in the background ignores Ctrl-C, and so would a shell that inherits it.
            &[
                "--default-signal=INT",
                "/bin/bash",
                "-c",
                &format!(
                    "trap 'exit 7' INT; : > {}; while :; do sleep 0.01; done",
                    listens.display()
                ),
            ],
        )],
    };
    let begun = Instant::now();
    let mut out = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // It is told once: before it listens would be too early.
            while !listens.exists() {
                std::thread::sleep(Duration::from_millis(5));
            }
            end(dir.path()).expect("written");
        });
        work(Path::new("/usr/bin/env"), &steps, &GO_ON, &mut out).expect("told");
    });
    let text = String::from_utf8(out).expect("text");
    assert!(
        text.contains("\"ended\"") && text.contains("\"exit\":7"),
        "{text}"
    );
    assert!(begun.elapsed() < Duration::from_secs(30));
}

#[test]
fn each_line_is_answered_with_the_time() {
    let mut out = Vec::new();
    let before = now_unix_ns();
    tell_time(&mut &b"\n\n"[..], &mut out).expect("told");
    let times: Vec<u64> = String::from_utf8(out)
        .expect("text")
        .lines()
        .map(|line| line.parse().expect("a number"))
        .collect();
    assert_eq!(times.len(), 2);
    assert!(before <= times[0] && times[0] <= times[1], "{times:?}");
}
