use crate::testing::{check, check_job, parsed};
use expect_test::expect;
use fathom_core::workload::{BlockSize, Mix};

#[test]
fn a_job_of_the_field() {
    check(
        "[global]\nioengine=libaio   # sync|libaio|mmap\nsize=10g\ncpus_allowed=1\nruntime=300s\n\
         group_reporting\nthread\n[test1]\nfilename=/data/f\ndirect=1\nreadwrite=write\nblocksize=4k\niodepth=16\n",
        expect![[r#"
            [test1]
            group_reporting=1
            cpus_allowed=1
            runtime=300s
            filename=/data/f
            rw=write
            bs=4k
            size=10g
            direct=1
            ioengine=libaio
            iodepth=16
        "#]],
    );
}

#[test]
fn time_based_needs_a_runtime() {
    check_job(
        "time_based",
        expect![[r#"
            jobs/a.fio:2:1: warning: time_based has no effect without a runtime; add such as runtime=60s
            [j]
            rw=read
            bs=4k
            ioengine=psync
        "#]],
    );
    check_job(
        "time_based=1\nruntime=0",
        expect![[r#"
            jobs/a.fio:2:1: warning: time_based has no effect without a runtime; add such as runtime=60s
            [j]
            rw=read
            bs=4k
            ioengine=psync
        "#]],
    );
    check_job(
        "runtime=0",
        expect![[r#"
        [j]
        rw=read
        bs=4k
        ioengine=psync
    "#]],
    );
}

#[test]
fn rates_exclude_each_other() {
    check_job(
        "rate=1m\nrate_iops=10",
        expect![[r#"
        jobs/a.fio:3:1: error: rate and rate_iops exclude each other; leave one of them out
    "#]],
    );
    check_job(
        "rate=1m\nrate_iops=0\nrate_process=poisson",
        expect![[r#"
        [j]
        rw=read
        bs=4k
        ioengine=psync
        rate=1m
        rate_process=poisson
    "#]],
    );
    check_job(
        "rate_iops=100,50\nrw=rw",
        expect![[r#"
        [j]
        rw=rw
        bs=4k
        ioengine=psync
        rate_iops=100,50,50
    "#]],
    );
    check_job(
        "rate_process=poisson",
        expect![[r#"
        jobs/a.fio:2:1: note: `rate_process` has no effect without a rate; add rate or rate_iops
        [j]
        rw=read
        bs=4k
        ioengine=psync
        rate_process=poisson
    "#]],
    );
}

#[test]
fn of_direct_and_buffered_the_later_counts() {
    check_job(
        "direct=1\nbuffered=1",
        expect![[r#"
        [j]
        rw=read
        bs=4k
        ioengine=psync
    "#]],
    );
    check_job(
        "buffered=1\ndirect=1",
        expect![[r#"
        [j]
        rw=read
        bs=4k
        direct=1
        ioengine=psync
    "#]],
    );
    check_job(
        "direct=1\nbs=1000",
        expect![[r#"
            [j]
            rw=read
            bs=1000
            direct=1
            ioengine=psync
        "#]],
    );
}

#[test]
fn of_the_two_shares_of_a_mix_the_later_counts() {
    let percent = |text: &str| parsed(text).workload.expect("accepted").jobs[0].pattern.mix;
    assert_eq!(
        percent("[j]\nrw=rw\nrwmixread=70\nrwmixwrite=80\n"),
        Mix::ReadWrite { read_percent: 20 }
    );
    assert_eq!(
        percent("[j]\nrwmixwrite=80\nrwmixread=70\nrw=rw\n"),
        Mix::ReadWrite { read_percent: 70 }
    );
    assert_eq!(percent("[j]\nrw=randrw\n"), Mix::ReadWrite { read_percent: 50 });
    check_job(
        "rw=read\nrwmixread=70",
        expect![[r#"
        jobs/a.fio:3:1: note: `rwmixread` has no effect: the job does not both read and write; use rw=rw or rw=randrw
        [j]
        rw=read
        bs=4k
        ioengine=psync
    "#]],
    );
}

#[test]
fn block_sizes() {
    check_job(
        "bs=4k,8k\nrw=rw",
        expect![[r#"
        [j]
        rw=rw
        bs=4k,8k,8k
        ioengine=psync
    "#]],
    );
    check_job(
        "bs=8k\nbs=,4k,\nbsrange=,,1k-2k\nbs_unaligned",
        expect![[r#"
        [j]
        rw=read
        bs=8k,4k,
        bsrange=,,1k-2k
        bs_unaligned=1
        ioengine=psync
    "#]],
    );
    check_job(
        "bssplit=4k/60:64k/40,16k\nbs=1k",
        expect![[r#"
        [j]
        rw=read
        bs=,16k,16k
        bssplit=4k/60:64k/40,,
        ioengine=psync
    "#]],
    );
}

/// Whatever the order, a split outranks a range and a range a size (measured with fio 3.33).
#[test]
fn a_split_outranks_a_range_and_a_range_a_size() {
    for text in [
        "bssplit=4k/50:8k/50\nbsrange=1k-2k\nbs=512",
        "bs=512\nbsrange=1k-2k\nbssplit=4k/50:8k/50",
    ] {
        let jobs = parsed(&format!("[j]\n{text}\n")).workload.expect("accepted").jobs;
        assert!(matches!(jobs[0].block_size[0], BlockSize::Split(_)), "{text}");
    }
    for text in ["bsrange=1k-2k\nbs=512", "bs=512\nbsrange=1k-2k"] {
        let jobs = parsed(&format!("[j]\n{text}\n")).workload.expect("accepted").jobs;
        assert!(matches!(jobs[0].block_size[0], BlockSize::Range { .. }), "{text}");
    }
}

#[test]
fn regions_hold_at_least_a_block() {
    check_job(
        "size=1k",
        expect![[r#"
        jobs/a.fio:2:1: error: size is 1024 bytes, less than a block of 4096; raise size or lower bs
    "#]],
    );
    check_job(
        "size=1m\nio_size=1k",
        expect![[r#"
        jobs/a.fio:3:1: error: io_size is 1024 bytes, less than a block of 4096; raise io_size or lower bs
    "#]],
    );
    check_job(
        "size=1m\nnrfiles=1000",
        expect![[r#"
        jobs/a.fio:3:1: error: each of 1000 files has 1048 bytes, less than a block; raise size or lower nrfiles
    "#]],
    );
    check_job(
        "filesize=1k-2k\nnrfiles=2",
        expect![[r#"
        jobs/a.fio:2:1: error: files of 1024 bytes are smaller than a block of 4096; raise filesize or lower bs
    "#]],
    );
    check_job(
        "filename=a\nnrfiles=2\nsize=50%\noffset=25%\noffset_increment=1m\nloops=0",
        expect![[r#"
            jobs/a.fio:3:1: note: `nrfiles` has no effect: filename names the files; leave filename out, or name more files with filename=a:b
            [j]
            filename=a
            nrfiles=2
            rw=read
            bs=4k
            size=50%
            offset=25%
            offset_increment=1m
            ioengine=psync
        "#]],
    );
}

#[test]
fn the_order_of_the_random_map() {
    check_job(
        "rw=randwrite\nrandom_map=next_free",
        expect![[r#"
        [j]
        rw=randwrite
        random_map=next_free
        bs=4k
        ioengine=psync
    "#]],
    );
    check_job(
        "rw=randwrite\nrandom_map=permutation",
        expect![[r#"
        [j]
        rw=randwrite
        bs=4k
        ioengine=psync
    "#]],
    );
    check_job(
        "rw=randwrite\nrandom_map=next_free\nnorandommap",
        expect![[r#"
            jobs/a.fio:3:1: note: `random_map` has no effect: norandommap switches the map off; leave one of them out
            [j]
            rw=randwrite
            norandommap=1
            bs=4k
            ioengine=psync
        "#]],
    );
    check_job(
        "rw=randwrite\nrandom_map=nextfree",
        expect![[r#"
        jobs/a.fio:3:12: error: random_map: `nextfree` is not one of its values; did you mean `next_free`?
    "#]],
    );
}

#[test]
fn the_random_map_is_switched_off_by_some() {
    check_job(
        "rw=randread\nrandom_distribution=zipf:1.2",
        expect![[r#"
        jobs/a.fio:3:1: note: `random_distribution` switches the random map off, as in fio; add norandommap to say so
        [j]
        rw=randread
        random_distribution=zipf:1.2
        norandommap=1
        bs=4k
        ioengine=psync
    "#]],
    );
    check_job(
        "rw=randread\nrandom_distribution=zipf:1.2\nnorandommap",
        expect![[r#"
            [j]
            rw=randread
            random_distribution=zipf:1.2
            norandommap=1
            bs=4k
            ioengine=psync
        "#]],
    );
    check_job(
        "rw=randwrite\nblockalign=8k",
        expect![[r#"
        jobs/a.fio:3:1: note: `ba` switches the random map off, as in fio; add norandommap to say so
        [j]
        rw=randwrite
        norandommap=1
        bs=4k
        ba=8k
        ioengine=psync
    "#]],
    );
    check_job(
        "rw=read\nba=8k",
        expect![[r#"
        [j]
        rw=read
        bs=4k
        ba=8k
        ioengine=psync
    "#]],
    );
}

#[test]
fn directions_and_distributions() {
    check_job(
        "rw=randread:8\npercentage_random=80,50",
        expect![[r#"
        [j]
        rw=randread:8
        percentage_random=80,50,50
        bs=4k
        ioengine=psync
    "#]],
    );
    check_job(
        "rw=write:-4k",
        expect![[r#"
        [j]
        rw=write:-4k
        bs=4k
        ioengine=psync
    "#]],
    );
    check_job(
        "rw=randtrimwrite\nrandom_distribution=pareto:0.2:0.5,random,normal:10",
        expect![[r#"
            jobs/a.fio:3:1: note: `random_distribution` switches the random map off, as in fio; add norandommap to say so
            [j]
            rw=randtrimwrite
            random_distribution=pareto:0.2:0.5,random,normal:10
            norandommap=1
            bs=4k
            ioengine=psync
        "#]],
    );
    check_job(
        "rw=randread:0\nrw=read:x\nrw=both",
        expect![[r#"
        jobs/a.fio:2:4: error: rw: 0 I/Os for each random offset are not possible; write at least 1
        jobs/a.fio:3:4: error: rw: `x` is not a whole number; write a number such as 16
        jobs/a.fio:4:4: error: rw: `both` is not a direction; write one of read|write|trim|randread|randwrite|randtrim|rw|randrw|trimwrite|randtrimwrite[:N]
    "#]],
    );
    check_job(
        "random_distribution=zipf:1\nrandom_distribution=pareto:1\nrandom_distribution=normal\n\
         random_distribution=zoned:50/50\nrandom_distribution=foo\nrandom_distribution=zipf:2:3\n\
         random_distribution=random:3\nrandom_distribution=zipf:1:2:3",
        expect![[r#"
            jobs/a.fio:2:21: error: random_distribution: the theta of `zipf:1` is not a number above 0 other than 1
            jobs/a.fio:3:21: error: random_distribution: the parameter of `pareto:1` is not between 0 and 1
            jobs/a.fio:4:21: error: random_distribution: the deviation is missing; write such as normal:10 (percent)
            jobs/a.fio:5:21: error: random_distribution: the shares of the I/Os in `50/50` add up to 50 %; let them add up to 100
            jobs/a.fio:6:21: error: random_distribution: `foo` is not a distribution; write random, zipf:theta, pareto:h, normal:deviation or zoned:share/size:…
            jobs/a.fio:7:21: error: random_distribution: the center is not between 0 and 1
            jobs/a.fio:8:21: error: random_distribution: a uniform distribution has no parameter; write random
            jobs/a.fio:9:21: error: random_distribution: `zipf:1:2:3` has too many parts; write such as zipf:1.2:0.5
        "#]],
    );
}

#[test]
fn pauses() {
    check_job(
        "thinktime=10ms\nthinktime_spin=20ms\nthinktime_blocks=4\nthinktime_blocks_type=issue",
        expect![[r#"
            jobs/a.fio:3:1: warning: thinktime_spin is longer than thinktime: the whole pause is spun
            [j]
            rw=read
            bs=4k
            ioengine=psync
            thinktime=10ms
            thinktime_spin=10ms
            thinktime_blocks=4
            thinktime_blocks_type=issue
        "#]],
    );
    check_job(
        "thinktime=500\nthinktime_iotime=1",
        expect![[r#"
        [j]
        rw=read
        bs=4k
        ioengine=psync
        thinktime=500us
        thinktime_iotime=1s
    "#]],
    );
    check_job(
        "thinktime_blocks=4",
        expect![[r#"
        jobs/a.fio:2:1: note: `thinktime_blocks` has no effect without thinktime
        [j]
        rw=read
        bs=4k
        ioengine=psync
    "#]],
    );
}

#[test]
fn everything_else_arrives() {
    check_job(
        "sync=dsync\nfsync=4\nfdatasync=8\nend_fsync=1\nfsync_on_close=1\nzero_buffers\nrefill_buffers\n\
         scramble_buffers=0\nbuffer_pattern=\"ab\"\nbuffer_compress_percentage=50\nbuffer_compress_chunk=4k\n\
         continue_on_error=io\npercentile_list=99:50\nslat_percentiles=1\nclat_percentiles=0\nlat_percentiles=1\n\
         nice=5\ncpus_allowed=0,2-4\ncpus_allowed_policy=split\nstartdelay=1-2\nramp_time=3\nloops=2",
        expect![[r#"
            [j]
            cpus_allowed=0,2-4
            cpus_allowed_policy=split
            nice=5
            ramp_time=3s
            startdelay=1s-2s
            loops=2
            rw=read
            bs=4k
            sync=dsync
            fsync=4
            fdatasync=8
            end_fsync=1
            fsync_on_close=1
            zero_buffers=1
            refill_buffers=1
            scramble_buffers=0
            buffer_pattern=0x6162
            buffer_compress_percentage=50
            buffer_compress_chunk=4096
            ioengine=psync
            continue_on_error=io
            clat_percentiles=0
            lat_percentiles=1
            slat_percentiles=1
            percentile_list=50:99
        "#]],
    );
    check_job(
        "directory=/a:/b\nnrfiles=4\nfilename_format=x.$filenum\nfile_service_type=random\nfallocate=1\n\
         fadvise_hint=0\nallow_file_create=0\ncreate_fsync=0\noverwrite=1\ninvalidate=0\npre_read=1\nunlink=1\n\
         number_ios=100\nsize=1g",
        expect![[r#"
            [j]
            directory=/a:/b
            nrfiles=4
            filename_format=x.$filenum
            file_service_type=random
            fallocate=posix
            fadvise_hint=0
            allow_file_create=0
            create_fsync=0
            overwrite=1
            invalidate=0
            pre_read=1
            unlink=1
            rw=read
            bs=4k
            size=1g
            number_ios=100
            ioengine=psync
        "#]],
    );
    check_job(
        "file_service_type=random:8\nfile_service_type=zipf:1.2\nfadvise_hint=random",
        expect![[r#"
            [j]
            file_service_type=zipf:1.2
            fadvise_hint=random
            rw=read
            bs=4k
            ioengine=psync
        "#]],
    );
}
