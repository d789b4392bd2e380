//! Engines that are about no file of this machine: programs, objects of a server, streams to others. Exports: `disk/nbd.rs`.

use crate::harness::{Place, finish, signal, skipped, start, tool};
use fathom_testkit::objects::store;
use std::process::{Command, Stdio};

#[test]
fn a_program_runs_beside_a_load() {
    let place = Place::new();
    place.write(
        "j.fio",
        "[watch]\nioengine=exec\nprogram=sh\narguments=script %n\nruntime=1\ntime_based\n\
         [load]\nioengine=null\nsize=1m\n",
    );
    place.write("script", "echo said $1; echo wrong >&2; sleep 300");
    let refused = place.fathom("fio j.fio").expect(1);
    assert!(
        refused.stderr.contains("only with --allow-exec"),
        "{}",
        refused.stderr
    );
    assert_eq!(place.names(), ["j.fio", "script"]);
    // The second time over what the first left.
    for _ in 0..2 {
        let outcome = place
            .fathom("fio --allow-exec --output-format=json j.fio")
            .expect(0);
        let told = outcome.json();
        assert_eq!(told["jobs"][0]["read"]["total_ios"], 0);
        assert_eq!(told["jobs"][1]["read"]["total_ios"], 256);
        let read = |name: &str| std::fs::read_to_string(place.path(name)).expect("what it said");
        assert_eq!(
            (read("watch.stdout"), read("watch.stderr")),
            ("said watch\n".into(), "wrong\n".into())
        );
    }
    // What is not fathom's is left alone, and nothing is run.
    place.write("watch.stdout", "thesis");
    let refused = place.fathom("fio --allow-exec j.fio").expect(1);
    assert!(refused.stderr.contains("watch.stdout"), "{}", refused.stderr);
    assert_eq!(
        std::fs::read_to_string(place.path("watch.stdout")).expect("it"),
        "thesis"
    );
    let report = place.fathom("run --allow-exec -o none --dry-run j.fio").expect(3);
    assert!(report.stderr.contains("watch.stdout"), "{}", report.stderr);
}

#[test]
fn a_program_that_fails_fails_its_job() {
    let place = Place::new();
    place.write("j.fio", "[bad]\nioengine=exec\nprogram=false\nstd_redirect=0\n");
    let outcome = place.fathom("fio --allow-exec j.fio").expect(1);
    assert!(outcome.stdout.contains("err= "), "{}", outcome.stdout);
    let outcome = place.fathom("run --allow-exec -o none j.fio").expect(1);
    assert!(
        outcome.stdout.contains("ended by itself with exit status: 1"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn objects_are_put_got_and_deleted() {
    let place = Place::new();
    let host = store(|asked| {
        asked
            .headers
            .get("authorization")
            .is_some_and(|value| value.starts_with("Basic "))
    });
    let base = format!(
        "--ioengine=http --http_host={host} --http_user=me --http_pass=hidden --filename=/bucket/o --bs=64k --size=1m"
    );
    let put = format!("fio --name=put {base} --rw=write --verify=crc32c --output-format=json");
    let refused = place.fathom(&put).expect(1);
    let url = format!("http://{host}/bucket/o");
    assert!(
        refused.stderr.contains(&format!("--allow-overwrite '{url}'")),
        "{}",
        refused.stderr
    );
    let allowed = format!("--allow-overwrite {url}");
    let told = place.fathom(&format!("{put} {allowed}")).expect(0).json();
    assert_eq!(
        (
            &told["jobs"][0]["write"]["total_ios"],
            &told["jobs"][0]["read"]["total_ios"]
        ),
        (&16.into(), &16.into())
    );
    // A record says of the load what is not secret.
    let line = format!("run {base} --rw randread --name get -o record -q");
    place.fathom(&line).expect(0);
    let record = std::fs::read_to_string(place.path("record/run.json")).expect("the record");
    assert!(record.contains(&url) && !record.contains("hidden"), "{record}");
    place
        .fathom(&format!("run {base} --rw trim --name gone -o none -q {allowed}"))
        .expect(0);
    let outcome = place
        .fathom(&format!("run {base} --rw read --name none -o none"))
        .expect(1);
    let said: Vec<&str> = outcome.stdout.split_whitespace().collect();
    assert!(
        said.join(" ").contains("nobody has put such an object"),
        "{}",
        outcome.stdout
    );
}

/// A port of this machine that nobody has at the moment.
fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

/// Waits until somebody has bound a port.
fn wait_for(protocol: &str, port: u16) {
    let begun = std::time::Instant::now();
    let name = format!(":{port:04X} ");
    let is_bound = || {
        let table = std::fs::read_to_string(format!("/proc/net/{protocol}")).expect("sockets");
        table.lines().any(|line| {
            line.split_whitespace()
                .nth(1)
                .is_some_and(|local| format!("{local} ").ends_with(&name))
        })
    };
    while !is_bound() {
        assert!(begun.elapsed().as_secs() < 20, "nobody listens at {port}");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// Either side by fio, and the other by fathom: as many I/Os and bytes as with itself.
#[test]
fn streams_are_those_of_fio() {
    let test = "streams_are_those_of_fio";
    let engines = tool("fio --enghelp").unwrap_or_default();
    if !engines.split_whitespace().any(|engine| engine == "net") {
        return skipped(test, "fio is not installed");
    }
    let place = Place::new();
    let cases = [
        ("tcp", ""),
        ("tcp", "--verify=crc32c"),
        ("tcp", "--pingpong --nodelay=1 --window_size=128k"),
        ("udp", ""),
        ("udp", "--verify=md5"),
        ("udp", "--pingpong"),
    ];
    for (protocol, more) in cases {
        for fio_receives in [true, false] {
            let port = free_port();
            let line = |is_fio: bool, own: &str| {
                let program = if is_fio {
                    "timeout -s KILL 30 fio --thread"
                } else {
                    ""
                };
                let words = format!(
                    "{program} --name=j --ioengine=net --protocol={protocol} --port={port} --bs=4k --size=40k \
                     {more} {own} --output-format=json"
                );
                let words: Vec<&str> = words.split_whitespace().collect();
                let mut command = match words.split_first() {
                    Some((program, words)) if is_fio => {
                        let mut command = Command::new(program);
                        // It leaves a state of what it verifies where it runs.
                        command.args(words).current_dir(place.path("."));
                        command.stdout(Stdio::piped()).stderr(Stdio::piped());
                        command
                    }
                    _ => place.command_of(std::iter::once("fio").chain(words)),
                };
                start(&mut command)
            };
            let listens = if protocol == "tcp" { "--listen" } else { "" };
            let receiver = line(fio_receives, &format!("--rw=read {listens}"));
            wait_for(protocol, port);
            let sender = line(!fio_receives, "--rw=write --hostname=127.0.0.1");
            for (child, direction) in [(sender, "write"), (receiver, "read")] {
                let outcome = finish(child).expect(0);
                // fio says on stdout that it waits.
                let document = outcome.stdout.find('{').map(|at| &outcome.stdout[at..]);
                let told: serde_json::Value =
                    serde_json::from_str(document.unwrap_or_default()).expect("a document");
                let done = &told["jobs"][0][direction];
                assert_eq!(
                    (&done["total_ios"], &done["io_bytes"]),
                    (&10.into(), &40_960.into()),
                    "{protocol} {more} {direction}, fio receives: {fio_receives}"
                );
            }
        }
    }
}

/// Nobody comes: Ctrl-C ends it, and so does its runtime.
#[test]
fn who_waits_for_nobody_can_be_ended() {
    let place = Place::new();
    let line = |more: &str| {
        let port = free_port();
        let line = format!("run --ioengine net --listen --port {port} --rw read --size 1m --name j {more}");
        (port, start(&mut place.command(&line)))
    };
    let (port, child) = line("-o record");
    wait_for("tcp", port);
    signal(&child, "INT");
    let outcome = finish(child).expect(130);
    assert!(
        outcome.stderr.contains("listens on this machine alone"),
        "{}",
        outcome.stderr
    );
    let record = std::fs::read_to_string(place.path("record/run.json")).expect("the record");
    assert!(record.contains(&format!("tcp://127.0.0.1:{port}")), "{record}");
    let (_, child) = line("--runtime 1s -o none");
    let outcome = finish(child).expect(1);
    assert!(outcome.stdout.contains("timed out"), "{}", outcome.stdout);
}
