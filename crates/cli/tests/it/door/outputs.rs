//! Outputs: reports, exports, pages.

use super::file_state;
use crate::harness::{LoopDevice, Mount, Place, skipped, tool};
use std::os::unix::fs::symlink;

/// Each leaves `OUT`. In `dir/fathom.1` for pages.
const COMMANDS: [&str; 8] = [
    "fio --name=a --rw=randread --bs=4k --size=64k --ioengine=null --eta=never --output=OUT",
    "report RUN -o OUT -q",
    "report RUN -q -o other.md -o OUT",
    "export RUN --csv -o OUT",
    "export RUN --parquet -o OUT",
    "reproduce no-such-experiment --markdown OUT",
    "compare RUN --with OTHER -q -o OUT",
    "plan --iops 100 -q -o OUT",
];

#[test]
fn outputs_are_new_files_and_nothing_else() {
    let place = Place::new();
    place
        .fathom("run --rw randread --bs 4k --size 1m --runtime 1s --on model:azure/P10 --record=io -o RUN -q")
        .expect(0);
    place
        .fathom("run --rw randread --bs 4k --size 1m --runtime 1s --on model:azure/P15 -o OTHER -q")
        .expect(0);
    let dear = place.write("dear.md", "dear");
    let report = place.write("there.md", "dear");
    let names = [
        "link.md",
        "device.md",
        "dangling.md",
        "dir.md",
        "fifo.md",
        "there.md",
    ];
    symlink("dear.md", place.path("link.md")).expect("a link");
    symlink("/dev/null", place.path("device.md")).expect("a link");
    symlink("nowhere", place.path("dangling.md")).expect("a link");
    std::fs::create_dir(place.path("dir.md")).expect("a directory");
    tool(&format!("mkfifo {}", place.path("fifo.md").display())).expect("mkfifo");
    let states = [file_state(&dear), file_state(&report)];
    let before: Vec<String> = states.iter().map(|state| state()).collect();
    let listing = place.names();
    let mut cases = 0;
    for command in COMMANDS {
        for name in names {
            for force in ["", " --force"] {
                if force == " --force" && name == "there.md" {
                    continue;
                }
                let line = command.replace("OUT", name);
                let line = match line.strip_prefix("fio ") {
                    Some(rest) => format!("fio{force} {rest}"),
                    None => format!("{line}{force}"),
                };
                let outcome = place.fathom(&line);
                cases += 1;
                assert!(
                    is_refusal(&line, outcome.code),
                    "{line}: {:?}\n{}",
                    outcome.code,
                    outcome.stderr
                );
                let now: Vec<String> = states.iter().map(|state| state()).collect();
                assert_eq!(now, before, "{line}");
                assert_eq!(place.names(), listing, "{line}");
            }
        }
    }
    eprintln!("{cases} cases");
    assert!(cases >= 60, "{cases}");
    place.fathom("report RUN -o there.md -q --force").expect(0);
    assert_ne!(states[1](), before[1]);
    place.fathom("report RUN -o new.md -q").expect(0);
    place
        .fathom("fio --name=a --rw=randread --bs=4k --size=64k --ioengine=null --eta=never --output=new.txt")
        .expect(0);
    assert!(place.path("new.txt").metadata().expect("a report").len() > 100);
}

#[test]
fn man_pages_replace_nothing() {
    let place = Place::new();
    std::fs::create_dir(place.path("man")).expect("a directory");
    let page = place.write("man/fathom-run.1", "dear");
    place.fathom("man -o man").expect(3).saying("--force");
    assert_eq!(std::fs::read(&page).expect("read"), b"dear");
    assert_eq!(
        std::fs::read_dir(place.path("man")).expect("read").count(),
        1,
        "all or none"
    );
    place.fathom("man -o man --force").expect(0);
    assert_ne!(std::fs::read(&page).expect("read"), b"dear");
    assert!(place.path("man/fathom.1").exists());
}

/// Directories of outputs, and those of records.
#[test]
fn what_is_left_in_a_directory_replaces_nothing() {
    let place = Place::new();
    place
        .fathom("run --rw randread --bs 4k --size 1m --on model:azure/P10 --record=io -o RUN -q")
        .expect(0);
    std::fs::create_dir(place.path("full")).expect("a directory");
    for name in ["full/load.json", "full/fathom-rules.yaml", "model.toml", "file"] {
        place.write(name, "dear");
    }
    for line in [
        "dashboards -o full -q",
        "dashboards -o file -q",
        "identify model:azure/P10 -q -o model.toml",
        "replay RUN --on model:azure/P10 -q -o full",
        "replay RUN --on model:azure/P10 -q -o RUN",
        "replay RUN --on model:azure/P10 -q -o file",
        "record -q -o full -- true",
        "record -q -o RUN -- true",
        "run --rw randread --bs 4k --size 1m --on model:azure/P10 -q -o full",
        "sweep --rw randread --bs 4k --size 1m --on model:azure/P10 -q -o RUN",
        "disk serve null: --size 1MiB --nbd unix:nbd --duration 1s -q -o full",
        "disk serve null: --size 1MiB --at full --duration 1s -q",
    ] {
        let run = place.listing("RUN");
        let outcome = place.fathom(line);
        assert!(
            matches!(outcome.code, Some(2 | 3)),
            "{line}: {:?}\n{}",
            outcome.code,
            outcome.stderr
        );
        assert_eq!(
            place.listing("full"),
            ["fathom-rules.yaml", "load.json"],
            "{line}"
        );
        for name in ["full/load.json", "full/fathom-rules.yaml", "model.toml", "file"] {
            assert_eq!(std::fs::read(place.path(name)).expect("read"), b"dear", "{line}");
        }
        assert_eq!(place.listing("RUN"), run, "{line}");
        assert_eq!(place.names(), ["RUN", "file", "full", "model.toml"], "{line}");
    }
}

/// The mounted file system on a device is as it was.
#[test]
fn a_report_is_not_written_over_a_mounted_device() {
    let place = Place::new();
    let name = "a_report_is_not_written_over_a_mounted_device";
    let prepared = LoopDevice::new(&place, 64 << 20).and_then(|device| {
        tool(&format!("mkfs.ext4 -qF {}", device.path))?;
        let mount = Mount::new(&place, &format!("-o ro {}", device.path))?;
        Ok((mount, device))
    });
    let (mount, device) = match prepared {
        Ok(prepared) => prepared,
        Err(missing) => return skipped(name, &missing),
    };
    let before = device.checksum();
    place
        .fathom("run --rw randread --bs 4k --size 1m --runtime 1s --on model:azure/P10 -o RUN -q")
        .expect(0);
    symlink(&device.path, place.path("r.md")).expect("a link");
    let fio = "--name=a --rw=randread --bs=4k --size=64k --ioengine=null --eta=never";
    for line in [
        format!("fio --output={} {fio}", device.path),
        format!("fio --force --output={} {fio}", device.path),
        format!("report RUN -o {}.md", device.path),
        String::from("report RUN -o r.md"),
        String::from("report RUN -o r.md --force"),
    ] {
        let outcome = place.fathom(&line);
        assert!(is_refusal(&line, outcome.code), "{line}: {}", outcome.stderr);
        assert_eq!(device.checksum(), before, "{line}");
    }
    drop(mount);
}

/// A report among the files of the run that it is made from would replace one of them.
#[test]
fn a_report_does_not_replace_the_record_that_it_is_made_from() {
    let place = Place::new();
    place
        .fathom("run --rw randread --bs 4k --size 1m --runtime 1s --on model:azure/P10 -o RUN -q")
        .expect(0);
    let before = std::fs::read(place.path("RUN/run.json")).expect("the run");
    std::fs::hard_link(place.path("RUN/run.json"), place.path("RUN/report.md")).expect("a second name");
    for force in ["", " --force"] {
        let outcome = place.fathom(&format!("report RUN -o RUN/report.md{force}"));
        assert!(matches!(outcome.code, Some(2 | 3)), "{}", outcome.stderr);
    }
    assert_eq!(
        std::fs::read(place.path("RUN/run.json")).expect("the run"),
        before
    );
    place.fathom("show RUN").expect(0);
}

/// Logs of fio's form replace nothing that is there.
#[test]
fn logs_replace_nothing() {
    let place = Place::new();
    place
        .fathom("run --rw randread --bs 4k --size 1m --runtime 1s --on model:azure/P10 --record=io -o RUN -q")
        .expect(0);
    place.fathom("export RUN --fio-log -o logs").expect(0);
    let before = place.listing("logs");
    place
        .fathom("export RUN --fio-log -o logs")
        .expect(3)
        .saying("--force");
    assert_eq!(place.listing("logs"), before);
    place.fathom("export RUN --fio-log -o logs --force").expect(0);
}

/// What is recovered through a link would be somebody else's.
#[test]
fn recovering_does_not_follow_links() {
    let place = Place::new();
    place
        .fathom("run --rw randread --bs 4k --size 1m --runtime 1s --on model:azure/P10 --record=io -o RUN -q")
        .expect(0);
    let dear = place.path("dear");
    std::fs::create_dir(&dear).expect("a directory");
    for file in place.listing("RUN/io") {
        std::fs::copy(place.path(format!("RUN/io/{file}")), dear.join(&file)).expect("a copy");
    }
    place.write("dear/00000.arrows.part", "dear");
    std::fs::remove_dir_all(place.path("RUN/io")).expect("the stream");
    symlink("../dear", place.path("RUN/io")).expect("a link");
    let before = place.listing("dear");
    let outcome = place.fathom("recover RUN");
    assert!(matches!(outcome.code, Some(1..=3)), "{}", outcome.stderr);
    assert_eq!(place.listing("dear"), before);
}

/// Whether that is how a command ends that refuses: fio says 1 of all that is wrong.
fn is_refusal(line: &str, code: Option<i32>) -> bool {
    if line.starts_with("fio ") {
        code == Some(1)
    } else {
        matches!(code, Some(2 | 3))
    }
}
