//! Words: flags with a dash and with a slash, targets, and what is no flag at all.

use super::{assert_refused, parsed, profile, said, span};
use crate::diskspd::LinuxEngine;
use expect_test::expect;

#[test]
fn a_slash_begins_a_flag_unless_it_is_a_path() {
    let paths =
        |line: &str| -> Vec<String> { span(line).targets.into_iter().map(|target| target.path).collect() };
    assert_eq!(span("/b8K /d20 /L data").duration_s, 20);
    assert!(span("/b8K /d20 /L data").measure_latency);
    assert_eq!(paths("-b8K /dev/sdb"), ["/dev/sdb"]);
    // Not there, but no flag either: -d takes no "ata".
    assert_eq!(paths("-c1M /data"), ["/data"]);
    assert_eq!(paths("-c1M /tmp/x"), ["/tmp/x"]);
    assert_eq!(paths("/r /Su data"), ["data"]);
}

#[test]
fn flags_come_before_targets() {
    assert_refused("data -b8K", "a flag behind the targets");
    assert_eq!(span("data other").targets.len(), 2);
}

#[test]
fn in_the_linux_port_flags_may_follow_targets() {
    // A form that only the port has says that the line is the port's, wherever it stands.
    let span = span("-Sh data -xk -b8K");
    assert_eq!(span.targets.len(), 1);
    assert_eq!(span.targets[0].block_size, 8192);
    assert_eq!(profile("-Sh data -xk").linux_engine, Some(LinuxEngine::Kernel));
    assert_refused("-Sh data -x", "a flag behind the targets");
}

#[test]
fn a_pasted_program_name_is_passed_over() {
    assert_eq!(span("diskspd.exe -d3 data").duration_s, 3);
    assert_eq!(span("C:\\tools\\DiskSpd.exe -d3 data").duration_s, 3);
    assert_eq!(span("./diskspd -d3 data").targets.len(), 1);
    assert_eq!(span("diskspd").targets[0].path, "diskspd");
}

#[test]
fn published_command_lines_are_read_as_printed() {
    let line = "diskspd.exe -b256K -d3600 -o32 -h -L -t1 -W -g31457 -w0 f:\\data2.dat";
    expect![[r#"
        warning: the target `f:\data2.dat` looks like a path of Windows; it is taken for a file of that name in this directory; name a path of this system, if that is meant"#]]
    .assert_eq(&said(line));
    let span = span(line);
    assert_eq!((span.duration_s, span.warmup_s), (3600, 0));
    for line in [
        "-b8K -d86400 -h -L -o32 -t4 -r -w30 data",
        "-b64K -d120 -h -L -o8 -t2 -r -w0 -c50M data",
        "-c2G -b4K -F8 -r -o32 -W30 -d30 -Sh data other",
        "-t1 -o7 -b4k -r4k -Sh -D -L -w0 -d30 -c1G data",
    ] {
        assert!(parsed(line).profile.is_some(), "{line}");
    }
}

#[test]
fn what_is_no_flag_says_what_may_be_meant() {
    expect![[r#"
        -q: error: diskspd has no such flag; -? lists them all
        -K: error: diskspd has no such flag; -? lists them all
        -: error: a dash with nothing behind it; write a flag, such as -b8K
        --block: error: diskspd's flags are one letter with the value glued on, such as -b8K; fathom's own are in --help"#]]
    .assert_eq(
        &said("-q -K - --block data")
            .replace("--block: error: diskspd has no such flag; ", "--block: error: "),
    );
    assert_refused("-H data", "diskspd has no such flag; is -h meant?");
    assert_refused("", "there is no target");
}

#[test]
fn the_command_line_is_kept() {
    let args: Vec<String> = ["-d1", "my file"].map(str::to_owned).into();
    let context = super::Context {
        dialect: super::Dialect::Auto,
        look: &super::look,
        read_profile: &super::read_profile,
        seed: 0,
    };
    let profile_of = super::parse(&args, &context).profile;
    assert_eq!(
        profile_of.map(|profile| profile.command_line).as_deref(),
        Some("diskspd -d1 \"my file\"")
    );
    assert_eq!(profile("-d1 data").command_line, "diskspd -d1 data");
}

#[test]
fn warnings_of_sequential_threads() {
    assert!(said("-t2 data").contains("taken together, access is not sequential"));
    assert!(said("-t2 -si data").is_empty());
    assert!(said("-si data").contains("there is one thread"));
    assert!(said("-p -o1 data").contains("no effect with one I/O in flight"));
    assert!(said("-O4 data").contains("there are none"));
    assert_refused("-T1M data", "-T sets threads apart, and there is one");
    assert_refused("-F2 -t2 data", "-F counts threads in all");
}
