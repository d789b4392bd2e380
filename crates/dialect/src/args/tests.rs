use super::read_fio_args;
use crate::testing::{context, shown};
use crate::{FioCommand, Override, Parsed, Source, parse_fio};
use expect_test::expect;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn read(line: &str) -> FioCommand {
    read_fio_args(&words(line), &[]).unwrap_or_else(|faults| panic!("{line}: {faults:?}"))
}

fn run(line: &str, text: Option<&str>) -> Parsed {
    let command = read(line);
    let sources: Vec<Source<'_>> = command
        .files
        .iter()
        .map(|name| Source {
            name,
            text: text.unwrap_or_default(),
        })
        .collect();
    parse_fio(&command, &sources, &context(&[]))
}

#[test]
fn a_command_line_of_the_field() {
    let line = "--name=benchtest --size=800m --filename=/acstor-volume/test --direct=1 --rw=randread \
                --ioengine=libaio --bs=16k --iodepth=16 --numjobs=8 --time_based --runtime=3600";
    expect![[r#"
        [benchtest]
        numjobs=8
        runtime=3600s
        time_based=1
        filename=/acstor-volume/test
        rw=randread
        bs=16k
        size=800m
        direct=1
        ioengine=libaio
        iodepth=16
    "#]]
    .assert_eq(&shown(&run(line, None)));
}

#[test]
fn options_before_the_first_name_count_for_all_and_files_outrank_them() {
    let text = "[global]\nsize=30g\n[writer1]\nrw=randwrite\n[writer2]\nruntime=5\n";
    expect![[r#"
        [writer1]
        runtime=30s
        rw=randwrite
        bs=4k
        size=30g
        ioengine=psync

        [writer2]
        runtime=5s
        rw=read
        bs=4k
        size=30g
        ioengine=psync
    "#]]
    .assert_eq(&shown(&run("--runtime 30 fiowrite.ini", Some(text))));
    expect![[r#"
        [a]
        rw=write
        bs=8k
        ioengine=psync

        [b]
        stonewall=1
        rw=read
        bs=1k
        ioengine=psync
    "#]]
    .assert_eq(&shown(&run(
        "--bs=8k --name=a --rw=write --name=b --bs=1k --stonewall",
        None,
    )));
}

#[test]
fn a_job_called_global_is_none() {
    expect![[r#"
        [y]
        rw=read
        bs=8k
        ioengine=psync
    "#]]
    .assert_eq(&shown(&run("--name=global --bs=8k --name=y", None)));
    expect![[r#"
        error: there is no job; add a section that is not [global]
    "#]]
    .assert_eq(&shown(&run("--bs=8k", None)));
}

#[test]
fn sections_exclude_jobs_of_the_command_line_too() {
    expect![[r#"
        [a]
        rw=read
        bs=4k
        ioengine=psync
    "#]]
    .assert_eq(&shown(&run("--section=a x.fio --name=z", Some("[a]\n[b]\n"))));
}

#[test]
fn settings_are_for_fio_itself() {
    let command =
        read("--output-format=json --minimal --eta never --section=a --section b a.fio -- --odd.fio");
    assert_eq!(command.setting("output-format"), Some(Some("json")));
    assert_eq!(command.setting("minimal"), Some(None));
    assert_eq!(command.setting("eta"), Some(Some("never")));
    assert_eq!(command.setting("output"), None);
    assert_eq!(command.sections, ["a", "b"]);
    assert_eq!(command.files, ["a.fio", "--odd.fio"]);
}

/// As getopt does: a value behind an equals sign or in the next word, one dash or two, unique beginnings.
#[test]
fn forms_of_options() {
    let expected = vec![
        Override::new("runtime", "30"),
        Override::bare("thread"),
        Override::new("direct", "1"),
    ];
    assert_eq!(read("--runti=30 --thread --direct 1").globals, expected);
    assert_eq!(read("-runtime 30 -thread --direct=1").globals, expected);
    assert_eq!(read("--thread=0 a").globals, [Override::new("thread", "0")]);
}

#[test]
fn what_is_no_option() {
    let faults = |line: &str| {
        let faults = read_fio_args(&words(line), &[]).expect_err("refused");
        faults
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n")
            + "\n"
    };
    expect![[r#"
        --foo: error: unknown option `foo`; no option has a similar name
        --blocks: error: `blocks` is the beginning of several options; write one in full: --blocksize, --blocksize_range, --blocksize_unaligned, --blocksize_is_seq_rand
        --blocksze: error: unknown option `blocksze`; did you mean `--blocksize`?
        --r: error: `r` is the beginning of several options; write one in full: --readonly, --remote-config, --runtime, --ramp_time, --ramp_size, --rw and more
    "#]]
    .assert_eq(&faults("--foo=8k --blocks=8k --blocksze=8k --r=1"));
    expect![[r#"
        --bs: error: its value is missing; write --bs=…
    "#]]
    .assert_eq(&faults("--name=x --bs"));
    // fio takes the next word as the value of a boolean, and so do we: the fault is found later.
    let parsed = run("--name=x --direct --name=y", None);
    expect![[r#"
        --direct: error: direct: `--name=y` is neither 0 nor 1; write 1 for yes, 0 for no
    "#]]
    .assert_eq(&shown(&parsed));
}

#[test]
fn job_files_belong_to_the_client_before_them() {
    let words: Vec<String> = "--client=a one.fio two.fio --client=b,99 --remote-config=there.fio --eta=never"
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    let command = read_fio_args(&words, &[]).expect("a command");
    let [a, b] = &command.clients[..] else {
        panic!("{:?}", command.clients);
    };
    assert_eq!(
        (a.at.as_str(), a.files.join(" ").as_str()),
        ("a", "one.fio two.fio")
    );
    assert_eq!(
        (b.at.as_str(), b.remote_files.join(" ").as_str()),
        ("b,99", "there.fio")
    );
    assert!(command.files.is_empty() && b.files.is_empty());
}
