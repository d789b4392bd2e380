use super::{Mark, Meter, lateness, names};
use crate::bench::{Io, IoKind, Running};
use crate::record::{About, Record, TIMELY};
use crate::{Bench, DiskOptions, Options};
use fathom_core::record::Comm;
use fathom_core::run::{Counted, Environment, Warning};
use fathom_door::backing;
use fathom_model::{Catalog, LimitState, target};
use std::collections::BTreeSet;
use std::sync::mpsc::channel;
use std::time::Duration;

fn limit(name: &'static str, credit: Option<u64>) -> LimitState {
    LimitState {
        name,
        counts: Counted::IoUnits,
        rate_per_second: 1,
        credit_full: credit,
        credit_left: credit,
        taken: 0,
        held_ns: 0,
    }
}

#[test]
fn a_limit_and_the_higher_one_on_credit_are_told_apart() {
    let all = [
        limit("disk IOPS", None),
        limit("disk IOPS", Some(9)),
        limit("disk MB/s", None),
        limit("disk MB/s", None),
    ];
    assert_eq!(
        names(&all),
        ["disk IOPS, in a burst", "disk IOPS", "disk MB/s", "disk MB/s (2)"]
    );
}

/// Of every disk and machine of the catalogues no two limits have one name: they would be one series of a metric.
#[test]
fn no_two_limits_of_a_disk_have_one_name() {
    let mut seen = 0;
    for words in [
        "azure/P10,vm=Standard_D2s_v5",
        "azure/P30",
        "azure/2xP15,vm=Standard_DS3_v2,cache=ro",
        "azure/E20",
        "aws/gp2:100GiB,vm=m6i.large",
        "aws/gp3:500GiB,iops=6000,vm=m6i.xlarge",
        "gcp/pd-ssd:200GiB,vm=n2-standard-8",
    ] {
        let cloud = words.split('/').next().expect("a cloud");
        let catalog = Catalog::named(cloud).expect("a catalogue");
        let spec = target::parse(words, catalog).expect(words);
        let disk = DiskOptions {
            name: String::from("disk"),
            file: backing::memory("disk", 1 << 20).expect("memory"),
            size_bytes: 1 << 20,
            cache_bytes: 0,
        };
        let (running, _) = Bench::start(Some(&[spec]), vec![disk], Options::default()).expect("a bench");
        let status = Meter::new(&running.bench).look(&running.bench);
        let limits = &status.disks[0].limits;
        let different: BTreeSet<&str> = limits.iter().map(|limit| &*limit.limit).collect();
        assert_eq!(different.len(), limits.len(), "{words}: {limits:?}");
        seen += limits.len();
    }
    assert!(seen > 20, "{seen} limits");
}

const MS: u64 = 1_000_000;
/// Ten times what is looked for: a busy machine may take its time between the two reads.
const HELD: Duration = Duration::from_millis(500);

fn no_time() -> Running {
    let disk = DiskOptions {
        name: String::from("disk"),
        file: backing::memory("disk", 1 << 20).expect("memory"),
        size_bytes: 1 << 20,
        cache_bytes: 0,
    };
    Bench::start(None, vec![disk], Options::default())
        .expect("a bench")
        .0
}

/// Two reads of 10 ms at the same time: whoever takes the first answer keeps the second waiting for so long.
fn two_reads(bench: &Bench, held: Duration) {
    bench.set_fixed_ns(10 * MS);
    let (tell, told) = channel();
    for held in [held, Duration::ZERO] {
        let kind = IoKind::Read {
            len_bytes: 4096,
            headroom: 0,
        };
        let io = Io {
            disk: 0,
            offset_bytes: 0,
            kind,
            pid: 0,
            comm: Comm::default(),
        };
        let tell = tell.clone();
        let answer = move |_| {
            std::thread::sleep(held);
            tell.send(()).expect("the test waits");
        };
        bench.submit(io, Box::new(answer));
    }
    for _ in 0..2 {
        told.recv_timeout(Duration::from_mins(1)).expect("an answer");
    }
}

#[test]
fn answers_that_come_late_make_a_run_not_valid_and_its_record_says_so() {
    let running = no_time();
    let bench = &running.bench;
    assert_eq!(lateness(bench).valid, None, "there was no I/O");
    let dir = tempfile::tempdir().expect("a directory");
    let about = About {
        build: fathom_testkit::make::build(),
        command: Vec::new(),
        environment: Environment::default(),
        requirements: Vec::new(),
        specs: Vec::new(),
        warnings: Vec::new(),
        places: vec![String::from("at/disk")],
    };
    let record = Record::begin(&dir.path().join("record"), bench, about).expect("a record");
    two_reads(bench, HELD);
    let late = lateness(bench);
    assert!(late.p99 > 50 * MS, "{late:?}");
    assert_eq!((late.n, late.valid), (2, Some(false)));
    let run = record.end(bench, false, |_| ()).expect("its end");
    let said = |warning: &Warning| matches!(warning, Warning::ServedLate { late_ns_p99, .. } if *late_ns_p99 == late.p99);
    assert!(
        run.summary.warnings.iter().any(said),
        "{:?}",
        run.summary.warnings
    );
    let timely = run
        .requirements
        .iter()
        .find(|requirement| requirement.name == TIMELY);
    assert_eq!(timely.expect("it is judged").met, Some(false));
}

#[test]
fn a_late_stretch_is_no_part_of_the_interval_after_it() {
    let running = no_time();
    let bench = &running.bench;
    let start = Mark::start(bench);
    two_reads(bench, HELD);
    let late = Mark::now(bench);
    let quiet = late.until(&Mark::now(bench)).lateness_ns;
    assert_eq!((quiet.n, quiet.valid), (0, None));
    two_reads(bench, Duration::ZERO);
    let now = Mark::now(bench);
    let (first, second, all) = (start.until(&late), late.until(&now), start.until(&now));
    assert_eq!(
        (first.lateness_ns.n, second.lateness_ns.n, all.lateness_ns.n),
        (2, 2, 4)
    );
    assert_eq!(first.lateness_ns.valid, Some(false));
    assert_eq!(all.lateness_ns, lateness(bench));
    assert!(all.lateness_ns.max >= 50 * MS);
    assert!(first.duration_ns + second.duration_ns == all.duration_ns);
}
