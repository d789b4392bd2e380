use super::*;
use crate::Style;
use expect_test::{Expect, expect};
use fathom_analysis::figures::{Outcome, read, table::COLUMNS};
use fathom_core::run::{JobSummary, OpSummary};

fn chapter(lines: &str) -> Chapter {
    let text = format!("{}\n{lines}", COLUMNS.join(","));
    let figures = read("figures.csv", &text).unwrap_or_else(|error| panic!("{error}"));
    let job = JobSummary {
        name: String::from("job"),
        runtime_ns: 2_000_000_000,
        read: OpSummary {
            ios: 2200,
            bytes: 2200 << 12,
            ..OpSummary::default()
        },
        ..JobSummary::default()
    };
    let outcome = Outcome {
        name: String::from("test4"),
        jobs: vec![job],
        depths: vec![1],
        ..Outcome::default()
    };
    let judged = figures
        .iter()
        .map(|figure| Judged::new(figure, std::slice::from_ref(&outcome)));
    Chapter {
        name: String::from("aks"),
        title: String::from("one test"),
        source: String::from("A Post (Somebody, 2019)"),
        notes: vec![String::from("A note.")],
        runs: vec![Run {
            name: String::from("test4"),
            about: String::from("4 KiB | reads"),
        }],
        figures: judged
            .collect::<Result<_, _>>()
            .unwrap_or_else(|error| panic!("{error}")),
        fitted: vec![(String::from("slices of 50 ms"), String::from("test 4"))],
        not_modelled: vec![(String::from("prices"), String::from("no I/O"))],
        ios: 2200,
        virtual_ns: 3_723_000_000_000,
    }
}

const LINES: &str = "\
test4,IOPS,read.iops,1122,IOPS,post,,,limit of the disk on IOPS,
test4,bandwidth,read.bandwidth,3..4,MiB/s,graph,,yes,\"limit, times 4 KiB\",
test4,I/Os,read.ios,1000,I/Os,statement,,,closed loop,too many
test4,amount,read.bytes,>10,MiB,derived,,,closed loop,
";

fn check(found: &str, expected: &Expect) {
    expected.assert_eq(found);
}

#[test]
fn text_has_a_table_a_run_and_the_reasons_of_misses() {
    let found = text(&[chapter(LINES)], Style::default());
    check(
        &found,
        &expect![[r#"
            aks: one test
            A Post (Somebody, 2019)
            A note.

            test4: 4 KiB | reads
              figure       published  modelled   unit       off  made by
              IOPS              1122      1100   IOPS    -2.0 %  limit of the disk on IOPS
              bandwidth       3 to 4     4.297  MiB/s    +7.4 %  limit, times 4 KiB
              I/Os              1000      2200   I/Os  +120.0 %  known miss
              amount     at least 10     8.594    MiB   -14.1 %  MISSED

            aks: 4 figures: 1 within 2 %, 1 within 5 %, 2 within 10 %; of the 3 that nothing
                was fitted to, 1 within 2 %, 1 within 5 %, 1 within 10 %; 1 known miss, 1
                not as they should be. 2200 I/Os, 1 h 2 min of virtual time
              test4, I/Os (+120.0 %): too many

        "#]],
    );
}

#[test]
fn colours_and_ascii_are_the_style_s() {
    let style = Style {
        colour: true,
        width: 60,
        unicode: false,
    };
    let found = text(&[chapter(LINES)], style);
    assert!(found.is_ascii());
    assert!(found.contains("\x1b[33m"), "a known miss is yellow");
    assert!(found.contains("\x1b[31m"), "a miss is red");
}

#[test]
fn several_experiments_have_a_sum() {
    let two = [chapter(LINES), chapter(LINES)];
    let found = text(&two, Style::default());
    assert!(found.contains("all: 8 figures: 2 within 2 %"), "{found}");
}

#[test]
fn markdown_is_complete() {
    check(
        &markdown(&[chapter(LINES)]),
        &expect![[r#"
            # Published experiments on the disk model

            Each figure below comes out of a run of the experiment on the disk model, in virtual time; none is looked up. A figure is marked *fitted* where a constant of the model was fitted to it, or assumed for its sake: it tests the fit. The others are *predicted*: they test the model, though many follow from the same few limits. What was fitted to what is listed with each experiment. *Source* says where a figure was published: in the post, in output that it links, in a graph, derived from figures of the post, or as a statement in words that was put as a number.

            This page is written by `fathom reproduce all --markdown docs/reproduction.md`; `fathom reproduce all --check` fails where a figure is beyond its bound (10 % unless the table of figures says less) and no reason is known.

            | experiment | figures | within 2 % | within 5 % | within 10 % | predicted | within 2 % | within 5 % | within 10 % | known misses | I/Os | virtual time |
            |---|---|---|---|---|---|---|---|---|---|---|---|
            | [aks](#aks) | 4 | 1 | 1 | 2 | 3 | 1 | 1 | 1 | 1 | 2200 | 1 h 2 min |

            ## aks

            one test. A Post (Somebody, 2019).

            A note.

            | run | what it is |
            |---|---|
            | `test4` | 4 KiB \| reads |

            | run | figure | published | modelled | unit | off | source | fitted | made by |
            |---|---|---:|---:|---|---:|---|---|---|
            | `test4` | IOPS | 1122 | 1100 | IOPS | -2.0 % | post |  | limit of the disk on IOPS |
            | `test4` | bandwidth | 3 to 4 | 4.297 | MiB/s | +7.4 % | graph | yes | limit, times 4 KiB |
            | `test4` | I/Os | 1000 | 2200 | I/Os | **+120.0 %** (known miss) | statement |  | closed loop |
            | `test4` | amount | at least 10 | 8.594 | MiB | **-14.1 %** (MISSED) | derived |  | closed loop |

            Known misses:

            - `test4`, I/Os (+120.0 %): too many.

            Fitted:

            - slices of 50 ms: test 4.

            Published and not modelled:

            - prices: no I/O.
        "#]],
    );
}

#[test]
fn json_says_what_the_tables_say() {
    let found = json::render(&[chapter(LINES)]);
    let value: serde_json::Value = serde_json::from_str(&found).expect("JSON");
    assert_eq!(value["schema"], "fathom.reproduction/1");
    assert_eq!(value["tally"]["all"]["figures"], 4);
    assert_eq!(value["tally"]["predicted"]["figures"], 3);
    assert_eq!(value["tally"]["known_misses"], 1);
    assert_eq!(value["tally"]["wrong"], 1);
    let figures = &value["experiments"][0]["figures"];
    assert_eq!(figures[0]["published"]["value"], 1122.0);
    assert_eq!(
        (&figures[0]["fitted"], &figures[1]["fitted"]),
        (&false.into(), &true.into())
    );
    assert_eq!(figures[0]["modelled"], 1100.0);
    assert_eq!(figures[1]["published"]["max"], 4.0);
    assert_eq!(figures[2]["verdict"], "known_miss");
    assert_eq!(figures[3]["published"]["min"], 10.0);
    assert_eq!(value["experiments"][0]["fitted"][0]["to"], "test 4");
}

#[test]
fn numbers_keep_about_four_digits() {
    for (value, text) in [
        (0.0, "0"),
        (0.001_49, "0.001"),
        (1.5, "1.5"),
        (2.474_4, "2.474"),
        (99.604, "99.6"),
        (378.06, "378.1"),
        (1122.4, "1122"),
        (10_368_000.0, "10368000"),
        (-3.25, "-3.25"),
    ] {
        assert_eq!(number(value), text);
    }
}

#[test]
fn spans_are_in_the_units_that_fit() {
    assert_eq!(span(59_900_000_000), "59 s");
    assert_eq!(span(61_000_000_000), "1 min 1 s");
    assert_eq!(span(86_400_000_000_000), "24 h 0 min");
}
