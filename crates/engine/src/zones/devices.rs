//! The zoned devices of a run: asked once, before the load, and the calls that change their zones.
//!
//! Data in: the plan, what devices report. Data out: a table for each, or why the plan cannot be carried out on them. It changes
//! nothing but by [`carry_out`], on files that were opened with leave to write.

use super::worker::{OfFile, ZoneCommand};
use super::{Action, ZoneTable};
use crate::plan::{FilePlan, JobPlan, Kind, Plan, WorkerFiles, zoned as planned};
use fathom_core::units::Bytes;
use fathom_core::workload::ZoneRules;
use fathom_sys::zoned::{self, Zone, ZoneCondition, ZoneKind};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Why the zones of a device cannot be used as a job wants. Nothing was touched.
#[derive(Debug, thiserror::Error)]
pub enum ZonesError {
    /// The system would not say.
    #[error("{path}: cannot ask for its zones: {source}")]
    Ask {
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Jobs divide a file in different ways.
    #[error(
        "{path}: its jobs give it zones of different sizes: give all of them one zonesize= and one zonecapacity="
    )]
    Differ { path: PathBuf },
    /// A block does not fit a zone.
    #[error(
        "{job}: a block of {block} does not fit a zone of {path}, which holds {capacity}: give a smaller bs="
    )]
    BlockTooLarge {
        job: String,
        path: PathBuf,
        /// The largest block.
        block: Bytes,
        /// The least that a zone holds.
        capacity: Bytes,
    },
    /// More zones than the device has room for.
    #[error(
        "{path}: max_open_zones={wanted} is more than the {allowed} that the device allows: lower it, or give \
         ignore_zone_limits=1"
    )]
    AboveDevice {
        path: PathBuf,
        wanted: u32,
        /// What the device allows, less what others hold.
        allowed: u32,
    },
    /// Zones are written in part before the job begins, and more of them than may be.
    #[error(
        "{path}: {written} of its zones are written in part, and {allowed} may be: empty some (blkzone reset), make some full \
         (blkzone finish), or allow more with max_open_zones="
    )]
    TooManyOpen {
        path: PathBuf,
        written: u32,
        allowed: u32,
    },
}

/// One file of one worker, as its job uses it.
struct Use<'p> {
    /// The number of the job, of the worker and of its file.
    of: (usize, u32, usize),
    job: &'p JobPlan,
    rules: ZoneRules,
    file: &'p FilePlan,
}

/// A device, or what is taken for one.
#[derive(Debug)]
struct Device {
    table: Arc<ZoneTable>,
    /// Whose each claim is: as [`Use::of`].
    claims: Vec<(usize, u32, usize)>,
}

/// All files of a run that are used by their zones.
#[derive(Debug, Default)]
pub(crate) struct ZonedFiles {
    devices: BTreeMap<PathBuf, Device>,
}

impl ZonedFiles {
    /// Asks all zoned devices of a plan for their zones.
    ///
    /// # Errors
    /// See [`ZonesError`].
    pub(crate) fn new(plan: &Plan) -> Result<Self, ZonesError> {
        let mut by_path: BTreeMap<PathBuf, Vec<Use<'_>>> = BTreeMap::new();
        for (at, job) in plan.jobs.iter().enumerate() {
            let Some(rules) = job.job.pattern.zones else {
                continue;
            };
            for (number, worker) in (0..).zip(&job.workers) {
                for (index, file) in worker.files.iter().enumerate() {
                    let of = (at, number, index);
                    let uses = by_path.entry(key(file)).or_default();
                    uses.push(Use { of, job, rules, file });
                }
            }
        }
        let device = |(path, uses): (PathBuf, Vec<Use<'_>>)| device(&uses).map(|device| (path, device));
        Ok(Self {
            devices: by_path.into_iter().map(device).collect::<Result<_, _>>()?,
        })
    }

    /// Those of one worker; `None`: its job does not go by zones.
    pub(crate) fn of(
        &self,
        job: &JobPlan,
        at: usize,
        number: u32,
        files: &WorkerFiles,
    ) -> Option<Vec<OfFile>> {
        job.job.pattern.zones?;
        let of_file = |(index, file): (usize, &FilePlan)| {
            let device = self.devices.get(&key(file))?;
            let claim = device.claims.iter().position(|&of| of == (at, number, index))?;
            Some(OfFile {
                table: Arc::clone(&device.table),
                claim,
                span: file.span,
            })
        };
        files.files.iter().enumerate().map(of_file).collect()
    }
}

/// Paths that lead to one device are one.
fn key(file: &FilePlan) -> PathBuf {
    let plain =
        matches!(file.kind, Kind::Regular | Kind::Block).then(|| std::fs::canonicalize(&file.path).ok());
    plain.flatten().unwrap_or_else(|| file.path.clone())
}

/// The table of the file of all these.
fn device(uses: &[Use<'_>]) -> Result<Device, ZonesError> {
    let Some(first) = uses.first() else {
        return Ok(Device {
            table: Arc::new(ZoneTable::made_up(1, 1, 1, 0, &[])),
            claims: Vec::new(),
        });
    };
    let path = &first.file.path;
    let ask = |source| ZonesError::Ask {
        path: path.clone(),
        source,
    };
    let own_bytes = match first.file.kind {
        Kind::Block => planned::device_zone_bytes(path).map_err(ask)?,
        _ => 0,
    };
    let claims_of = |zone_bytes: u64| -> Vec<(u32, u32)> {
        let zone = |offset: u64| u32::try_from(offset / zone_bytes.max(1)).unwrap_or(u32::MAX);
        let claim = |each: &Use<'_>| {
            let span = each.file.span;
            (zone(span.start), zone(span.start + span.bytes.max(1) - 1) + 1)
        };
        uses.iter().map(claim).collect()
    };
    let table = if own_bytes > 0 {
        let zones = zoned::zones(&File::open(path).map_err(ask)?).map_err(ask)?;
        let claims = claims_of(own_bytes);
        check_blocks(uses, &claims, |number| {
            zones.get(number as usize).map_or(0, |zone| zone.capacity_bytes)
        })?;
        let limit = limit(uses, &zones, &claims, planned::limits_of(path))?;
        ZoneTable::new(&zones, true, limit, &claims)
    } else {
        let sizes = |rules: &ZoneRules| (rules.size_bytes, rules.capacity_bytes);
        if uses.iter().any(|each| sizes(&each.rules) != sizes(&first.rules)) {
            return Err(ZonesError::Differ { path: path.clone() });
        }
        let (zone_bytes, capacity) = planned::made_up_zone(&first.rules);
        let claims = claims_of(zone_bytes);
        check_blocks(uses, &claims, |_| capacity)?;
        let count = claims.iter().map(|claim| claim.1).max().unwrap_or(1);
        ZoneTable::made_up(zone_bytes, capacity, count, wanted(uses), &claims)
    };
    Ok(Device {
        table: Arc::new(table),
        claims: uses.iter().map(|each| each.of).collect(),
    })
}

/// How many zones all jobs of a file together allow to be written in part; 0: any number.
fn wanted(uses: &[Use<'_>]) -> u32 {
    let given = uses
        .iter()
        .map(|each| each.rules.max_open)
        .filter(|&zones| zones > 0);
    given.min().unwrap_or(0)
}

fn check_blocks(
    uses: &[Use<'_>],
    claims: &[(u32, u32)],
    capacity_of: impl Fn(u32) -> u64,
) -> Result<(), ZonesError> {
    for (each, &(first, end)) in uses.iter().zip(claims) {
        let capacity = (first..end).map(&capacity_of).filter(|&bytes| bytes > 0).min();
        let block = each.job.job.max_block_bytes();
        if let Some(capacity) = capacity.filter(|&capacity| capacity < block) {
            return Err(ZonesError::BlockTooLarge {
                job: each.job.job.name.clone(),
                path: each.file.path.clone(),
                block: Bytes(block),
                capacity: Bytes(capacity),
            });
        }
    }
    Ok(())
}

/// How many zones of a device may be written in part at a time; 0: any number.
fn limit(
    uses: &[Use<'_>],
    zones: &[Zone],
    claims: &[(u32, u32)],
    device: planned::DeviceLimits,
) -> Result<u32, ZonesError> {
    let path = || uses[0].file.path.clone();
    let writes = |each: &Use<'_>| each.job.job.pattern.mix.uses()[1];
    if !uses.iter().any(writes) {
        return Ok(0);
    }
    let is_written = |number: u32| {
        let mut of_writers = uses.iter().zip(claims).filter(|(each, _)| writes(each));
        of_writers.any(|(_, &(first, end))| (first..end).contains(&number))
    };
    let in_part = |zone: &&Zone| {
        zone.kind == ZoneKind::Sequential
            && matches!(zone.condition, ZoneCondition::Open | ZoneCondition::Closed)
    };
    let numbers = zones.iter().zip(0u32..).filter(|(zone, _)| in_part(zone));
    let (inside, outside): (Vec<u32>, Vec<u32>) =
        numbers.map(|(_, number)| number).partition(|&n| is_written(n));
    let (inside, outside) = (inside.len() as u32, outside.len() as u32);
    let ignores = uses.iter().all(|each| each.rules.ignores_limits);
    let wanted = wanted(uses);
    let given = |limit: u32| (limit > 0).then_some(limit);
    // Zones that others have begun hold what the device has for them.
    let active = given(device.max_active).map(|most| most.saturating_sub(outside));
    let allowed = [given(device.max_open), active].into_iter().flatten().min();
    let limit = match (allowed, given(wanted)) {
        (None, wanted) => wanted,
        (Some(_), wanted) if ignores => wanted,
        (Some(allowed), Some(wanted)) if wanted > allowed => {
            return Err(ZonesError::AboveDevice {
                path: path(),
                wanted,
                allowed,
            });
        }
        (Some(allowed), wanted) => Some(wanted.unwrap_or(allowed)),
    };
    match limit {
        Some(allowed) if inside > allowed || allowed == 0 => Err(ZonesError::TooManyOpen {
            path: path(),
            written: inside + outside,
            allowed: if allowed == 0 { device.max_active } else { allowed },
        }),
        limit => Ok(limit.unwrap_or(0)),
    }
}

/// Does to a zone what has to be done, by the file that the load writes to. What was found, where that was asked for.
///
/// # Errors
/// What the system said; `EBADF` where the file was not opened for writing.
pub(crate) fn carry_out(files: &[File], command: &ZoneCommand) -> io::Result<Option<Zone>> {
    let Some(device) = files.get(command.file as usize) else {
        return Ok(None);
    };
    match command.action {
        Action::Reset => zoned::reset(device, command.start_bytes, command.len_bytes)?,
        Action::Finish => zoned::finish(device, command.start_bytes, command.len_bytes)?,
        Action::Look => return zoned::zone_at(device, command.start_bytes).map(Some),
    }
    Ok(None)
}
