//! Profiles printed: diskspd's own layout, and XML that says the same when it is read again.

use super::{LOWERING, look, profile};
use crate::diskspd::{Context, Dialect, lower, parse, profile_as_text, profile_as_xml};
use expect_test::expect;
use proptest::prelude::*;

#[test]
fn text_heads_the_results() {
    let line = "-b4K -t2 -o32 -L -D -r -w30 -h -g500i -B2M -z7 -a0,1 data";
    let expected = "
Command Line: diskspd -b4K -t2 -o32 -L -D -r -w30 -h -g500i -B2M -z7 -a0,1 data

Input parameters:

\ttimespan:   1
\t-------------
\tduration: 10s
\twarm up time: 5s
\tcool down time: 0s
\tmeasuring latency
\tgathering IOPS at intervals of 1000ms
\trandom seed: 7
\tadvanced affinity round robin (group/core): 0/0, 0/1
\tpath: 'data'
\t\tthink time: 0ms
\t\tburst size: 0
\t\tsoftware cache disabled
\t\thardware write cache disabled, writethrough on
\t\tperforming mix test (read/write ratio: 70/30)
\t\tblock size: 4KiB
\t\tusing random I/O (alignment: 4KiB)
\t\tnumber of outstanding I/O operations per thread: 32
\t\tbase file offset: 2MiB
\t\tthreads per file: 2
\t\tusing I/O Completion Ports
\t\tIO priority: normal
\t\tthroughput rate-limited to 500 IOPS

";
    assert_eq!(profile_as_text(&profile(line)), expected);
}

/// The lines of the target of `line`, from its block size on.
fn target_lines(line: &str) -> String {
    let text = profile_as_text(&profile(line));
    let at = text.find("\t\tperforming").unwrap_or(0);
    text[at..].replace('\t', " ")
}

#[test]
fn text_of_other_settings() {
    let distribution = target_lines("-r -rdabs10/1G:10/1G:0/100G data");
    // The lines of diskspd's own unit test.
    for line in [
        "  IO Distribution:\n",
        "      10% of IO => [     0    -      1GiB)\n",
        "      10% of IO => [     1GiB -      2GiB)\n",
        "       0% of IO => [     2GiB -    102GiB)\n",
        "      80% of IO => [   102GiB -       end)\n",
    ] {
        assert!(distribution.contains(line), "{line}: {distribution}");
    }
    let percent = target_lines("-r -rdpct10/10:10/10:0/10 data");
    assert!(
        percent.contains("      80% of IO => [30% - 100%) of target\n"),
        "{percent}"
    );
    let pool = target_lines("-F2 -O8 -rs30 -I1 -ft data other");
    assert!(pool.contains("using mixed random/sequential I/O (30% random) (alignment/stride: 64KiB)"));
    assert!(pool.contains("relative IO weight in thread pool: 1"));
    assert!(pool.contains("IO priority: very low") && pool.contains("FILE_ATTRIBUTE_TEMPORARY"));
    assert!(target_lines("-si -t2 data").contains("using interlocked sequential I/O (stride: 64KiB)"));
    let whole = profile_as_text(&profile("-v -Z12341234 -Sm -Nv -p -n -F2 data"));
    for line in [
        "\tusing verbose mode\n",
        "\taffinity disabled\n",
        "\tthread pool with 2 threads\n",
        "\t\tmemory mapped I/O enabled, flush mode: FlushViewOfFile\n",
        "\t\twrite buffer size: 11.77MiB\n\t\twrite buffer source: random fill\n",
        "\t\tusing parallel async I/O\n",
    ] {
        assert!(whole.contains(line), "{line}: {whole}");
    }
    let slots = profile_as_text(&profile("-Rp -Xslots.xml"));
    assert!(slots.contains("\tpath: template target '1'\n"));
}

#[test]
fn xml_has_diskspds_elements_in_its_order() {
    expect![[r#"
        <Profile>
          <Progress>0</Progress>
          <ResultFormat>text</ResultFormat>
          <Verbose>false</Verbose>
          <TimeSpans>
            <TimeSpan>
              <CompletionRoutines>false</CompletionRoutines>
              <MeasureLatency>false</MeasureLatency>
              <CalculateIopsStdDev>true</CalculateIopsStdDev>
              <DisableAffinity>false</DisableAffinity>
              <Duration>10</Duration>
              <Warmup>5</Warmup>
              <Cooldown>0</Cooldown>
              <ThreadCount>0</ThreadCount>
              <RequestCount>0</RequestCount>
              <IoBucketDuration>1000</IoBucketDuration>
              <RandSeed>0</RandSeed>
              <Targets>
                <Target>
                  <Path>data</Path>
                  <BlockSize>65536</BlockSize>
                  <BaseFileOffset>0</BaseFileOffset>
                  <SequentialScan>false</SequentialScan>
                  <RandomAccess>false</RandomAccess>
                  <TemporaryFile>false</TemporaryFile>
                  <UseLargePages>false</UseLargePages>
                  <DisableOSCache>true</DisableOSCache>
                  <WriteThrough>true</WriteThrough>
                  <WriteBufferContent>
                    <Pattern>sequential</Pattern>
                  </WriteBufferContent>
                  <ParallelAsyncIO>false</ParallelAsyncIO>
                  <StrideSize>65536</StrideSize>
                  <InterlockedSequential>false</InterlockedSequential>
                  <ThreadStride>0</ThreadStride>
                  <MaxFileSize>0</MaxFileSize>
                  <RequestCount>2</RequestCount>
                  <WriteRatio>0</WriteRatio>
                  <Throughput unit="IOPS">1000</Throughput>
                  <ThreadsPerFile>1</ThreadsPerFile>
                  <IOPriority>3</IOPriority>
                  <Weight>1</Weight>
                </Target>
              </Targets>
            </TimeSpan>
          </TimeSpans>
        </Profile>
    "#]]
    .assert_eq(&profile_as_xml(&profile("-D -h -g1000i data")));
}

/// Reads what was printed.
fn again(xml: &str) -> crate::diskspd::Profile {
    let context = Context {
        dialect: Dialect::Windows,
        look: &look,
        read_profile: &|_| Ok(xml.to_owned()),
        seed: 0,
    };
    let parsed = parse(&[String::from("-Xprinted.xml")], &context);
    let said: Vec<String> = parsed.diagnostics.iter().map(ToString::to_string).collect();
    parsed.profile.unwrap_or_else(|| panic!("{said:?}\n{xml}"))
}

/// One word of each that may be combined.
fn words() -> impl Strategy<Value = String> {
    let one_of = |words: &'static [&'static str]| prop::sample::select(words);
    (
        one_of(&["", "-b4K", "-b8K -B1M:64M", "-b512 -f16M"]),
        one_of(&[
            "-r",
            "-rs40",
            "-s -t1",
            "-s128K",
            "-si -t2",
            "-t3 -T1M",
            "-r -rdpct90/10:0/10:5/20",
            "-r8K -rdabs50/1M",
            "-p -o4",
        ]),
        one_of(&[
            "",
            "-Sh",
            "-Su",
            "-Sw",
            "-Sm",
            "-Sr",
            "-Z",
            "-Zr",
            "-Z1M",
            "-Z1M,words",
        ]),
        one_of(&["", "-g100", "-g50i", "-i5 -j10", "-w30", "-w100"]),
        one_of(&[
            "",
            "-L",
            "-D",
            "-L -D2000",
            "-n",
            "-a0,1",
            "-I1",
            "-fr",
            "-ft",
            "-l",
        ]),
        one_of(&[
            "",
            "-v",
            "-vs",
            "-Rxml",
            "-d3 -W1 -C2",
            "-z9",
            "-P7",
            "-:3",
            "-c3M",
        ]),
    )
        .prop_map(|(a, b, c, d, e, f)| format!("{a} {b} {c} {d} {e} {f} data other"))
}

#[test]
fn a_buffer_to_write_from_goes_before_zeros() {
    let xml = profile_as_xml(&profile("-Z -Z1M -w100 data"));
    assert!(xml.contains("<Pattern>random</Pattern>") && xml.contains("<SizeInBytes>1048576</SizeInBytes>"));
    assert_eq!(
        lower(&again(&xml), &LOWERING).spans,
        lower(&profile("-Z -Z1M -w100 data"), &LOWERING).spans
    );
}

proptest! {
    #[test]
    fn printed_xml_says_the_same(line in words()) {
        let first = profile(&line);
        let xml = profile_as_xml(&first);
        let second = again(&xml);
        prop_assert_eq!(profile_as_xml(&second), xml);
        // What the command line says stands in the text alone.
        let text = |profile: &crate::diskspd::Profile| {
            let text = profile_as_text(profile);
            text[text.find("Input parameters").unwrap_or(0)..].to_owned()
        };
        prop_assert_eq!(text(&second), text(&first));
        prop_assert_eq!(lower(&second, &LOWERING).spans, lower(&first, &LOWERING).spans);
    }
}
