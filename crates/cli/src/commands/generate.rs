//! `fathom completions` and `fathom man`: made from the same definition as the parser.

use crate::args::{ManArgs, command};
use crate::exit::Exit;
use crate::terminal::{self, PLAIN_COLUMNS};
use anyhow::{Context, anyhow};
use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;
use fathom_door::output;
use std::path::Path;

/// Prints a completion script.
pub(crate) fn completions(shell: Shell) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command(PLAIN_COLUMNS), "fathom", &mut script);
    terminal::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}

/// Prints one man page, or writes all.
pub(crate) fn man(args: &ManArgs) -> anyhow::Result<Exit> {
    let mut whole = command(PLAIN_COLUMNS);
    whole.build();
    if let Some(dir) = &args.output {
        write_all(&whole, dir, args.force)?;
        return Ok(Exit::Done);
    }
    let page = find(&whole, &args.page)?;
    terminal::print(&String::from_utf8_lossy(&rendered(&Man::new(page.clone()))?))?;
    Ok(Exit::Done)
}

/// A page for the program and one for each command, those of its commands among them; none where one may not be written.
fn write_all(whole: &Command, dir: &Path, force: bool) -> anyhow::Result<()> {
    output::directory(dir)?;
    let mut commands = Vec::new();
    collect(whole, &mut commands);
    let mut pages = Vec::new();
    for command in commands {
        let page = Man::new(command.clone());
        let path = dir.join(page.get_filename());
        output::check(&path, force)?;
        pages.push((path, rendered(&page)?));
    }
    for (path, text) in pages {
        output::leave(&path, &text, force)?;
    }
    Ok(())
}

fn rendered(page: &Man) -> anyhow::Result<Vec<u8>> {
    let mut text = Vec::new();
    page.render(&mut text).context("cannot make the man page")?;
    Ok(text)
}

/// A command and all below it that are not hidden.
fn collect<'a>(command: &'a Command, all: &mut Vec<&'a Command>) {
    all.push(command);
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        collect(below, all);
    }
}

/// The command that these words name, one below the other.
fn find<'a>(whole: &'a Command, words: &[String]) -> anyhow::Result<&'a Command> {
    let mut found = whole;
    for word in words {
        found = found.find_subcommand(word).ok_or_else(|| {
            let names: Vec<&str> = found.get_subcommands().map(Command::get_name).collect();
            let of = found.get_bin_name().unwrap_or("fathom");
            if names.is_empty() {
                return anyhow!("`{word}`: {of} has no commands of its own");
            }
            anyhow!(
                "no command of {of} is called `{word}`: there are {}",
                names.join(", ")
            )
        })?;
    }
    Ok(found)
}
