//! `fathom fio --client` and `--server`: jobs sent to other fathoms, with a key.

use crate::harness::{Place, finish, start};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::time::{Duration, Instant};

const JOBS: &str = "[global]\nsize=64k\nbs=4k\n[one]\nrw=randread\n[two]\nrw=write\nwrite_iops_log=x\n";

/// A server in a directory of its own, ended with the test.
struct Server {
    place: Place,
    child: Child,
}

impl Server {
    fn new(around: &Place, name: &str, key: &str) -> Self {
        std::fs::create_dir(around.path(name)).expect("a directory");
        let place = Place::below(around.path(name));
        let key = around.path(key);
        let line = format!("fio --server=sock:s --key {}", key.display());
        let child = start(&mut place.command(&line));
        let socket = place.path("s");
        let begun = Instant::now();
        while UnixStream::connect(&socket).is_err() {
            assert!(
                begun.elapsed() < Duration::from_mins(1),
                "the server does not listen"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        Self { place, child }
    }

    fn at(&self) -> String {
        format!("sock:{}", self.place.path("s").display())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn key(place: &Place, name: &str, digit: &str) {
    let path = place.write(name, digit.repeat(64));
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).expect("chmod");
}

#[test]
fn two_servers_run_the_jobs_and_their_results_are_one() {
    let place = Place::new();
    key(&place, "key", "a");
    place.write("j.fio", JOBS);
    let servers = [Server::new(&place, "b1", "key"), Server::new(&place, "b2", "key")];
    let [first, second] = &servers;
    let line = format!(
        "fio --key key --client={} j.fio --client={} j.fio",
        first.at(),
        second.at()
    );
    let json = place.fathom(&format!("{line} --output-format=json")).expect(0);
    let document = json.json();
    let told = document["client_stats"].as_array().expect("entries");
    let names: Vec<&str> = told
        .iter()
        .filter_map(|entry| entry["jobname"].as_str())
        .collect();
    assert_eq!(names, ["one", "two", "one", "two", "All clients"]);
    assert!(
        told[0]["hostname"]
            .as_str()
            .is_some_and(|host| host.ends_with("/b1/s"))
    );
    assert_eq!(told[0]["job options"]["rw"], "randread");
    assert_eq!(document["global options"]["size"], "64k");
    // Merged: the longest of all, the sum of all.
    let all = &told[4];
    assert_eq!(
        (&all["read"]["total_ios"], &all["write"]["total_ios"]),
        (&32.into(), &32.into())
    );
    let max = |entry: &serde_json::Value| entry["read"]["lat_ns"]["max"].as_u64().expect("max");
    assert_eq!(max(all), max(&told[0]).max(max(&told[2])));
    // Each ran where its server is; logs came here, with the server's name.
    for server in &servers {
        assert_eq!(server.place.names(), [".s.fathom", "one.0.0", "s", "two.0.0"]);
    }
    let logs: Vec<String> = place
        .names()
        .into_iter()
        .filter(|name| name.starts_with("x_iops.2.log."))
        .collect();
    assert_eq!(logs.len(), 2, "{:?}", place.names());
    let rows = std::fs::read_to_string(place.path(&logs[0])).expect("a log");
    assert_eq!(rows.lines().count(), 16);

    let text = place.fathom(&line).expect(0).stdout;
    assert!(text.starts_with("hostname="), "{text}");
    assert!(
        text.contains("> one: (g=0): rw=randread,") && text.contains("> Starting 2 processes\n"),
        "{text}"
    );
    assert_eq!(text.matches("one: (groupid=0, jobs=1): err= 0: pid=").count(), 2);
    assert!(
        text.contains("All clients: (groupid=0, jobs=4): err= 0: pid=0:"),
        "{text}"
    );
}

#[test]
fn who_has_not_the_key_gets_nothing() {
    let place = Place::new();
    key(&place, "key", "a");
    key(&place, "other", "b");
    place.write("open", "a".repeat(64));
    place.write("j.fio", JOBS);
    let server = Server::new(&place, "b", "key");
    let at = server.at();
    for (line, expected) in [
        (format!("fio --key other --client={at} j.fio"), "another key"),
        (format!("fio --client={at} j.fio"), "need a key"),
        (format!("fio --key open --client={at} j.fio"), "chmod 600"),
        (
            format!("fio --key key --client={at} --name=a --size=4k"),
            "job files only",
        ),
        (
            format!("fio --key key --client={at}"),
            "give a job file behind it",
        ),
        (
            format!(
                "fio --key key --client=sock:{}/none j.fio",
                place.path("").display()
            ),
            "cannot connect",
        ),
        (
            String::from("fio --key key --client=host,0 j.fio"),
            "is no address",
        ),
    ] {
        place.fathom(&line).expect(1).saying(expected);
    }
    // fio's own first words.
    let mut stream = UnixStream::connect(server.place.path("s")).expect("connect");
    stream
        .write_all(&[0x61, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        .expect("write");
    let mut said = String::new();
    stream.read_to_string(&mut said).expect("read");
    assert!(said.contains("fio's own protocol"), "{said}");
    assert_eq!(server.place.names(), [".s.fathom", "s"]);
    // It is still there for those who have.
    place
        .fathom(&format!("fio --key key --client={at} j.fio --eta=never"))
        .expect(0);
}

#[test]
fn what_the_server_refuses_is_told() {
    let place = Place::new();
    key(&place, "key", "a");
    let server = Server::new(&place, "b", "key");
    server.place.write("F", "mine");
    server.place.write("there.fio", "[a]\nrw=read\nsize=16k\n");
    place.write("over.fio", "[a]\nrw=write\nsize=16k\nfilename=F\n");
    place.write("wrong.fio", "[a]\nrw=sideways\n");
    let ask = |rest: &str| place.fathom(&format!("fio --key key --client={} {rest}", server.at()));
    ask("over.fio").expect(1).saying("F exists");
    assert_eq!(std::fs::read(server.place.path("F")).expect("F"), b"mine");
    ask("wrong.fio").expect(1).saying("sideways");
    let outcome = ask("--remote-config=there.fio --output-format=json").expect(0);
    assert_eq!(outcome.json()["client_stats"][0]["read"]["total_ios"], 4);
    ask("--remote-config=none.fio").expect(1).saying("none.fio");
}

#[test]
fn a_signal_at_the_client_ends_the_load() {
    let place = Place::new();
    key(&place, "key", "a");
    place.write(
        "j.fio",
        "[a]\nioengine=null\nsize=1g\ntime_based\nruntime=60\nrate_iops=1000\n",
    );
    let server = Server::new(&place, "b", "key");
    let line = format!(
        "fio --key key --client={} j.fio --output-format=json",
        server.at()
    );
    let child = start(&mut place.command(&line));
    std::thread::sleep(Duration::from_secs(2));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("kill");
    let outcome = finish(child).expect(128);
    assert!(outcome.stdout.contains("\"client_stats\""), "{}", outcome.stdout);
}

/// A server in the background, ended with the test.
struct Background(rustix::process::Pid);

impl Drop for Background {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _gone = rustix::process::kill_process(self.0, rustix::process::Signal::KILL);
    }
}

#[test]
fn a_server_in_the_background_listens_once_its_caller_goes_on() {
    let place = Place::new();
    key(&place, "key", "a");
    place.write("j.fio", JOBS);
    place.write("mine", "my own notes");
    let line = "fio --server=sock:s --key key --daemonize=";
    place.fathom(&format!("{line}mine")).expect(1).saying("mine");
    place
        .fathom("fio --server=sock:none/s --key key --daemonize=pid")
        .expect(1)
        .saying("cannot listen at");
    assert_eq!(place.names(), ["j.fio", "key", "mine"]);
    // Of a server that is gone: no process has a number beyond the most that Linux gives.
    place.write("pid", "4194305\n");
    let outcome = place.fathom(&format!("{line}pid")).expect(0);
    assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("", ""));
    let number = std::fs::read_to_string(place.path("pid")).expect("the number");
    let pid = number
        .trim()
        .parse()
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    let _background = Background(pid.expect("a number"));
    let asked = place
        .fathom("fio --key key --client=sock:s j.fio --output-format=json")
        .expect(0);
    assert_eq!(asked.json()["client_stats"][0]["read"]["total_ios"], 16);
    place
        .fathom("fio --server=sock:t --key key --daemonize=pid")
        .expect(1)
        .saying("end that server");
}
