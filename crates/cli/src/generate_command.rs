//! `fathom completions` and `fathom man`: made from the same definition as the parser.

use crate::args::{ManArgs, command};
use crate::exit::{AfterTouching as _, Exit};
use crate::terminal::{self, PLAIN_COLUMNS};
use anyhow::{Context, anyhow};
use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

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
        std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
        clap_mangen::generate_to(command(PLAIN_COLUMNS), dir)
            .with_context(|| format!("cannot write man pages into {}", dir.display()))
            .after_touching(|| vec![format!("the pages so far in {}", dir.display())])?;
        return Ok(Exit::Done);
    }
    let page = match &args.page {
        None => whole,
        Some(name) => find(&whole, name)?,
    };
    let mut text = Vec::new();
    Man::new(page)
        .render(&mut text)
        .context("cannot make the man page")?;
    terminal::print(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Done)
}

fn find(whole: &Command, name: &str) -> anyhow::Result<Command> {
    let found = whole.find_subcommand(name).cloned();
    found.ok_or_else(|| {
        let names: Vec<&str> = whole.get_subcommands().map(Command::get_name).collect();
        anyhow!("no command is called `{name}`: there are {}", names.join(", "))
    })
}
