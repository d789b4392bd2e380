use crate::testing::{check_job, parsed};
use expect_test::expect;
use fathom_core::workload::VerifyAlgorithm;

#[test]
fn verification() {
    check_job(
        "rw=write\nverify=crc32c-intel\nverify_interval=1k\nverify_fatal=1\ndo_verify=0",
        expect![[r#"
            [j]
            rw=write
            bs=4k
            ioengine=psync
            verify=crc32c
            verify_interval=1k
            do_verify=0
            verify_fatal=1
        "#]],
    );
    check_job(
        "rw=write\nverify=md5\nverify_interval=3k",
        expect![[r#"
        jobs/a.fio:4:1: warning: verify_interval=3072 does not divide blocks of 4096: not used; choose one that divides bs
        [j]
        rw=write
        bs=4k
        ioengine=psync
        verify=md5
    "#]],
    );
    check_job(
        "rw=write\nverify=pattern",
        expect![[r#"
        jobs/a.fio:3:1: error: verify=pattern needs a pattern; add such as verify_pattern=0xdeadbeef
    "#]],
    );
    check_job(
        "rw=write\nverify_only",
        expect![[r#"
        jobs/a.fio:3:1: error: verify_only needs to know what to verify; add such as verify=crc32c
    "#]],
    );
    check_job(
        "rw=write\nverify=sha256\nruntime=5\ntime_based\nnumjobs=2\nfilename=f",
        expect![[r#"
            jobs/a.fio:6:1: warning: several workers write the same file, so that verification finds mismatches; give each a part with offset_increment, or use numjobs=1
            [j]
            numjobs=2
            runtime=5s
            time_based=1
            filename=f
            rw=write
            bs=4k
            ioengine=psync
            verify=sha256
        "#]],
    );
}

/// A pattern alone means verify=pattern (measured with fio 3.33).
#[test]
fn a_pattern_alone_is_verified() {
    let job = parsed("[j]\nrw=write\nverify_pattern=0xff\n")
        .workload
        .expect("accepted")
        .jobs
        .remove(0);
    assert_eq!(
        job.verify.map(|verify| (verify.algorithm, verify.pattern)),
        Some((VerifyAlgorithm::Pattern, vec![0xff]))
    );
}
