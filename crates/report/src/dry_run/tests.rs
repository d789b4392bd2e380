use super::*;
use crate::fixtures;
use expect_test::{Expect, expect};
use fathom_core::workload::{Amount, Arrival, Compression, EngineKind, Mix, Rate, ThinkTime};

fn check(jobs: Vec<Job>, target: Option<&Target>, expect: &Expect) {
    expect.assert_eq(&render(&Workload { jobs }, target, Style::default()));
}

#[test]
fn one_job() {
    let run = fixtures::random_read();
    check(
        run.workload.jobs,
        Some(&run.summary.target),
        &expect![[r#"
        on data.bin (ext4 on /dev/vda, virtio)

        randread
          what: randread 4 KiB
          where: data.bin
          how: io_uring, direct, iodepth 32, 1 worker
          pace: as fast as there is room (closed loop)
          stop: for 10 s

        in all
          workers: 1
          in flight: at most 32 I/Os
          buffers: 128 KiB of memory
          to be written: nothing
          time: 10 s
    "#]],
    );
}

#[test]
fn two_jobs_with_many_settings() {
    let mut first = fixtures::job("fill", Mix::Write, false, 1 << 20);
    first.limit = fathom_core::workload::Limit::default();
    first.region.size = Some(Amount::Percent(50));
    first.files.names.clear();
    first.files.directories = vec!["/mnt/a".into(), "/mnt/b".into()];
    first.files.nrfiles = 4;
    first.sync.fsync_at_end = true;
    first.buffers.refill = true;
    first.buffers.compression = Some(Compression {
        percent: 40,
        chunk_bytes: 0,
    });
    let mut second = fixtures::job("oltp", Mix::ReadWrite { read_percent: 70 }, true, 8192);
    second.description = String::from("as a database does");
    second.start.stonewall = true;
    second.start.delay = (Nanos::ZERO, Nanos::from_secs(2));
    second.limit.ramp_time = Nanos::from_secs(5);
    second.numjobs = 4;
    second.engine.kind = EngineKind::Libaio;
    second.depth.batch_submit = 8;
    second.depth.low = 16;
    second.depth.batch_complete_max = 8;
    second.pace.rate = [Some(Rate::Iops(700)), Some(Rate::Iops(300)), None];
    second.pace.arrival = Arrival::Poisson;
    second.pace.think = Some(ThinkTime {
        pause: Nanos::from_millis(1),
        spin: Nanos::ZERO,
        blocks: 16,
        basis: ThinkTimeBasis::Complete,
        after_run: None,
    });
    second.cpus_allowed = vec![0, 1];
    second.on_error.read = true;
    let run = fixtures::random_read();
    check(
        vec![first, second],
        Some(&run.summary.target),
        &expect![[r#"
            on data.bin (ext4 on /dev/vda, virtio)

            fill
              what: write 1 MiB
              where: 4 files a worker named fill.$jobnum.$filenum, in /mnt/a, /mnt/b, each
                in turn, size 50 %
              how: io_uring, direct, iodepth 32, 1 worker, fsync at the end
              pace: as fast as there is room (closed loop)
              stop: 50 % a worker
              data: random bytes, 40 % compressible, new for each write, seed 0

            oltp
              as a database does
              what: randrw 70 % reads, 8 KiB
              where: data.bin
              how: libaio, direct, iodepth 32, 4 workers, submitted by 8, reaped by 1 to 8,
                refilled from 16 in flight, CPUs 0 1
              pace: reads at 700 IOPS a worker, Poisson, writes at 300 IOPS a worker,
                Poisson, a pause of 1.00 ms after 16 I/Os completed
              start: after all jobs before it, up to 2 s later
              stop: for 10 s after a ramp of 5 s, going on after read errors
              data: random bytes, no two blocks alike, seed 0

            in all
              workers: 5
              in flight: at most 160 I/Os
              buffers: 33 MiB of memory
              to be written: at most 653 MiB
              time: 17 s and until the rest of the work is done
        "#]],
    );
}

#[test]
fn lines_fit() {
    for (name, run) in fixtures::all() {
        for width in [60, 80] {
            let style = Style {
                width,
                ..Style::default()
            };
            let text = render(&run.workload, Some(&run.summary.target), style);
            for line in text.lines() {
                assert!(line.chars().count() <= width, "{name}: {line}");
            }
        }
    }
}
