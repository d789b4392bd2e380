//! Changes laid over a base, as tables of TOML that keep their places in the text.
//!
//! Data in: the file's table, the base's table. Data out: one table with the fields of [`crate::Spec`]. It must not know
//! which fields there are, but for the few that it has a rule for.

use super::Problem;
use crate::validate::DISKS_MAX;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

/// Tables that `"off"` takes away.
const OFF: [&str; 6] = ["vm", "host_cache", "seek", "crowding", "handling", "burst"];

type Table<'a> = Spanned<DeTable<'a>>;

/// Takes the text of `base` out of the table, and where it stands.
pub(super) fn take_base(table: &mut DeTable<'_>) -> Result<Option<(Range<usize>, String)>, Problem> {
    let Some(value) = table.remove("base") else {
        return Ok(None);
    };
    let span = value.span();
    match value.get_ref().as_str() {
        Some(text) => Ok(Some((span, text.trim_start_matches("model:").to_owned()))),
        None => Err((
            span,
            String::from("base: a target in words goes here, as in \"azure/P15\""),
        )),
    }
}

/// Moves all places in a table to `to`.
pub(super) fn moved(table: Table<'_>, to: usize) -> Table<'_> {
    let moved = table.into_inner().into_iter().map(|(key, value)| {
        let key = Spanned::new(to..to, key.into_inner());
        (key, moved_value(value.into_inner(), to))
    });
    Spanned::new(to..to, moved.collect())
}

fn moved_value(value: DeValue<'_>, to: usize) -> Spanned<DeValue<'_>> {
    let value = match value {
        DeValue::Table(table) => DeValue::Table(moved(Spanned::new(to..to, table), to).into_inner()),
        DeValue::Array(array) => {
            let moved = array.into_iter().map(|value| moved_value(value.into_inner(), to));
            DeValue::Array(moved.collect())
        }
        plain => plain,
    };
    Spanned::new(to..to, value)
}

/// Lays `changes` over `base`.
pub(super) fn onto<'a>(mut base: Table<'a>, mut changes: Table<'a>) -> Result<Table<'a>, Problem> {
    if let Some((span, _)) = take_count(changes.get_mut())? {
        return Err((
            span,
            String::from("disk_count is for a file without base: say it there, as in azure/3xP15"),
        ));
    }
    if let Some(disk) = take_disk(changes.get_mut())? {
        let disks = base.get_mut().get_mut("disks").map(Spanned::get_mut);
        if let Some(DeValue::Array(disks)) = disks {
            for each in disks.iter_mut() {
                if let DeValue::Table(table) = each.get_mut() {
                    lay(table, disk.clone());
                }
            }
        }
    }
    lay(base.get_mut(), changes.into_inner());
    Ok(base)
}

/// A file without a base: `[disk]` stands for `disk_count` of `[[disks]]`.
pub(super) fn standing_alone(mut whole: Table<'_>) -> Result<Table<'_>, Problem> {
    let count = take_count(whole.get_mut())?;
    match (take_disk(whole.get_mut())?, count) {
        (None, None) => {}
        (None, Some((span, _))) => {
            return Err((
                span,
                String::from("disk_count without [disk]: it says how many of that there are"),
            ));
        }
        (Some(disk), count) => {
            let (span, count) = count.unwrap_or((0..0, 1));
            let one = Spanned::new(span.clone(), DeValue::Table(disk));
            let disks = (0..count).map(|_| one.clone()).collect();
            let key = Spanned::new(span.clone(), "disks".into());
            let disks = Spanned::new(span, DeValue::Array(disks));
            whole.get_mut().insert(key, disks);
        }
    }
    let mut clean = DeTable::new();
    lay(&mut clean, whole.get_ref().clone());
    Ok(Spanned::new(whole.span(), clean))
}

/// Takes `disk` out of the table; it and `disks` exclude each other.
fn take_disk<'a>(table: &mut DeTable<'a>) -> Result<Option<DeTable<'a>>, Problem> {
    let Some(disk) = table.remove("disk") else {
        return Ok(None);
    };
    let span = disk.span();
    if table.contains_key("disks") {
        return Err((
            span,
            String::from("disk and disks: give the one table or the list, not both"),
        ));
    }
    match disk.into_inner() {
        DeValue::Table(disk) => Ok(Some(disk)),
        _ => Err((
            span,
            String::from("disk: a table goes here ([disk]); a list is written [[disks]]"),
        )),
    }
}

fn take_count(table: &mut DeTable<'_>) -> Result<Option<(Range<usize>, usize)>, Problem> {
    let Some(count) = table.remove("disk_count") else {
        return Ok(None);
    };
    let number = count.get_ref().as_integer();
    let number = number.filter(|number| number.radix() == 10);
    let number = number.map(DeInteger::as_str).and_then(|text| text.parse().ok());
    match number.filter(|number| (1..=DISKS_MAX).contains(number)) {
        Some(number) => Ok(Some((count.span(), number))),
        None => Err((
            count.span(),
            format!("disk_count: a whole number from 1 to {DISKS_MAX} goes here"),
        )),
    }
}

/// Where the value of a field (`disks[0].read.quantiles_us`) or else what holds it stands, if before `end`.
pub(super) fn place_of(table: &DeTable<'_>, field: &str, end: usize) -> Option<Range<usize>> {
    let names = field.split(['.', '[', ']']).filter(|name| !name.is_empty());
    let mut found = None;
    let mut table = Some(table);
    let mut list = None;
    for name in names {
        let value: Option<&Spanned<DeValue<'_>>> = match (table, list) {
            (Some(table), _) => table.get(name),
            (None, Some(list)) => name.parse().ok().and_then(|index: usize| <[_]>::get(list, index)),
            (None, None) => None,
        };
        let Some(value) = value else { break };
        found = Some(value.span()).filter(|span| span.start < end).or(found);
        table = value.get_ref().as_table();
        list = value.get_ref().as_array().map(|array| &**array);
    }
    found
}

/// Tables are changed field by field; anything else is replaced; `"off"` takes a table away.
fn lay<'a>(base: &mut DeTable<'a>, changes: DeTable<'a>) {
    for (key, change) in changes {
        let off = OFF.contains(&key.get_ref().as_ref()) && change.get_ref().as_str() == Some("off");
        let old = base.remove(key.get_ref().as_ref());
        if off {
            continue;
        }
        let span = change.span();
        let new = match (old.map(Spanned::into_inner), change.into_inner()) {
            (Some(DeValue::Table(mut old)), DeValue::Table(change)) => {
                lay(&mut old, change);
                DeValue::Table(old)
            }
            (_, DeValue::Table(change)) => {
                let mut new = DeTable::new();
                lay(&mut new, change);
                DeValue::Table(new)
            }
            (_, DeValue::Array(list)) => DeValue::Array(list.into_iter().map(without_off).collect()),
            (_, plain) => plain,
        };
        base.insert(key, Spanned::new(span, new));
    }
}

fn without_off(value: Spanned<DeValue<'_>>) -> Spanned<DeValue<'_>> {
    let span = value.span();
    match value.into_inner() {
        DeValue::Table(table) => {
            let mut clean = DeTable::new();
            lay(&mut clean, table);
            Spanned::new(span, DeValue::Table(clean))
        }
        plain => Spanned::new(span, plain),
    }
}
