//! The plan: which files, which part of each, how much; settled before anything is touched.
//!
//! Data in: the workload and what the file system says of its files. Data out: a [`Plan`], and the
//! [`FileAction`]s that it needs (make, extend, write into), for someone else to permit. It must not change
//! anything.

mod error;
mod generic;
mod needs;
pub(crate) mod zoned;

pub use error::PlanError;
pub use needs::{Needs, WORKER_BYTES};

use crate::backends::nbd;
use crate::pattern::Span;
use fathom_core::nbd::Uri;
use fathom_core::units::Bytes;
use fathom_core::workload::{Amount, EngineKind, Fallocate, Job, Workload};
use fathom_sys::parallel::in_parts;
use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Component, Path, PathBuf};

/// What the null engine has of each file where nothing says how much.
const NULL_BYTES: u64 = 1 << 40;

/// What kind of thing a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file, or one to be made.
    Regular,
    /// A block device.
    Block,
    /// A character device.
    Character,
    /// The generic device of a disk, which is sent commands.
    Commands,
    /// A directory, or one to be made: nothing is read or written.
    Directory,
    /// Nothing: the null engine.
    Null,
    /// A part of a modelled disk.
    Modelled,
    /// What a server has: its address.
    Remote,
    /// Somebody on a network, who keeps nothing: an address.
    Peer,
    /// What a program prints goes there: it is written beside the load, and not measured.
    Printed,
}

/// One file of one worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePlan {
    pub path: PathBuf,
    pub kind: Kind,
    /// The part that is used.
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerFiles {
    pub files: Vec<FilePlan>,
    /// Bytes that one pass moves.
    pub amount: u64,
}

/// One job section.
#[derive(Debug, Clone)]
pub struct JobPlan {
    /// As resolved.
    pub job: Job,
    pub workers: Vec<WorkerFiles>,
}

/// What has to be done to one file before the run, and what the run does to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileAction {
    pub path: PathBuf,
    pub kind: Kind,
    /// Its size now; `None`: it does not exist.
    pub size_now: Option<u64>,
    /// The size it needs (regular files).
    pub size_needed: u64,
    /// A job reads what it holds.
    pub reads: bool,
    /// A job writes or trims.
    pub writes: bool,
    /// All of it has to be written before the run.
    pub fill: bool,
    /// How space is reserved.
    pub fallocate: Fallocate,
    /// fsync after it was made.
    pub fsync: bool,
    /// The load itself makes it: nothing is laid out.
    pub made_by_load: bool,
    /// It may be laid out while others are.
    pub at_once: bool,
}

impl FileAction {
    /// Whether the file has to be made or to grow.
    pub fn changes_size(&self) -> bool {
        self.kind == Kind::Regular
            && !self.made_by_load
            && self.size_now.is_none_or(|now| now < self.size_needed)
    }
    /// Whether the run changes the file in any way.
    pub fn touches(&self) -> bool {
        !matches!(
            self.kind,
            Kind::Null | Kind::Modelled | Kind::Directory | Kind::Peer
        ) && (self.writes || self.fill || self.changes_size())
    }
}

/// The whole run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Its jobs, in order.
    pub jobs: Vec<JobPlan>,
    /// Its files, each once, in path order.
    pub files: Vec<FileAction>,
}

impl Plan {
    /// Settles `workload`. Looks at files, changes none.
    ///
    /// # Errors
    /// See [`PlanError`].
    pub fn new(workload: &Workload) -> Result<Self, PlanError> {
        Self::with(workload, &look)
    }

    /// Settles `workload` for a modelled disk of `capacity_bytes`: each file is a part of it, one after the other; a
    /// file without a size is all of it. Looks at nothing.
    ///
    /// # Errors
    /// See [`PlanError`].
    pub fn modelled(workload: &Workload, capacity_bytes: u64) -> Result<Self, PlanError> {
        let plan = Self::with(workload, &|_, _| Ok((Kind::Modelled, Some(capacity_bytes))))?;
        let (_, need) = crate::run::file_bases(&plan);
        if need > capacity_bytes {
            return Err(PlanError::TooLargeForModel {
                files: plan.files.len(),
                need: Bytes(need),
                have: Bytes(capacity_bytes),
            });
        }
        Ok(plan)
    }

    fn with(workload: &Workload, look: &Look<'_>) -> Result<Self, PlanError> {
        let planned = in_parts(&workload.jobs, |jobs| {
            jobs.iter().map(|job| plan_job(job, look)).collect()
        });
        let mut jobs = Vec::with_capacity(planned.len());
        let mut files: BTreeMap<PathBuf, FileAction> = BTreeMap::new();
        for (planned, job) in planned.into_iter().zip(&workload.jobs) {
            // What an earlier job makes is there when a later one comes.
            let planned = match planned {
                Err(PlanError::NoSize { .. }) => plan_job(job, &|job, path| match files.get(path) {
                    Some(FileAction { size_needed, .. }) => Ok((Kind::Regular, Some(*size_needed))),
                    None => look(job, path),
                }),
                planned => planned,
            };
            let (plan, sizes) = planned?;
            let all = plan.workers.iter().flat_map(|worker| &worker.files);
            if plan.job.engine.kind == EngineKind::Exec {
                for number in 0..plan.job.numjobs {
                    add_printed(&mut files, &plan.job, number);
                }
                jobs.push(plan);
                continue;
            }
            // Of directories only those are made and removed that hold nothing: there is nothing to permit or to lay out.
            let files_alone = all.zip(sizes).filter(|(file, _)| file.kind != Kind::Directory);
            for (file, size_now) in files_alone {
                // What one job sends as commands, another must not write as bytes: the driver would take them for commands.
                let known = files.get(&file.path);
                if known.is_some_and(|known| (known.kind == Kind::Commands) != (file.kind == Kind::Commands))
                {
                    return Err(PlanError::CommandsAndBytes {
                        job: plan.job.name.clone(),
                        path: file.path.clone(),
                    });
                }
                merge_action(&mut files, &plan.job, file, size_now);
            }
            jobs.push(plan);
        }
        Ok(Self {
            jobs,
            files: files.into_values().collect(),
        })
    }

    pub fn worker_count(&self) -> usize {
        self.jobs.iter().map(|plan| plan.workers.len()).sum()
    }

    /// Memory for buffers and stores of what is written, over all workers, in bytes.
    pub fn buffer_bytes(&self) -> u64 {
        self.jobs
            .iter()
            .fold(0, |sum, plan| sum.saturating_add(plan.buffer_bytes()))
    }
}

impl JobPlan {
    fn buffer_bytes(&self) -> u64 {
        let store = self.job.buffers.source_bytes.unwrap_or(0);
        let buffers = self.job.max_block_bytes().saturating_mul(self.job.total_depth());
        buffers.saturating_add(store)
    }
}

/// What the program of worker `number` prints goes into a file of its own.
fn add_printed(files: &mut BTreeMap<PathBuf, FileAction>, job: &Job, number: u32) {
    if !job.program.keeps_output {
        return;
    }
    for path in printed_paths(job, number) {
        let action = FileAction {
            path: path.clone(),
            kind: Kind::Printed,
            size_now: None,
            size_needed: 0,
            reads: false,
            writes: true,
            fill: false,
            fallocate: Fallocate::None,
            fsync: false,
            made_by_load: true,
            at_once: false,
        };
        files.insert(path, action);
    }
}

fn merge_action(
    files: &mut BTreeMap<PathBuf, FileAction>,
    job: &Job,
    file: &FilePlan,
    size_now: Option<u64>,
) {
    let action = files.entry(file.path.clone()).or_insert_with(|| FileAction {
        path: file.path.clone(),
        kind: file.kind,
        size_now: size_now.filter(|_| matches!(file.kind, Kind::Regular | Kind::Remote)),
        size_needed: 0,
        reads: false,
        writes: false,
        fill: false,
        fallocate: job.files.fallocate,
        fsync: job.files.create_fsync,
        made_by_load: true,
        at_once: true,
    });
    let kind = job.engine.kind;
    action.made_by_load &= kind == EngineKind::FileCreate;
    action.at_once &= job.files.laid_out_at_once;
    action.writes |= job.writes();
    // What these do to a file needs nothing in it, and fills it by itself.
    if kind.always_changes() && kind != EngineKind::FileDelete
        || job.region.fills_device
        || job.files.begins_empty
    {
        return;
    }
    let reads = job.pattern.mix.uses()[0] || job.verify.as_ref().is_some_and(|v| v.only);
    action.size_needed = action.size_needed.max(file.span.start + file.span.bytes);
    action.reads |= reads;
    action.fill |= job.files.overwrite;
    // What is read must be there: otherwise the file system answers for the disk.
    action.fill |= reads && action.changes_size();
}

/// A job's plan, and of each of its files, in the order of its workers, the size now.
fn plan_job(job: &Job, look: &Look<'_>) -> Result<(JobPlan, Vec<Option<u64>>), PlanError> {
    if job.read_iolog.is_some() && job.replay.is_none() {
        return Err(PlanError::NotRead {
            job: job.name.clone(),
        });
    }
    let block = job.max_block_bytes();
    if block > 1 << 30 {
        return Err(PlanError::BlockTooLarge {
            job: job.name.clone(),
            block: Bytes(block),
        });
    }
    if let Some(store) = job.buffers.source_bytes
        && store < block
        && job.pattern.mix.uses()[1]
    {
        return Err(PlanError::SourceTooSmall {
            job: job.name.clone(),
            block: Bytes(block),
            store: Bytes(store),
        });
    }
    let mut sizes = Vec::new();
    let workers = (0..job.numjobs)
        .map(|number| plan_worker(job, number, look, &mut sizes))
        .collect::<Result<_, _>>()?;
    let plan = JobPlan {
        job: job.clone(),
        workers,
    };
    Ok((plan, sizes))
}

/// The paths of worker `number`.
pub fn paths_of(job: &Job, number: u32) -> Vec<PathBuf> {
    match job.engine.kind {
        EngineKind::Nbd => vec![PathBuf::from(&job.uri)],
        EngineKind::Http => {
            let names = names_of(job, number);
            names
                .iter()
                .map(|name| PathBuf::from(job.http.url(&name.to_string_lossy())))
                .collect()
        }
        EngineKind::Net => vec![PathBuf::from(job.net_address(number))],
        _ => names_of(job, number),
    }
}

fn names_of(job: &Job, number: u32) -> Vec<PathBuf> {
    let directories = &job.files.directories;
    let directory = match directories.len() {
        0 => PathBuf::new(),
        n => directories[number as usize % n].clone(),
    };
    if let Some(below) = &job.files.all_below {
        return all_below(below);
    }
    if !job.files.names.is_empty() {
        return job.files.names.iter().map(|name| directory.join(name)).collect();
    }
    let made = |file: u32| {
        let name = job
            .files
            .name_format
            .replace("$jobname", &job.name)
            .replace("$jobnum", &number.to_string())
            .replace("$filenum", &file.to_string());
        directory.join(name)
    };
    (0..job.files.nrfiles.max(1)).map(made).collect()
}

/// Where the program of worker `number` of a job prints to: its output, and its errors. As with fio they are named after the
/// job; each further worker has its number, too.
pub fn printed_paths(job: &Job, number: u32) -> [PathBuf; 2] {
    let number = if number == 0 {
        String::new()
    } else {
        format!(".{number}")
    };
    ["stdout", "stderr"].map(|stream| PathBuf::from(format!("{}{number}.{stream}", job.name)))
}

/// The regular files below a directory, in the order of their paths. What cannot be read has none.
fn all_below(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![directory.to_owned()];
    while let Some(directory) = left.pop() {
        let Ok(entries) = std::fs::read_dir(&directory) else {
            continue;
        };
        for entry in entries.flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => left.push(entry.path()),
                Ok(kind) if kind.is_file() => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

/// A section's name becomes part of the names of its files: with a way up or a root in it, it would lead anywhere.
fn stays_inside(job: &Job) -> Result<(), PlanError> {
    let program = job.engine.kind == EngineKind::Exec;
    let named_after_it = program || job.files.names.is_empty() && job.files.name_format.contains("$jobname");
    let leads_out = |part: Component<'_>| !matches!(part, Component::Normal(_) | Component::CurDir);
    if named_after_it
        && (program || !job.engine.kind.needs_no_file())
        && Path::new(&job.name).components().any(leads_out)
    {
        return Err(PlanError::OutsideDirectory {
            job: job.name.clone(),
            name: if program {
                printed_paths(job, 0)[0].display().to_string()
            } else {
                job.files.name_format.replace("$jobname", &job.name)
            },
        });
    }
    Ok(())
}

fn plan_worker(
    job: &Job,
    number: u32,
    look: &Look<'_>,
    sizes: &mut Vec<Option<u64>>,
) -> Result<WorkerFiles, PlanError> {
    stays_inside(job)?;
    if job.engine.kind == EngineKind::Exec {
        return Ok(no_files(job, sizes));
    }
    let paths = paths_of(job, number);
    if let (Some(directory), true) = (&job.files.all_below, paths.is_empty()) {
        return Err(PlanError::NothingBelow {
            job: job.name.clone(),
            path: directory.clone(),
        });
    }
    let count = paths.len() as u64;
    let mut files = Vec::with_capacity(paths.len());
    for (at, path) in paths.into_iter().enumerate() {
        let (kind, size) = look(job, &path)?;
        let played = job.replay.as_ref().and_then(|replay| replay.layout.files.get(at));
        let span = match played {
            Some(file) => played_span(job, file.extent_bytes, &path, kind, size)?,
            None => span_of(job, number, count, &path, kind, size)?,
        };
        let span = zoned::whole_zones(job, &path, (kind, size), span)?;
        sizes.push(size);
        files.push(FilePlan { path, kind, span });
    }
    if job.files.create_only {
        return Ok(WorkerFiles { files, amount: 0 });
    }
    let mut region = files
        .iter()
        .fold(0u64, |sum, file| sum.saturating_add(file.span.bytes));
    // With file sizes of their own, files are used in full and size= says how much is done on them.
    if let (Some(_), Some(Amount::Bytes(size))) = (job.region.file_size, job.region.size) {
        region = region.min(size);
    }
    let amount = match job.region.io_size {
        None => region,
        Some(Amount::Bytes(bytes)) => bytes,
        Some(Amount::Percent(percent)) => share(region, percent),
    };
    Ok(WorkerFiles { files, amount })
}

/// Of a job that does no I/O: a place that is never asked for.
fn no_files(job: &Job, sizes: &mut Vec<Option<u64>>) -> WorkerFiles {
    sizes.push(None);
    let file = FilePlan {
        path: PathBuf::from(&job.program.path),
        kind: Kind::Null,
        span: Span {
            start: 0,
            bytes: NULL_BYTES,
        },
    };
    WorkerFiles {
        files: vec![file],
        amount: 0,
    }
}

/// Says what a path is, and its size where it exists.
type Look<'a> = dyn Fn(&Job, &Path) -> Result<(Kind, Option<u64>), PlanError> + Sync + 'a;

/// Asks the system.
fn look(job: &Job, path: &Path) -> Result<(Kind, Option<u64>), PlanError> {
    if job.engine.kind == EngineKind::Null {
        return Ok((Kind::Null, Some(NULL_BYTES)));
    }
    let name = || job.name.clone();
    if job.engine.kind == EngineKind::Nbd {
        let uri = Uri::parse(&job.uri).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error));
        return match uri.and_then(|uri| nbd::look(&uri)) {
            Ok(export) => Ok((Kind::Remote, Some(export.size_bytes))),
            Err(source) => Err(PlanError::Server {
                job: name(),
                uri: job.uri.clone(),
                source,
            }),
        };
    }
    if job.engine.kind == EngineKind::Net {
        return Ok((Kind::Peer, None));
    }
    if job.engine.kind == EngineKind::Http {
        // How many objects there are is nobody's to say.
        return Ok((Kind::Remote, None));
    }
    if job.engine.kind.sends_commands() {
        return Ok((Kind::Commands, Some(generic::size_bytes(job, path)?)));
    }
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            if let Some(parent) = parent.filter(|parent| !parent.is_dir()) {
                return Err(PlanError::NoDirectory {
                    job: name(),
                    path: parent.to_owned(),
                });
            }
            if job.engine.kind.is_about_directories() {
                return Ok((Kind::Directory, None));
            }
            if !job.files.may_create {
                return Err(PlanError::MayNotCreate {
                    job: name(),
                    path: path.to_owned(),
                });
            }
            return Ok((Kind::Regular, None));
        }
        Err(source) => {
            return Err(PlanError::Stat {
                job: name(),
                path: path.to_owned(),
                source,
            });
        }
    };
    let kind = metadata.file_type();
    let wrong = |kind| {
        Err(PlanError::WrongKind {
            job: name(),
            path: path.to_owned(),
            kind,
        })
    };
    if job.engine.kind.is_about_directories() {
        if kind.is_dir() {
            Ok((Kind::Directory, None))
        } else {
            wrong("file, and no directory")
        }
    } else if kind.is_file() {
        Ok((Kind::Regular, Some(metadata.len())))
    } else if kind.is_block_device() {
        let stat = |source| PlanError::Stat {
            job: name(),
            path: path.to_owned(),
            source,
        };
        let device = std::fs::File::open(path).map_err(stat)?;
        let size = fathom_sys::file::block_device_size(&device).map_err(stat)?;
        Ok((Kind::Block, Some(size)))
    } else if kind.is_char_device() {
        Ok((Kind::Character, None))
    } else if kind.is_dir() {
        wrong("directory")
    } else if kind.is_fifo() {
        wrong("pipe")
    } else {
        wrong("socket")
    }
}

/// `percent` of `whole`, without overflow.
fn share(whole: u64, percent: u8) -> u64 {
    (u128::from(whole) * u128::from(percent) / 100) as u64
}

fn span_of(
    job: &Job,
    number: u32,
    count: u64,
    path: &Path,
    kind: Kind,
    size_now: Option<u64>,
) -> Result<Span, PlanError> {
    let region = &job.region;
    let existing = size_now.filter(|&size| size > 0);
    // The null engine has whatever is asked for.
    let fixed = has_a_size(kind) || kind == Kind::Null && region.file_size.is_none();
    let existing = existing.filter(|_| kind != Kind::Null || fixed);
    let file_size = region
        .file_size
        .map(|(low, high)| draw_file_size(job, number, path, low, high));
    // Of a file that is still to be made: what it will be.
    let to_be = match region.size {
        Some(Amount::Bytes(total)) => file_size.or(Some(total / count.max(1))),
        _ => file_size,
    };
    let percent_of = |percent| {
        let whole = existing.or(to_be).ok_or_else(|| PlanError::PercentOfNothing {
            job: job.name.clone(),
            path: path.to_owned(),
        })?;
        Ok(share(whole, percent))
    };
    let amount = |amount: Option<Amount>| match amount {
        None => Ok(0),
        Some(Amount::Bytes(bytes)) => Ok(bytes),
        Some(Amount::Percent(percent)) => percent_of(percent),
    };
    let increment = amount(region.offset_increment)?.saturating_mul(u64::from(number));
    let block = job.min_block_bytes();
    let mut start = amount(region.offset)?.saturating_add(increment);
    if job.files.append && kind == Kind::Regular {
        start = start.saturating_add(size_now.unwrap_or(0));
    }
    let is_percent = |amount: Option<Amount>| matches!(amount, Some(Amount::Percent(_)));
    if is_percent(region.offset) || is_percent(region.offset_increment) {
        // A share falls where it may: the region begins at the next whole block, as in fio.
        let align = match region.offset_align_bytes {
            0 => block.max(1),
            given => given,
        };
        start = start.div_ceil(align).saturating_mul(align);
    }
    let whole = if fixed { existing } else { file_size.or(existing) };
    let mut bytes = match region.size {
        Some(Amount::Bytes(_)) if !fixed && file_size.is_some() => u64::MAX,
        Some(Amount::Bytes(total)) => total / count,
        // Whole blocks of what there is: a share never makes a file grow.
        Some(Amount::Percent(percent)) => {
            let room = existing.or(to_be).unwrap_or(0).saturating_sub(start);
            let bytes = percent_of(percent)?.min(room);
            bytes - bytes % block.max(1)
        }
        None if region.fills_device && !fixed => room_at(path).saturating_div(count.max(1)),
        None => match whole {
            Some(whole) => whole.saturating_sub(start),
            None => {
                return Err(PlanError::NoSize {
                    job: job.name.clone(),
                    path: path.to_owned(),
                });
            }
        },
    };
    if let Some(limit) = whole.filter(|_| fixed || file_size.is_some()) {
        bytes = bytes.min(limit.saturating_sub(start));
    }
    // No file reaches beyond that.
    bytes = bytes.min((i64::MAX as u64).saturating_sub(start));
    if bytes < block {
        return Err(PlanError::TooSmall {
            job: job.name.clone(),
            path: path.to_owned(),
            region: Bytes(bytes),
            offset: Bytes(start),
            block: Bytes(block),
        });
    }
    Ok(Span { start, bytes })
}

/// Whether it is as large as it is, whatever is asked for.
fn has_a_size(kind: Kind) -> bool {
    matches!(kind, Kind::Block | Kind::Modelled | Kind::Remote | Kind::Commands)
}

/// What a record touches of a file: from its beginning to the last byte of it.
fn played_span(
    job: &Job,
    extent_bytes: u64,
    path: &Path,
    kind: Kind,
    size_now: Option<u64>,
) -> Result<Span, PlanError> {
    let span = Span {
        start: 0,
        bytes: extent_bytes,
    };
    match size_now {
        Some(size) if has_a_size(kind) && size < extent_bytes => Err(PlanError::TooSmall {
            job: job.name.clone(),
            path: path.to_owned(),
            region: Bytes(size),
            offset: Bytes(0),
            block: Bytes(extent_bytes),
        }),
        _ => Ok(span),
    }
}

/// A size between the two, the same for the same file each time.
fn draw_file_size(job: &Job, number: u32, path: &Path, low: u64, high: u64) -> u64 {
    let name: u64 = path.as_os_str().as_encoded_bytes().iter().fold(0, |hash, &byte| {
        fathom_core::rng::split_mix(hash ^ u64::from(byte))
    });
    let mut rng = fathom_core::rng::Rng::stream(job.random_seed ^ name, u64::from(number));
    let drawn = low + rng.below(high.saturating_sub(low) + 1);
    if low == high {
        return drawn;
    }
    // Whole blocks, as in fio.
    let block = job.min_block_bytes().max(1);
    (drawn / block * block).max(block)
}

/// What the file system of `path` has left, in bytes; 0 where it does not say.
fn room_at(path: &Path) -> u64 {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let room = rustix::fs::statvfs(parent.unwrap_or(Path::new(".")));
    room.map_or(0, |room| room.f_bavail.saturating_mul(room.f_frsize))
}

#[cfg(test)]
mod tests;
