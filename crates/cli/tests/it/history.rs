//! `fathom explain --prometheus` and `fathom plan --prometheus`: hours of four nodes, made, imported by promtool, served by a real
//! Prometheus.

use crate::certificates::Certificates;
use crate::harness::{Place, at, finish, number, skipped, start, tool};
use crate::served::prometheus::{DEBIANS, Prometheus};
use fathom_core::record::CounterRow;
use fathom_core::rng::Rng;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A moment of the past, and how often was scraped for how long.
const BEGIN_S: u64 = 1_790_000_000;
const STEP_S: u64 = 15;
const STEPS: u64 = 240;

/// What a node does a second.
#[derive(Clone, Copy)]
struct Rates {
    iops: f64,
    queue: f64,
    memory_stalled: f64,
    available: f64,
    busy: f64,
}

const IDLE: Rates = Rates {
    iops: 4.0,
    queue: 0.02,
    memory_stalled: 0.0,
    available: 0.7,
    busy: 0.05,
};

/// What each node does at a step.
fn node(name: &str, step: u64, rng: &mut Rng) -> Rates {
    let noise = rng.below(1000) as f64 / 1000.0;
    match name {
        // Half of the hour at what a P15 gives.
        "disk" if step % 40 < 20 => Rates {
            iops: 1100.0 - noise,
            queue: 12.0 + noise,
            ..IDLE
        },
        "machine" => Rates {
            iops: 3750.0 - noise * 4.0,
            queue: 40.0 + noise,
            ..IDLE
        },
        "memory" => Rates {
            memory_stalled: 0.1 + noise * 0.2,
            available: 0.01,
            busy: 0.3,
            ..IDLE
        },
        _ => Rates {
            iops: IDLE.iops + noise * 30.0,
            ..IDLE
        },
    }
}

const NODES: [&str; 4] = ["disk", "machine", "memory", "idle"];

/// The counters of all nodes as `OpenMetrics`, with times.
fn open_metrics(seed: u64) -> String {
    let mut families: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for (number, name) in NODES.into_iter().enumerate() {
        let mut rng = Rng::stream(seed, number as u64);
        let mut sums: BTreeMap<(&str, &str), f64> = BTreeMap::new();
        for step in 0..=STEPS {
            let rates = node(name, step, &mut rng);
            let time = BEGIN_S + step * STEP_S;
            let grown = [
                (
                    "node_cpu_seconds_total",
                    "cpu=\"0\",mode=\"user\"",
                    2.0 * rates.busy,
                ),
                (
                    "node_cpu_seconds_total",
                    "cpu=\"0\",mode=\"idle\"",
                    2.0 * (1.0 - rates.busy),
                ),
                ("node_disk_reads_completed_total", "device=\"sdc\"", rates.iops),
                ("node_disk_writes_completed_total", "device=\"sdc\"", 0.0),
                (
                    "node_disk_read_bytes_total",
                    "device=\"sdc\"",
                    rates.iops * 4096.0,
                ),
                (
                    "node_disk_io_time_seconds_total",
                    "device=\"sdc\"",
                    rates.queue.min(1.0),
                ),
                (
                    "node_disk_io_time_weighted_seconds_total",
                    "device=\"sdc\"",
                    rates.queue,
                ),
                (
                    "node_pressure_memory_waiting_seconds_total",
                    "",
                    rates.memory_stalled * 1.2,
                ),
                (
                    "node_pressure_memory_stalled_seconds_total",
                    "",
                    rates.memory_stalled,
                ),
            ];
            for (metric, labels, a_second) in grown {
                let sum = sums.entry((metric, labels)).or_default();
                *sum += a_second * STEP_S as f64;
                let comma = if labels.is_empty() { "" } else { "," };
                let line = format!("{metric}{{instance=\"{name}:9100\"{comma}{labels}}} {sum} {time}\n");
                families.entry((metric, "counter")).or_default().push(line);
            }
            if name == "disk" {
                of_pods(&mut families, rates, step, time);
            }
            for (metric, value) in [
                ("node_memory_MemTotal_bytes", 1e10),
                ("node_memory_MemAvailable_bytes", 1e10 * rates.available),
            ] {
                let line = format!("{metric}{{instance=\"{name}:9100\"}} {value} {time}\n");
                families.entry((metric, "gauge")).or_default().push(line);
            }
        }
    }
    let mut text = String::new();
    for ((metric, kind), lines) in families {
        writeln!(text, "# TYPE {} {kind}", metric.trim_end_matches("_total")).expect("a string");
        for line in lines {
            text.push_str(&line);
        }
    }
    text.push_str("# EOF\n");
    text
}

/// What cAdvisor and the kubelet of a node export: scraped under another port, or by another name with the node's in a label.
fn of_pods(
    families: &mut BTreeMap<(&'static str, &'static str), Vec<String>>,
    rates: Rates,
    step: u64,
    time: u64,
) {
    let sum = (step * STEP_S) as f64;
    for (pod, container, ios) in [
        ("pg-0", "postgres", 800.0),
        ("backup-1", "dump", 165.0),
        // The pod's own series, and that of all above, have the same again.
        ("pg-0", "", 800.0),
        ("", "", 2000.0),
    ] {
        let labels =
            format!("namespace=\"data\",pod=\"{pod}\",container=\"{container}\",device=\"/dev/sdc\"");
        let line = format!(
            "container_fs_reads_total{{instance=\"disk:10250\",{labels}}} {} {time}\n",
            sum * ios / 2.0
        );
        let family = families.entry(("container_fs_reads_total", "counter"));
        family.or_default().push(line);
    }
    let used = 9.0e10 + sum * 2.5e6 + rates.busy;
    for (metric, value) in [
        ("kubelet_volume_stats_used_bytes", used),
        ("kubelet_volume_stats_capacity_bytes", 1e11),
    ] {
        let labels =
            "instance=\"10.0.0.7:10250\",node=\"disk\",namespace=\"data\",persistentvolumeclaim=\"pg-data\"";
        let line = format!("{metric}{{{labels}}} {value} {time}\n");
        families.entry((metric, "gauge")).or_default().push(line);
    }
}

/// A moment, as the command line takes it.
fn time(s: u64) -> String {
    let at = jiff::Timestamp::from_second(s as i64);
    at.expect("a time").to_string()
}

/// A server that has histories as `OpenMetrics`; `None`: something is not installed.
fn server(test: &str, histories: &str) -> Option<Prometheus> {
    if tool("promtool --version").is_err() {
        skipped(test, "promtool");
        return None;
    }
    let place = Place::new();
    let text = place.write("history.om", histories);
    let blocks = place.path("tsdb");
    tool(&format!(
        "promtool tsdb create-blocks-from openmetrics -q {} {}",
        text.display(),
        blocks.display()
    ))
    .expect("blocks");
    let server = Prometheus::start_in(place, &[], None);
    if server.is_none() {
        skipped(test, DEBIANS);
    }
    server
}

/// What was asked of a disk on average is a need like any other; the disk that is planned is one that gives that.
#[test]
fn a_plan_is_made_of_a_nodes_history() {
    let seed = fathom_testkit::seed();
    let Some(server) = server("a_plan_is_made_of_a_nodes_history", &open_metrics(seed)) else {
        return;
    };
    let own = Place::new();
    let line = |node: &str, more: &str| {
        format!(
            "plan --prometheus http://{} --instance {node} --since {} --until {} --gib 512 -q {more}",
            server.at,
            time(BEGIN_S),
            time(BEGIN_S + STEPS * STEP_S)
        )
    };
    let text = own.fathom(&line("disk", "--json --top 3")).expect(0).stdout;
    let plan: Value = serde_json::from_str(&text).expect("JSON");
    let seen = at(&plan, "recorded.recordings.0");
    assert_eq!(at(seen, "from"), "counters");
    let iops = number(&plan, "need.iops");
    assert!((1090.0..=1110.0).contains(&iops), "{iops} IOPS, seed {seed}");
    assert!(number(&plan, "need.read_percent") > 99.0);
    // An hour in which half of the time 1,100 a second were asked for.
    let reads = number(seen, "reads");
    assert!((reads / (1100.0 * 1800.0) - 1.0).abs() < 0.05, "{reads} reads");
    let told = own
        .fathom(&line("disk:9100", "--top 1 --device sdc"))
        .expect(0)
        .stdout;
    assert!(told.contains("every 15.0 s"), "{told}");
    for (node, more, said) in [
        ("disk", "--device sdz", "in that time disk used sdc"),
        ("nobody", "", "no counters of a node exporter's instance"),
        ("disk", "--iops 5", "cannot be used with"),
    ] {
        own.fathom(&line(node, more)).expect(2).saying(said);
    }
    own.fathom("plan --prometheus ftp://x --instance a")
        .expect(2)
        .saying("that is no address of a server");
    own.fathom("plan --instance a").expect(2).saying("--prometheus");
}

/// What was counted in a recording, as a server has it that scrapes every so many seconds, `laps` times one after the other, by the name
/// of the metric. The last second that it has.
fn scraped(
    place: &Place,
    name: &str,
    (every_s, laps): (u64, u64),
    families: &mut BTreeMap<String, Vec<String>>,
) -> u64 {
    let mut reader = fathom_store::RecordReader::<CounterRow>::open(&place.path(name)).expect("counters");
    let mut first_ns = None;
    let mut last = 0;
    // By metric and labels, a value for each second that is scraped.
    let mut series: BTreeMap<(String, String), BTreeMap<u64, f64>> = BTreeMap::new();
    reader
        .for_each_batch(|rows| {
            for row in rows {
                let begun_ns = *first_ns.get_or_insert(row.at_ns);
                // A second is a row of each; the hour of the recording lies in the past.
                let second = (row.at_ns - begun_ns + 500_000_000) / 1_000_000_000;
                if !second.is_multiple_of(every_s) || !row.metric.starts_with("node_") {
                    continue;
                }
                last = last.max(second);
                let values = series
                    .entry((row.metric.to_string(), row.labels.to_string()))
                    .or_default();
                // Queues of disks are read more often than a server scrapes.
                values.entry(second).or_insert(row.value);
            }
        })
        .expect("rows");
    for ((metric, labels), values) in series {
        let comma = if labels.is_empty() { "" } else { "," };
        let is_counter = metric.ends_with("_total") || metric.starts_with("node_vmstat_");
        let grown = match (values.first_key_value(), values.last_key_value()) {
            (Some((_, first)), Some((_, last))) if is_counter => last - first,
            _ => 0.0,
        };
        let lines = families.entry(metric.clone()).or_default();
        for lap in 0..laps {
            for (second, value) in values.iter().filter(|(second, _)| lap == 0 || **second > 0) {
                lines.push(format!(
                    "{metric}{{instance=\"{name}:9100\"{comma}{labels}}} {} {}\n",
                    value + lap as f64 * grown,
                    BEGIN_S + lap * last + second
                ));
            }
        }
    }
    laps * last
}

/// A modelled machine has no CPUs, and a node exporter's instance is known by them.
fn with_cpu(name: &str, families: &mut BTreeMap<String, Vec<String>>) {
    for step in 0..=(RECORDED_S / STEP_S) {
        let line = format!(
            "node_cpu_seconds_total{{instance=\"{name}:9100\",cpu=\"0\",mode=\"idle\"}} {} {}\n",
            step * STEP_S,
            BEGIN_S + step * STEP_S
        );
        families
            .entry(String::from("node_cpu_seconds_total"))
            .or_default()
            .push(line);
    }
}

const RECORDED_S: u64 = 1200;

fn of_unknown_kinds(families: BTreeMap<String, Vec<String>>) -> String {
    let mut text = String::new();
    for (metric, lines) in families {
        // An unknown kind is what counters of any ending may have.
        writeln!(text, "# TYPE {metric} unknown\n{}", lines.concat().trim_end()).expect("a string");
    }
    text.push_str("# EOF\n");
    text
}

/// What limited it and what to do, to the first full stop or colon of each.
fn verdict(text: &str) -> (String, String) {
    let line = |begin: &str| {
        let from = text.find(begin).unwrap_or_else(|| panic!("{begin}: {text}"));
        let parts = text[from..].split(['.', ':']).take(2);
        parts.collect::<Vec<_>>().join(":")
    };
    (line("What limited it"), line("What to do"))
}

/// A recording has a reading each second, a server one every 15 s: where averages can tell, both say the same of the same time.
#[test]
fn a_recording_and_a_server_say_the_same_of_the_same_time() {
    let place = Place::new();
    let (disk, machine) = ("P15,burst=empty", "P40,vm=Standard_DS3_v2");
    let loads = [
        ("ios", "--bs 4k --iodepth 16", disk),
        ("bytes", "--bs 512k --iodepth 8", disk),
        ("machine", "--bs 64k --iodepth 64", machine),
        ("alone", "--bs 4k --iodepth 1", disk),
        ("idle", "--bs 4k --iodepth 4 --rate_iops 20", disk),
    ];
    let mut families = BTreeMap::new();
    for (name, load, on) in loads {
        place
            .fathom(&format!(
                "run --name load --rw randread {load} --ioengine libaio --direct 1 --time_based --runtime {RECORDED_S} --size 1g \
                 --record=counters -o {name} --on model:azure/{on} -q"
            ))
            .expect(0);
        scraped(&place, name, (STEP_S, 1), &mut families);
        with_cpu(name, &mut families);
    }
    let text = of_unknown_kinds(families);
    let Some(server) = server("a_recording_and_a_server_say_the_same_of_the_same_time", &text) else {
        return;
    };
    let (from, to) = (time(BEGIN_S), time(BEGIN_S + RECORDED_S));
    for (name, _, on) in loads {
        let known = if on == disk {
            "--disk P15"
        } else {
            "--machine Standard_DS3_v2 --disk P40"
        };
        let line = format!(
            "explain --prometheus http://{} --instance {name} --from {from} --to {to} {known}",
            server.at
        );
        let recorded = place.fathom(&format!("explain {name}")).expect(0).stdout;
        let served = place.fathom(&line).expect(0).stdout;
        assert_eq!(
            verdict(&recorded),
            verdict(&served),
            "{name}: {recorded}\n{served}"
        );
        let at_limit = verdict(&served).0.contains("disk P");
        assert_eq!(at_limit, matches!(name, "ios" | "bytes" | "machine"), "{served}");
    }
    // And so do plans: the same counters, less often read.
    let planned = |words: &str| -> Value {
        let text = place
            .fathom(&format!("plan {words} --gib 512 --top 3 --json -q"))
            .expect(0)
            .stdout;
        serde_json::from_str(&text).expect("JSON")
    };
    let recorded = planned("--from idle");
    let served = planned(&format!(
        "--prometheus http://{} --instance idle --since {from} --until {to}",
        server.at
    ));
    for path in ["layouts.0.target", "layouts.2.target", "need.read_percent"] {
        assert_eq!(at(&recorded, path), at(&served, path), "{path}");
    }
    let [one, other] = [&recorded, &served].map(|plan| number(plan, "need.iops"));
    assert!(
        (one - other).abs() <= 1.0,
        "{one} IOPS of a recording, {other} of a server"
    );
}

/// A control group with little memory, for who is started in it.
struct Squeeze(PathBuf);

impl Squeeze {
    /// By version 1 or 2, whichever this machine lets us use.
    fn new(bytes: u64) -> Result<Self, String> {
        let name = format!("fathom-squeezed-{}", std::process::id());
        let mut missing = String::from("leave to make a control group with a limit of memory");
        for (root, limit) in [
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            ("/sys/fs/cgroup", "memory.max"),
        ] {
            let dir = Path::new(root).join(&name);
            if let Err(error) = std::fs::create_dir(&dir) {
                missing = format!("{missing}; {}: {error}", dir.display());
                continue;
            }
            let made = Self(dir);
            if !made.0.join("cgroup.procs").exists() {
                // Not a file system of control groups.
                continue;
            }
            match std::fs::write(made.0.join(limit), bytes.to_string()) {
                Ok(()) => return Ok(made),
                Err(error) => missing = format!("{missing}; {limit}: {error}"),
            }
        }
        Err(missing)
    }
}

impl Drop for Squeeze {
    fn drop(&mut self) {
        // Who was in it may take a moment to go.
        for _ in 0..100 {
            if std::fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

/// This machine's own counters, recorded, and the same as a server has them that scraped each second: while a load reads through a page
/// cache that is too small for it, and while nothing is asked of the disk.
#[test]
fn this_machine_is_told_alike_by_a_recording_and_by_a_server() {
    let test = "this_machine_is_told_alike_by_a_recording_and_by_a_server";
    if !Path::new("/proc/pressure/memory").exists() {
        return skipped(test, "a kernel that tells of pressure (PSI)");
    }
    let squeeze = match Squeeze::new(64 << 20) {
        Ok(squeeze) => squeeze,
        Err(missing) => return skipped(test, &missing),
    };
    let place = Place::new();
    let idle = place.fathom("record --device . --record=counters --duration 6s -q -o idle");
    idle.expect(0);
    let command = place.command(
        "run --name load --rw randread --bs 4k --ioengine psync --direct 0 --size 96m --numjobs 4 --time_based --runtime 10 --record=counters \
         -q -o memory data",
    );
    let program = command.get_program().to_owned();
    let words: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
    let mut squeezed = Command::new("sh");
    squeezed
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .args(["-c", "echo $$ > \"$0\" && exec \"$@\""])
        .arg(squeeze.0.join("cgroup.procs"))
        .arg(program)
        .args(words)
        .envs(
            command
                .get_envs()
                .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))),
        );
    if let Some(dir) = command.get_current_dir() {
        squeezed.current_dir(dir);
    }
    finish(start(&mut squeezed)).expect(0);
    let mut families = BTreeMap::new();
    // A server is asked for a minute at least.
    let lasted = ["idle", "memory"].map(|name| scraped(&place, name, (1, 15), &mut families));
    let Some(server) = server(test, &of_unknown_kinds(families)) else {
        return;
    };
    // What it says of memory, row by row.
    let of_memory = |rows: &Value| -> Vec<(String, String)> {
        let rows = rows.as_array().expect("rows").iter();
        let rows = rows.filter(|row| row["resource"]["kind"] == "memory");
        rows.map(|row| (row["what"].to_string(), row["verdict"].to_string()))
            .collect()
    };
    let [idle, memory] = ["idle", "memory"].map(|name| {
        let recorded = place.fathom(&format!("explain {name} --json")).expect(0).json();
        let line = format!(
            "explain --prometheus http://{} --instance {name} --from {} --to {} --json",
            server.at,
            time(BEGIN_S),
            time(BEGIN_S + lasted[usize::from(name == "memory")])
        );
        let served = place.fathom(&line).expect(0).json();
        let found = of_memory(at(&recorded, "use.rows"));
        assert!(!found.is_empty(), "{name}: nothing of memory");
        assert_eq!(
            found,
            of_memory(at(&served, "rows")),
            "{name}: {recorded}\n{served}"
        );
        found.iter().any(|(_, verdict)| verdict == "\"short\"")
    });
    if !memory {
        // The disk may be so fast, or the machine so busy, that nothing waited for memory for long.
        return skipped(
            test,
            "a machine on which reading through too little memory waits for it",
        );
    }
    assert!(!idle, "nothing was short of memory while nothing was asked of it");
}

#[test]
fn what_limited_a_node_is_told_from_its_history() {
    let seed = fathom_testkit::seed();
    let Some(server) = server(
        "what_limited_a_node_is_told_from_its_history",
        &open_metrics(seed),
    ) else {
        return;
    };
    let own = Place::new();
    let line = |node: &str, more: &str| {
        format!(
            "explain --prometheus http://{} --instance {node} --from {} --to {} {more}",
            server.at,
            time(BEGIN_S),
            time(BEGIN_S + STEPS * STEP_S)
        )
    };
    let told = |node: &str, more: &str| own.fathom(&line(node, more)).expect(0).stdout;
    let limited = |text: &str| -> String {
        let lines: Vec<&str> = text.lines().collect();
        let from = lines
            .iter()
            .position(|line| line.starts_with("What limited it"))
            .expect("a verdict");
        lines[from..]
            .iter()
            .take(3)
            .map(|line| line.trim())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let disk = told("disk", "");
    assert!(limited(&disk).contains("disk sdc, I/Os a second"), "{disk}");
    assert!(
        limited(&disk).contains("near the limit of P15"),
        "seed {seed}: {disk}"
    );
    // Whose it was, once each, and how full its volume became.
    let has = |line: &[&str]| {
        disk.lines()
            .any(|told| line.iter().all(|part| told.contains(part)))
    };
    assert!(has(&["data/pg-0", "sdc", "400 IOPS"]), "{disk}");
    assert!(has(&["data/backup-1", "sdc"]) && !has(&["1,000 IOPS"]), "{disk}");
    assert!(has(&["volume data/pg-da", "space used"]), "{disk}");
    assert!(disk.contains("which process of a pod it was"), "{disk}");
    // With the port as well.
    assert_eq!(limited(&told("disk:9100", "")), limited(&disk));
    let machine = told("machine", "--machine Standard_D2s_v5");
    assert!(
        limited(&machine).contains("Standard_D2s_v5 uncached"),
        "{machine}"
    );
    let memory = told("memory", "");
    assert!(
        limited(&memory).starts_with("What limited it: memory"),
        "{memory}"
    );
    let idle = told("idle", "");
    assert!(limited(&idle).contains("nothing that counters show"), "{idle}");
    assert!(
        idle.contains("What such averages cannot show") && idle.contains("15.0 s"),
        "{idle}"
    );
    let json: Value = serde_json::from_str(&told("disk", "--json")).expect("JSON");
    assert_eq!(at(&json, "schema"), "fathom.use/1");
    let volume = at(&json, "rows")
        .as_array()
        .expect("rows")
        .iter()
        .find(|row| row["resource"]["kind"] == "volume");
    assert_eq!(volume.expect("a volume")["verdict"], "short");
    assert_eq!(at(&json, "pods.0.pod"), "data/pg-0");
    assert_eq!(at(&json, "step_ns").as_u64(), Some(STEP_S * 1_000_000_000));
    own.fathom(&line("nobody", ""))
        .expect(2)
        .saying("no counters of a node exporter's instance");
    own.fathom(&line("disk", "--disk P99"))
        .expect(2)
        .saying("--disk P99");
}

/// By TLS, from who proves to be the server that was named, and from nobody else.
#[test]
fn a_server_by_tls_is_asked_when_its_authority_is_trusted() {
    let test = "a_server_by_tls_is_asked_when_its_authority_is_trusted";
    let place = Place::new();
    let made = match Certificates::make(&place, "own") {
        Ok(made) => made,
        Err(missing) => return skipped(test, &missing),
    };
    // Its answer is a page about the connection: read, and found to be none of Prometheus'.
    let line = format!(
        "s_server -accept 127.0.0.1:0 -www -cert {} -key {}",
        made.path("server-cert.pem"),
        made.path("server-key.pem")
    );
    let mut server = Command::new("openssl")
        .args(line.split(' '))
        .stdout(Stdio::piped())
        .spawn()
        .expect("openssl made the certificates");
    let said = BufReader::new(server.stdout.take().expect("its output")).lines();
    let mut said = said.map_while(Result::ok);
    let at = said.find_map(|line| Some(line.strip_prefix("ACCEPT ")?.to_owned()));
    let at = at.expect("where it listens");
    let ask = |authority: &str, said: &str| {
        let line = format!("explain --prometheus https://{at} --instance a");
        let mut command = place.command(&line);
        command.env("SSL_CERT_FILE", authority);
        finish(start(&mut command)).expect(2).saying(said);
    };
    ask(&made.path("ca-cert.pem"), "that is no answer of Prometheus' API");
    let other = Certificates::make(&place, "other").expect("they could be made before");
    ask(&other.path("ca-cert.pem"), "certificate");
    server.kill().expect("it runs");
    server.wait().expect("it ended");
}

/// It is sent with each question; nowhere else, and never shown.
#[test]
fn a_token_is_sent() {
    let place = Place::new();
    place.write("token", "very-secret\n");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let at = listener.local_addr().expect("its address");
    let asked = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).expect("a request");
            request.push(byte[0]);
        }
        stream
            .write_all(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 4\r\nConnection: close\r\n\r\nnot!")
            .expect("an answer");
        String::from_utf8(request).expect("text").to_lowercase()
    });
    let line = format!("explain --prometheus http://{at} --instance a --prometheus-token");
    let told = place.fathom(&format!("{line} token")).expect(2);
    let told = told.saying("answers with status 403: not!");
    assert!(!told.stderr.contains("very-secret"), "{}", told.stderr);
    let asked = asked.join().expect("a request");
    assert!(asked.contains("authorization: bearer very-secret\r\n"), "{asked}");
    place.write("two", "very secret");
    place.fathom(&format!("{line} two")).expect(2).saying("one word");
    place
        .fathom("explain --prometheus http://example.com --instance a --prometheus-token token")
        .expect(2)
        .saying("a token is not sent where others can read it");
}

#[test]
fn what_cannot_be_asked_is_said() {
    let place = Place::new();
    for (line, said) in [
        (
            "explain --prometheus ftp://host --instance a",
            "that is no address of a server",
        ),
        (
            "explain --prometheus http://127.0.0.1:1 --instance a",
            "http://127.0.0.1:1",
        ),
        ("explain --prometheus http://127.0.0.1:1", "--instance"),
        (
            "explain --prometheus http://127.0.0.1:1 --instance a --from tomorrow",
            "is no time",
        ),
        (
            "explain --prometheus http://127.0.0.1:1 --instance a --from 1m --to 1h",
            "the earlier time first",
        ),
        ("explain", "<DIR>"),
    ] {
        place.fathom(line).expect(2).saying(said);
    }
}
