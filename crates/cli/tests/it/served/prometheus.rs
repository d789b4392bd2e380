//! Debian's Prometheus, scraping each second with native histograms.

use super::{Serving, get, load};
use crate::harness::{Place, number, skipped, tool};
use serde_json::Value;
use std::fmt::Write as _;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

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
            (rules, more, ""),
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
            (rules, "", ", scrape_native_histograms: true"),
        ))
    }

    fn start_program(
        program: &str,
        place: Place,
        targets: &[(&str, &str)],
        (rules, more, global): (Option<&str>, &str, &str),
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
            .arg("--enable-feature=native-histograms")
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
        "run --name model --rw randread --bs 4k --iodepth 8 --time_based --runtime 300 --direct 1 --size 1g --serve=0 --serve-after 90s -o \
         none --on model:aws/gp2:100GiB",
    ));
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
        return skipped(test, "prometheus");
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
    // The same data that the report is made of: from native buckets.
    agree(&server, run);
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
    for name in text
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next())
    {
        if name.ends_with("_total") {
            for (labels, resets) in server.query(&format!("resets({name}[1m])")) {
                assert!(resets < 1.0, "{name} of {labels} went back");
            }
        }
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
            "Prometheus 3 (go build -tags remove_all_sd github.com/prometheus/prometheus/cmd/prometheus, as prometheus3)",
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
