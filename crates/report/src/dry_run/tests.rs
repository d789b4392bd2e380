use super::*;
use crate::fixtures;
use expect_test::{Expect, expect};
use fathom_core::workload::{
    Amount, Arrival, Compression, EngineKind, Job, Mix, Rate, ThinkTime, ThinkTimeBasis,
};

/// Jobs on one file of 1 GiB that is there.
pub(super) fn placed(jobs: &[Job]) -> Placement {
    const WHOLE: u64 = 1 << 30;
    let of_job = |job: &Job| {
        let bytes = match job.region.size {
            Some(Amount::Bytes(bytes)) => bytes,
            Some(Amount::Percent(percent)) => WHOLE * u64::from(percent) / 100,
            None => WHOLE,
        };
        let worker = PlacedWorker {
            regions: vec![(0, bytes)],
            amount_bytes: match job.region.io_size {
                Some(Amount::Bytes(bytes)) => bytes,
                _ => bytes,
            },
        };
        PlacedJob {
            workers: vec![worker; job.numjobs.min(4) as usize],
        }
    };
    Placement {
        target: fixtures::random_read().summary.target,
        jobs: jobs.iter().map(of_job).collect(),
        files: vec![PlacedFile {
            path: "data.bin".into(),
            size_bytes: Some(WHOLE),
            need_bytes: WHOLE,
            filled_bytes: 0,
            reserved_bytes: 0,
        }],
    }
}

fn show(jobs: Vec<Job>, placement: Option<&Placement>, warnings: &[Warning], style: Style) -> String {
    let dry_run = DryRun {
        written: &Written::default(),
        workload: &Workload { jobs },
        placement,
        warnings,
    };
    let document: serde_json::Value = serde_json::from_str(&json(dry_run)).expect("JSON");
    assert_eq!(document["schema"], SCHEMA);
    render(dry_run, style)
}

fn check(jobs: Vec<Job>, expect: &Expect) {
    let placement = placed(&jobs);
    expect.assert_eq(&show(jobs, Some(&placement), &[], Style::default()));
}

#[test]
fn one_job() {
    check(
        fixtures::random_read().workload.jobs,
        &expect![[r#"
            on data.bin (ext4 on /dev/vda, virtio)

            randread
              what: randread 4 KiB
              where: data.bin, size 1 GiB (all of it)
              how: io_uring, direct, iodepth 32, 1 worker
              pace: as fast as there is room (closed loop)
              stop: for 10 s

            in all
              files: 1
              workers: 1
              in flight: at most 32 I/Os
              buffers: 128 KiB of memory
              to be done: as much as the disk takes in the time
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
        puts_off: false,
        after_run: None,
    });
    second.cpus_allowed = vec![0, 1];
    second.on_error.read = true;
    check(
        vec![first, second],
        &expect![[r#"
            on data.bin (ext4 on /dev/vda, virtio)

            fill
              what: write 1 MiB
              where: 4 files a worker named fill.$jobnum.$filenum, in /mnt/a, /mnt/b, each
                in turn, size 512 MiB (50 %)
              how: io_uring, direct, iodepth 32, 1 worker, fsync at the end
              pace: as fast as there is room (closed loop)
              stop: 512 MiB a worker
              data: random bytes, 40 % compressible, new for each write, seed 0

            oltp
              as a database does
              what: randrw 70 % reads, 8 KiB
              where: data.bin, size 1 GiB (all of it)
              how: libaio, direct, iodepth 32, 4 workers, submitted by 8, reaped by 1 to 8,
                refilled from 16 in flight, CPUs 0 1
              pace: reads at 700 IOPS a worker, Poisson, writes at 300 IOPS a worker,
                Poisson, a pause of 1.00 ms after 16 I/Os completed
              start: after all jobs before it, up to 2 s later
              stop: for 10 s after a ramp of 5 s, going on after read errors
              data: random bytes, no two blocks alike, seed 0

            in all
              files: 1
              workers: 5
              in flight: at most 160 I/Os
              buffers: 33 MiB of memory
              to be done: about 60520 I/Os, about 981 MiB
              to be written: about 653 MiB
              time: 17 s and until the rest of the work is done
        "#]],
    );
}

#[test]
fn without_its_files_shares_stay_shares() {
    let mut job = fixtures::job("x", Mix::Write, false, 4096);
    job.limit = fathom_core::workload::Limit::default();
    job.region.size = Some(Amount::Percent(50));
    let text = show(vec![job], None, &[], Style::default());
    assert!(text.contains("size 50 %\n"), "{text}");
    assert!(
        text.contains("to be written: as much as the files hold"),
        "{text}"
    );
}

#[test]
fn what_is_clipped_to_make_ready_and_to_warn_of() {
    let mut job = fixtures::job("x", Mix::Read, true, 4096);
    job.limit = fathom_core::workload::Limit::default();
    job.region.size = Some(Amount::Bytes(1 << 40));
    job.region.offset = Some(Amount::Percent(25));
    let mut placement = placed(std::slice::from_ref(&job));
    placement.jobs[0].workers[0] = PlacedWorker {
        regions: vec![(1 << 28, 3 << 28)],
        amount_bytes: 3 << 28,
    };
    placement.files.push(PlacedFile {
        path: "new.bin".into(),
        size_bytes: None,
        need_bytes: 1 << 20,
        filled_bytes: 1 << 20,
        reserved_bytes: 0,
    });
    let warning = Warning::SizeClipped {
        path: String::from("data.bin"),
        size_bytes: 1 << 40,
        path_bytes: 1 << 30,
        offset_bytes: 1 << 28,
        used_bytes: 3 << 28,
    };
    let text = show(vec![job], Some(&placement), &[warning], Style::default());
    expect![[r#"
        on data.bin (ext4 on /dev/vda, virtio)

        x
          what: randread 4 KiB
          where: data.bin, size 768 MiB (1 TiB was asked for), from offset 256 MiB (25
            %)
          how: io_uring, direct, iodepth 32, 1 worker
          pace: as fast as there is room (closed loop)
          stop: 768 MiB a worker

        in all
          files: 2 (1 to be made)
          laid out before: 1 MiB written
          workers: 1
          in flight: at most 32 I/Os
          buffers: 128 KiB of memory
          to be done: 196608 I/Os, 768 MiB
          to be written: nothing
          time: until the work is done

        warning: size=1 TiB is larger than data.bin (1 GiB) from offset 256 MiB on:
          clipped to 768 MiB. Give a smaller size=, or leave it out to use all that
          there is.
    "#]]
    .assert_eq(&text);
}

/// The document has all numbers of the text.
#[test]
fn sums_in_json() {
    let mut job = fixtures::job("x", Mix::ReadWrite { read_percent: 75 }, true, 4096);
    job.limit = fathom_core::workload::Limit::default();
    let placement = placed(std::slice::from_ref(&job));
    let text = json(DryRun {
        written: &Written::default(),
        workload: &Workload { jobs: vec![job] },
        placement: Some(&placement),
        warnings: &[Warning::DebugBuild],
    });
    let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let totals = serde_json::to_string_pretty(&document["totals"]).expect("JSON");
    expect![[r#"
        {
          "buffer_bytes": 131072,
          "bytes": {
            "bound": "exactly",
            "n": 1073741824
          },
          "files": 1,
          "filled_bytes": 0,
          "in_flight": 32,
          "ios": {
            "bound": "exactly",
            "n": 262144
          },
          "reserved_bytes": 0,
          "time_ns": {
            "bound": "at_least",
            "n": 0
          },
          "workers": 1,
          "written_bytes": {
            "bound": "about",
            "n": 268435456
          }
        }"#]]
    .assert_eq(&totals);
    assert_eq!(document["warnings"][0]["kind"], "debug_build");
    assert_eq!(document["jobs"][0]["workers"][0]["amount_bytes"], 1 << 30);
    assert_eq!(document["files"][0]["path"], "data.bin");
}

#[test]
fn lines_fit() {
    for (name, run) in fixtures::all() {
        for width in [60, 80] {
            let style = Style {
                width,
                ..Style::default()
            };
            let placement = placed(&run.workload.jobs);
            let text = show(
                run.workload.jobs.clone(),
                Some(&placement),
                &run.summary.warnings,
                style,
            );
            for line in text.lines() {
                assert!(line.chars().count() <= width, "{name}: {line}");
            }
        }
    }
}
