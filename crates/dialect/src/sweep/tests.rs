use super::{SweepSpec, parse_sweep};
use crate::input::{Override, Source};
use expect_test::expect;
use fathom_core::sweep::{Coordinates, PointOrder, SteadyRule};

const FILE: &str = r#"
about = "a disk of 2016"
rw = ["randread", "read"]
mix = [0, 50, 100]
bs = ["4k", "1m"]
iodepth = [1, 32]
threads = 2
warmup = "60s"
duration = "5m"
cooldown = 60

[options]
size = "1g"
ioengine = "io_uring"
"#;

fn spec(text: &str, flags: &[Override]) -> SweepSpec {
    match parse_sweep(Some(Source { name: "a.toml", text }), flags) {
        Ok(spec) => spec,
        Err(found) => panic!("{found:?}"),
    }
}

fn complaints(text: &str, flags: &[Override]) -> String {
    let found = parse_sweep(Some(Source { name: "a.toml", text }), flags).expect_err("it should be wrong");
    let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
    lines.join("\n") + "\n"
}

#[test]
fn a_file_is_a_matrix() {
    let spec = spec(FILE, &[]);
    let points = spec.axes.points();
    assert_eq!(points.len(), 2 * 3 * 2 * 2);
    let names: Vec<String> = points.iter().map(Coordinates::name).collect();
    assert_eq!(names[0], "rand-r000-4k-q01-t2");
    assert_eq!(names[1], "rand-r000-4k-q32-t2");
    assert_eq!(names[23], "seq-r100-1m-q32-t2");
    assert_eq!(spec.timing.total_ns(), 420_000_000_000);
    assert_eq!(spec.about, "a disk of 2016");
    let options: Vec<&str> = spec.options.iter().map(|option| option.name.as_str()).collect();
    assert_eq!(options, ["size", "ioengine", "direct"]);
}

#[test]
fn flags_go_before_the_file_and_job_options_mean_the_same() {
    let flags = [
        Override::new("iodepth", "4"),
        Override::new("numjobs", "1"),
        Override::new("stop-when-steady", "1%"),
        Override::new("runtime", "10"),
        Override::new("order", "shuffled"),
    ];
    let spec = spec(FILE, &flags);
    assert_eq!(
        (&spec.axes.iodepth[..], &spec.axes.threads[..]),
        (&[4][..], &[1][..])
    );
    assert_eq!(spec.order, PointOrder::Shuffled);
    let rule = SteadyRule {
        half_width: 0.01,
        least_seconds: 10,
    };
    assert_eq!(spec.steady, Some(rule));
}

#[test]
fn an_adaptive_sweep_chooses_its_order_itself() {
    let adaptive = Override::bare("adaptive");
    assert!(spec(FILE, std::slice::from_ref(&adaptive)).adaptive);
    let found = complaints(FILE, &[adaptive, Override::new("order", "shuffled")]);
    assert!(found.contains("leave order=shuffled or adaptive out"), "{found}");
}

#[test]
fn without_mix_rw_says_it() {
    let spec = spec("rw = ['read', 'randwrite', 'randrw']", &[]);
    assert_eq!(spec.axes.random, [false, true]);
    assert_eq!(spec.axes.read_percent, [100, 0, 50]);
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let text = "rw = 'sideways'\nbs = ['4k', '0']\niodpth = 3\nmix = [101]\nduration = 0\n[options]\nstonewall = 1\nsize = [[1]]\n[other]\na = 1\n";
    expect![[r#"
        a.toml:9:2: error: `other` is neither a value nor a list of values; options of jobs go below [options]
        a.toml:1:1: error: `sideways` is not a direction; write read, write, rw, randread, randwrite or randrw, with commas between
        a.toml:2:1: error: a size of 0 is not possible here; write at least 1
        a.toml:3:1: error: `iodpth` is neither a setting of sweeps nor an option of jobs; did you mean `iodepth`?
        a.toml:4:1: error: `101` is not a whole number; write numbers from 0 to 100, with commas between
        a.toml:5:1: error: a point that lasts no time measures nothing; write such as 60s
        a.toml:7:1: error: `stonewall` is what the sweep itself decides; leave it out: every point is a run of its own
    "#]]
    .assert_eq(&complaints(text, &[]));
    expect![[r#"
        a.toml:1:6: error: not TOML: string values must be quoted, expected literal string
    "#]]
    .assert_eq(&complaints("rw = x", &[]));
}

#[test]
fn a_matrix_beyond_all_measure_is_refused() {
    let many = (1..=400).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let found = complaints(
        "",
        &[Override::new("iodepth", &*many), Override::new("threads", many)],
    );
    assert!(found.contains("160000 points"), "{found}");
}

#[test]
fn a_log_of_one_run_is_refused() {
    for name in [
        "write_lat_log",
        "write_bw_log",
        "write_iops_log",
        "write_hist_log",
        "write_iolog",
    ] {
        let found = complaints("", &[Override::new(name, "x")]);
        assert!(found.contains("a sweep has many points"), "{found}");
    }
}
