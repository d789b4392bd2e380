use super::*;
use crate::dry_run::tests::placed;
use crate::fixtures;
use fathom_core::workload::{Amount, Limit, Mix, Rate};

const GIB: u64 = 1 << 30;

fn sized(mix: Mix, bytes: u64) -> Job {
    let mut job = fixtures::job("x", mix, false, 4096);
    job.limit = Limit::default();
    job.region.size = Some(Amount::Bytes(bytes));
    job
}

fn of(jobs: Vec<Job>) -> Derived {
    let placement = placed(&jobs);
    Derived::of(&Workload { jobs }, Some(&placement))
}

#[test]
fn workers_depth_and_memory_add_up() {
    let mut many = sized(Mix::Read, GIB);
    many.numjobs = 3;
    let derived = of(vec![many, sized(Mix::Write, GIB)]);
    assert_eq!((derived.workers, derived.in_flight), (4, 4 * 32));
    assert_eq!(derived.buffer_bytes, 4 * 32 * 4096);
}

#[test]
fn what_is_written() {
    let written = |job: &Job| of(vec![job.clone()]).written_bytes;
    assert_eq!(written(&sized(Mix::Read, GIB)), Bound::Exactly(0));
    assert_eq!(written(&sized(Mix::Trim, GIB)), Bound::Exactly(0));
    assert_eq!(written(&sized(Mix::Write, GIB)), Bound::Exactly(GIB));
    let mix = Mix::ReadWrite { read_percent: 75 };
    assert_eq!(written(&sized(mix, GIB)), Bound::About(GIB / 4));
    let mut job = sized(Mix::Write, GIB);
    job.region.loops = 2;
    job.numjobs = 3;
    assert_eq!(written(&job), Bound::Exactly(6 * GIB));
    job.region.number_ios = Some(10);
    assert_eq!(written(&job), Bound::Exactly(6 * 10 * 4096));
    job.limit.runtime = Some(Nanos::from_secs(1));
    assert_eq!(written(&job), Bound::AtMost(6 * 10 * 4096));
    job.limit.time_based = true;
    assert_eq!(written(&job), Bound::Unbounded);
    job.pace.rate[1] = Some(Rate::Iops(100));
    assert_eq!(written(&job), Bound::AtMost(3 * 101 * 4096));
}

#[test]
fn shares_need_their_files() {
    let mut job = sized(Mix::Write, 0);
    job.region.size = Some(Amount::Percent(25));
    let unplaced = Derived::of(
        &Workload {
            jobs: vec![job.clone()],
        },
        None,
    );
    assert_eq!(unplaced.written_bytes, Bound::Unknown);
    assert_eq!(unplaced.files, None);
    assert_eq!(of(vec![job]).written_bytes, Bound::Exactly(GIB / 4));
}

#[test]
fn sums_are_as_certain_as_their_least_certain_part() {
    let of_two = |a: Bound, b: Bound| {
        assert_eq!(a.plus(b), b.plus(a), "{a:?} {b:?}");
        a.plus(b)
    };
    assert_eq!(of_two(Bound::Exactly(1), Bound::Exactly(2)), Bound::Exactly(3));
    assert_eq!(of_two(Bound::Exactly(1), Bound::About(2)), Bound::About(3));
    assert_eq!(of_two(Bound::AtMost(1), Bound::About(2)), Bound::AtMost(3));
    assert_eq!(of_two(Bound::AtMost(1), Bound::Unknown), Bound::Unknown);
    assert_eq!(of_two(Bound::Unbounded, Bound::Unknown), Bound::Unbounded);
}

#[test]
fn time_follows_the_order_of_jobs() {
    let timed = |seconds: u64| {
        let mut job = fixtures::job("x", Mix::Read, true, 4096);
        job.limit.runtime = Some(Nanos::from_secs(seconds));
        job
    };
    let walled = |mut job: Job| {
        job.start.stonewall = true;
        job
    };
    assert_eq!(
        of(vec![timed(10), timed(20)]).time,
        Time::Exactly(Nanos::from_secs(20))
    );
    let three = vec![timed(10), walled(timed(20)), timed(25)];
    assert_eq!(of(three).time, Time::Exactly(Nanos::from_secs(35)));
    let mut ramped = timed(10);
    ramped.limit.ramp_time = Nanos::from_secs(3);
    ramped.start.wait_for = Some(String::from("x"));
    assert_eq!(
        of(vec![timed(4), ramped]).time,
        Time::Exactly(Nanos::from_secs(17))
    );
    let mut early = timed(10);
    early.limit.time_based = false;
    assert_eq!(of(vec![early]).time, Time::AtMost(Nanos::from_secs(10)));
    let open = vec![timed(10), walled(sized(Mix::Read, GIB))];
    assert_eq!(of(open).time, Time::AtLeast(Nanos::from_secs(10)));
}

#[test]
fn wild_numbers_saturate() {
    let mut job = sized(Mix::Write, u64::MAX);
    job.region.loops = u32::MAX;
    job.numjobs = u32::MAX;
    job.depth.iodepth = u32::MAX;
    job.limit.runtime = Some(Nanos(u64::MAX));
    job.limit.ramp_time = Nanos(1);
    job.pace.rate[1] = Some(Rate::Iops(u64::MAX));
    let derived = of(vec![job.clone(), job]);
    assert!(derived.buffer_bytes > 0);
}
