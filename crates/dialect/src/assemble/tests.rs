use crate::testing::{check, check_job, context, parsed, parsed_with, shown};
use crate::{Override, Source, parse};
use expect_test::expect;
use fathom_core::workload::RandomMap;

#[test]
fn unknown_options_name_their_place_and_their_neighbour() {
    check(
        "[a]\nsize=1m\n   blocksze=8k\nxyzzy\nreadwri=read\nBS=4k\n",
        expect![[r#"
            jobs/a.fio:3:4: error: unknown option `blocksze`; did you mean `blocksize`?
            jobs/a.fio:4:1: error: unknown option `xyzzy`; no option has a similar name
            jobs/a.fio:5:1: error: unknown option `readwri`; did you mean `readwrite`?
            jobs/a.fio:6:1: error: unknown option `BS`; did you mean `bs`?
        "#]],
    );
}

#[test]
fn values_missing_or_wrong() {
    check_job(
        "bs\nsize=\ndirect=2\nthread=yes\niodepth=abc\niodepth=0\nrwmixread=101\nnice=-21",
        expect![[r#"
            jobs/a.fio:2:1: error: `bs` needs a value; write such as bs=4k,16k
            jobs/a.fio:3:1: error: `size` needs a value; write such as size=1g
            jobs/a.fio:4:8: error: direct: `2` is neither 0 nor 1; write 1 for yes, 0 for no
            jobs/a.fio:5:8: error: thread: `yes` is neither 0 nor 1; write 1 for yes, 0 for no
            jobs/a.fio:6:9: error: iodepth: `abc` is not a whole number; write a number such as 16
            jobs/a.fio:7:9: error: iodepth: 0 is less than 1
            jobs/a.fio:8:11: error: rwmixread: 101 is more than 100
            jobs/a.fio:9:6: error: nice: -21 is less than -20
        "#]],
    );
    check_job(
        "bs=4x\nsize=1.5g\nruntime=1:30\nrw=READ\nioengine=iouring\nsync=2\nbs=0",
        expect![[r#"
            jobs/a.fio:2:4: warning: `bs=4x` is read as 4, as in fio; write a whole number with a unit, such as 4k, or a sum in parentheses, such as (1.5*1g)
            jobs/a.fio:5:4: error: rw: `READ` is not a direction; write one of read|write|trim|randread|randwrite|randtrim|rw|randrw|trimwrite|randtrimwrite[:N]
            jobs/a.fio:6:10: error: ioengine: `iouring` is not one of its values; did you mean `io_uring`?
            jobs/a.fio:7:6: error: sync: `2` is not one of its values; write one of none, 0, sync, 1, dsync
            jobs/a.fio:8:4: error: bs: 0 is less than 1
        "#]],
    );
}

#[test]
fn bare_booleans_mean_yes() {
    check_job(
        "direct\ngroup_reporting\nthread\nstonewall\nnorandommap\nruntime=1\ntime_based",
        expect![[r#"
            [j]
            stonewall=1
            group_reporting=1
            runtime=1s
            time_based=1
            rw=read
            norandommap=1
            bs=4k
            direct=1
            ioengine=psync
        "#]],
    );
}

#[test]
fn what_is_not_carried_out_is_said_once() {
    check(
        "[a]\ngtod_reduce=1\nwrite_bw_log=x\nmem=malloc\nrandom_generator=lfsr\n[b]\ngtod_reduce=1\nwrite_bw_log=y\n",
        expect![[r#"
            [a]
            rw=read
            bs=4k
            ioengine=psync
            disable_lat=1
            disable_clat=1
            disable_slat=1
            disable_bw_measurement=1
            write_bw_log=x

            [b]
            rw=read
            bs=4k
            ioengine=psync
            disable_lat=1
            disable_clat=1
            disable_slat=1
            disable_bw_measurement=1
            write_bw_log=y
        "#]],
    );
}

#[test]
fn what_would_change_the_io_is_refused() {
    check_job(
        "zonemode=strided\nread_iolog=x\nverify=crc64\nioengine=posixaio\nexec_prerun=sync",
        expect![[r#"
            jobs/a.fio:5:1: note: `ioengine=posixaio` is carried out in another way: threads of the kernel carry the I/Os out, not those of the C library
            jobs/a.fio:2:1: error: zonemode=strided needs a zonesize; add such as zonesize=1m
            jobs/a.fio:4:1: error: what a record writes cannot be verified; leave verify or read_iolog out
        "#]],
    );
    // The same options with their defaults are no trouble.
    check_job(
        "zonemode=none\nserialize_overlap=0\nrate_min=0\nexitall=0\nlatency_target=0",
        expect![[r#"
            [j]
            rw=read
            bs=4k
            ioengine=psync
        "#]],
    );
}

#[test]
fn inverted_units_are_warned_of() {
    check_job(
        "bs=4KiB\nsize=1GiB\nbsrange=4k-8KiB\ndescription=4KiB",
        expect![[r#"
            jobs/a.fio:2:4: warning: `bs=4KiB` counts in powers of 1000, as in fio; write k, m, g for powers of 1024, or put kb_base=1000 before it
            jobs/a.fio:3:6: warning: `size=1GiB` counts in powers of 1000, as in fio; write k, m, g for powers of 1024, or put kb_base=1000 before it
            jobs/a.fio:4:9: warning: `bsrange=4k-8KiB` counts in powers of 1000, as in fio; write k, m, g for powers of 1024, or put kb_base=1000 before it
            [j]
            description=4KiB
            rw=read
            bsrange=4k-8000
            size=1000000000
            ioengine=psync
        "#]],
    );
    check_job(
        "kb_base=1000\nbs=4KiB\nsize=1GB",
        expect![[r#"
            [j]
            rw=read
            bs=4096
            size=1000000000
            ioengine=psync
            kb_base=1000
        "#]],
    );
}

#[test]
fn groups_begin_at_walls_and_new_groups() {
    let parsed = parsed("[a]\nstonewall\n[b]\nnew_group\n[c]\nstonewall\n[d]\nstonewall\nnew_group\n[e]\n");
    let jobs = parsed.workload.expect("accepted").jobs;
    let groups: Vec<(u32, bool)> = jobs.iter().map(|job| (job.group, job.start.stonewall)).collect();
    assert_eq!(groups, [(0, true), (1, false), (2, true), (3, true), (3, false)]);
}

#[test]
fn a_wall_stands_between_files_and_globals_end_with_theirs() {
    let first = Source {
        name: "a.fio",
        text: "[global]\nbs=8k\n[a]\n[b]\n",
    };
    let second = Source {
        name: "b.fio",
        text: "[c]\n[d]\n",
    };
    let parsed = parse(&[first, second], &[], &context(&[]));
    expect![[r#"
        [a]
        rw=read
        bs=8k
        ioengine=psync

        [b]
        rw=read
        bs=8k
        ioengine=psync

        [c]
        stonewall=1
        rw=read
        bs=4k
        ioengine=psync

        [d]
        rw=read
        bs=4k
        ioengine=psync
    "#]]
    .assert_eq(&shown(&parsed));
    assert_eq!(parsed.written.source, "a.fio, b.fio");
}

#[test]
fn flags_outrank_job_files() {
    let flags = [
        Override::new("blocksize", "8k"),
        Override::new("runt", "5"),
        Override::bare("direct"),
    ];
    let text = "[a]\nbs=4k\nbssplit=4k/50:16k/50\nruntime=60\n[b]\nbsrange=1k-2k\n";
    let parsed = parsed_with(text, &flags);
    expect![[r#"
        [a]
        runtime=5s
        rw=read
        bs=8k
        direct=1
        ioengine=psync

        [b]
        runtime=5s
        rw=read
        bs=8k
        direct=1
        ioengine=psync
    "#]]
    .assert_eq(&shown(&parsed));
    let last = parsed.written.sections.last().expect("recorded");
    assert_eq!((last.name.as_str(), last.options.len()), ("command line", 3));
}

#[test]
fn a_rate_of_the_other_kind_gives_way_to_a_flag() {
    let parsed = parsed_with("[a]\nrate=1m\n", &[Override::new("rate_iops", "100")]);
    expect![[r#"
        [a]
        rw=read
        bs=4k
        ioengine=psync
        rate_iops=100
    "#]]
    .assert_eq(&shown(&parsed));
}

#[test]
fn an_order_of_the_map_gives_way_to_a_flag() {
    let map = |text: &str, flag: Override| {
        let workload = parsed_with(text, &[flag]).workload.expect("accepted");
        workload.jobs[0].pattern.random_map
    };
    let text = "[a]\nrw=randread\nnorandommap\n";
    let next_free = Override::new("random_map", "next_free");
    assert_eq!(map(text, next_free), RandomMap::NextFree);
    let text = "[a]\nrw=randread\nrandom_map=next_free\n";
    assert_eq!(map(text, Override::bare("norandommap")), RandomMap::Independent);
}

#[test]
fn flags_alone_are_a_job() {
    let flags = [
        Override::new("rw", "randread"),
        Override::new("size", "1g"),
        Override::new("description", "a # b"),
    ];
    let parsed = parse(&[], &flags, &context(&[]));
    let job = &parsed.workload.as_ref().expect("accepted").jobs[0];
    assert_eq!((job.name.as_str(), job.description.as_str()), ("job", "a # b"));
    assert_eq!(parsed.written.source, "command line");
    let named = parse(&[], &[Override::new("name", "x")], &context(&[]));
    assert_eq!(named.workload.expect("accepted").jobs[0].name, "x");
}

#[test]
fn faults_of_flags() {
    let flags = [
        Override::new("bs", "4x"),
        Override::new("r", "1"),
        Override::bare("size"),
        Override::new("ss", "bw:1"),
    ];
    expect![[r#"
        --bs: warning: `bs=4x` is read as 4, as in fio; write a whole number with a unit, such as 4k, or a sum in parentheses, such as (1.5*1g)
        --r: error: unknown option `r`; no option has a similar name
        --size: error: `size` needs a value; write such as size=1g
    "#]].assert_eq(&shown(&parsed_with("[a]\n[b]\n", &flags)));
}

#[test]
fn waiting_for_jobs() {
    check(
        "[a]\n[b]\nwait_for=a\n",
        expect![[r#"
        [a]
        rw=read
        bs=4k
        ioengine=psync

        [b]
        wait_for=a
        rw=read
        bs=4k
        ioengine=psync
    "#]],
    );
    check(
        "[a]\nwait_for=b\n[b]\nwait_for=b\n",
        expect![[r#"
        jobs/a.fio:2:1: error: no job before `a` is called `b`; name a job that stands before it
        jobs/a.fio:4:1: error: `b` cannot wait for itself; name a job that stands before it
    "#]],
    );
}

#[test]
fn the_workload_is_recorded_as_written() {
    let written = parsed("[global]\nthread\n[a]\nbs = 4k # small\nnonsense=1\n").written;
    assert_eq!(written.source, "jobs/a.fio");
    let sections: Vec<&str> = written
        .sections
        .iter()
        .map(|section| section.name.as_str())
        .collect();
    assert_eq!(sections, ["global", "a"]);
    assert_eq!(written.sections[0].options, [(String::from("thread"), None)]);
    let bs = (String::from("bs"), Some(String::from("4k")));
    assert_eq!(written.sections[1].options[0], bs);
}

/// `randrepeat=0` takes the caller's seed; a seed of one's own outranks both.
#[test]
fn seeds() {
    let jobs = parsed(
        "[a]\n[b]\nrandrepeat=0\n[c]\nrandrepeat=0\nrandseed=7\n[d]\nrandseed=0x10\n[e]\nrandrepeat=0\nallrandrepeat=1\n",
    );
    let seeds: Vec<u64> = jobs
        .workload
        .expect("accepted")
        .jobs
        .iter()
        .map(|job| job.random_seed)
        .collect();
    assert_eq!(seeds, [0x89, 4711, 7, 16, 0x89]);
}

#[test]
fn memory_mappings_and_lives_are_told_to_the_system() {
    check_job(
        "ioengine=mmap\nthp\nnuma_mem_policy=interleave:0-1,3\nlockmem=16m\nwrite_hint=extreme\nrw=write",
        expect![[r#"
            [j]
            numa_mem_policy=interleave:0-1,3
            lockmem=16m
            rw=write
            bs=4k
            write_hint=extreme
            ioengine=mmap
            thp=1
        "#]],
    );
    check_job(
        "numa_mem_policy=prefer:0,1\nwrite_hint=eternal",
        expect![[r#"
        jobs/a.fio:2:17: error: numa_mem_policy: `prefer:0,1` names the wrong number of nodes; write prefer with one node, bind and interleave with some, the others with none
        jobs/a.fio:3:12: error: write_hint: `eternal` is not one of its values; write one of none, short, medium, long, extreme
    "#]],
    );
    check_job(
        "ioengine=libaio\nrw=randrw\ncmdprio_bssplit=4k/10:8k/20/3/7,4k/5/1/0\ncmdprio_class=2\ncmdprio=3,4",
        expect![[r#"
            [j]
            rw=randrw
            bs=4k
            ioengine=libaio
            cmdprio_class=2
            cmdprio=3,4,4
            cmdprio_bssplit=4k/10:8k/20/3/7,4k/5/1/0,4k/5/1/0
        "#]],
    );
}
