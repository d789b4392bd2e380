use super::*;
use crate::fixtures;
use expect_test::{Expect, expect};
use fathom_core::workload::{EngineKind, SplitEntry, Verify, VerifyAlgorithm};

fn check(job: &Job, expect: &Expect) {
    expect.assert_eq(&describe(job));
}

#[test]
fn defaults() {
    let mut job = Job::default();
    check(
        &job,
        &expect!["read 4 KiB, buffered, psync, 1 worker, all that the files hold"],
    );
    job.region.size = Some(Amount::Bytes(1 << 30));
    job.region.loops = 3;
    job.limit.runtime = Some(Nanos::from_secs(3600));
    check(
        &job,
        &expect!["read 4 KiB, buffered, psync, 1 worker, 1 GiB a worker, 3 times, at most 1 h"],
    );
}

#[test]
fn mixed_with_everything() {
    let mut job = fixtures::job("x", Mix::ReadWrite { read_percent: 70 }, true, 4096);
    job.block_size[1] = BlockSize::Range {
        min: 4096,
        max: 65_536,
        unaligned: false,
    };
    job.pattern.distribution = [0, 1, 2].map(|_| Distribution::Zipf {
        theta: 1.2,
        center: None,
    });
    job.sync.mode = SyncMode::DataSync;
    job.sync.fsync_every = 1;
    job.sync.fdatasync_every = 8;
    job.sync.fsync_at_end = true;
    job.pace.rate = [Some(Rate::Iops(1000)), Some(Rate::BytesPerSecond(50 << 20)), None];
    job.pace.arrival = Arrival::Poisson;
    job.limit.ramp_time = Nanos::from_millis(1500);
    job.limit.runtime = Some(Nanos::from_secs(86_400));
    job.numjobs = 4;
    job.verify = Some(Verify {
        algorithm: VerifyAlgorithm::Crc32c,
        interval_bytes: 0,
        pattern: Vec::new(),
        only: false,
        read_back: true,
        fatal: true,
        ..Verify::default()
    });
    check(
        &job,
        &expect![
            "randrw 70 % reads, read 4 KiB, write 4 KiB to 64 KiB, zipf 1.2, direct, io_uring, iodepth 32, O_DSYNC, fsync after each write, fdatasync after every 8 writes, fsync at the end, reads at 1000 IOPS a worker, Poisson, writes at 50.0 MiB/s a worker, Poisson, verify crc32c, 4 workers, for 24 h after a ramp of 1.50 s"
        ],
    );
}

#[test]
fn splits_and_depth_of_a_synchronous_engine() {
    let mut job = fixtures::job("x", Mix::Write, false, 4096);
    job.engine.kind = EngineKind::Psync;
    job.direct = false;
    let entry = |bytes, percent| SplitEntry { bytes, percent };
    job.block_size[1] = BlockSize::Split(vec![entry(4096, 60), entry(65_536, 40)]);
    check(
        &job,
        &expect![
            "write 4 KiB (60 %) + 64 KiB (40 %), buffered, psync, iodepth 1 (not 32), 1 worker, for 10 s"
        ],
    );
    job.depth.iodepth = 1;
    job.region.number_ios = Some(1);
    job.limit = Limit::default();
    check(
        &job,
        &expect!["write 4 KiB (60 %) + 64 KiB (40 %), buffered, psync, 1 worker, 1 I/O a worker"],
    );
}

#[test]
fn durations_stay_as_they_were_set() {
    let text = |ns| duration(Nanos(ns));
    assert_eq!(text(0), "0 ns");
    assert_eq!(text(1_500_000_000), "1.50 s");
    assert_eq!(text(90_000_000_000), "90 s");
    assert_eq!(text(120_000_000_000), "2 min");
    assert_eq!(text(86_400_000_000_000), "24 h");
}

#[test]
fn words_of_a_shell_stay_one_word() {
    assert_eq!(shell_word("Standard_D8s_v5"), "Standard_D8s_v5");
    assert_eq!(
        shell_word("model:aws/gp3,size=100g,vm=m6i.large"),
        "model:aws/gp3,size=100g,vm=m6i.large"
    );
    assert_eq!(shell_word("a;$(touch pwned)"), "'a;$(touch pwned)'");
    assert_eq!(shell_word("it's"), r"'it'\''s'");
    assert_eq!(shell_word(""), "''");
}
