//! What a stream is taken for.

use super::{Colour, broken, help_columns, style};

fn no_env(_: &str) -> Option<String> {
    None
}

#[test]
fn a_pipe_gets_80_plain_columns_whatever_the_window() {
    let style = style(Colour::Auto, false, None, |_| Some(String::from("C")));
    assert!(!style.colour);
    assert_eq!(style.width, 80);
    assert!(style.unicode);
}

#[test]
fn a_terminal_gets_colour_and_its_width() {
    let style = style(Colour::Auto, true, Some(120), no_env);
    assert!(style.colour);
    assert_eq!(style.width, 120);
    assert!(style.unicode);
}

#[test]
fn a_terminal_of_unknown_width_gets_80_columns() {
    assert_eq!(style(Colour::Auto, true, None, no_env).width, 80);
}

#[test]
fn no_color_and_dumb_terminals_are_respected_unless_overruled() {
    let no_color = |name: &str| (name == "NO_COLOR").then(|| String::from("1"));
    let dumb = |name: &str| (name == "TERM").then(|| String::from("dumb"));
    assert!(!style(Colour::Auto, true, Some(80), no_color).colour);
    assert!(!style(Colour::Auto, true, Some(80), dumb).colour);
    assert!(style(Colour::Always, false, None, no_color).colour);
    assert!(!style(Colour::Never, true, Some(80), no_env).colour);
}

#[test]
fn an_ascii_locale_gets_ascii_and_the_first_set_variable_decides() {
    let posix = |name: &str| (name == "LANG").then(|| String::from("POSIX"));
    assert!(!style(Colour::Auto, true, Some(80), posix).unicode);
    let both = |name: &str| match name {
        "LC_ALL" => Some(String::from("C.UTF-8")),
        "LANG" => Some(String::from("C")),
        _ => None,
    };
    assert!(style(Colour::Auto, true, Some(80), both).unicode);
}

#[test]
fn help_has_the_width_of_the_terminal_within_reason() {
    assert_eq!(help_columns(None), 80);
    assert_eq!(help_columns(Some(90)), 90);
    assert_eq!(help_columns(Some(20)), 60);
    assert_eq!(help_columns(Some(300)), 100);
}

#[test]
fn a_terminal_gets_whole_words_and_a_pipe_whole_lines() {
    let text =
        "error: refused: F exists and was not made by fathom; to overwrite it, add --allow-overwrite F";
    assert_eq!(broken(text, None), text);
    let lines = broken(text, Some(60));
    assert_eq!(
        lines,
        "error: refused: F exists and was not made by fathom; to\n  overwrite it, add --allow-overwrite F"
    );
    assert_eq!(broken("a\n  fathom run F", Some(80)), "a\n  fathom run F");
}
