use crate::testing::check_job;
use expect_test::expect;

#[test]
fn depths_fit_the_interface() {
    check_job(
        "iodepth=32",
        expect![[r#"
        jobs/a.fio:2:1: warning: ioengine=psync keeps one I/O in flight: iodepth=32 has no effect; use ioengine=io_uring or libaio, or numjobs
        [j]
        rw=read
        bs=4k
        ioengine=psync
        iodepth=32
    "#]],
    );
    check_job(
        "ioengine=libaio\niodepth=32",
        expect![[r#"
        jobs/a.fio:3:1: warning: buffered I/O through libaio waits for each I/O: iodepth has little effect; add direct=1, or use ioengine=io_uring
        [j]
        rw=read
        bs=4k
        ioengine=libaio
        iodepth=32
    "#]],
    );
    check_job(
        "ioengine=libaio\niodepth=32\ndirect=1\niodepth_low=8\niodepth_batch=16",
        expect![[r#"
            [j]
            rw=read
            bs=4k
            direct=1
            ioengine=libaio
            iodepth=32
            iodepth_batch=16
            iodepth_low=8
        "#]],
    );
    check_job(
        "ioengine=null\niodepth=4\niodepth_low=8\niodepth_batch=16\niodepth_batch_complete_min=8\n\
         iodepth_batch_complete_max=2",
        expect![[r#"
            jobs/a.fio:4:1: warning: iodepth_low=8 is more than iodepth: 4 is used
            jobs/a.fio:5:1: warning: iodepth_batch=16 is more than iodepth: 4 is used
            jobs/a.fio:6:1: warning: iodepth_batch_complete_min=8 is more than iodepth: 4 is used
            jobs/a.fio:7:1: warning: iodepth_batch_complete_max=2 is less than the minimum: 4 is used
            [j]
            rw=read
            bs=4k
            ioengine=null
            iodepth=4
            iodepth_batch=4
            iodepth_batch_complete_min=4
            iodepth_batch_complete_max=4
        "#]],
    );
    check_job(
        "ioengine=mmap\ndirect=1",
        expect![[r#"
        jobs/a.fio:3:1: warning: direct=1 has no effect on a memory mapping; use another ioengine
        [j]
        rw=read
        bs=4k
        direct=1
        ioengine=mmap
    "#]],
    );
}

#[test]
fn options_of_interfaces() {
    check_job(
        "ioengine=io_uring\nhipri\nfixedbufs\nregisterfiles\nsqthread_poll\nsqthread_poll_cpu=1\nnonvectored=0\nnowait",
        expect![[r#"
            [j]
            rw=read
            bs=4k
            ioengine=io_uring
            hipri=1
            fixedbufs=1
            registerfiles=1
            sqthread_poll=1
            sqthread_poll_cpu=1
            nonvectored=0
            nowait=1
        "#]],
    );
    check_job(
        "ioengine=libaio\nhipri\nfixedbufs",
        expect![[r#"
            jobs/a.fio:4:1: error: ioengine=libaio has no option `fixedbufs`; it belongs to ioengine=io_uring and ioengine=io_uring_cmd
            jobs/a.fio:3:1: error: ioengine=libaio has no option `hipri`; it belongs to ioengine=io_uring and ioengine=io_uring_cmd and ioengine=pvsync2 and ioengine=sg
        "#]],
    );
    check_job(
        "ioengine=vsync",
        expect![[r#"
        jobs/a.fio:2:1: note: `ioengine=vsync` is carried out in another way: adjacent I/Os are not coalesced: it runs as pvsync
        [j]
        rw=read
        bs=4k
        ioengine=pvsync
    "#]],
    );
}
