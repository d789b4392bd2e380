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

#[test]
fn sides_of_a_stream() {
    check_job(
        "ioengine=net\nport=8765\nlisten\nrw=read\nsize=1m\nprotocol=tcpv6\ninterface=::\npingpong\nnodelay=1\nwindow_size=64k\nmss=1400",
        expect![[r#"
            [j]
            rw=read
            bs=4k
            size=1m
            ioengine=net
            protocol=tcpv6
            port=8765
            listen=1
            pingpong=1
            nodelay=1
            interface=::
            window_size=64k
            mss=1400
        "#]],
    );
    check_job(
        "ioengine=net\nproto=udp\nhostname=239.1.2.3\nport=8765\nttl=4\nrw=write\nsize=1m\nverify=crc32c\nnumjobs=2",
        expect![[r#"
            [j]
            numjobs=2
            rw=write
            bs=4k
            size=1m
            ioengine=net
            protocol=udp
            hostname=239.1.2.3
            port=8765
            ttl=4
            verify=crc32c
            do_verify=0
        "#]],
    );
    check_job(
        "ioengine=net\nprotocol=udp\nport=8765\nrw=read\nsize=1m",
        expect![[r#"
            jobs/a.fio:3:1: note: it listens on this machine alone, at 127.0.0.1; for others name an address of this machine: interface=0.0.0.0 are all that it has
            [j]
            rw=read
            bs=4k
            size=1m
            ioengine=net
            protocol=udp
            port=8765
        "#]],
    );
    for fine in [
        "port=1\nhostname=h\nrw=write",
        "port=1\nfilename=h\nrw=write",
        "port=1\nhostname=h\nrw=read",
        "port=1\nlisten\nrw=write",
        "port=1\nprotocol=udp\nrw=read",
        "port=1\nprotocol=udp\nhostname=224.0.0.251\nrw=read",
        "protocol=unix\nfilename=/run/s\nrw=read",
        "protocol=unix\nhostname=s\nrw=write",
    ] {
        let parsed = parsed(&format!("[j]\nioengine=net\nsize=1m\n{fine}\n"));
        assert!(parsed.workload.is_some(), "{fine}: {}", shown(&parsed));
    }
    for (wrong, words) in [
        ("port=1\nhostname=h\nrw=rw", "one side of ioengine=net sends"),
        ("port=1\nhostname=h\nrw=trim", "one side of ioengine=net sends"),
        ("port=1\nhostname=h\nrw=randwrite", "at random"),
        ("hostname=h\nrw=write", "needs a port"),
        ("port=1\nrw=write", "the other side"),
        ("port=1\nrw=read", "or listen"),
        ("port=1\nlisten\nhostname=h\nrw=read", "nobody to go to"),
        ("port=1\nlisten\nfilename=h\nrw=read", "nobody to go to"),
        (
            "port=1\nprotocol=udp\nhostname=10.0.0.1\nrw=read",
            "nobody to go to",
        ),
        ("port=1\nprotocol=udp\nlisten\nrw=read", "for TCP"),
        ("protocol=unix\nfilename=s\nlisten\nrw=read", "for TCP"),
        ("protocol=unix\nfilename=s\nport=1\nrw=read", "no port"),
        ("protocol=unix\nrw=read", "path of a socket"),
        ("protocol=unix\nfilename=s\nrw=read\nnumjobs=2", "one socket"),
        ("port=65535\nnumjobs=2\nhostname=h\nrw=write", "port of its own"),
        ("port=1\nlisten\ninterface=::1\nrw=read", "no address of tcp"),
        ("port=1\nlisten\ninterface=eth0\nrw=read", "no address of tcp"),
        (
            "port=1\nprotocol=udp\nhostname=h\nrw=write\nbs=65508",
            "no datagram",
        ),
        ("port=1\nhostname=h\nrw=write\nread_iolog=x", "plays no record"),
        (
            "port=1\nhostname=h\nrw=write\nverify=md5\nverify_only",
            "not here",
        ),
    ] {
        let parsed = parsed(&format!("[j]\nioengine=net\nsize=1m\n{wrong}\n"));
        assert!(parsed.workload.is_none(), "{wrong}");
        assert!(shown(&parsed).contains(words), "{wrong}: {}", shown(&parsed));
    }
    check_job(
        "ioengine=netsplice\nport=1\nhostname=h\nsize=1m",
        expect![[r#"
            jobs/a.fio:2:1: error: `ioengine=netsplice` is not supported; use net, which sends and receives the same blocks
        "#]],
    );
}

#[test]
fn commands_to_generic_devices() {
    check_job(
        "ioengine=io_uring_cmd\ncmd_type=nvme\nfilename=/dev/ng0n1\niodepth=8\nfixedbufs=1\nhipri",
        expect![[r#"
            [j]
            filename=/dev/ng0n1
            rw=read
            bs=4k
            ioengine=io_uring_cmd
            hipri=1
            fixedbufs=1
            iodepth=8
        "#]],
    );
    check_job(
        "ioengine=sg\nfilename=/dev/sg0\niodepth=4\nreadfua=1\nwritefua=1\nsg_write_mode=write",
        expect![[r#"
            [j]
            filename=/dev/sg0
            rw=read
            bs=4k
            ioengine=sg
            iodepth=4
            readfua=1
            writefua=1
        "#]],
    );
}

#[test]
fn what_commands_need_and_do_not_know() {
    check_job(
        "ioengine=io_uring_cmd\nsize=1m",
        expect![[r#"
        jobs/a.fio:2:1: error: ioengine=io_uring_cmd needs to know the device; add such as filename=/dev/ng0n1
    "#]],
    );
    check_job(
        "ioengine=io_uring_cmd\nfilename=/dev/ng0n1\nsync=1\npre_read=1\nreadfua=1\ncmdprio=1\nread_iolog=x",
        expect![[r#"
            jobs/a.fio:7:1: error: ioengine=io_uring_cmd has no option `cmdprio`; it belongs to ioengine=io_uring and ioengine=libaio
            jobs/a.fio:6:1: error: ioengine=io_uring_cmd has no option `readfua`; it belongs to ioengine=sg
            jobs/a.fio:5:1: note: `pre_read` has no effect: commands pass the page cache by
            jobs/a.fio:4:1: warning: `sync` has no effect: as with fio, commands carry nothing of it; use fsync=1, which sends a flush behind each write
            jobs/a.fio:8:1: error: ioengine=io_uring_cmd plays no record; leave read_iolog out, or use io_uring on files
        "#]],
    );
    check_job(
        "ioengine=sg\nfilename=/dev/sg0\niodepth=4\ndirect=1",
        expect![[r#"
            jobs/a.fio:4:1: warning: ioengine=sg with direct=1 or sync=1 keeps one I/O in flight: iodepth=4 has no effect; leave them out: commands pass the page cache by anyway
            [j]
            filename=/dev/sg0
            rw=read
            bs=4k
            direct=1
            ioengine=sg
            iodepth=4
        "#]],
    );
    check_job(
        "ioengine=sg\nfilename=/dev/sg0\nsg_write_mode=write_same\nstream_id=1",
        expect![[r#"
            jobs/a.fio:4:1: error: `sg_write_mode=write_same` is not supported yet; use sg_write_mode=write, and verify= to have what was written compared
            jobs/a.fio:5:1: error: `stream_id` is not supported yet; leave it out: it belongs to sg_write_mode=write_stream
        "#]],
    );
}
