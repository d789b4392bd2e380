use crate::testing::{check_job, parsed, shown};
use expect_test::expect;
use fathom_core::units::Nanos;

#[test]
fn a_program() {
    check_job(
        "ioengine=exec\nprogram=/usr/bin/vmstat\narguments=-n %r\ngrace_time=3\nstd_redirect=0\nruntime=5",
        expect![[r#"
            jobs/a.fio:2:1: note: `ioengine=exec` is carried out in another way: looks at the program are not counted as I/Os, and a job without time_based ends with it
            [j]
            runtime=5s
            rw=read
            bs=4k
            ioengine=exec
            program=/usr/bin/vmstat
            arguments=-n %r
            grace_time=3
            std_redirect=0
        "#]],
    );
    let job = parsed("[j]\nioengine=exec\nprogram=/bin/true\n")
        .workload
        .expect("accepted")
        .jobs
        .remove(0);
    assert_eq!(job.program.grace, Nanos::from_secs(1));
    assert!(job.program.keeps_output && job.program.arguments.is_empty());
}

#[test]
fn what_a_program_needs() {
    check_job(
        "ioengine=exec",
        expect![[r#"
        jobs/a.fio:2:1: note: `ioengine=exec` is carried out in another way: looks at the program are not counted as I/Os, and a job without time_based ends with it
        jobs/a.fio:2:1: error: ioengine=exec needs a program; add such as program=/usr/bin/vmstat
    "#]],
    );
    check_job(
        "ioengine=psync\nprogram=/bin/true",
        expect![[r#"
        jobs/a.fio:3:1: error: ioengine=psync has no option `program`; it belongs to ioengine=exec
    "#]],
    );
    check_job(
        "ioengine=exec\nprogram=sh\narguments=-c 'sleep 1'\nverify=md5\nread_iolog=x",
        expect![[r#"
            jobs/a.fio:2:1: note: `ioengine=exec` is carried out in another way: looks at the program are not counted as I/Os, and a job without time_based ends with it
            jobs/a.fio:5:1: error: what a record writes cannot be verified; leave verify or read_iolog out
            jobs/a.fio:4:1: warning: nothing quotes arguments: they are divided at every space, as by fio; put what needs quotes into a script, and run that
            jobs/a.fio:5:1: note: `verify` has no effect: ioengine=exec does no I/O
            jobs/a.fio:6:1: error: ioengine=exec plays no record; leave read_iolog out, or use io_uring on files
        "#]],
    );
    let fine = parsed("[j]\nioengine=exec\nprogram=sleep\narguments=1\nrw=randwrite\nsize=1g\n");
    // How it is carried out is all that is said.
    assert_eq!(fine.diagnostics.len(), 1, "{}", shown(&fine));
}

#[test]
fn exports() {
    check_job(
        "ioengine=nbd\nuri=nbd+unix:///x?socket=/tmp/s\nrw=randrw\niodepth=4",
        expect![[r#"
            [j]
            rw=randrw
            bs=4k
            ioengine=nbd
            iodepth=4
            uri=nbd+unix:///x?socket=/tmp/s
        "#]],
    );
    for wrong in [
        "",
        "uri=nbds://h/x",
        "uri=/dev/nbd0",
        "uri=nbd://h\nread_iolog=x",
        "uri=nbd://h\nunlink_each_loop",
    ] {
        assert!(
            parsed(&format!("[j]\nioengine=nbd\n{wrong}\n"))
                .workload
                .is_none(),
            "{wrong}"
        );
    }
    check_job(
        "ioengine=nbd\nuri=nbds://h/x\nfilename=y",
        expect![[r#"
        jobs/a.fio:3:1: error: `nbds://h/x` is no address of an export: TLS to an export is not spoken: put a proxy such as stunnel(8) before it, or a socket
        jobs/a.fio:4:1: note: `filename` has no effect: uri names what is measured
    "#]],
    );
}
