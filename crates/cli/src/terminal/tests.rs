//! What a stream is taken for.

use super::{Colour, style};

fn no_env(_: &str) -> Option<String> {
    None
}

#[test]
fn a_pipe_gets_80_plain_columns_whatever_the_window() {
    let style = style(Colour::Auto, false, 200, |_| Some(String::from("C")));
    assert!(!style.colour);
    assert_eq!(style.width, 80);
    assert!(style.unicode);
}

#[test]
fn a_terminal_gets_colour_and_its_width() {
    let style = style(Colour::Auto, true, 120, no_env);
    assert!(style.colour);
    assert_eq!(style.width, 120);
    assert!(style.unicode);
}

#[test]
fn a_terminal_of_unknown_width_gets_80_columns() {
    assert_eq!(style(Colour::Auto, true, 0, no_env).width, 80);
}

#[test]
fn no_color_and_dumb_terminals_are_respected_unless_overruled() {
    let no_color = |name: &str| (name == "NO_COLOR").then(|| String::from("1"));
    let dumb = |name: &str| (name == "TERM").then(|| String::from("dumb"));
    assert!(!style(Colour::Auto, true, 80, no_color).colour);
    assert!(!style(Colour::Auto, true, 80, dumb).colour);
    assert!(style(Colour::Always, false, 80, no_color).colour);
    assert!(!style(Colour::Never, true, 80, no_env).colour);
}

#[test]
fn an_ascii_locale_gets_ascii_and_the_first_set_variable_decides() {
    let posix = |name: &str| (name == "LANG").then(|| String::from("POSIX"));
    assert!(!style(Colour::Auto, true, 80, posix).unicode);
    let both = |name: &str| match name {
        "LC_ALL" => Some(String::from("C.UTF-8")),
        "LANG" => Some(String::from("C")),
        _ => None,
    };
    assert!(style(Colour::Auto, true, 80, both).unicode);
}
