//! What is made from the definition of the command line.

use crate::harness::Place;

#[test]
fn completions_are_made_for_all_shells() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let outcome = place.fathom(&format!("completions {shell}")).expect(0);
        assert!(outcome.stdout.contains("ioengine"), "{shell}");
    }
    place.fathom("completions tcsh").expect(2);
}

#[test]
fn man_pages_are_made_for_all_commands() {
    let place = Place::new();
    place.fathom("man --output pages").expect(0);
    let page = std::fs::read_to_string(place.path("pages/fathom-run.1")).expect("the page of run");
    assert!(page.contains("ioengine") && page.contains(".SH"), "{page}");
    for name in [
        "fathom.1",
        "fathom-show.1",
        "fathom-recover.1",
        "fathom-options.1",
    ] {
        assert!(place.path("pages").join(name).exists(), "{name}");
    }
    // Of commands that have commands, each has a page, under the name that the one above gives.
    let above = std::fs::read_to_string(place.path("pages/fathom-disk.1")).expect("the page of disk");
    for name in ["serve", "fault", "status", "cleanup"] {
        assert!(
            above.contains(&format!("fathom\\-disk\\-{name}(1)")),
            "{name} in {above}"
        );
        let page = std::fs::read_to_string(place.path(format!("pages/fathom-disk-{name}.1")));
        let page = page.unwrap_or_else(|error| panic!("the page of disk {name}: {error}"));
        assert!(page.contains(&format!("\\fBfathom disk {name}\\fR")), "{page}");
    }
    let one = place.fathom("man disk serve").expect(0).stdout;
    assert_eq!(
        one,
        std::fs::read_to_string(place.path("pages/fathom-disk-serve.1")).expect("a page")
    );
    place
        .fathom("man disk nothing")
        .expect(2)
        .saying("no command of fathom disk is called `nothing`: there are serve");
    place
        .fathom("man disk status x")
        .expect(2)
        .saying("fathom disk status has no commands of its own");
    let outcome = place.fathom("man run").expect(0);
    assert!(outcome.stdout.contains(".TH"), "{}", outcome.stdout);
    place
        .fathom("man nothing")
        .expect(2)
        .saying("no command of fathom is called `nothing`");
}

#[test]
fn help_goes_to_stdout_and_names_examples_and_exit_codes() {
    let place = Place::new();
    let long = place.fathom("run --help").expect(0).stdout;
    for expected in [
        "fathom run jobs.fio",
        "Exit codes",
        "--rate_iops",
        "--allow-overwrite",
    ] {
        assert!(long.contains(expected), "{expected}");
    }
    let short = place.fathom("run -h").expect(0).stdout;
    assert!(short.lines().count() < long.lines().count() / 2);
    assert!(place.fathom("--version").expect(0).stdout.starts_with("fathom "));
    place.fathom("").expect(2).saying("Usage");
}

#[test]
fn options_are_listed_with_their_support() {
    let place = Place::new();
    let all = place.fathom("options").expect(0).stdout;
    assert!(
        all.lines()
            .any(|line| line.contains("bssplit") && line.contains("exact")),
        "{all}"
    );
    let one = place.fathom("options io-engine").code;
    assert_eq!(one, Some(2));
    assert!(
        place
            .fathom("options ioengine")
            .expect(0)
            .stdout
            .contains("io_uring")
    );
}

#[test]
fn no_line_of_any_help_is_longer_than_80_columns_in_a_pipe() {
    let place = Place::new();
    let mut lines = vec![
        String::from("--help"),
        String::from("-h"),
        String::from("options"),
    ];
    for command in ["run", "show", "recover", "options", "completions", "man"] {
        lines.extend([format!("{command} --help"), format!("{command} -h")]);
    }
    lines.extend([String::from("fio --help"), String::from("options rw")]);
    for line in lines {
        let outcome = place.fathom(&line).expect(0);
        let longest = outcome.stdout.lines().max_by_key(|line| line.chars().count());
        let longest = longest.unwrap_or_else(|| panic!("{line} prints nothing"));
        assert!(longest.chars().count() <= 80, "fathom {line}: {longest}");
    }
}
