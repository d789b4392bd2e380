//! `fathom disk serve --serve`: what a real Prometheus reads of a modelled disk that is served live, and what a browser shows.

use super::devtools::{Browser, find};
use super::page::{SHOWN, ends, fits_a_phone, pictures, sound, wait};
use super::prometheus::{DEBIANS, Prometheus, all_is_read, check_metrics, queries};
use super::{Serving, get};
use crate::harness::{Place, number, skipped, tool};
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Two disks of one machine, in memory, with a page of their own; `None`: this machine has no FUSE.
fn disks(test: &str, place: &Place) -> Option<Serving> {
    if File::options().read(true).write(true).open("/dev/fuse").is_err()
        || !rustix::process::geteuid().is_root()
    {
        skipped(test, "root and /dev/fuse");
        return None;
    }
    std::fs::create_dir(place.path("at")).expect("a directory");
    let serving = Serving::start(&mut place.command(
        "disk serve model:azure,vm=Standard_D2s_v5 --disk data=P10 --disk log=P4 --at at --size 64MiB --control ctl --serve=0",
    ));
    let begin = Instant::now();
    while !place.path("at/log").exists() {
        assert!(begin.elapsed() < Duration::from_mins(1), "nothing is served");
        std::thread::sleep(Duration::from_millis(50));
    }
    Some(serving)
}

/// Somebody who uses the disks: reads of one, writes of the other, a few at a time.
struct Users {
    stop: Arc<AtomicBool>,
    reads: Arc<AtomicU64>,
    threads: Vec<JoinHandle<()>>,
}

impl Users {
    fn begin(place: &Place) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let reads = Arc::new(AtomicU64::new(0));
        let user = |number: u64, path: PathBuf, writes: bool| {
            let (stop, reads) = (Arc::clone(&stop), Arc::clone(&reads));
            let file = File::options()
                .read(true)
                .write(true)
                .open(path)
                .expect("a served file");
            std::thread::spawn(move || {
                let mut block = [7; 4096];
                let mut at = number;
                while !stop.load(Ordering::Relaxed) {
                    at = (at * 5 + 11) % 16_000;
                    let done = if writes {
                        file.write_at(&block, at * 4096).and_then(|_| file.sync_data())
                    } else {
                        reads.fetch_add(1, Ordering::Relaxed);
                        file.read_exact_at(&mut block, at * 4096)
                    };
                    done.expect("an I/O on a served file");
                }
            })
        };
        let (data, log) = (place.path("at/data"), place.path("at/log"));
        let threads = vec![
            user(1, data.clone(), false),
            user(2, data, false),
            user(3, log, true),
        ];
        Self { stop, reads, threads }
    }

    /// How many reads there were.
    fn end(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads {
            thread.join().expect("a user");
        }
        self.reads.load(Ordering::Relaxed)
    }
}

#[test]
fn a_disk_that_is_served_live_is_read_by_prometheus() {
    let test = "a_disk_that_is_served_live_is_read_by_prometheus";
    let place = Place::new();
    let Some(serving) = disks(test, &place) else {
        return;
    };
    let rules = place.fathom("dashboards rules").expect(0).stdout;
    let Some(server) = Prometheus::start(&[("disks", serving.at.as_str())], Some(&rules)) else {
        return skipped(test, DEBIANS);
    };
    let users = Users::begin(&place);
    server.until("count_over_time(up[20s])", |count| count >= 12.0);
    place
        .fathom("disk fault --of ctl disk log slow 3x for 1m")
        .expect(0);
    server.until("fathom_served_faults{disk=\"log\"}", |faults| faults >= 1.0);
    for query in queries(&place, "served") {
        let rows = server.query(&query);
        assert!(!rows.is_empty(), "no data for {query}");
        // Native buckets have no single value.
        let is_number = query.contains("increase(") || rows.iter().any(|(_, value)| value.is_finite());
        assert!(is_number, "{query}: {rows:?}");
    }
    all_is_read(&server, &serving);
    if tool("promtool --version").is_ok() {
        check_metrics(&serving);
    }
    // All that was asked of the disk, and nothing else, but for what was read before anybody looked.
    let reads = users.end();
    let counted = "fathom_load_ios_total{section=\"data\",op=\"read\"}";
    server.until(counted, |ios| ios >= reads as f64);
    let (_, ios) = server.query(counted)[0].clone();
    assert!(ios < reads as f64 + 50.0, "{ios} of {reads} reads");
    let late = |q: &str| {
        server.query(&format!(
            "histogram_quantile({q}, fathom_served_lateness_seconds)"
        ))[0]
            .1
            * 1e9
    };
    let (p50, p99) = (late("0.5"), late("0.99"));
    let status = place.fathom("disk status --of ctl").expect(0).json();
    for (read, key) in [(p50, "p50"), (p99, "p99")] {
        let own = number(&status, &format!("lateness_ns.{key}"));
        // Nanoseconds are whole: of few of them one is more than half a percent.
        assert!(
            (read - own).abs() <= own * 0.005 + 1.0,
            "{key}: {read} ns, {own} ns of ours"
        );
    }
    let json = get(
        &serving.at,
        "/metrics",
        "Accept: application/openmetrics-text\r\n",
    );
    assert!(json.ends_with("# EOF\n"));
    serving.end();
    assert!(!place.path("at/data").exists(), "it was taken down");
}

#[test]
fn a_disk_that_is_served_live_has_a_page() {
    let test = "a_disk_that_is_served_live_has_a_page";
    let Some(program) = find() else {
        return skipped(test, "chromium");
    };
    let place = Place::new();
    let Some(serving) = disks(test, &place) else {
        return;
    };
    let users = Users::begin(&place);
    let mut browser = Browser::start(&program);
    browser.visit(&format!("http://{}/", serving.at));
    wait(&mut browser, "charts", &format!("{SHOWN} >= 13"));
    wait(
        &mut browser,
        "limits of both disks and of their machine",
        "['data', 'log', 'all disks'].every((name) => Array.from(document.querySelectorAll('#served-limits tr')).some((row) => \
         row.firstChild.textContent === name))",
    );
    wait(
        &mut browser,
        "disks",
        "document.querySelectorAll('#served-disks tr').length === 2",
    );
    // Who uses a disk that goes away has errors.
    let reads = users.end();
    assert!(reads > 0);
    place.fathom("disk fault --of ctl disk log detach").expect(0);
    wait(
        &mut browser,
        "a disk that is gone",
        "document.querySelector('#served-disks tr:last-child')?.lastChild.textContent === 'detached'",
    );
    place.fathom("disk fault --of ctl disk log attach").expect(0);
    sound(&mut browser, &serving.at);
    fits_a_phone(&mut browser);
    std::thread::sleep(Duration::from_secs(2));
    pictures(&mut browser, "live-served");
    ends(&mut browser, serving);
}
