//! From words to commands.

use super::{Command, Output, Unread, command, parse};
use fathom_dialect::{Override, table};
use std::ffi::OsString;
use std::path::PathBuf;

fn words(text: &str) -> Vec<OsString> {
    std::iter::once("fathom")
        .chain(text.split_whitespace())
        .map(OsString::from)
        .collect()
}

fn run(text: &str) -> Box<super::RunArgs> {
    match parse(&words(text)) {
        Ok(Command::Run(args)) => args,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn the_definition_is_sound() {
    command(80).debug_assert();
}

#[test]
fn every_option_of_the_table_is_a_flag_of_its_name_and_aliases() {
    for row in table() {
        let example = if row.example.is_empty() { "1" } else { row.example };
        for name in row.names() {
            for spelled in [name.to_owned(), name.replace('_', "-")] {
                let flag = OsString::from(format!("--{spelled}={example}"));
                let words = ["fathom".into(), "run".into(), flag];
                let Ok(Command::Run(args)) = parse(&words) else {
                    panic!("--{spelled}={example} is not accepted");
                };
                assert_eq!(args.overrides, [Override::new(row.name, example)], "--{spelled}");
            }
        }
    }
}

#[test]
fn flags_keep_their_order_and_files_stay_files() {
    let args = run("run a.fio --bs 4k --time_based F --rw=randread --bs=8k");
    assert_eq!(args.paths, [PathBuf::from("a.fio"), PathBuf::from("F")]);
    let expected = [
        ("bs", "4k"),
        ("time_based", "1"),
        ("rw", "randread"),
        ("bs", "8k"),
    ];
    assert_eq!(
        args.overrides,
        expected.map(|(name, value)| Override::new(name, value))
    );
}

#[test]
fn own_flags_are_kept_apart() {
    let args =
        run("run --section a --section=b --on null: --json -q --allow-overwrite X --allow-overwrite Y j.fio");
    assert_eq!(args.sections, ["a", "b"]);
    assert_eq!(args.on, Some(OsString::from("null:")));
    assert!(args.settings.json && args.settings.quiet && !args.settings.dry_run);
    assert_eq!(
        args.settings.how.allow_overwrite,
        [PathBuf::from("X"), PathBuf::from("Y")]
    );
    assert!(args.overrides.is_empty());
}

#[test]
fn the_record_has_a_place_or_none() {
    assert_eq!(run("run a.fio").settings.output, Output::Default);
    assert_eq!(run("run a.fio -o none").settings.output, Output::None);
    assert_eq!(run("run a.fio --no-record").settings.output, Output::None);
    assert_eq!(
        run("run a.fio -o d").settings.output,
        Output::Directory(PathBuf::from("d"))
    );
    assert_eq!(
        run("run a.fio --output=d").settings.output,
        Output::Directory(PathBuf::from("d"))
    );
}

#[test]
fn misspelled_flags_are_refused_with_the_nearest_one() {
    let Err(Unread::Unknown(diagnostics)) = parse(&words("run --blocksze 4k")) else {
        panic!("it is not known");
    };
    let text: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(
        text,
        ["--blocksze: error: unknown option `blocksze`; did you mean `--blocksize`?"]
    );
}

#[test]
fn a_flag_without_its_value_is_refused() {
    let Err(Unread::Clap(error)) = parse(&words("run --rw --bs 4k")) else {
        panic!("it has no value");
    };
    let error = error.to_string();
    assert!(error.contains("a value is required for '--rw <"), "{error}");
}

/// `--serve 127.0.0.1:9877` made a file of that name and measured it.
#[test]
fn a_value_apart_from_a_flag_that_needs_none_is_no_target() {
    for line in [
        "run --rw read --size 1m --serve 127.0.0.1:9877",
        "run --serve 9877 jobs.fio",
        "sweep --serve localhost:0 --on f",
        "run --record io,counters jobs.fio",
        "replay d --on f --record io",
        "record --device f --record counters -o d",
        "sweep --rw read --precondition 1 --on f",
        "sweep --rw read --stop-when-steady 5% --on f",
    ] {
        let Err(Unread::Clap(error)) = parse(&words(line)) else {
            panic!("{line}");
        };
        assert!(
            error.to_string().contains("takes its value behind ="),
            "{line}: {error}"
        );
    }
    for line in [
        "run --serve jobs.fio",
        "run --record ./io",
        "run --serve=9877 f --rw read",
        "record -- sh --serve 9877",
        "sweep --rw read --precondition --on f",
        "sweep --rw read --stop-when-steady=5% --adaptive f",
    ] {
        assert!(parse(&words(line)).is_ok(), "{line}");
    }
}

#[test]
fn help_has_every_option_that_is_not_refused_and_the_short_one_is_short() {
    let mut whole = command(80);
    whole.build();
    let run = whole.find_subcommand_mut("run").expect("run");
    let long = run.render_long_help().to_string();
    for row in table().iter().filter(|row| !row.support.is_refused()) {
        assert!(
            long.contains(&format!("--{}", row.name)),
            "{} is not in the help",
            row.name
        );
    }
    let short = run.render_help().to_string();
    assert!(
        short.lines().count() < 80,
        "{} lines:\n{short}",
        short.lines().count()
    );
    assert!(short.contains("--rw <"));
}

/// Every command's short and long help.
fn helps(columns: usize) -> Vec<String> {
    let mut whole = command(columns);
    whole.build();
    let mut all = vec![whole.render_help(), whole.render_long_help()];
    for command in whole.get_subcommands_mut() {
        all.extend([command.render_help(), command.render_long_help()]);
    }
    all.iter().map(ToString::to_string).collect()
}

#[test]
fn help_fits_the_terminal() {
    for columns in [80, 100] {
        let helps = helps(columns);
        assert!(helps.len() > 10);
        let lines = helps.iter().flat_map(|help| help.lines());
        let longest = lines.max_by_key(|line| line.chars().count()).expect("lines");
        assert!(longest.chars().count() <= columns, "{columns} columns: {longest}");
        // It uses the room that there is.
        assert!(
            longest.chars().count() > columns - 10,
            "{columns} columns: {longest}"
        );
    }
}
