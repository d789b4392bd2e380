//! Open loops.

use crate::harness::{Place, count, number};
use fathom_testkit::{Needs, telling};

#[test]
fn a_rate_of_ios_is_kept_within_one_percent() {
    telling(
        "a_rate_of_ios_is_kept_within_one_percent",
        &Needs::cpus().timely(),
        a_rate_of_ios_is_kept_within_one_percent_once,
    );
}

fn a_rate_of_ios_is_kept_within_one_percent_once() {
    let place = Place::new();
    let run = place.json("run --rw randread --bs 4k --size 1m --rate_iops 500 --runtime 2s --time_based --ioengine null F -o none");
    let ios = number(&run, "jobs.0.read.ios");
    assert!(
        (990.0..=1010.0).contains(&ios),
        "{ios} I/Os in 2 s at 500 a second"
    );
    assert_eq!(
        count(&run, "jobs.0.read.response_ns.n"),
        count(&run, "jobs.0.read.ios")
    );
    let response = number(&run, "jobs.0.read.response_ns.mean");
    assert!(
        response >= number(&run, "jobs.0.read.lat_ns.mean"),
        "response time counts from the intended start"
    );
}

#[test]
fn a_rate_that_a_disk_cannot_keep_is_told() {
    let place = Place::new();
    let line = "run --rw randwrite --bs 4k --size 4m --sync dsync --direct 1 --rate_iops 10000000 --runtime 1s --time_based F -o none";
    let run = place.json(line);
    assert!(number(&run, "jobs.0.backlog_max") > 1000.0);
    let text = run.to_string();
    assert!(text.contains("\"kind\":\"backlog\""), "{text}");
}

#[test]
fn a_poisson_schedule_keeps_its_mean_rate() {
    telling(
        "a_poisson_schedule_keeps_its_mean_rate",
        &Needs::cpus().timely(),
        a_poisson_schedule_keeps_its_mean_rate_once,
    );
}

fn a_poisson_schedule_keeps_its_mean_rate_once() {
    let place = Place::new();
    let line = "run --rw randread --bs 4k --size 1m --rate_iops 2000 --rate_process poisson --runtime 2s --time_based --ioengine null F -o none";
    let ios = number(&place.json(line), "jobs.0.read.ios");
    // 4000 expected; the standard deviation of a Poisson count is its square root, 63.
    assert!((3700.0..=4300.0).contains(&ios), "{ios}");
}
