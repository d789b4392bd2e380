//! `fathom catalog`: lists disks and virtual machines.
//!
//! Data in: what was asked for, the embedded catalogue or the files of another. Data out: a table, JSON or CSV on
//! stdout. It must not know what a model makes of a row.

mod export;
mod names;
mod table;

use crate::args::catalog::{CatalogArgs, Listing};
use crate::exit::Exit;
use crate::terminal::{self, Colour};
use crate::text_file::{self, Expected};
use anyhow::{Context, bail};
use fathom_model::Catalog;
use fathom_model::catalog::{Column, FILE_NAMES, Filter, Listed, SOURCES, Texts, disk_columns, vm_columns};
use std::borrow::Cow;
use std::path::Path;

/// What each of its files is.
const FILE: Expected = Expected::of("catalogue", 16);

/// Lists what is asked for.
pub(crate) fn catalog(args: &CatalogArgs) -> anyhow::Result<Exit> {
    let catalog = open(args.dir.as_deref())?;
    let (columns, rows) = match args.listing {
        Listing::Disks => (
            disk_columns(),
            catalog.listed_disks().map(|(_, row)| row).collect(),
        ),
        Listing::Vms => (vm_columns(), catalog.listed_vms().collect()),
        Listing::Sources => return sources(args),
    };
    let rows = names::named(rows, columns, &args.names)?;
    let rows = wanted(rows, columns, &args.filters)?;
    let text = if args.json {
        export::json(args.listing, columns, &rows)?
    } else if args.csv {
        export::csv(columns, &rows)
    } else {
        let style = terminal::stdout_style(Colour::Never);
        let text = table::text(args.listing, columns, &rows, style.width, args.dir.is_none());
        if style.unicode { text } else { ascii(&text) }
    };
    terminal::print(&text)?;
    if rows.is_empty() {
        terminal::note("no row meets the filter");
    }
    Ok(Exit::Done)
}

/// The rows that all filters want.
fn wanted<'a>(
    rows: Vec<Listed<'a>>,
    columns: &[Column],
    filters: &[String],
) -> anyhow::Result<Vec<Listed<'a>>> {
    let filters: Result<Vec<Filter>, _> = filters.iter().map(|text| Filter::parse(text, columns)).collect();
    let filters = filters?;
    let wants = |row: &Listed<'_>| filters.iter().all(|filter| filter.wants(&row.values));
    Ok(rows.into_iter().filter(wants).collect())
}

/// Prints the list of sources.
fn sources(args: &CatalogArgs) -> anyhow::Result<Exit> {
    let more = args.dir.is_some() || !args.names.is_empty() || !args.filters.is_empty();
    if more || args.json || args.csv {
        bail!(
            "`fathom catalog sources` lists those of the built-in catalogue, as text: leave the other flags out"
        );
    }
    terminal::print(SOURCES)?;
    Ok(Exit::Done)
}

/// The built-in catalogue, or that of a directory.
///
/// # Errors
/// Its three files cannot be read, or are not what they should be.
pub(crate) fn open(dir: Option<&Path>) -> anyhow::Result<Cow<'static, Catalog>> {
    let Some(dir) = dir else {
        return Ok(Cow::Borrowed(Catalog::azure()));
    };
    let from = dir.display().to_string();
    let [disks, flex_disks, vms] = FILE_NAMES.map(|name| {
        text_file::read(&dir.join(name), FILE)
            .with_context(|| format!("--catalog {from}: a catalogue has {}", FILE_NAMES.join(", ")))
    });
    let (disks, flex_disks, vms) = (disks?, flex_disks?, vms?);
    Ok(Cow::Owned(Catalog::read(Texts {
        from: &from,
        disks: &disks,
        flex_disks: &flex_disks,
        vms: &vms,
    })?))
}

/// The same for a terminal without more than ASCII.
fn ascii(text: &str) -> String {
    let plain = |letter: char| match letter {
        '–' => '-',
        letter if letter.is_ascii() => letter,
        _ => '?',
    };
    text.chars().map(plain).collect()
}

#[cfg(test)]
mod tests;
