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
    let page = match &args.page {
        None => whole,
        Some(name) => find(&whole, name)?,
    };
    terminal::print(&String::from_utf8_lossy(&rendered(&Man::new(page))?))?;
    Ok(Exit::Done)
}

/// A page for the program and one for each command; none where one may not be written.
fn write_all(whole: &Command, dir: &Path, force: bool) -> anyhow::Result<()> {
    output::directory(dir)?;
    let commands =
        std::iter::once(whole).chain(whole.get_subcommands().filter(|command| !command.is_hide_set()));
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

fn find(whole: &Command, name: &str) -> anyhow::Result<Command> {
    let found = whole.find_subcommand(name).cloned();
    found.ok_or_else(|| {
        let names: Vec<&str> = whole.get_subcommands().map(Command::get_name).collect();
        anyhow!("no command is called `{name}`: there are {}", names.join(", "))
    })
}
