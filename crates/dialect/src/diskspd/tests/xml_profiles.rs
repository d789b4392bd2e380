//! XML profiles: what the schema knows, what it refuses and where, slots, and the flags beside them.

use super::{LOWERING, assert_refused, parsed, profile, refused, said};
use crate::diskspd::{
    Context, Dialect, Distribution, ParsedProfile, Precreate, ResultFormat, ThreadTarget, Throughput, lower,
    parse,
};
use expect_test::{Expect, expect};

fn read(text: &str, flags: &str) -> ParsedProfile {
    let mut args: Vec<String> = vec![String::from("-Xp.xml")];
    args.extend(flags.split_whitespace().map(str::to_owned));
    let context = Context {
        dialect: Dialect::Auto,
        look: &super::look,
        read_profile: &|_| Ok(text.to_owned()),
        seed: 1,
    };
    parse(&args, &context)
}

/// Everything that the schema has, but what excludes it.
const WHOLE: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<Profile>
  <Progress>5</Progress>
  <ResultFormat>xml</ResultFormat>
  <Verbose>true</Verbose>
  <PrecreateFiles>UseMaxSize</PrecreateFiles>
  <TimeSpans>
    <TimeSpan>
      <CompletionRoutines>false</CompletionRoutines>
      <MeasureLatency>true</MeasureLatency>
      <CalculateIopsStdDev>true</CalculateIopsStdDev>
      <DisableAffinity>false</DisableAffinity>
      <Duration>60</Duration>
      <Warmup>2</Warmup>
      <Cooldown>3</Cooldown>
      <ThreadCount>4</ThreadCount>
      <RequestCount>8</RequestCount>
      <IoBucketDuration>2000</IoBucketDuration>
      <RandSeed>9</RandSeed>
      <RandomWriteData>true</RandomWriteData>
      <GroupAffinity>true</GroupAffinity>
      <Affinity>
        <AffinityGroupAssignment Group="0" Processor="2"/>
        <AffinityAssignment>1</AffinityAssignment>
      </Affinity>
      <Targets>
        <Target>
          <Path>data</Path>
          <BlockSize>4096</BlockSize>
          <BaseFileOffset>8192</BaseFileOffset>
          <SequentialScan>false</SequentialScan>
          <RandomAccess>true</RandomAccess>
          <TemporaryFile>false</TemporaryFile>
          <UseLargePages>false</UseLargePages>
          <DisableAllCache>true</DisableAllCache>
          <WriteBufferContent><Pattern>random</Pattern>
            <RandomDataSource><SizeInBytes>65536</SizeInBytes></RandomDataSource>
          </WriteBufferContent>
          <ParallelAsyncIO>false</ParallelAsyncIO>
          <FileSize>1048576</FileSize>
          <Random>4096</Random>
          <RandomRatio>50</RandomRatio>
          <Distribution><Percent><Range IO="90">10</Range><Range IO="10">90</Range></Percent></Distribution>
          <ThreadStride>0</ThreadStride>
          <MaxFileSize>0</MaxFileSize>
          <RequestCount>2</RequestCount>
          <WriteRatio>30</WriteRatio>
          <Throughput unit="IOPS">0</Throughput>
          <ThreadsPerFile>1</ThreadsPerFile>
          <IOPriority>2</IOPriority>
          <Weight>3</Weight>
          <ThreadTargets><ThreadTarget><Thread>1</Thread><Weight>5</Weight></ThreadTarget></ThreadTargets>
        </Target>
      </Targets>
    </TimeSpan>
    <TimeSpan><Targets><Target><Path>other</Path></Target></Targets></TimeSpan>
  </TimeSpans>
</Profile>
"#;

#[test]
fn a_whole_profile() {
    let parsed = read(WHOLE, "");
    let profile = parsed
        .profile
        .unwrap_or_else(|| panic!("{:?}", parsed.diagnostics));
    assert_eq!((profile.progress, profile.verbose), (5, true));
    assert_eq!(profile.result_format, ResultFormat::Xml);
    assert_eq!(profile.precreate, Some(Precreate::UseMaxSize));
    let span = &profile.time_spans[0];
    assert_eq!((span.duration_s, span.warmup_s, span.cooldown_s), (60, 2, 3));
    assert_eq!(
        (span.thread_count, span.request_count, span.random_seed),
        (4, 8, 9)
    );
    assert!(span.measure_latency && span.iops_std_dev && span.random_write_data);
    assert_eq!(span.io_bucket_ms, 2000);
    let cpus: Vec<u16> = span.affinity.iter().map(|at| at.cpu).collect();
    assert_eq!(cpus, [2, 1]);
    let target = &span.targets[0];
    assert_eq!(
        (target.block_size, target.base_offset, target.alignment),
        (4096, 8192, Some(4096))
    );
    assert_eq!(
        (target.random_percent, target.write_percent, target.io_priority),
        (50, 30, 2)
    );
    assert!(target.write_through && target.random_access_hint);
    assert_eq!(target.file_size, Some(1 << 20));
    assert_eq!(target.throughput, Throughput::None);
    assert!(matches!(&target.distribution, Some(Distribution::Percent(ranges)) if ranges.len() == 2));
    assert_eq!(target.thread_targets, [ThreadTarget { thread: 1, weight: 5 }]);
    // The second has diskspd's defaults, and both become workloads.
    assert_eq!(profile.time_spans[1].duration_s, 10);
    assert_eq!(lower(&profile, &LOWERING).spans.len(), 2);
}

#[test]
fn profiles_take_few_flags() {
    let profile = read(WHOLE, "-Rtext -vs -d5 -W0 -C1 -z3")
        .profile
        .expect("allowed");
    assert_eq!(profile.result_format, ResultFormat::Text);
    assert!(profile.verbose && profile.verbose_stats);
    for span in &profile.time_spans {
        let times = (span.duration_s, span.warmup_s, span.cooldown_s, span.random_seed);
        assert_eq!(times, (5, 0, 1, 3));
    }
    for flag in ["-b4K", "-L", "-o2", "-r", "-Sh", "-P", "-w0"] {
        assert_refused(
            &format!("{flag} -Xslots.xml data other"),
            "may not stand beside -X",
        );
    }
    assert_refused("-Xslots.xml -Xslots.xml data other", "a second profile");
    assert_refused("-X data", "its file is missing");
    assert_refused("-Xnone.xml", "the profile cannot be read: no such file");
}

#[test]
fn slots_are_filled_in_order() {
    let paths = |line: &str| -> Vec<String> {
        let targets = &profile(line).time_spans[0].targets;
        targets.iter().map(|target| target.path.clone()).collect()
    };
    assert_eq!(paths("-Xslots.xml data other"), ["data", "other"]);
    // A profile that is only printed keeps its slots.
    assert_eq!(paths("-Rpxml -Xslots.xml"), ["*1", "*2"]);
    assert_refused("-Xslots.xml", "the template target `*1` has no path");
    assert_refused("-Xslots.xml data", "no path for the template target `*2`");
    assert_refused(
        "-Xslots.xml data other third",
        "no template target *3 takes `third`",
    );
    for path in ["*0", "*", "*x", "*-1", "*99999999999999999999"] {
        let text = super::TWO_SLOTS.replace("*1", path);
        assert!(read(&text, "data other").profile.is_none(), "{path}");
    }
}

fn check(text: &str, expected: &Expect) {
    let parsed = read(text, "");
    assert!(parsed.profile.is_none(), "{text}");
    let list: Vec<String> = parsed.diagnostics.iter().map(ToString::to_string).collect();
    expected.assert_eq(&list.join("\n"));
}

/// A profile with `inner` in its only target, on the third line.
fn with(inner: &str) -> String {
    format!(
        "<Profile><TimeSpans>\n<TimeSpan><Targets><Target><Path>data</Path>\n{inner}\n\
         </Target></Targets></TimeSpan></TimeSpans></Profile>"
    )
}

#[test]
fn errors_name_line_and_column() {
    let broken = refused("-Xbroken.xml");
    assert!(broken.starts_with("broken.xml:3:"), "{broken}");
    check(
        "<Results/>",
        &expect![
            "p.xml:1:1: error: the outermost element is <Results>, not <Profile>; of a result, take out its <Profile>"
        ],
    );
    check(
        &with("  <Bloksize>1</Bloksize>"),
        &expect!["p.xml:3:3: error: <Target> has no element <Bloksize>; leave it out"],
    );
    check(
        &with("<BlockSize>4K</BlockSize>"),
        &expect![
            "p.xml:3:1: error: <BlockSize>: `4K` is no value of it; write a whole number that is not too large"
        ],
    );
    check(
        &with("<BlockSize>0</BlockSize>"),
        &expect![
            "p.xml:3:1: error: <BlockSize>: `0` is no value of it; write a whole number from 1 to 4294967295"
        ],
    );
    check(
        &with("<WriteThrough>yes</WriteThrough>"),
        &expect!["p.xml:3:1: error: <WriteThrough>: `yes` is no value of it; write true or false"],
    );
    check(
        &with("<Path>x</Path>"),
        &expect!["p.xml:3:1: error: a second <Path> in <Target>; leave one of them out"],
    );
    check(
        &with("<StrideSize>65536</StrideSize><Random>4096</Random>"),
        &expect![
            "p.xml:2:20: error: <StrideSize> is for sequential I/O, <Random> and <RandomRatio> for random; leave one of them out"
        ],
    );
    check(
        &with("<Random>4096</Random><Distribution><Percent><Range>9</Range></Percent></Distribution>"),
        &expect![[r#"p.xml:3:45: error: <Range> needs a whole number as its IO; write <Range IO="0" …"#]],
    );
    check(
        &with("<Throughput unit=\"MBPS\">5</Throughput>"),
        &expect![[
            r#"p.xml:3:1: error: `MBPS` is no unit of <Throughput>; write unit="IOPS", or none for bytes a millisecond"#
        ]],
    );
}

#[test]
fn a_ratio_is_neither_nothing_nor_all() {
    for ratio in ["0", "100", "101"] {
        let text = with(&format!(
            "<Random>4096</Random><RandomRatio>{ratio}</RandomRatio>"
        ));
        let error = read(&text, "").errors().next().expect("refused").to_string();
        assert_eq!(
            error,
            format!(
                "p.xml:3:22: error: <RandomRatio>: `{ratio}` is no value of it; write a whole number from 1 to 99"
            )
        );
    }
    for ratio in ["1", "99"] {
        let text = with(&format!(
            "<Random>4096</Random><RandomRatio>{ratio}</RandomRatio>"
        ));
        assert_eq!(read(&text, "").errors().count(), 0, "{ratio}");
    }
}

#[test]
fn what_windows_alone_has_is_refused() {
    let text = WHOLE.replace("<TimeSpans>", "<ETW><Process>true</Process></ETW><TimeSpans>");
    let parsed = read(&text, "");
    let error = parsed.errors().next().expect("refused").to_string();
    assert!(
        error.contains("event tracing is asked for; leave <ETW> out"),
        "{error}"
    );
}

#[test]
fn profiles_without_content_are_refused() {
    for text in [
        "",
        "<Profile/>",
        "<Profile>text</Profile>",
        "<Profile><TimeSpans/></Profile>",
        "<Profile><TimeSpans><TimeSpan/></TimeSpans></Profile>",
        "<Profile><TimeSpans><TimeSpan><Targets/></TimeSpan></TimeSpans></Profile>",
        "<Profile><TimeSpans><TimeSpan><Targets><Target/></Targets></TimeSpan></TimeSpans></Profile>",
        "<!DOCTYPE a [<!ENTITY b \"c\">]><Profile/>",
    ] {
        let parsed = read(text, "");
        assert!(parsed.errors().next().is_some(), "{text}");
    }
    let deep = format!(
        "<Profile>{}{}</Profile>",
        "<a>".repeat(100_000),
        "</a>".repeat(100_000)
    );
    assert!(read(&deep, "").profile.is_none());
    let long = format!(
        "<Profile>{}</Profile>",
        " ".repeat(super::super::PROFILE_BYTES_MAX)
    );
    let error = read(&long, "").errors().next().expect("refused").to_string();
    assert!(error.contains("is longer than 1048576"), "{error}");
}

#[test]
fn pools_have_equal_targets() {
    let pool = |second: &str, weights: (u32, u32)| {
        let text = format!(
            "<Profile><TimeSpans><TimeSpan><ThreadCount>2</ThreadCount><RequestCount>4</RequestCount><Targets>\
             <Target><Path>data</Path><Weight>{}</Weight></Target>\
             <Target><Path>other</Path><Weight>{}</Weight>{second}</Target></Targets></TimeSpan></TimeSpans></Profile>",
            weights.0, weights.1
        );
        let parsed = read(&text, "");
        let profile = parsed
            .profile
            .unwrap_or_else(|| panic!("{:?}", parsed.diagnostics));
        lower(&profile, &LOWERING)
    };
    assert_eq!(pool("", (7, 7)).spans[0].rows.len(), 4);
    let says = |lowered: crate::diskspd::LoweredProfile| lowered.diagnostics[0].to_string();
    assert!(says(pool("", (7, 3))).contains("different weights"));
    assert!(says(pool("<BlockSize>4096</BlockSize>", (1, 1))).contains("differ in more than their paths"));
    // A thread uses the targets that name it.
    let some = pool(
        "<ThreadTargets><ThreadTarget><Thread>1</Thread></ThreadTarget></ThreadTargets>",
        (1, 1),
    );
    let rows: Vec<(u32, &str)> = some.spans[0]
        .rows
        .iter()
        .map(|row| (row.thread, row.path.as_str()))
        .collect();
    assert_eq!(rows, [(0, "data"), (1, "data"), (1, "other")]);
}

#[test]
fn byte_order_marks_are_passed_over() {
    assert!(read(&format!("\u{feff}{WHOLE}"), "").profile.is_some());
    assert!(parsed("-Xslots.xml data other").profile.is_some());
    assert_eq!(said("-Xslots.xml data other"), "");
}
