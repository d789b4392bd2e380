use crate::testing::{check, check_job, context, parsed, shown};
use crate::{Place, Source, parse};
use expect_test::expect;

#[test]
fn comments_end_a_line_wherever_they_begin() {
    check(
        "# a file\n  ; of jobs\n[a] # first\nbs=8k ; small\ndescription=b=c#d\nsize = 1m\t\n",
        expect![[r#"
            [a]
            description=b=c
            rw=read
            bs=8k
            size=1m
            ioengine=psync
        "#]],
    );
}

#[test]
fn line_ends_spaces_and_marks_of_other_systems() {
    check(
        "\u{feff}[a]\r\nbs\t=\t8k\r\n\r\n  size=1m  \r\n[ b ]\r\nsize=1m",
        expect![[r#"
            [a]
            rw=read
            bs=8k
            size=1m
            ioengine=psync

            [b]
            rw=read
            bs=4k
            size=1m
            ioengine=psync
        "#]],
    );
}

#[test]
fn globals_count_for_the_jobs_behind_them() {
    check(
        "[a]\n[global]\nbs=8k\nname=unused\n[b]\nbs=16k\n[c]\n[globally]\nrw=write\n[d]\n[Global]\nbs=1k\n",
        expect![[r#"
            [a]
            rw=read
            bs=4k
            ioengine=psync

            [b]
            rw=read
            bs=16k
            ioengine=psync

            [c]
            rw=read
            bs=8k
            ioengine=psync

            [d]
            rw=write
            bs=8k
            ioengine=psync

            [Global]
            rw=write
            bs=1k
            ioengine=psync
        "#]],
    );
}

#[test]
fn broken_headers() {
    check(
        "[a\nbs=8k\n[]\n[b] c\n[d#e]\n",
        expect![[r#"
        jobs/a.fio:1:1: error: this section header has no `]`; write [name]; a name holds no `#` and no `;`
        jobs/a.fio:2:1: error: `bs=8k` stands outside of a section; begin a section before it, such as [global]
        jobs/a.fio:3:1: error: this section has no name; write [name]
        jobs/a.fio:4:1: error: `c` stands behind the section header; begin a new line after the `]`
        jobs/a.fio:5:1: error: this section header has no `]`; write [name]; a name holds no `#` and no `;`
    "#]],
    );
}

#[test]
fn options_outside_of_sections() {
    check(
        "bs=8k\ninclude part.fio\n[a]\nsize=1m\n",
        expect![[r#"
        jobs/a.fio:1:1: error: `bs=8k` stands outside of a section; begin a section before it, such as [global]
        jobs/a.fio:2:1: error: this include stands outside of a section; begin a section before it
    "#]],
    );
}

#[test]
fn includes_are_relative_and_belong_to_the_section() {
    check(
        "[a]\ninclude part.fio # here\nsize=1m\n[b]\ninclude=part.fio\nbs=1k\nioengine=null\n",
        expect![[r#"
            jobs/part.fio:2:1: warning: ioengine=psync keeps one I/O in flight: iodepth=4 has no effect; use ioengine=io_uring or libaio, or numjobs
            [a]
            rw=read
            bs=8k
            size=1m
            ioengine=psync
            iodepth=4

            [b]
            rw=read
            bs=1k
            ioengine=null
            iodepth=4
        "#]],
    );
}

#[test]
fn faults_of_includes() {
    check(
        "[a]\ninclude broken.fio\ninclude none.fio\ninclude section.fio\ninclude self.fio\n",
        expect![[r#"
            jobs/a.fio:3:1: error: cannot read `jobs/none.fio`: no such file; included paths are relative to the including file
            jobs/section.fio:1:1: error: section `inner` begins within an included file; keep sections in the file that includes it
            jobs/self.fio:1:1: error: files include each other too deep or too often; does a file include itself?
            jobs/broken.fio:2:3: error: unknown option `blocksze`; did you mean `blocksize`?
        "#]],
    );
}

#[test]
fn environment_and_words() {
    check_job(
        "size=${SIZE}\nnumjobs=$ncpus-1\nbs=4*$pagesize\nio_size=($mb_memory*1m)\ndescription=$ncpus\ndirectory=/a/$jobname",
        expect![[r#"
            [j]
            description=8
            numjobs=7
            directory=/a/$jobname
            rw=read
            bs=16k
            size=128k
            io_size=1000m
            ioengine=psync
        "#]],
    );
    check_job(
        "size=${NONE}",
        expect![[r#"
        jobs/a.fio:2:6: error: the environment variable `NONE` is not set; set it, for instance: NONE=… fathom …
    "#]],
    );
    check_job(
        "size=${SIZE",
        expect![[r#"
        jobs/a.fio:2:6: error: a `${` has no `}`; write ${NAME}
    "#]],
    );
    check_job(
        "size=$pagesize*2k",
        expect![[r#"
        jobs/a.fio:2:6: error: unknown unit `k` in `4096*2k`
    "#]],
    );
}

#[test]
fn only_the_sections_wanted() {
    let text = "[global]\nbs=8k\n[a]\nnonsense=${NONE}\ninclude none\n[b]\nsize=1m\n[c]\nsize=2m\n";
    let wanted = [String::from("b")];
    let parsed = parse(&[Source { name: "x.fio", text }], &[], &context(&wanted));
    expect![[r#"
        [b]
        rw=read
        bs=8k
        size=1m
        ioengine=psync
    "#]]
    .assert_eq(&shown(&parsed));
    let unknown = [String::from("z"), String::from("y")];
    let parsed = parse(&[Source { name: "x.fio", text }], &[], &context(&unknown));
    expect![[r#"
        --section: error: no section is called z; there are a, b, c
        --section: error: no section is called y; there are a, b, c
    "#]]
    .assert_eq(&shown(&parsed));
}

#[test]
fn places_count_characters() {
    let parsed = parsed("[a]\n  description=ü\n\tbs = ü\n");
    let at = Place::Text {
        file: String::from("jobs/a.fio"),
        line: 3,
        column: 7,
    };
    assert_eq!(parsed.diagnostics[0].at.as_ref(), Some(&at));
}

#[test]
fn nothing_to_do() {
    check(
        "",
        expect![[r#"
        error: there is no job; add a section that is not [global]
    "#]],
    );
    check(
        "[global]\nbs=8k\n",
        expect![[r#"
        error: there is no job; add a section that is not [global]
    "#]],
    );
}
