//! What a cloud is, beside its rows: its name, how it releases limits, its families of disks and how long they take.
//!
//! Data in: the text of a `cloud.toml`. Data out: [`Cloud`]. It must not know disks and virtual machines.
//!
//! ```toml
//! name = "azure"
//! title = "Microsoft Azure"
//!
//! [release]                                # of limits
//! slice_ns = 50_000_000                    # 0: evenly, each I/O at a time of its own
//! factor_permille = 1020                   # of the nominal limit
//! origin = "where that is from"
//!
//! [quantiles_us]                           # tables that services name: [percentile, microseconds]
//! reads = [[0, 2000], [50, 2400], [100, 48000]]
//!
//! [[families]]
//! name = "premium"                         # in targets and flags
//! title = "Premium SSD"
//! sizes = "fixed"                          # disks.csv; "free": flex-disks.csv
//!
//! [[families.services]]
//! year = 2019
//! read = { table = "reads", ns_per_kib = 6_400, origin = "fitted to …" }
//! write = { table = "reads", ns_per_kib = 20_000, origin = "fitted to …" }
//! ```

use super::family::{About, Directions, Family, Released, Said, Scope, Services};
use super::rows::{self, CatalogError, Problem};
use crate::spec::{CrowdingSpec, SeekSpec, ServiceSpec, SliceSpec};
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

/// A cloud.
#[derive(Debug, Clone, PartialEq)]
pub struct Cloud {
    /// As targets begin: `azure`.
    pub name: String,
    /// As it calls itself.
    pub title: String,
    /// How limits are released.
    pub release: SliceSpec,
    /// Where that is from.
    pub release_origin: String,
    /// Its families of disks, in the order of the file.
    pub families: Vec<Family>,
    /// What is to be known of all that is said of it.
    pub notes: Vec<String>,
    /// What is to be known of machines that burst on credit; empty: nothing.
    pub machine_burst_note: String,
}

/// The size that tables of services are of.
const REFERENCE_BYTES: u64 = 4_096;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: Spanned<String>,
    title: String,
    #[serde(default)]
    notes: Vec<String>,
    #[serde(default)]
    machine_burst_note: String,
    release: Spanned<Release>,
    #[serde(default)]
    quantiles_us: BTreeMap<String, Spanned<Vec<(f64, f64)>>>,
    families: Vec<Spanned<WholeFamily>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Release {
    slice_ns: u64,
    factor_permille: u64,
    origin: String,
}

/// A family with its services, as the file has it.
#[derive(Deserialize)]
struct WholeFamily {
    services: Vec<Spanned<Year>>,
    #[serde(flatten)]
    rest: toml::Table,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Year {
    #[serde(rename = "year")]
    of: u16,
    read: Service,
    write: Service,
    #[serde(default)]
    seek: Option<SeekSpec>,
    #[serde(default)]
    crowding: Option<CrowdingSpec>,
    #[serde(default)]
    released: Released,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Service {
    table: Spanned<String>,
    ns_per_kib: u64,
    origin: String,
}

/// What is wrong, and from which byte of the text on.
type Wrong = (usize, String);

/// Reads a `cloud.toml`, called `file` in messages. Its families are kept for as long as the program runs.
///
/// # Errors
/// The first thing that is wrong, with line and character.
pub(super) fn read(file: &str, text: &str) -> Result<Cloud, CatalogError> {
    let checked = parse(file, text)?;
    Ok(Cloud {
        families: checked.families.into_iter().map(Family::new).collect(),
        ..checked.cloud
    })
}

/// Whether `text` is a `cloud.toml`: nothing of it is kept.
///
/// # Errors
/// As when a catalogue is read.
pub fn check_cloud(file: &str, text: &str) -> Result<(), CatalogError> {
    parse(file, text).map(drop)
}

/// A cloud, and what its families will be made of.
struct Checked {
    /// Without families.
    cloud: Cloud,
    families: Vec<About>,
}

fn parse(file: &str, text: &str) -> Result<Checked, CatalogError> {
    let error = |(at, problem): Wrong| {
        let before = text.get(..at).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        CatalogError {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            problem: Problem::Cloud(problem),
        }
    };
    let malformed = |problem: toml::de::Error| {
        let at = problem.span().map_or(0, |span| span.start);
        error((at, problem.message().trim().replace('\n', ", ")))
    };
    let table: toml::Table = toml::from_str(text).map_err(malformed)?;
    if let Some(letter) = table
        .iter()
        .find_map(|(key, value)| obeyed(key).or_else(|| obeyed_in(value)))
    {
        // Written as an escape: TOML has no such character as it is.
        let escapes = ["\\u", "\\U", "\\x", "\\e", "\\b", "\\f"];
        let at = escapes.iter().filter_map(|escape| text.find(escape)).min();
        return Err(error((at.unwrap_or(0), Problem::Control(letter).to_string())));
    }
    let whole: File = toml::from_str(text).map_err(malformed)?;
    cloud(whole).map_err(error)
}

/// The first character of a text that a terminal would obey.
fn obeyed(text: &str) -> Option<char> {
    text.chars()
        .find(|letter| letter.is_control() && !matches!(letter, '\t' | '\n' | '\r'))
}

/// The same of all texts in a value.
fn obeyed_in(value: &toml::Value) -> Option<char> {
    match value {
        toml::Value::String(text) => obeyed(text),
        toml::Value::Array(values) => values.iter().find_map(obeyed_in),
        toml::Value::Table(table) => table
            .iter()
            .find_map(|(key, value)| obeyed(key).or_else(|| obeyed_in(value))),
        _ => None,
    }
}

fn cloud(file: File) -> Result<Checked, Wrong> {
    let name = file.name.get_ref();
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-') {
        let problem = format!("name: `{name}`: lower-case letters go here, as targets begin with them");
        return Err((file.name.span().start, problem));
    }
    let release = file.release.get_ref();
    let slices = SliceSpec {
        slice_ns: release.slice_ns,
        factor_permille: release.factor_permille,
    };
    if let Err(invalid) = slices.validate() {
        return Err((file.release.span().start, invalid.to_string()));
    }
    if file.families.is_empty() {
        return Err((0, String::from("families: a cloud has at least one")));
    }
    let mut families: Vec<About> = Vec::with_capacity(file.families.len());
    for (place, family) in file.families.into_iter().enumerate() {
        let at = family.span().start;
        let about = about(name, place, family, &file.quantiles_us)?;
        if families
            .iter()
            .any(|earlier| earlier.said.name == about.said.name || earlier.said.title == about.said.title)
        {
            return Err((at, format!("families: `{}` is there already", about.said.name)));
        }
        families.push(about);
    }
    let cloud = Cloud {
        name: name.clone(),
        title: file.title,
        release: slices,
        release_origin: release.origin.clone(),
        families: Vec::new(),
        notes: file.notes,
        machine_burst_note: file.machine_burst_note,
    };
    Ok(Checked { cloud, families })
}

type Tables = BTreeMap<String, Spanned<Vec<(f64, f64)>>>;

fn about(cloud: &str, place: usize, family: Spanned<WholeFamily>, tables: &Tables) -> Result<About, Wrong> {
    let at = family.span().start;
    let family = family.into_inner();
    let said = Said::deserialize(family.rest)
        .map_err(|problem| (at, format!("families: {}", problem.message().replace('\n', ", "))))?;
    for word in std::iter::once(&said.name).chain(&said.words) {
        if !rows::is_word(word) {
            return Err((at, format!("families: `{word}`: {}", rows::NAME_WANTED)));
        }
    }
    if said.scope == Scope::Disk && said.directions == Directions::Apart {
        let problem = format!(
            "families: `{}`: directions = \"apart\" goes with scope = \"machine\" only",
            said.name
        );
        return Err((at, problem));
    }
    if said.scope == Scope::Machine && said.counting.burst_mbps_need_io_credit {
        let problem = format!(
            "families: `{}`: burst_mbps_need_io_credit goes with scope = \"disk\" only",
            said.name
        );
        return Err((at, problem));
    }
    if family.services.is_empty() {
        return Err((
            at,
            format!(
                "families: `{}` has no services: give one year's at least",
                said.name
            ),
        ));
    }
    let mut services: Vec<Services> = Vec::with_capacity(family.services.len());
    for year in family.services {
        let at = year.span().start;
        let year = services_of(year.into_inner(), tables)?;
        if services.last().is_some_and(|earlier| earlier.year >= year.year) {
            return Err((
                at,
                format!("services: {} comes after a later year: years ascend", year.year),
            ));
        }
        services.push(year);
    }
    Ok(About {
        cloud: cloud.to_owned(),
        place,
        said,
        services,
    })
}

fn services_of(year: Year, tables: &Tables) -> Result<Services, Wrong> {
    let service = |said: Service| {
        let name = said.table.get_ref();
        let table = tables.get(name).ok_or_else(|| {
            (
                said.table.span().start,
                format!("table: there is no `{name}` in [quantiles_us]"),
            )
        })?;
        let service = ServiceSpec {
            quantiles_us: table.get_ref().clone(),
            reference_bytes: REFERENCE_BYTES,
            ns_per_kib: said.ns_per_kib,
            origin: said.origin,
        };
        let checked = service.validate(&format!("quantiles_us.{name}"));
        checked.map_err(|invalid| (table.span().start, invalid.to_string()))?;
        Ok(service)
    };
    Ok(Services {
        year: year.of,
        read: service(year.read)?,
        write: service(year.write)?,
        seek: year.seek,
        crowding: year.crowding,
        released: year.released,
    })
}
