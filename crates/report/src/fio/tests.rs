//! A run in fio's formats.

use super::{FioRun, Formats};
use fathom_core::run::{CpuUsage, Depths, DiskSummary, OpAccount, RunError, WorkerAccount};
use fathom_core::units::MonoTime;
use fathom_core::workload::{Job, Mix, Unified, Workload};
use fathom_testkit::make;

/// A worker that read for a second, and wrote half as much.
pub(super) fn account(job: u32, worker: u32) -> WorkerAccount {
    let latencies = |n: u64| make::histogram((0..n).map(|at| 80_000 + at * 1_000));
    let op = |n: u64, bytes: u64| {
        let mut op = OpAccount {
            bytes,
            lat: latencies(n),
            ..OpAccount::default()
        };
        op.bw.record(8_000);
        op.bw.record(8_016);
        op.iops.record(2_000);
        op.iops.record(2_004);
        op
    };
    let mut account = WorkerAccount {
        job,
        worker,
        tid: 31_605 + worker,
        start: MonoTime(5_000_000_000),
        end: MonoTime(6_000_000_000),
        cpu: CpuUsage {
            user_ns: 39_100_000,
            system_ns: 78_200_000,
            voluntary_switches: 1_790,
            involuntary_switches: 2,
            major_faults: 0,
            minor_faults: 7,
        },
        depths: Depths::one_by_one(300),
        ..WorkerAccount::default()
    };
    account.ops[0] = op(200, 200 * 4096);
    account.ops[1] = op(100, 100 * 4096);
    account
}

pub(super) fn jobs(count: usize) -> Vec<Job> {
    let job = |at: usize| {
        let mut job = Job {
            name: format!("job{at}"),
            ..Job::default()
        };
        job.pattern.mix = Mix::ReadWrite { read_percent: 67 };
        job.pattern.random = true;
        job
    };
    (0..count).map(job).collect()
}

pub(super) fn render(jobs: Vec<Job>, accounts: &[WorkerAccount], formats: &str, version: u8) -> String {
    let options = vec![
        vec![
            (String::from("bs"), Some(String::from("4k"))),
            (String::from("thread"), None)
        ];
        jobs.len()
    ];
    let workload = Workload { jobs };
    let disks = [DiskSummary {
        name: String::from("vda"),
        duration_ns: 1_000_000_000,
        write_ios: 39,
        busy_ns: 691_500_000,
        weighted_busy_ns: 8_000_000,
        ..DiskSummary::default()
    }];
    let mut chosen = Formats {
        terse_version: version,
        ..Formats::default()
    };
    chosen.only(formats).expect("formats");
    let run = FioRun {
        workload: &workload,
        global_options: &[(String::from("size"), Some(String::from("1m")))],
        job_options: &options,
        accounts,
        disks: &disks,
        idleness: None,
        now_unix_ms: 1_795_411_202_122,
        now_in_words: "Mon Nov 23 05:20:02 2026",
        elapsed_ns: 1_200_000_000,
        eta_s: None,
        of_client: false,
    };
    run.render(&chosen)
}

#[test]
fn json_parses_and_adds_up() {
    let text = render(jobs(1), &[account(0, 0)], "json+", 3);
    let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let read = &document["jobs"][0]["read"];
    assert_eq!(read["total_ios"], 200);
    assert_eq!(read["io_bytes"], 200 * 4096);
    assert_eq!(read["runtime"], 1000);
    assert_eq!(read["bw_bytes"], 200 * 4096);
    assert_eq!(read["clat_ns"]["N"], 200);
    let bins = read["clat_ns"]["bins"].as_object().expect("bins");
    let sum: u64 = bins.values().filter_map(serde_json::Value::as_u64).sum();
    assert_eq!(sum, 200);
    assert_eq!(document["global options"]["size"], "1m");
    assert_eq!(document["jobs"][0]["job options"]["bs"], "4k");
    assert!(document["jobs"][0]["job options"].get("thread").is_none());
    assert_eq!(document["disk_util"][0]["util"], 69.15);
    assert!(read["clat_ns"]["percentile"]["99.000000"].is_u64());
    assert!(read["lat_ns"].get("percentile").is_none());
}

#[test]
fn a_group_is_one_entry_and_a_job_without_statistics_is_none() {
    let mut group = jobs(3);
    group[1].group_reporting = true;
    group[1].numjobs = 2;
    group[1].group = 1;
    group[2].reporting.stats = false;
    let accounts = [account(0, 0), account(1, 0), account(1, 1), account(2, 0)];
    let text = render(group, &accounts, "json", 3);
    let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let told = document["jobs"].as_array().expect("jobs");
    assert_eq!(told.len(), 2);
    assert_eq!(told[1]["read"]["total_ios"], 400);
    assert_eq!(told[1]["job_runtime"], 2000);
    // Sums, as fio has them.
    assert_eq!(told[1]["read"]["bw_min"], 16_000);
    assert_eq!(told[1]["read"]["bw_samples"], 4);
}

#[test]
fn directions_are_told_together_where_that_is_asked_for() {
    for (unified, keys) in [
        (Unified::None, "read write trim sync"),
        (Unified::Mixed, "mixed"),
        (Unified::Both, "read write trim sync mixed"),
    ] {
        let mut one = jobs(1);
        one[0].reporting.unified = unified;
        let text = render(one, &[account(0, 0)], "json", 3);
        let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let job = document["jobs"][0].as_object().expect("a job");
        let known = ["read", "write", "trim", "sync", "mixed"];
        let found: Vec<&str> = known.into_iter().filter(|&key| job.contains_key(key)).collect();
        assert_eq!(found.join(" "), keys);
        if unified != Unified::None {
            assert_eq!(document["jobs"][0]["mixed"]["total_ios"], 300);
        }
    }
}

/// As many columns as fio's HOWTO names for each version, with one disk.
#[test]
fn terse_lines_have_their_columns() {
    for (version, columns) in [(2, 161), (3, 121 + 9), (4, 162 + 9), (5, 180 + 9)] {
        let text = render(jobs(1), &[account(0, 0)], "terse", version);
        assert_eq!(text.lines().count(), 1);
        assert_eq!(text.trim_end().split(';').count(), columns, "version {version}");
    }
}

#[test]
fn text_is_as_fio_writes_it() {
    let text = render(jobs(1), &[account(0, 0)], "normal", 3);
    expect_test::expect![[r#"

        job0: (groupid=0, jobs=1): err= 0: pid=31605: Mon Nov 23 05:20:02 2026
          read: IOPS=200, BW=800KiB/s (819kB/s)(800KiB/1000msec)
            clat (usec): min=80, max=279, avg=179.50, stdev=57.88
             lat (usec): min=80, max=279, avg=179.50, stdev=57.88
            clat percentiles (usec):
             |  1.00th=[   82],  5.00th=[   89], 10.00th=[   99], 20.00th=[  120],
             | 30.00th=[  139], 40.00th=[  159], 50.00th=[  180], 60.00th=[  200],
             | 70.00th=[  219], 80.00th=[  239], 90.00th=[  260], 95.00th=[  269],
             | 99.00th=[  277], 99.50th=[  277], 99.90th=[  281], 99.95th=[  281],
             | 99.99th=[  281]
           bw (  KiB/s): min= 8000, max= 8016, per=100.00%, avg=8008.00, stdev=11.31, samples=2
           iops        : min= 2000, max= 2004, avg=2002.00, stdev= 2.83, samples=2
          write: IOPS=100, BW=400KiB/s (410kB/s)(400KiB/1000msec); 0 zone resets
            clat (usec): min=80, max=179, avg=129.50, stdev=29.01
             lat (usec): min=80, max=179, avg=129.50, stdev=29.01
            clat percentiles (usec):
             |  1.00th=[   81],  5.00th=[   85], 10.00th=[   89], 20.00th=[   99],
             | 30.00th=[  110], 40.00th=[  120], 50.00th=[  129], 60.00th=[  139],
             | 70.00th=[  149], 80.00th=[  159], 90.00th=[  169], 95.00th=[  174],
             | 99.00th=[  178], 99.50th=[  180], 99.90th=[  180], 99.95th=[  180],
             | 99.99th=[  180]
           bw (  KiB/s): min= 8000, max= 8016, per=100.00%, avg=8008.00, stdev=11.31, samples=2
           iops        : min= 2000, max= 2004, avg=2002.00, stdev= 2.83, samples=2
          lat (usec)   : 100=14.00%, 250=76.33%, 500=9.67%
          cpu          : usr=3.91%, sys=7.82%, ctx=1792, majf=0, minf=7
          IO depths    : 1=100.0%, 2=0.0%, 4=0.0%, 8=0.0%, 16=0.0%, 32=0.0%, >=64=0.0%
             submit    : 0=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%
             complete  : 0=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%
             issued rwts: total=200,100,0,0 short=0,0,0,0 dropped=0,0,0,0
             latency   : target=0, window=0, percentile=100.00%, depth=1

        Run status group 0 (all jobs):
           READ: bw=800KiB/s (819kB/s), 800KiB/s-800KiB/s (819kB/s-819kB/s), io=800KiB (819kB), run=1000-1000msec
          WRITE: bw=400KiB/s (410kB/s), 400KiB/s-400KiB/s (410kB/s-410kB/s), io=400KiB (410kB), run=1000-1000msec

        Disk stats (read/write):
          vda: ios=0/39, merge=0/0, ticks=0/0, in_queue=8, util=69.15%
    "#]].assert_eq(&text);
}

#[test]
fn an_error_is_named_with_its_number() {
    let mut failed = account(0, 0);
    failed.failed = true;
    failed.errors = vec![RunError {
        what: String::from("write"),
        errno: 28,
        message: String::from("No space left on device (os error 28)"),
        count: 2,
        path: String::from("F"),
        offset_bytes: 0,
        length_bytes: 4096,
    }];
    let text = render(jobs(1), &[failed.clone()], "normal", 3);
    assert!(
        text.contains("err=28 (No space left on device): pid=31605"),
        "{text}"
    );
    failed.errors[0].what = String::from("verify");
    failed.errors[0].errno = 0;
    let text = render(jobs(1), &[failed], "json", 3);
    assert!(text.contains("\"error\" : 84,"), "{text}");
}

#[test]
fn formats_come_in_one_order_and_unknown_ones_are_named() {
    let text = render(jobs(1), &[account(0, 0)], "normal,json,terse", 3);
    let at = |needle: &str| text.find(needle).expect("there");
    assert!(at("3;fio-3.33;") < at("\"fio version\"") && at("\"fio version\"") < at("Run status group 0"));
    assert_eq!(Formats::default().only("json,xml"), Err(String::from("xml")));
}

#[test]
fn what_ends_a_job_that_is_steady_is_told() {
    use fathom_core::run::SteadyAccount;
    use fathom_core::units::Nanos;
    use fathom_core::workload::{LatencyTarget, Steady, SteadyOf};
    let mut one = jobs(1);
    one[0].stops.steady = Some(Steady {
        of: SteadyOf::Bandwidth,
        slope: true,
        limit: 20.0,
        in_percent: true,
        duration: Nanos::from_secs(3),
        ramp: Nanos::ZERO,
    });
    one[0].latency_target = Some(LatencyTarget {
        latency: Nanos::from_millis(2),
        window: Nanos::from_millis(200),
        percentile: 90.0,
        keeps_running: false,
    });
    let mut worker = account(0, 0);
    worker.depth_found = Some(16);
    worker.steady = Some(SteadyAccount {
        attained: true,
        criterion: -2_300.0,
        criterion_percent: -0.056_7,
        ios: vec![1_001, 1_000, 999],
        bytes: vec![4_100_096, 4_096_000, 4_091_904],
    });
    let text = render(one.clone(), &[worker.clone()], "json", 3);
    let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let told = &document["jobs"][0];
    assert_eq!(told["steadystate"]["ss"], "bw_slope:20.000000%");
    assert_eq!(told["steadystate"]["criterion"], "-0.056700%");
    assert_eq!(told["steadystate"]["data"]["iops_mean"], 1_000);
    assert_eq!(told["steadystate"]["data"]["bw"][2], 4_091_904);
    assert_eq!(
        (&told["latency_depth"], &told["latency_target"]),
        (&16.into(), &2_000_000.into())
    );
    assert_eq!(told["latency_window"], 200_000);
    let text = render(one, &[worker], "normal", 3);
    assert!(
        text.contains(
            "  steadystate  : attained=yes, bw=4000KiB/s (4096kB/s), iops=1000, bw slope=-0.057%\n"
        ),
        "{text}"
    );
    assert!(
        text.contains("latency   : target=2000000, window=200000, percentile=90.00%, depth=16\n"),
        "{text}"
    );
}
