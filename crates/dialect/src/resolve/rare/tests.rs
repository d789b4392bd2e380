use crate::testing::{check_job, parsed};
use expect_test::expect;

#[test]
fn sizes_by_order_are_settled_by_the_order() {
    for (rw, bytes) in [("read", 4096), ("randread", 16_384)] {
        let text = format!("[j]\nrw={rw}\nbs=4k,16k\nbs_is_seq_rand=1\nsize=1m\n");
        let jobs = parsed(&text).workload.expect("accepted").jobs;
        assert_eq!(jobs[0].max_block_bytes(), bytes, "{rw}");
    }
}

#[test]
fn zones() {
    check_job(
        "zonemode=strided\nzonesize=64k\nzoneskip=128k",
        expect![[r#"
            [j]
            rw=read
            bs=4k
            ioengine=psync
            zonemode=strided
            zonesize=64k
            zonerange=64k
            zoneskip=128k
        "#]],
    );
    check_job(
        "zonesize=64k",
        expect![[r#"
            jobs/a.fio:2:1: error: zonesize needs a zonemode; add zonemode=strided
        "#]],
    );
    check_job(
        "zonemode=none\nzonesize=64k",
        expect![[r#"
            jobs/a.fio:3:1: error: zonesize needs a zonemode; add zonemode=strided
        "#]],
    );
    check_job(
        "zonemode=strided",
        expect![[r#"
        jobs/a.fio:2:1: error: zonemode=strided needs a zonesize; add such as zonesize=1m
    "#]],
    );
    check_job(
        "zonemode=strided\nzonesize=64k\nzonerange=1k",
        expect![[r#"
        jobs/a.fio:4:1: error: zones of 1024 bytes are smaller than a block of 4096; raise zonerange or lower bs
    "#]],
    );
}

#[test]
fn what_ends_a_job() {
    check_job(
        "rate=1m\nrate_min=2m",
        expect![[r#"
            jobs/a.fio:3:1: error: the least rate is more than the rate; lower it below the rate
        "#]],
    );
    check_job(
        "rate_iops=100\nrate_iops_min=10\nrate_cycle=500\nmax_latency=1s,2s\nignore_error=EIO:28,,5\nexitall\nexit_what=all",
        expect![[r#"
            [j]
            rw=read
            bs=4k
            ioengine=psync
            rate_iops=100
            rate_iops_min=10
            rate_cycle=500
            max_latency=1s,2s,2s
            ignore_error=5:28,,5
            exitall=1
            exit_what=all
        "#]],
    );
    check_job(
        "latency_target=1ms",
        expect![[r#"
        jobs/a.fio:2:1: note: latency_target without latency_window: each depth is tried for 5 s; add such as latency_window=5s
        [j]
        rw=read
        bs=4k
        ioengine=psync
        latency_target=1ms
        latency_window=5s
    "#]],
    );
    check_job(
        "ioengine=libaio\ndirect=1\niodepth=8\nlatency_target=1ms\nlatency_window=1s\nlatency_percentile=99",
        expect![[r#"
            [j]
            rw=read
            bs=4k
            direct=1
            ioengine=libaio
            iodepth=8
            latency_target=1ms
            latency_window=1s
            latency_percentile=99
        "#]],
    );
    check_job(
        "ss=bw_slope:0.5%\nss_dur=10\nss_ramp=2",
        expect![[r#"
        [j]
        rw=read
        bs=4k
        ioengine=psync
        steadystate=bw_slope:0.5%
        steadystate_duration=10s
        steadystate_ramp_time=2s
    "#]],
    );
    check_job(
        "ss=lat:5\nss=foo:3\nss=iops",
        expect![[r#"
        jobs/a.fio:3:4: error: steadystate: `foo:3` is not what can be steady; write such as iops:2% or bw_slope:0.1%
        jobs/a.fio:4:4: error: steadystate: `iops` has no limit; write such as iops:2% or bw_slope:0.1%
    "#]],
    );
    check_job(
        "flow=3\nflow_id=2",
        expect![[r#"
        [j]
        flow=3
        flow_id=2
        rw=read
        bs=4k
        ioengine=psync
    "#]],
    );
}

#[test]
fn sizes_that_fio_reads_in_part() {
    check_job(
        "bs=1k*4\nsize=1m\nfilesize=0.5m",
        expect![[r#"
        jobs/a.fio:2:4: warning: `bs=1k*4` is read as 1024, as in fio; write a whole number with a unit, such as 4k, or a sum in parentheses, such as (1.5*1g)
        [j]
        rw=read
        bs=1k
        size=1m
        filesize=512k
        ioengine=psync
    "#]],
    );
    check_job(
        "runtime=00:01:05\nramp_time=0.5s",
        expect![[r#"
        [j]
        runtime=65s
        ramp_time=500ms
        rw=read
        bs=4k
        ioengine=psync
    "#]],
    );
}
