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

#[test]
fn objects() {
    check_job(
        "ioengine=http\nhttp_mode=s3\nhttp_host=h:9000\nhttps=on\nhttp_s3_keyid=ID\nhttp_s3_key=hidden\nfilename=/b/o\nsize=1m\nrw=write",
        expect![[r#"
            [j]
            filename=/b/o
            rw=write
            bs=4k
            size=1m
            ioengine=http
            http_host=h:9000
            https=on
            http_mode=s3
            http_s3_keyid=ID
        "#]],
    );
    check_job(
        "ioengine=http\nhttp_mode=s3",
        expect![[r#"
        jobs/a.fio:3:1: error: http_mode=s3 needs a key; add http_s3_keyid and http_s3_key
    "#]],
    );
    check_job(
        "ioengine=http\nhttp_mode=swift",
        expect![[r#"
        jobs/a.fio:3:1: error: `http_mode=swift` is not supported yet; use s3, which Swift's own servers speak too (the s3api middleware)
    "#]],
    );
    check_job(
        "ioengine=http\nhttp_host=http://h/\nhttps=insecure",
        expect![[r#"
            jobs/a.fio:4:1: error: `https=insecure` is not supported; use https=on, with the server's certificate in the file that SSL_CERT_FILE names
        "#]],
    );
    check_job(
        "ioengine=http\nbsrange=4k-8k",
        expect![[r#"
        jobs/a.fio:3:1: warning: an object is named after its size: with several sizes, most are not found again; use one bs
        [j]
        rw=read
        bsrange=4k-8k
        ioengine=http
    "#]],
    );
    for wrong in [
        "http_s3_keyid=a b",
        "http_user=a:b",
        "http_host=a b",
        "http_s3_sse_customer_key=x",
    ] {
        assert!(
            parsed(&format!("[j]\nioengine=http\n{wrong}\n"))
                .workload
                .is_none(),
            "{wrong}"
        );
    }
    // What is secret is read, and not told of again.
    let text = "[j]\nioengine=http\nhttp_pass=hidden\nhttp_s3_key=hidden\n";
    let parsed = parsed(text);
    let job = &parsed.workload.as_ref().expect("accepted").jobs[0];
    assert_eq!(
        (job.http.pass.0.as_str(), job.http.s3_key.0.as_str()),
        ("hidden", "hidden")
    );
    assert!(!format!("{:?} {job:?}", parsed.written).contains("hidden"));
}
