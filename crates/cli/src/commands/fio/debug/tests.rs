use super::{of_command, of_seeds};
use fathom_core::workload::{Job, Workload};
use fathom_dialect::{FioCommand, read_fio_args};

fn command(words: &[&str]) -> FioCommand {
    let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    read_fio_args(&words, &[]).expect("a command line")
}

#[test]
fn what_has_to_be_steady_is_told_as_fio_tells_it() {
    for (limit, told) in [
        ("iops:10", "set steady state IOPS threshold to 10.000000"),
        ("iops:10%", "set steady state threshold to 10.000000%"),
        ("iops_slope:.1%", "set steady state threshold to 0.100000%"),
        ("bw:12", "set steady state BW threshold to 12"),
    ] {
        let lines = of_command(&command(&[
            "--parse-only",
            "--debug=parse",
            "--ss_dur=10s",
            &format!("--ss={limit}"),
        ]));
        assert_eq!(lines[0], "fio: set debug option parse\n");
        assert!(lines[1].ends_with(&format!("{told}\n")), "{limit}: {lines:?}");
    }
    assert!(of_command(&command(&["--ss=iops:10"])).is_empty(), "nobody asked");
}

#[test]
fn seeds_are_those_of_the_jobs() {
    let command = command(&["--debug=random"]);
    let seeds = |random_seed| {
        let job = Job {
            random_seed,
            ..Job::default()
        };
        of_seeds(&command, &Workload { jobs: vec![job] })
    };
    assert_eq!(seeds(7), seeds(7));
    let (seven, eight) = (seeds(7), seeds(8));
    assert!(seven[0].contains("FIO_RAND_NR_OFFS=19"));
    assert_eq!(seven.len(), 20);
    assert!(seven[1..].iter().zip(&eight[1..]).all(|(a, b)| a != b));
}
