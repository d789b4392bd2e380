//! Debian's Prometheus, scraping each second with native histograms.

use super::{Serving, get, load};
use crate::harness::{Place, number, skipped, tool};
use serde_json::Value;
use std::fmt::Write as _;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What a test of it lacks without it: words of their own, for `FATHOM_REQUIRE`.
pub(crate) const DEBIANS: &str = "Debian's prometheus";

/// A server of its own.
pub(crate) struct Prometheus {
    child: Child,
    pub(crate) at: String,
    _place: Place,
}

impl Prometheus {
    /// Scrapes these each second; `None`: it is not installed.
    pub(crate) fn start(targets: &[(&str, &str)], rules: Option<&str>) -> Option<Self> {
        Self::start_in(Place::new(), targets, rules)
    }

    /// The same with the history in the folder `tsdb` of a place.
    pub(crate) fn start_in(place: Place, targets: &[(&str, &str)], rules: Option<&str>) -> Option<Self> {
        Self::start_with(place, targets, rules, "")
    }

    /// The same with `more` said of each target, in lines of YAML that begin a line.
    pub(crate) fn start_with(
        place: Place,
        targets: &[(&str, &str)],
        rules: Option<&str>,
        more: &str,
    ) -> Option<Self> {
        tool("prometheus --version").ok()?;
        Some(Self::start_program(
            "prometheus",
            place,
            targets,
            (rules, more, ("", true)),
        ))
    }

    /// One that keeps no native histograms, and so asks for text: `OpenMetrics` before Prometheus' own.
    pub(crate) fn start_plain(targets: &[(&str, &str)]) -> Option<Self> {
        tool("prometheus --version").ok()?;
        Some(Self::start_program(
            "prometheus",
            Place::new(),
            targets,
            (None, "", ("", false)),
        ))
    }

    /// Version 3, where `FATHOM_PROMETHEUS3` or the path has it (`prometheus3`): without a package of Debian's, it is built from Go's proxy.
    pub(crate) fn start_third(targets: &[(&str, &str)], rules: Option<&str>) -> Option<Self> {
        let program = std::env::var("FATHOM_PROMETHEUS3").unwrap_or_else(|_| String::from("prometheus3"));
        let version = tool(&format!("{program} --version")).ok()?;
        // One that is built by hand says no version.
        assert!(!version.contains("version 2."), "{program}: {version}");
        // What 2.x has by a feature flag is a setting.
        Some(Self::start_program(
            &program,
            Place::new(),
            targets,
            (rules, "", (", scrape_native_histograms: true", true)),
        ))
    }

    fn start_program(
        program: &str,
        place: Place,
        targets: &[(&str, &str)],
        (rules, more, (global, native)): (Option<&str>, &str, (&str, bool)),
    ) -> Self {
        let mut config =
            format!("global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s{global}}}\n");
        if let Some(rules) = rules {
            place.write("rules.yaml", rules);
            config.push_str("rule_files: [rules.yaml]\n");
        }
        config.push_str("scrape_configs:\n");
        for (name, at) in targets {
            writeln!(
                config,
                "  - job_name: {name}\n    static_configs: [{{targets: ['{at}'], labels: {{class: {name}, claim: data}}}}]{more}"
            )
            .expect("a string");
        }
        let file = place.write("prometheus.yaml", config);
        // Free a moment ago: nobody else listens on ports that the system gives.
        let at = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
        let at = at.expect("a free port").to_string();
        let child = Command::new(program)
            .arg(format!("--config.file={}", file.display()))
            .arg(format!("--storage.tsdb.path={}", place.path("tsdb").display()))
            .arg(format!("--web.listen-address={at}"))
            .args(native.then_some("--enable-feature=native-histograms"))
            .arg("--storage.tsdb.retention.time=100y")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("prometheus starts");
        let server = Self {
            child,
            at,
            _place: place,
        };
        let begin = Instant::now();
        while !server.is_ready() {
            assert!(
                begin.elapsed() < Duration::from_mins(1),
                "prometheus is not ready"
            );
            std::thread::sleep(Duration::from_millis(100));
        }
        server
    }

    fn is_ready(&self) -> bool {
        let request = format!(
            "GET /-/ready HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
            self.at
        );
        std::net::TcpStream::connect(&self.at).is_ok()
            && super::ask(&self.at, &request).starts_with("HTTP/1.1 200")
    }

    /// What it answers to an instant query: labels and values.
    pub(crate) fn query(&self, expr: &str) -> Vec<(Value, f64)> {
        let answer = get(&self.at, &format!("/api/v1/query?query={}", encoded(expr)), "");
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        assert_eq!(answer["status"], "success", "{expr}: {answer}");
        let rows = answer["data"]["result"].as_array().expect("rows");
        let value = |row: &Value| {
            row["value"][1]
                .as_str()
                .and_then(|text| text.parse().ok())
                .unwrap_or(f64::NAN)
        };
        rows.iter()
            .map(|row| (row["metric"].clone(), value(row)))
            .collect()
    }

    /// Waits until an expression gives a number that is `enough`.
    pub(crate) fn until(&self, expr: &str, enough: impl Fn(f64) -> bool) {
        let begin = Instant::now();
        while !self.query(expr).iter().any(|(_, value)| enough(*value)) {
            assert!(
                begin.elapsed() < Duration::from_mins(1),
                "{expr}: {:?}",
                self.query(expr)
            );
            std::thread::sleep(Duration::from_millis(250));
        }
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

pub(super) fn encoded(text: &str) -> String {
    let bytes = text.bytes();
    bytes.fold(String::new(), |mut all, byte| {
        if byte.is_ascii_alphanumeric() {
            all.push(char::from(byte));
        } else {
            write!(all, "%{byte:02X}").expect("a string");
        }
        all
    })
}

/// The queries of a dashboard that the program prints, as Grafana would send them.
pub(super) fn queries(place: &Place, name: &str) -> Vec<String> {
    let printed = place.fathom(&format!("dashboards {name}")).expect(0).stdout;
    let model: Value = serde_json::from_str(&printed).expect("JSON");
    let panels = model["panels"].as_array().expect("panels").iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().cloned().unwrap_or_default());
    let text = |target: Value| target["expr"].as_str().expect("an expression").to_owned();
    let plain = |text: String| text.replace("$__rate_interval", "15s").replace("$instance", ".*");
    targets.map(text).map(plain).collect()
}

#[test]
fn a_run_a_modelled_disk_and_a_recording_are_read_without_a_gap() {
    let test = "a_run_a_modelled_disk_and_a_recording_are_read_without_a_gap";
    let place = Place::new();
    let modelled = Serving::start(&mut place.command(
        "run --name model --rw randread --bs 4k --iodepth 8 --time_based --runtime 300h --direct 1 --size 1g --serve=0 -o none --on \
         model:aws/gp2:100GiB,burst=empty",
    ));
    // It takes a CPU as long as it goes on; what is measured here comes first.
    modelled.gives_way();
    let recording = Serving::start(
        &mut place.command("record --device . --record=counters --duration 80s --serve=0 -o recorded"),
    );
    let run = load(&place, 12, "--json");
    let rules = place.fathom("dashboards rules").expect(0).stdout;
    let targets = [
        ("run", run.at.as_str()),
        ("model", modelled.at.as_str()),
        ("recording", recording.at.as_str()),
    ];
    let Some(server) = Prometheus::start(&targets, Some(&rules)) else {
        return skipped(test, DEBIANS);
    };
    server.until("fathom_running{class=\"run\"}", |running| running == 0.0);
    server.until("count_over_time(up{class=\"run\"}[15s])", |count| count >= 12.0);

    // Every second, of each.
    for (labels, up) in server.query("min_over_time(up[10s])") {
        assert!(up >= 1.0, "{labels}");
    }
    for (labels, scrapes) in server.query("count_over_time(up[10s])") {
        assert!(scrapes >= 9.0, "{labels}: {scrapes} scrapes in 10 s");
    }
    for of in [&run, &modelled, &recording] {
        all_is_read(&server, of);
    }
    every_query_has_data(&place, &server);
    // In virtual time hours go by between two scrapes; what it does a second is still its limit, and no more.
    let of = |name: &str| format!("{name}{{instance=\"{}\"}}", modelled.at);
    server.until(&of("instance:fathom_limit_ios:ratio1m"), |share| {
        (0.9..1.05).contains(&share)
    });
    server.until(
        &format!("rate({}[15s])", of("fathom_measured_seconds_total")),
        |pace| pace > 1.5,
    );
    // The same data that the report is made of: from native buckets.
    agree(&server, run);
}

/// By a server that asks for text: `OpenMetrics`, and classic buckets alone.
#[test]
fn text_is_read_by_a_server_without_native_histograms() {
    let test = "text_is_read_by_a_server_without_native_histograms";
    let place = Place::new();
    let run = load(&place, 6, "");
    let Some(server) = Prometheus::start_plain(&[("run", run.at.as_str())]) else {
        return skipped(test, DEBIANS);
    };
    server.until("fathom_running", |running| running == 0.0);
    server.until("count_over_time(up[15s])", |count| count >= 6.0);
    for (labels, up) in server.query("min_over_time(up[5s])") {
        assert!(up >= 1.0, "{labels}");
    }
    all_is_read(&server, &run);
    let whole =
        "fathom_load_latency_seconds_bucket{le=\"+Inf\"} / ignoring(le) fathom_load_latency_seconds_count";
    let rows = server.query(whole);
    assert_eq!(rows.len(), 2, "both directions: {rows:?}");
    assert!(
        rows.iter().all(|(_, share)| (share - 1.0).abs() < 1e-9),
        "{rows:?}"
    );
    for query in queries(&place, "load")
        .iter()
        .filter(|query| query.contains("latency"))
    {
        assert!(!server.query(query).is_empty(), "no data for {query}");
    }
}

/// All that is exported is there, and no counter ever went back.
pub(super) fn all_is_read(server: &Prometheus, of: &Serving) {
    let text = of.get("/metrics");
    let series = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.rsplit_once(' '));
    let mut known = std::collections::BTreeSet::new();
    for (series, _) in series {
        assert!(known.insert(series), "{series} is there twice");
    }
    for (name, kind) in text
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '))
    {
        let counted = match kind {
            // The node exporter leaves open that some of its counters are.
            "counter" | "untyped" => vec![format!("{name}[1m]")],
            "histogram" => vec![
                format!("{name}_count[1m]"),
                format!("{name}_bucket[1m]"),
                format!("histogram_count({name})[1m:1s]"),
            ],
            _ => Vec::new(),
        };
        let mut looked_at = 0;
        for counted in &counted {
            for (labels, resets) in server.query(&format!("resets({counted})")) {
                assert!(resets < 1.0, "{counted} of {labels} went back");
                looked_at += 1;
            }
        }
        assert!(counted.is_empty() || looked_at > 0, "{name} was not read");
        assert!(
            !server.query(&format!("{name} or {name}_count")).is_empty(),
            "{name} was not read"
        );
    }
}

/// Of every dashboard, and what the rules record; of a real machine or of a modelled one, whichever has it.
fn every_query_has_data(place: &Place, server: &Prometheus) {
    for name in ["load", "node", "disk", "fleet"] {
        let queries = queries(place, name);
        assert!(queries.len() > 8, "{name}");
        for query in queries {
            // A quota that was never used up, a link that was never down: there need be no such series on this machine.
            let rows = server.query(&query);
            assert!(!rows.is_empty(), "{name}: no data for {query}");
        }
    }
    for recorded in [
        "instance_section_op:fathom_load_ios:rate1m",
        "instance:fathom_limit_ios:ratio1m",
    ] {
        server.until(recorded, |_| true);
    }
}

/// What version 3 reads is the same, by native buckets: the percentiles of a load are ours to half a percent.
#[test]
fn the_third_version_reads_native_histograms() {
    let test = "the_third_version_reads_native_histograms";
    let place = Place::new();
    // Of so many I/Os no two that are neighbours at a percentile lie far apart.
    let run = Serving::start(&mut place.command(
        "run --name load --rw randrw --bs 4k --iodepth 16 --time_based --runtime 120 --direct 1 --size 1g --serve=0 --serve-after 90s -o \
         none --json --on model:azure/P30",
    ));
    let rules = place.fathom("dashboards rules").expect(0).stdout;
    let Some(server) = Prometheus::start_third(&[("run", run.at.as_str())], Some(&rules)) else {
        return skipped(
            test,
            "version 3 (go build -tags remove_all_sd github.com/prometheus/prometheus/cmd/prometheus, as prometheus3)",
        );
    };
    server.until("fathom_running{class=\"run\"}", |running| running == 0.0);
    server.until("count_over_time(up{class=\"run\"}[15s])", |count| count >= 6.0);
    for (labels, up) in server.query("min_over_time(up[5s])") {
        assert!(up >= 1.0, "{labels}");
    }
    agree(&server, run);
    let latencies = queries(&place, "load")
        .into_iter()
        .filter(|query| query.contains("latency"));
    for query in latencies {
        assert!(!server.query(&query).is_empty(), "no data for {query}");
    }
}

/// Ends a run, and compares the percentiles of its report with those of a server.
fn agree(server: &Prometheus, run: Serving) {
    let quantiles = [0.5, 0.9, 0.99, 0.999].map(|q| {
        let expr =
            format!("histogram_quantile({q}, sum by (op) (fathom_load_latency_seconds{{class=\"run\"}}))");
        (q, server.query(&expr))
    });
    let report: Value = serde_json::from_str(&run.end()).expect("the report as JSON");
    for (q, rows) in quantiles {
        assert_eq!(rows.len(), 2, "{q}: {rows:?}");
        for (labels, seconds) in rows {
            let key = format!("p{}", q * 100.0).replace('.', "_");
            let op = labels["op"].as_str().expect("a direction");
            let own = number(&report, &format!("jobs.0.{op}.lat_ns.{key}")) / 1e9;
            assert!(
                (seconds / own - 1.0).abs() < 0.005,
                "{op} {key}: {seconds} s, {own} s of ours"
            );
        }
    }
}

#[test]
fn promtool_finds_nothing_wrong() {
    let test = "promtool_finds_nothing_wrong";
    if tool("promtool --version").is_err() {
        return skipped(test, "promtool");
    }
    let place = Place::new();
    place.fathom("dashboards -o monitoring -q").expect(0);
    tool(&format!(
        "promtool check rules {}",
        place.path("monitoring/fathom-rules.yaml").display()
    ))
    .expect("rules");
    let serving = load(&place, 2, "");
    std::thread::sleep(Duration::from_millis(1500));
    check_metrics(&serving);
}

/// What `promtool` says of metrics that are not the node exporter's.
pub(super) fn check_metrics(serving: &Serving) {
    let mut child = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("promtool starts");
    std::io::Write::write_all(
        &mut child.stdin.take().expect("a pipe"),
        serving.get("/metrics").as_bytes(),
    )
    .expect("sent");
    let output = child.wait_with_output().expect("promtool ends");
    // The node exporter has names that promtool does not like.
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let own: Vec<&str> = said.lines().filter(|line| !line.starts_with("node_")).collect();
    assert_eq!(own, Vec::<&str>::new());
    let open = get(
        &serving.at,
        "/metrics",
        "Accept: application/openmetrics-text;version=1.0.0\r\n",
    );
    assert!(open.ends_with("# EOF\n"));
}

/// Who is told of a limit: a disk that is at its own, not one that has more than a smaller one beside it; a load in virtual time by its
/// own second.
#[test]
fn alerts_are_of_what_is_at_its_limit() {
    let test = "alerts_are_of_what_is_at_its_limit";
    if tool("promtool --version").is_err() {
        return skipped(test, "promtool");
    }
    let place = Place::new();
    place.write("rules.yaml", place.fathom("dashboards rules").expect(0).stdout);
    let (mut series, mut levels) = (String::new(), String::new());
    // Every 15 s for half an hour.
    let mut add = |name: &str, labels: &str, a_second: f64| {
        let grown = a_second * 15.0;
        writeln!(
            series,
            "      - {{series: '{name}{{{labels}}}', values: '0+{grown}x120'}}"
        )
        .expect("a string");
    };
    // Two disks of one server: 120 I/Os a second are all of a P4 and a quarter of a P10.
    for (instance, data, log) in [("calm", 120.0, 60.0), ("busy", 120.0, 120.0)] {
        add(
            "fathom_measured_seconds_total",
            &format!("instance=\"{instance}\""),
            1.0,
        );
        for (disk, rate, limit, held) in [("data", data, 500, 0.0), ("log", log, 120, log / 120.0)] {
            let of = format!("instance=\"{instance}\",disk=\"{disk}\",limit=\"disk IOPS\"");
            add(
                "fathom_served_limit_used_total",
                &format!("{of},unit=\"ios\""),
                rate,
            );
            add(
                "fathom_served_limit_held_seconds_total",
                &of,
                if held < 1.0 { 0.0 } else { held },
            );
            add(
                "fathom_load_ios_total",
                &format!("instance=\"{instance}\",section=\"{disk}\",op=\"read\""),
                rate,
            );
            let level = |name: &str, labels: &str| {
                format!("      - {{series: '{name}{{{labels}}}', values: '{limit}+0x120'}}\n")
            };
            let lines = level("fathom_served_limit_per_second", &format!("{of},unit=\"ios\""))
                + &level(
                    "fathom_limit_ios_per_second",
                    &format!("instance=\"{instance}\",limit=\"{disk}: P\",scope=\"disk\""),
                );
            levels.push_str(&lines);
        }
    }
    // Loads: one at its limit, one whose time goes by a hundred times as fast and that has half of it.
    for (instance, pace, rate) in [("full", 1.0, 500.0), ("virtual", 100.0, 25_000.0)] {
        add(
            "fathom_measured_seconds_total",
            &format!("instance=\"{instance}\""),
            pace,
        );
        add(
            "fathom_load_ios_total",
            &format!("instance=\"{instance}\",section=\"a\",op=\"read\""),
            rate,
        );
        writeln!(
            levels,
            "      - {{series: 'fathom_limit_ios_per_second{{instance=\"{instance}\",limit=\"P10\",scope=\"disk\"}}', values: '500+0x120'}}"
        )
        .expect("a string");
    }
    let name = "alertname=\"FathomAtIopsLimit\",severity=\"warning\"";
    let text = format!(
        "rule_files: [rules.yaml]\nevaluation_interval: 15s\ntests:\n  - interval: 15s\n    input_series:\n{series}{levels}    \
         promql_expr_test:\n      - expr: ALERTS{{alertname=\"FathomAtIopsLimit\",alertstate=\"firing\"}}\n        eval_time: 25m\n        \
         exp_samples:\n          - {{labels: 'ALERTS{{{name},alertstate=\"firing\",instance=\"busy\",disk=\"log\",limit=\"disk IOPS\",unit=\"ios\"}}', value: 1}}\n          \
         - {{labels: 'ALERTS{{{name},alertstate=\"firing\",instance=\"full\"}}', value: 1}}\n      \
         - expr: instance:fathom_limit_ios:ratio1m\n        eval_time: 25m\n        exp_samples:\n          \
         - {{labels: 'instance:fathom_limit_ios:ratio1m{{instance=\"busy\"}}', value: 1}}\n          \
         - {{labels: 'instance:fathom_limit_ios:ratio1m{{instance=\"calm\"}}', value: 0.5}}\n          \
         - {{labels: 'instance:fathom_limit_ios:ratio1m{{instance=\"full\"}}', value: 1}}\n          \
         - {{labels: 'instance:fathom_limit_ios:ratio1m{{instance=\"virtual\"}}', value: 0.5}}\n"
    );
    let file = place.write("tests.yaml", text);
    tool(&format!("promtool test rules {}", file.display())).expect("alerts as they should be");
}
