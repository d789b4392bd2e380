//! Recordings in object storage: what was seen in each, made where it ran.
//!
//! Data in: a prefix. Data out: a [`Recorded`] for each run; those that ask for most are carried out on the model. It must not read
//! their records.

use super::recorded::{Origin, Recorded};
use crate::part::SeenPart;
use crate::stored;
use anyhow::{Context as _, bail};
use fathom_cluster::prefix::ALONE_RUN;
use fathom_plan::seen::{Amounts, Recording};
use std::path::Path;

/// Of a second's amounts.
const BUSIEST_PERCENT: f64 = 99.9;

/// What there is to plan from in a run directory; `None`: nothing was read or written.
pub(crate) fn seen_of(dir: &Path) -> anyhow::Result<Option<SeenPart>> {
    let recorded = Recorded::opened(dir, None)?;
    let recording = recorded.recording;
    let is_there = recording.seen.total().ios() > 0;
    Ok(is_there.then(|| SeenPart {
        seen: recording.seen.kept(),
        devices: recording.devices,
        aside: recording.aside,
        dropped: recording.dropped,
        above_cache: recording.above_cache,
    }))
}

impl Recorded {
    /// All runs of a prefix: a layout has to carry each of them. Three of them are replayed: with the most I/Os a second, the most
    /// bytes a second, and the most bytes in all.
    ///
    /// # Errors
    /// There are none, or nothing was read or written in any.
    pub(in crate::commands::plan) fn of_prefix(
        prefix: &Path,
        device: Option<&str>,
    ) -> anyhow::Result<Vec<Self>> {
        if device.is_some() {
            bail!(
                "--device: {} has sums of all devices of each run: give it with the directory of one",
                prefix.display()
            );
        }
        let mut all = Vec::new();
        let there = stored::each(prefix, |key, part| {
            let Some(of) = part.seen.filter(|_| !key.run.ends_with(ALONE_RUN)) else {
                return Ok(());
            };
            let start_ns = of.seen.start_ns;
            let volume_bytes = of.seen.end_bytes;
            let seen = of
                .seen
                .seen()
                .context("its sums by the second are none that a load can have")?;
            all.push(Self {
                origin: Origin::Sums { volume_bytes },
                start_ns,
                spans: Vec::new(),
                recording: Recording {
                    name: stored::named(key),
                    seen,
                    devices: of.devices,
                    aside: of.aside,
                    dropped: of.dropped,
                    above_cache: of.above_cache,
                },
                replayed: false,
            });
            Ok(())
        })?;
        let most = |of: &dyn Fn(&Self) -> u64| (0..all.len()).max_by_key(|&place| of(&all[place]));
        let busiest =
            |of: fn(&Amounts) -> u64| move |one: &Self| one.recording.seen.percentile(BUSIEST_PERCENT, of);
        let picked = [
            most(&busiest(|second| second.units)),
            most(&busiest(Amounts::bytes)),
            most(&|one| one.recording.seen.total().bytes()),
        ];
        if all.is_empty() {
            bail!(
                "--from {}: no read or write is in any of its {there} runs: there is nothing to plan from",
                prefix.display()
            );
        }
        let of = all.len();
        for place in picked.into_iter().flatten() {
            let one = &mut all[place];
            if !one.replayed {
                one.replayed = true;
                one.spans = one.recording.seen.spans();
                one.recording.name = format!(
                    "{} (of {of} in {}, one of the busiest)",
                    one.recording.name,
                    prefix.display()
                );
            }
        }
        Ok(all)
    }
}
