//! Power cuts under a database: recovery succeeds, and every transaction that was acknowledged is there.
//!
//! `FATHOM_POWER_CUTS` says how many cuts (`cargo xtask soak postgres`: 200). The disk's file system is on a loop device of the
//! test's own, as everything above a disk has to go when its power does.

use super::served::{Served, or_skip};
use crate::harness::{Place, tool};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Cuts in a check; each takes some seconds, most of them waits.
const CUTS: u64 = 2;
/// Programs that insert at the same time.
const WRITERS: u64 = 4;
/// Longer than any recovery here.
const PATIENCE: Duration = Duration::from_mins(1);

/// The server, on a file system of a served disk.
struct Database<'a> {
    place: &'a Place,
    served: &'a Served<'a>,
    bin: String,
    device: Option<String>,
    server: Option<std::process::Child>,
}

/// Where the programs of the database are; why there are none.
fn programs() -> Result<String, String> {
    if !rustix::process::geteuid().is_root() {
        return Err(String::from("root"));
    }
    let found = shell_line("ls -d /usr/lib/postgresql/*/bin | tail -1");
    let bin = found
        .filter(|bin| !bin.is_empty())
        .ok_or("PostgreSQL is not installed")?;
    for tool_needed in ["setpriv", "mkfs.ext4", "losetup"] {
        if shell_line(&format!("command -v {tool_needed}")).is_none() {
            return Err(format!("{tool_needed} is not installed"));
        }
    }
    shell_line("id -u postgres").ok_or("there is no user postgres")?;
    Ok(bin)
}

fn shell_line(line: &str) -> Option<String> {
    let output = Command::new("sh").args(["-c", line]).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}

impl Database<'_> {
    fn mount(&self) -> String {
        self.place.path("mnt").display().to_string()
    }

    /// As the user that the database wants to be.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid=postgres", "--regid=postgres", "--clear-groups"])
            .arg(format!("{}/{program}", self.bin))
            .current_dir("/")
            .env("LC_ALL", "C");
        command
    }

    fn attach(&mut self) {
        let file = self.served.way("file");
        let device = tool(&format!("losetup --direct-io=on --find --show {file}")).expect("losetup");
        tool(&format!("mount {device} {}", self.mount())).expect("mount, with the journal's recovery");
        self.device = Some(device);
    }

    /// Takes down what stood on a disk without power.
    fn detach(&mut self) {
        if let Some(mut server) = self.server.take() {
            // Its children notice that it is gone.
            let _gone = server.kill();
            let _reaped = server.wait();
        }
        let begun = Instant::now();
        while tool(&format!("umount {}", self.mount())).is_err() && begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(50));
        }
        if let Some(device) = self.device.take() {
            tool(&format!("losetup --detach {device}")).expect("losetup --detach");
        }
    }

    /// Starts it and waits until it takes queries: recovery is over then.
    fn start(&mut self) -> Result<(), String> {
        let log = std::fs::File::create(self.place.path("postgres.log")).expect("a log");
        let mut command = self.command("postgres");
        command.args(["-D", &format!("{}/pg", self.mount())]);
        for setting in [
            "listen_addresses=",
            &format!("unix_socket_directories={}", self.socket()),
            "shared_buffers=16MB",
            "max_connections=12",
            "autovacuum=off",
        ] {
            command.args(["-c", setting]);
        }
        let log_too = log.try_clone().expect("the log");
        command.stdin(Stdio::null()).stdout(log).stderr(log_too);
        self.server = Some(command.spawn().map_err(|error| error.to_string())?);
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if self.query("SELECT 1").is_ok() {
                return Ok(());
            }
            let ended = self
                .server
                .as_mut()
                .and_then(|server| server.try_wait().ok().flatten());
            if ended.is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Err(std::fs::read_to_string(self.place.path("postgres.log")).unwrap_or_default())
    }

    /// Where its socket is: a place of its own, as tests run side by side.
    fn socket(&self) -> String {
        self.place.path("socket").display().to_string()
    }

    fn psql(&self) -> Command {
        let mut command = self.command("psql");
        command.args(["-qAtX", "-h", &self.socket(), "-d", "postgres"]);
        command
    }

    fn query(&self, sql: &str) -> Result<String, String> {
        let output = self
            .psql()
            .args(["-c", sql])
            .output()
            .map_err(|error| error.to_string())?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
        }
    }

    /// Inserts from several clients until `time` is over and `cut` is done; what was acknowledged.
    fn insert_until(&self, first: u64, time: Duration, cut: impl FnOnce()) -> BTreeSet<u64> {
        let clients: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let mut child = self
                    .psql()
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .stderr(Stdio::null())
                    .spawn()
                    .expect("psql");
                let (mut stdin, stdout) = (
                    child.stdin.take().expect("stdin"),
                    child.stdout.take().expect("stdout"),
                );
                let feeder = std::thread::spawn(move || {
                    for number in 0.. {
                        let id = first + number * WRITERS + writer;
                        let line =
                            format!("INSERT INTO kept VALUES ({id}, repeat('x', 500)) RETURNING id;\n");
                        if stdin.write_all(line.as_bytes()).is_err() {
                            return;
                        }
                    }
                });
                let reader = std::thread::spawn(move || {
                    let lines = BufReader::new(stdout).lines().map_while(Result::ok);
                    // A line comes after the commit it tells of.
                    lines
                        .filter_map(|line| line.trim().parse::<u64>().ok())
                        .collect::<Vec<u64>>()
                });
                (child, feeder, reader)
            })
            .collect();
        std::thread::sleep(time);
        cut();
        // Some wait for a disk that is gone.
        std::thread::sleep(Duration::from_millis(200));
        let mut acknowledged = BTreeSet::new();
        for (mut child, feeder, reader) in clients {
            let _gone = child.kill();
            let _reaped = child.wait();
            feeder.join().expect("a feeder");
            acknowledged.extend(reader.join().expect("a reader"));
        }
        acknowledged
    }
}

impl Drop for Database<'_> {
    fn drop(&mut self) {
        if self.server.is_some() || self.device.is_some() {
            // A test that failed: a disk that is gone would hold up what is taken down.
            let _back = self.served.fault("attach");
            self.detach();
        }
    }
}

/// A new database on a new file system.
fn database<'a>(place: &'a Place, served: &'a Served<'a>, bin: String) -> Database<'a> {
    std::fs::create_dir(place.path("mnt")).expect("a directory");
    let mut database = Database {
        place,
        served,
        bin,
        device: None,
        server: None,
    };
    tool(&format!("mkfs.ext4 -q -F {}", served.way("file"))).expect("mkfs");
    database.attach();
    let pg = format!("{}/pg", database.mount());
    std::fs::create_dir(&pg).expect("a directory");
    tool(&format!("chown postgres:postgres {pg}")).expect("chown");
    // The place is its maker's alone, and the server another user.
    tool(&format!("chmod o+x {}", place.path("").display())).expect("chmod");
    std::fs::create_dir(place.path("socket")).expect("a directory");
    tool(&format!("chown postgres {}", database.socket())).expect("chown");
    let made = database
        .command("initdb")
        .args(["-D", &pg, "--no-sync", "-A", "trust"])
        .output();
    let made = made.expect("initdb");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    tool(&format!("sync -f {pg}")).expect("sync");
    database.start().expect("the first start");
    database
        .query("CREATE TABLE kept (id bigint PRIMARY KEY, filler text)")
        .expect("a table");
    database
}

/// What became of a cut.
enum After {
    Whole { acknowledged: usize },
    Lost(String),
}

fn cut_once(database: &mut Database<'_>, seed: u64, before: &mut BTreeSet<u64>) -> After {
    let mut rng = fathom_core::rng::Rng::new(seed);
    let time = Duration::from_millis(300 + rng.below(1200));
    let served = database.served;
    let acknowledged = database.insert_until(seed * 1_000_000, time, || {
        let words = format!("power-cut seed {seed}");
        served.fault(&words).expect(0);
    });
    database.detach();
    served.fault("attach").expect(0);
    database.attach();
    if let Err(log) = database.start() {
        return After::Lost(format!("it does not recover:\n{log}"));
    }
    before.extend(&acknowledged);
    let there = database.query("SELECT id FROM kept ORDER BY id");
    let there: BTreeSet<u64> = match there {
        Ok(there) => there.lines().filter_map(|line| line.parse().ok()).collect(),
        Err(error) => return After::Lost(error),
    };
    match before.difference(&there).next() {
        None => After::Whole {
            acknowledged: acknowledged.len(),
        },
        Some(lost) => After::Lost(format!(
            "{} of {} acknowledged transactions are gone, such as {lost}",
            before.difference(&there).count(),
            before.len()
        )),
    }
}

fn cuts() -> u64 {
    let given = std::env::var("FATHOM_POWER_CUTS").ok();
    given.map_or(CUTS, |text| text.parse().expect("FATHOM_POWER_CUTS: a number"))
}

#[test]
fn acknowledged_transactions_survive_power_cuts() {
    let test = "acknowledged_transactions_survive_power_cuts";
    let bin = or_skip!(test, programs());
    let place = Place::at(std::env::temp_dir());
    let served = or_skip!(
        test,
        Served::start(&place, "model:azure/P30 --size 2GiB --at at --allow-other")
    );
    let mut database = database(&place, &served, bin);
    let mut kept = BTreeSet::new();
    let first = fathom_testkit::seed() % 1_000_000_000;
    let mut all = 0;
    for seed in first..first + cuts() {
        match cut_once(&mut database, seed, &mut kept) {
            After::Whole { acknowledged } => all += acknowledged,
            After::Lost(what) => panic!("cut by seed {seed}: {what}"),
        }
    }
    eprintln!(
        "{} cuts, {all} transactions acknowledged between them, all there",
        cuts()
    );
    assert!(all > 20, "{all} transactions are too few to tell");
    database.detach();
    drop(database);
    served.end(0);
}

#[test]
fn a_disk_that_ignores_flushes_is_found_out() {
    let test = "a_disk_that_ignores_flushes_is_found_out";
    let bin = or_skip!(test, programs());
    let place = Place::at(std::env::temp_dir());
    let served = or_skip!(
        test,
        Served::start(&place, "model:azure/P30 --size 2GiB --at at --allow-other")
    );
    let mut database = database(&place, &served, bin);
    served.fault("ignore-flushes").expect(0);
    let mut kept = BTreeSet::new();
    let found = (1..=5).find_map(|seed| match cut_once(&mut database, seed, &mut kept) {
        After::Whole { .. } => None,
        After::Lost(what) => Some((seed, what)),
    });
    let (seed, what) = found.expect("five cuts without flushes lost nothing");
    eprintln!("found by cut {seed}: {}", what.lines().next().unwrap_or_default());
    database.detach();
    drop(database);
    served.end(0);
}
