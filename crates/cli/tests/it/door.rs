//! What the door keeps: whatever a target or an output is, however it is called and whichever command is told to write
//! there, nothing of the user's is touched.
//!
//! A matrix: each [`Dear`] thing, by each of its names, for each command. A case is wrong if the thing has changed, or the
//! program did not say no.

mod during;
mod earlier;
mod outputs;
mod sockets;

use crate::harness::{LoopDevice, Mount, Place, skipped, tool};
use std::os::unix::fs::{FileExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Each writes to `T`, or removes it; `A` is what allows as much as can be allowed in ignorance of what it is.
const COMMANDS: [&str; 11] = [
    "run --rw write --bs 4k --size 64k -o none -q --on T",
    "run --rw randwrite --bs 4k --size 64k --filename=T -o none -q",
    "run --rw randread --bs 4k --size 64k --unlink 1 -o none -q T",
    "run --rw trim --bs 4k --size 64k -o none -q T",
    "run --rw read --bs 4k --size 64m -o none -q T",
    "run --rw randrw --overwrite 1 --bs 4k --size 64k --verify crc32c -o none -q T",
    "fio --name=a --rw=write --bs=4k --size=64k --eta=never --filename=T",
    "fio --name=a --ioengine=null --size=64k --output=T",
    "fio --name=a --ioengine=null --size=64k --write_iolog=T",
    "diskspd --no-record -q -w100 -d1 -W0 -b4K -c64K T",
    "sweep --rw write --bs 4k --iodepth 1 --size 64k --runtime 1s -q -o sweep T",
];

/// What came later, and what few use: tried by the first name of each thing.
const MORE: [&str; 7] = [
    "replay REC -o none -q --buffered --on T",
    "identify -q --time 60s T",
    "run --rw write --ioengine sg --bs 4k --size 64k -o none -q T",
    "run --rw write --ioengine io_uring_cmd --bs 4k --size 64k -o none -q T",
    "run --rw write --bs 4k --size 64k --file_append 1 --fill_device 1 --fallocate truncate -o none -q T",
    "fio --name=a --ioengine=filedelete --filesize=4k --size=4k --eta=never --filename=T",
    "disk serve model:azure/P10 --nbd unix:nbd --duration 1s -q --backing T",
];

/// Something that must be as it was.
struct Dear {
    what: &'static str,
    /// Paths that lead to it.
    names: Vec<String>,
    /// What must not change, and who is to be asked.
    state: Box<dyn Fn() -> String>,
    /// Commands that do no harm: what is only read may be read.
    harmless: &'static [&'static str],
    /// Goes with it.
    keep: Vec<Box<dyn std::any::Any>>,
}

fn file_state(path: &Path) -> Box<dyn Fn() -> String> {
    let path = path.to_owned();
    Box::new(move || {
        let found = std::fs::symlink_metadata(&path).map(|found| (found.ino(), found.len()));
        let contents = std::fs::read(&path).map(|bytes| {
            bytes
                .iter()
                .map(|b| u64::from(*b))
                .fold(0u64, |a, b| a.wrapping_mul(31).wrapping_add(b))
        });
        format!("{found:?} {:?}", contents.ok())
    })
}

fn device_state(path: &str) -> Box<dyn Fn() -> String> {
    let path = path.to_owned();
    Box::new(move || tool(&format!("sha256sum {path}")).expect("read the device"))
}

/// Reads what is large enough without harm.
const READS: &[&str] = &["--rw randread", "--rw read"];

fn dear(what: &'static str, path: &Path, names: Vec<String>) -> Dear {
    Dear {
        what,
        names,
        state: file_state(path),
        harmless: &[],
        keep: Vec::new(),
    }
}

/// A file that fathom made, in a directory of its own below `place`.
fn made(place: &Place, name: &str) -> Option<PathBuf> {
    place
        .fathom(&format!(
            "run --rw write --bs 64k --size 8m -o none -q --on {name}"
        ))
        .expect(0);
    let again = place.fathom(&format!(
        "run --rw write --bs 64k --size 64k -o none -q --on {name}"
    ));
    // Without user attributes every file is somebody else's.
    (again.code == Some(0)).then(|| place.path(name))
}

fn files(place: &Place) -> Vec<Dear> {
    let foreign = place.write("db", vec![7; 1 << 20]);
    symlink("db", place.path("link")).expect("a link");
    std::fs::hard_link(&foreign, place.path("hard")).expect("a name");
    std::fs::create_dir(place.path("dir")).expect("a directory");
    let absolute = foreign.display().to_string();
    let names = ["db", "./db", "dir/../db", "link", "hard"].map(String::from);
    let names = names.into_iter().chain([absolute]).collect();
    let mut all = vec![Dear {
        harmless: &["--rw randread"],
        ..dear("a user's file", &foreign, names)
    }];
    let short = place.write("short", "dear");
    all.push(dear("a user's short file", &short, vec![String::from("short")]));
    let fifo = place.path("fifo");
    tool(&format!("mkfifo {}", fifo.display())).expect("mkfifo");
    all.push(Dear {
        state: Box::new(move || {
            format!(
                "{:?}",
                std::fs::symlink_metadata(&fifo).map(|found| found.ino()).ok()
            )
        }),
        ..dear("a pipe", Path::new("/"), vec![String::from("fifo")])
    });
    all
}

/// Files of fathom's that something was done to.
fn spoilt(place: &Place) -> Vec<Dear> {
    let Some(copied) = made(place, "copied") else {
        skipped("door", "user attributes where the tests run");
        return Vec::new();
    };
    let data = place.write("userdata", vec![9; 8 << 20]);
    // Within one tick of the kernel's clock nothing tells a copy from what was there.
    std::thread::sleep(Duration::from_millis(20));
    tool(&format!("cp {} {}", data.display(), copied.display())).expect("cp");
    let mut all = vec![Dear {
        harmless: &["--rw randread"],
        ..dear(
            "a copy over a file of fathom's",
            &copied,
            vec![String::from("copied")],
        )
    }];
    let image = made(place, "image.ext4").expect("attributes");
    if tool(&format!("mkfs.ext4 -qF {}", image.display())).is_ok() {
        all.push(Dear {
            harmless: &["--rw randread"],
            ..dear(
                "a file system in a file of fathom's",
                &image,
                vec![String::from("image.ext4")],
            )
        });
    }
    all
}

/// A process that has `path` open for writing, and nothing else.
struct Writer(Child);

impl Writer {
    fn new(path: &str) -> Self {
        let child = Command::new("sh")
            .args(["-c", "exec sleep 3600 3<>\"$0\"", path])
            .stdin(Stdio::null())
            .spawn()
            .expect("a shell");
        let comm = format!("/proc/{}/comm", child.id());
        let begun = Instant::now();
        while std::fs::read_to_string(&comm).unwrap_or_default().trim() != "sleep" {
            assert!(
                begun.elapsed() < Duration::from_secs(20),
                "the shell does not start"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
        Self(child)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // It may have gone by itself.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn used(place: &Place) -> Vec<Dear> {
    let path = place.write("open", vec![5; 1 << 20]);
    let writer = Writer::new(&path.display().to_string());
    vec![Dear {
        harmless: &["--rw randread"],
        keep: vec![Box::new(writer)],
        ..dear("a file that is written to", &path, vec![String::from("open")])
    }]
}

/// Loop devices in several uses.
fn devices(place: &Place) -> Result<Vec<Dear>, String> {
    let mut all = Vec::new();
    let sub = |name: &str| {
        let dir = place.path(name);
        std::fs::create_dir_all(&dir).expect("a directory");
        Place::below(dir)
    };
    let of = |what, device: &LoopDevice| Dear {
        what,
        names: vec![device.path.clone()],
        state: device_state(&device.path),
        harmless: READS,
        keep: Vec::new(),
    };
    let blank = LoopDevice::new(&sub("blank"), 64 << 20)?;
    // Not named: refused for that alone.
    all.push(Dear {
        what: "a device that was not named",
        ..of("", &blank)
    });
    for (what, offset, magic) in [
        (
            "a DRBD volume",
            (64 << 20) - 4096 + 60,
            &[0x83, 0x74, 0x02, 0x6b][..],
        ),
        ("a ReFS volume", 3, b"ReFS\0\0\0\0"),
    ] {
        let device = LoopDevice::new(&sub(what), 64 << 20)?;
        let image = std::fs::File::options()
            .write(true)
            .open(&device.image)
            .expect("the image");
        image.write_all_at(magic, offset).expect("written");
        image.sync_all().expect("synced");
        tool(&format!("blockdev --flushbufs {}", device.path))?;
        all.push(Dear {
            keep: vec![],
            ..of(what, &device)
        });
        all.last_mut().expect("one").keep.push(Box::new(device));
    }
    let place_ext4 = sub("ext4");
    let device = LoopDevice::new(&place_ext4, 64 << 20)?;
    tool(&format!("mkfs.ext4 -qF {}", device.path))?;
    let mut dear = of("a device with a file system", &device);
    dear.keep.push(Box::new(device));
    all.push(dear);
    let mounted = sub("mounted");
    let device = LoopDevice::new(&mounted, 64 << 20)?;
    tool(&format!("mkfs.ext4 -qF {}", device.path))?;
    let mount = Mount::new(&mounted, &format!("-o ro {}", device.path))?;
    let mut dear = of("a mounted device", &device);
    dear.names.push(device.image.display().to_string());
    dear.keep.push(Box::new(mount));
    dear.keep.push(Box::new(device));
    all.push(dear);
    let device = LoopDevice::new(&sub("written"), 64 << 20)?;
    let mut dear = of("a device that is written to", &device);
    dear.keep.push(Box::new(Writer::new(&device.path)));
    dear.keep.push(Box::new(device));
    all.push(dear);
    all[0].keep.push(Box::new(blank));
    Ok(all)
}

/// Runs all commands on all names of all things; how many cases that were.
fn try_all(place: &Place, dears: &[Dear]) -> usize {
    let mut cases = 0;
    let record = "run --rw write --bs 4k --size 64k --on model:azure/P10 --record=io -q -o REC";
    place.fathom(record).expect(0);
    for dear in dears {
        let before = (dear.state)();
        for (number, name) in dear.names.iter().enumerate() {
            let more = if number == 0 { &MORE[..] } else { &[] };
            for &command in COMMANDS.iter().chain(more) {
                let line = command.replace('T', name);
                let line = match dear.what {
                    "a user's file" | "a user's short file" | "a device that was not named" => line,
                    what if what.starts_with("a copy") || what.starts_with("a file system in") => line,
                    // Whatever is said: these are in use, or carry what needs a word of its own.
                    _ => allowing(&line, name),
                };
                let outcome = place.fathom(&line);
                cases += 1;
                assert_eq!(
                    (dear.state)(),
                    before,
                    "{}: {line}\n{}",
                    dear.what,
                    outcome.stderr
                );
                let harmless = dear.harmless.iter().any(|words| command.contains(words));
                if !(harmless && outcome.code == Some(0)) {
                    // fio says 1 of all that is refused.
                    let refused = if line.starts_with("fio ") {
                        matches!(outcome.code, Some(1))
                    } else {
                        matches!(outcome.code, Some(2 | 3))
                    };
                    assert!(
                        refused,
                        "{}: {line}: {:?}\n{}",
                        dear.what, outcome.code, outcome.stderr
                    );
                }
                assert!(!outcome.stderr.contains("panicked"), "{line}: {}", outcome.stderr);
                let _swept = std::fs::remove_dir_all(place.path("sweep"));
            }
        }
    }
    cases
}

/// The flag that allows to overwrite, where a command takes it.
fn allowing(line: &str, name: &str) -> String {
    let served = line.strip_prefix("disk serve ").map(|rest| ("disk serve", rest));
    let (command, rest) = served.or(line.split_once(' ')).expect("a command");
    format!("{command} --allow-overwrite {name} {rest}")
}

#[test]
fn nothing_of_the_user_s_is_touched_whatever_it_is() {
    let place = Place::new();
    let mut dears = files(&place);
    dears.extend(spoilt(&place));
    dears.extend(used(&place));
    match devices(&place) {
        Ok(more) => dears.extend(more),
        Err(missing) => skipped(
            "nothing_of_the_user_s_is_touched_whatever_it_is (devices)",
            &missing,
        ),
    }
    let cases = try_all(&place, &dears);
    eprintln!("{cases} cases");
    assert!(cases >= 80, "{cases} cases");
}

#[test]
fn only_what_the_run_made_is_removed() {
    let place = Place::new();
    let db = place.write("db", vec![7; 1 << 20]);
    let outcome = place
        .fathom("run --rw randread --bs 4k --size 64k --unlink 1 -o none db")
        .expect(0);
    outcome.saying("db was there before this run and stays");
    place
        .fathom(
            "fio --readonly --name=a --rw=randread --bs=4k --size=64k --unlink=1 --eta=never --filename=db",
        )
        .expect(0);
    assert_eq!(std::fs::read(&db).expect("db"), vec![7; 1 << 20]);
    place
        .fathom("run --rw randwrite --bs 4k --size 64k --unlink 1 -o none -q new")
        .expect(0);
    assert_eq!(place.names(), ["db"]);
}

#[test]
fn a_section_s_name_does_not_lead_out_of_its_directory() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("a/b")).expect("directories");
    for name in ["../../x", "/tmp/fathom-test-x", "../b/../../x"] {
        place.write(
            "j.fio",
            format!("[{name}]\nrw=write\nbs=4k\nsize=64k\ndirectory=a/b\n"),
        );
        place
            .fathom("run j.fio -o none -q")
            .expect(2)
            .saying("outside the directory");
    }
    assert_eq!(place.names(), ["a", "j.fio"]);
    assert!(!Path::new("/tmp/fathom-test-x.0.0").exists());
}
