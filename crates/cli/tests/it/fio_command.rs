//! `fathom fio`.

use crate::harness::Place;

#[test]
fn a_command_line_of_fio_runs_and_leaves_no_record() {
    let place = Place::new();
    let line = "fio --name=a --rw=randread --bs=4k --size=1m --filename=F --name=b --rw=read --filename=F --size=64k \
                --eta=never";
    let outcome = place.fathom(line).expect(0);
    assert!(
        outcome.stdout.contains("256") || outcome.stdout.contains("IOPS"),
        "{}",
        outcome.stdout
    );
    assert_eq!(place.names(), ["F"]);
}

#[test]
fn a_job_file_runs_and_the_report_goes_where_it_was_told() {
    let place = Place::new();
    place.write(
        "j.fio",
        "[a]\nioengine=null\nsize=1m\n[b]\nioengine=null\nsize=1m\n",
    );
    let outcome = place
        .fathom("fio --section=b --output=report.txt j.fio")
        .expect(0);
    assert_eq!(outcome.stdout, "");
    let report = std::fs::read_to_string(place.path("report.txt")).expect("the report");
    assert!(
        report.starts_with("fathom ") && report.contains("b: 1 worker"),
        "{report}"
    );
}

#[test]
fn what_fio_can_and_fathom_cannot_is_refused() {
    let place = Place::new();
    for (line, expected) in [
        (
            "fio --name=a --size=1m --output-format=json",
            "--output-format: fio's JSON",
        ),
        (
            "fio --client=host j.fio",
            "--client: fathom does not run as a server",
        ),
        ("fio --nmae=a", "unknown option `nmae`; did you mean `--name`?"),
        ("fio --otuput=x --name=a --size=1m", "did you mean `--output`?"),
        (
            "fio --alow-overwrite=x --name=a",
            "did you mean `--allow-overwrite`?",
        ),
        ("fio", "no job"),
        (
            "fio --readonly --name=a --rw=write --size=1m --filename=F",
            "--readonly",
        ),
    ] {
        place.fathom(line).expect(2).saying(expected);
    }
    assert_eq!(place.names(), Vec::<String>::new());
}

#[test]
fn safety_holds_for_it_too() {
    let place = Place::new();
    place.write("F", "mine");
    place
        .fathom("fio --name=a --rw=write --size=64k --filename=F")
        .expect(3);
    assert_eq!(std::fs::read(place.path("F")).expect("F"), b"mine");
    place
        .fathom("fio --allow-overwrite F --name=a --rw=write --size=64k --filename=F")
        .expect(0);
}
