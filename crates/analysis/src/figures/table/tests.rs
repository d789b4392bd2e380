use super::*;

fn with_header(lines: &str) -> String {
    format!("# a comment\n{}\n{lines}\n", COLUMNS.join(","))
}

#[test]
fn a_line_becomes_a_figure() {
    let text = with_header(
        "test4,\"clat, the \"\"median\"\"\",write.clat.p50,2835,us,linked output,5,yes,\"slices, 50 ms\",\n\ntest7,drain,drain,240..300,s,post,,,throttle,why",
    );
    let figures = read("f.csv", &text).expect("a table");
    assert_eq!(figures.len(), 2);
    assert_eq!(figures[0].what, "clat, the \"median\"");
    assert_eq!(figures[0].published, Published::Value(2835.0));
    assert_eq!(figures[0].source, Source::LinkedOutput);
    assert!((figures[0].bound_percent - 5.0).abs() < 1e-9);
    assert_eq!(figures[0].mechanism, "slices, 50 ms");
    assert!(figures[0].fitted && !figures[1].fitted);
    assert_eq!(figures[0].known_miss, None);
    assert_eq!(figures[1].published, Published::Between(240.0, 300.0));
    assert!((figures[1].bound_percent - BOUND_PERCENT).abs() < 1e-9);
    assert_eq!(figures[1].known_miss.as_deref(), Some("why"));
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let cases = [
        ("a,b,read.iops,1,IOPS,post,,,m", "9 cells: there must be 10"),
        ("a,b,read.iops,1,IOPS,post,,,m,,", "11 cells"),
        ("a,b,read.iops,1,IOPS,post,,,\"m,", "a quote is not closed"),
        ("a,b,read.iops,1,IOPS,post,,,\"m\"x,", "a quote is not closed"),
        (",b,read.iops,1,IOPS,post,,,m,", "run is empty"),
        ("a,b,read.iops,1,IOPS,post,,,,", "mechanism is empty"),
        ("a,b,reed.iops,1,IOPS,post,,,m,", "measure: `reed.iops`"),
        ("a,b,read.iops,about 1,IOPS,post,,,m,", "published: `about 1`"),
        ("a,b,read.iops,2..1,IOPS,post,,,m,", "published: `2..1`"),
        ("a,b,read.iops,inf,IOPS,post,,,m,", "published: `inf`"),
        ("a,b,read.iops,1,iops,post,,,m,", "unit: `iops` is none of"),
        (
            "a,b,read.iops,1,ms,post,,,m,",
            "unit: ms is no unit of `read.iops`",
        ),
        ("a,b,read.iops,1,IOPS,blog,,,m,", "source: `blog`"),
        ("a,b,read.iops,1,IOPS,post,0,,m,", "bound_percent: `0`"),
        ("a,b,read.iops,1,IOPS,post,,no,m,", "fitted: `no`"),
    ];
    for (line, problem) in cases {
        let error = read("f.csv", &with_header(line)).expect_err(line).to_string();
        assert!(error.starts_with("f.csv:3: "), "{error}");
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn the_columns_are_fixed() {
    for text in ["", "run,what\n"] {
        let error = read("f.csv", text).expect_err(text);
        assert_eq!((error.line, error.problem), (1, Problem::Header));
    }
}
