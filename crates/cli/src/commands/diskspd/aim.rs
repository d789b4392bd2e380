//! `--on`: other places for the targets of a profile.
//!
//! Data in: a profile, a target. Data out: the same profile on it. It must not know flags.

use crate::target::Target;
use anyhow::bail;
use fathom_dialect::diskspd::Profile;
use std::collections::BTreeSet;
use std::path::Path;

/// Puts the targets into a directory, or another file or device in the place of the only one. A modelled disk holds files of
/// all names.
///
/// # Errors
/// There are several targets and one place.
pub(super) fn aim(profile: &mut Profile, on: &Target) -> anyhow::Result<()> {
    let targets = || profile.time_spans.iter().flat_map(|span| &span.targets);
    let names: BTreeSet<&str> = targets().map(|target| target.path.as_str()).collect();
    let place = |name: &str| -> anyhow::Result<String> {
        Ok(match on {
            Target::Model(_) => name.to_owned(),
            Target::File(path) if names.len() == 1 => path.display().to_string(),
            Target::File(path) => bail!(
                "--on {}: one file or device for {} targets ({}): give a directory, or name the targets themselves",
                path.display(),
                names.len(),
                names.iter().copied().collect::<Vec<_>>().join(", ")
            ),
            Target::Directory(dir) => {
                let file = Path::new(name).file_name().unwrap_or(name.as_ref());
                dir.join(file).display().to_string()
            }
            Target::Null => {
                bail!("--on null: is not for diskspd: fathom run --on null: measures fathom itself")
            }
        })
    };
    let moved: Vec<String> = targets()
        .map(|target| place(&target.path))
        .collect::<Result<_, _>>()?;
    if let Target::Directory(dir) = on
        && moved.iter().collect::<BTreeSet<_>>().len() < names.len()
    {
        bail!(
            "--on {}: two of the targets would be the same file there: give them different names",
            dir.display()
        );
    }
    let targets = profile.time_spans.iter_mut().flat_map(|span| &mut span.targets);
    targets.zip(moved).for_each(|(target, path)| target.path = path);
    Ok(())
}
