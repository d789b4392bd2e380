//! Which disks are served: from words to specifications, and what holds their data.
//!
//! Data in: arguments as typed. Data out: names, specifications, open files. It must not know how they are served.

use crate::args::disk::ServeArgs;
use crate::model_target;
use crate::target::{self, Target};
use anyhow::{Context, bail, ensure};
use fathom_disk::DiskOptions;
use fathom_door::backing;
use fathom_model::Spec;
use fathom_observe::SystemRoot;
use fathom_observe::safety::{self, Change, Refusal, WriteRequest};
use std::path::{Path, PathBuf};

/// What one disk is called where nobody says.
const NAME: &str = "disk";
/// Names are those of files and of exports.
const NAME_BYTES_MAX: usize = 32;

/// The disks, in their order.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) names: Vec<String>,
    /// `None`: they take no time.
    pub(super) specs: Option<Vec<Spec>>,
}

/// The disks that are asked for.
///
/// # Errors
/// What is wrong with the words.
pub(super) fn chosen(args: &ServeArgs) -> anyhow::Result<Chosen> {
    let Some(given) = &args.target else {
        ensure!(
            !args.disks.is_empty(),
            "say which disk: fathom disk serve model:azure/P15 --at DIR (fathom catalog disks lists them)"
        );
        return several(args, "");
    };
    let words = given.to_string_lossy();
    if !args.disks.is_empty() {
        let Some(base) = words.strip_prefix("model:") else {
            bail!("{words}: with --disk, the target names the cloud and the machine: model:azure,vm=NAME");
        };
        return several(args, base);
    }
    match target::resolve(given)? {
        Target::Model(words) => Ok(Chosen {
            names: vec![String::from(NAME)],
            specs: Some(vec![model_target::load(&words, args.catalog.as_deref())?]),
        }),
        Target::Null => {
            ensure!(args.size.is_some(), "null: has no size of its own: add --size");
            Ok(Chosen {
                names: vec![String::from(NAME)],
                specs: None,
            })
        }
        Target::File(_) | Target::Directory(_) => {
            bail!(
                "{words}: only a modelled disk is served: model:azure/P15 (fathom catalog disks lists them), or null:"
            )
        }
    }
}

/// Disks by `--disk NAME=DISK`: each word with what `base` (`azure,vm=NAME`) says of all.
fn several(args: &ServeArgs, base: &str) -> anyhow::Result<Chosen> {
    let (cloud, rest) = base.split_once(',').unwrap_or((base, ""));
    ensure!(
        !cloud.contains('/'),
        "model:{base}: with --disk, the target names the cloud and the machine only: model:azure,vm=NAME"
    );
    let mut chosen = Chosen {
        names: Vec::new(),
        specs: Some(Vec::new()),
    };
    for given in &args.disks {
        let Some((name, disk)) = given.split_once('=') else {
            bail!("--disk {given}: write NAME=DISK, as data=P30");
        };
        check_name(name, &chosen.names).with_context(|| format!("--disk {given}"))?;
        let disk = disk.strip_prefix("model:").unwrap_or(disk);
        let mut words = if disk.contains('/') || model_target::is_model_file(disk) {
            disk.to_owned()
        } else if cloud.is_empty() {
            bail!("--disk {given}: say of which cloud: {name}=azure/{disk}, or model:azure before all disks");
        } else {
            format!("{cloud}/{disk}")
        };
        if !rest.is_empty() && !model_target::is_model_file(&words) {
            words = format!("{words},{rest}");
        }
        let spec = model_target::load(&words, args.catalog.as_deref());
        let spec = spec.with_context(|| format!("--disk {given}"))?;
        chosen.names.push(name.to_owned());
        chosen.specs.get_or_insert_default().push(spec);
    }
    Ok(chosen)
}

fn check_name(name: &str, known: &[String]) -> anyhow::Result<()> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    ensure!(
        (1..=NAME_BYTES_MAX).contains(&name.len()) && name.chars().all(plain),
        "a disk's name is made of letters, digits, - and _, at most {NAME_BYTES_MAX} of them"
    );
    ensure!(
        !known.iter().any(|other| other == name),
        "two disks have this name"
    );
    Ok(())
}

/// What holds the data of each, made where it is missing.
///
/// # Errors
/// A file that may not be used, or has another size.
pub(super) fn backings(args: &ServeArgs, chosen: &Chosen) -> anyhow::Result<Vec<DiskOptions>> {
    let mut options = Vec::new();
    for (number, name) in chosen.names.iter().enumerate() {
        let model_bytes = chosen.specs.as_ref().map(|specs| specs[number].volume_bytes());
        let path = file_of(args, chosen, name);
        let there = match &path {
            Some(path) => backing::size_of(path).context("--backing")?,
            None => None,
        };
        let size_bytes = args.size.or(there).or(model_bytes).unwrap_or(0);
        ensure!(
            size_bytes >= 4096 && size_bytes.is_multiple_of(512),
            "--size: a disk has whole sectors of 512 bytes, and 4 KiB at least"
        );
        if let Some(model_bytes) = model_bytes.filter(|model| *model < size_bytes) {
            bail!(
                "{name}: {} are more than the modelled disk has ({})",
                fathom_core::units::Bytes(size_bytes),
                fathom_core::units::Bytes(model_bytes)
            );
        }
        let file = match &path {
            None => backing::memory(name, size_bytes).context("no memory for the disk")?,
            Some(path) => {
                let overwrite = args.allow_overwrite.iter().any(|named| named == path);
                if there.is_some() {
                    // Its lock is looked at as well, before it is this server's.
                    refuse_used(path).context("--backing")?;
                }
                let file = backing::file(path, size_bytes, overwrite).context("--backing")?;
                if there.is_some() && args.mkfs.is_some() && !overwrite {
                    backing::refuse_data(&file, path)?;
                }
                file
            }
        };
        options.push(DiskOptions {
            name: name.clone(),
            file,
            size_bytes,
            cache_bytes: args.write_cache,
        });
    }
    Ok(options)
}

/// Refuses a file that somebody else uses: a loop device over it, a swap area in it, a process that has it open for writing. What
/// it holds is the user's to serve.
fn refuse_used(path: &Path) -> Result<(), Refusal> {
    let request = WriteRequest {
        path,
        allow_overwrite: &[path.to_owned()],
        allow_signature: true,
        change: Change::Overwrite,
        commands: false,
    };
    safety::foresee(&SystemRoot::default(), request).map(drop)
}

/// The file that holds a disk's data; `None`: memory does.
fn file_of(args: &ServeArgs, chosen: &Chosen, name: &str) -> Option<PathBuf> {
    if args.backing == Path::new("memory") {
        return None;
    }
    if chosen.names.len() == 1 {
        return Some(args.backing.clone());
    }
    let mut path = args.backing.clone().into_os_string();
    path.push(".");
    path.push(name);
    Some(PathBuf::from(path))
}
