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
use fathom_model::catalog::{
    Column, Filter, Listed, Texts, disk_columns, file_name, limit_columns, vm_columns,
};
use std::borrow::Cow;
use std::path::Path;

/// What each of its files is.
const FILE: Expected = Expected::of("catalogue", 16);

/// Lists what is asked for.
pub(crate) fn catalog(args: &CatalogArgs) -> anyhow::Result<Exit> {
    let catalog = of_cloud(args)?;
    let (columns, rows) = match args.listing {
        Listing::Disks => (
            disk_columns(),
            catalog.listed_disks().map(|(_, row)| row).collect(),
        ),
        Listing::Vms => (vm_columns(), catalog.listed_vms().collect()),
        Listing::Limits => (limit_columns(), limits(&catalog)?),
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
        let text = table::text(args.listing, columns, &rows, style.width, &about(&catalog, args));
        if style.unicode { text } else { ascii(&text) }
    };
    terminal::print(&text)?;
    if rows.is_empty() {
        terminal::note("no row meets the filter");
    }
    Ok(Exit::Done)
}

/// The catalogue that is asked for: of a directory, or the built-in one of a cloud.
fn of_cloud(args: &CatalogArgs) -> anyhow::Result<Cow<'static, Catalog>> {
    let Some(cloud) = &args.cloud else {
        return open(args.dir.as_deref());
    };
    match Catalog::named(cloud) {
        Some(catalog) => Ok(Cow::Borrowed(catalog)),
        None => bail!(
            "--cloud {cloud}: no catalogue of it is built in: there are {}; --catalog DIR reads one of your own",
            Catalog::names().collect::<Vec<_>>().join(", ")
        ),
    }
}

/// The limits of machines by family of disks.
fn limits(catalog: &Catalog) -> anyhow::Result<Vec<Listed<'_>>> {
    if catalog.vm_limits().is_empty() {
        bail!(
            "machines of {} have the same limits for disks of every family: fathom catalog vms",
            catalog.cloud()
        );
    }
    Ok(catalog.listed_limits().collect())
}

/// What is to be known of all rows of a catalogue.
fn about(catalog: &Catalog, args: &CatalogArgs) -> table::About {
    let of_cloud = args
        .cloud
        .as_ref()
        .map_or_else(String::new, |cloud| format!(" --cloud {cloud}"));
    table::About {
        limits: (!catalog.vm_limits().is_empty())
            .then(|| format!("Machines have limits by family of disks: fathom catalog limits{of_cloud}")),
        sources: if args.dir.is_none() {
            format!(
                "Sources: documentation and price lists as published in public repositories: fathom catalog sources{of_cloud}"
            )
        } else {
            String::from("Sources: the column `source` (--csv).")
        },
    }
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
    let cloud = of_cloud(args)?.cloud().to_owned();
    terminal::print(Catalog::sources(&cloud).unwrap_or_default())?;
    Ok(Exit::Done)
}

/// The built-in catalogue of the first cloud, or that of a directory.
///
/// # Errors
/// Its files cannot be read, or are not what they should be.
pub(crate) fn open(dir: Option<&Path>) -> anyhow::Result<Cow<'static, Catalog>> {
    let Some(dir) = dir else {
        return Ok(Cow::Borrowed(Catalog::azure()));
    };
    let from = dir.display().to_string();
    if !dir.is_dir() {
        bail!(
            "--catalog {from}: that is no directory: give one with {}",
            file_name::ALL.join(", ")
        );
    }
    let mut texts: Vec<Option<String>> = Vec::new();
    for name in file_name::ALL {
        let path = dir.join(name);
        // A directory with a cloud.toml says itself which files it has; which are needed, the reader says.
        let text = path.exists().then(|| text_file::read(&path, FILE)).transpose();
        texts.push(text.with_context(|| format!("--catalog {from}"))?);
    }
    let texts: Vec<Option<&str>> = texts.iter().map(Option::as_deref).collect();
    let [cloud, disks, flex_disks, vms, vm_limits, prices] = texts[..] else {
        unreachable!("one text a name");
    };
    let texts = Texts {
        from: &from,
        cloud,
        disks,
        flex_disks,
        vms,
        vm_limits,
        prices,
    };
    let read = Catalog::read(texts);
    read.map(Cow::Owned)
        .with_context(|| format!("--catalog {from}: a catalogue has {}", file_name::ALL.join(", ")))
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
