use super::{as_command_line, command, commands, engines};
use fathom_core::workload::{Written, WrittenSection};

#[test]
fn options_and_engines_are_listed() {
    let all = commands();
    assert!(all.contains("bs                      : "), "{all}");
    let names = engines(None).expect("engines");
    assert!(names.starts_with("Available IO engines:\n\t") && names.contains("\n\tio_uring\n"));
    let own = engines(Some("io_uring")).expect("io_uring");
    assert!(own.contains("fixedbufs"), "{own}");
    let (out, err) = engines(Some("nope")).expect_err("none");
    assert_eq!(
        out + &err,
        "IO engine nope not found\nfio: engine nope not loadable"
    );
}

#[test]
fn one_option_is_shown_as_fio_does() {
    let (text, wrong) = command("bs");
    assert!(text.starts_with("                  bs: "), "{text}");
    assert!(text.contains("               alias: blocksize\n"), "{text}");
    assert_eq!(wrong, None);
    let (text, wrong) = command("numjob_s");
    assert!(text.contains("numjobs"), "{text}");
    assert_eq!(wrong.as_deref(), Some("No such command: numjob_s"));
}

#[test]
fn a_job_file_becomes_a_command_line() {
    let section = |name: &str, options: &[(&str, Option<&str>)]| WrittenSection {
        name: name.to_owned(),
        options: options
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.map(str::to_owned)))
            .collect(),
    };
    let written = Written {
        source: String::from("a.fio"),
        sections: vec![
            section("global", &[("blocksize", Some("4k"))]),
            section(
                "two",
                &[("stonewall", None), ("description", Some("hello there"))],
            ),
        ],
    };
    assert_eq!(
        as_command_line(&written),
        "fio --bs=4k --name=two --stonewall --description=\"hello there\" \n"
    );
}
