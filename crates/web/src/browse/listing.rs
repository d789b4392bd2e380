//! What is in a folder of runs: found by looking, remembered by when it was changed.
//!
//! Data in: a folder. Data out: [`Entry`]s, the newest first. Links are not followed; what cannot be read is listed with the reason.

use super::form::{Fields, encoded};
use fathom_core::run::{Run, Status};
use fathom_store::{
    Note, RUN_FILE, SERIES_FILE, is_sweep, read_note, read_run_of_whole_files, read_sweep_plan,
};
use std::collections::HashMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// How deep is looked, and at how many directories.
const DEPTH_MAX: usize = 4;
const DIRECTORIES_MAX: usize = 100_000;

/// What a directory holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Run,
    Sweep,
    /// Without a load of its own.
    Recording,
    /// It should be one of these, and cannot be read.
    Damaged,
}

impl Kind {
    pub(super) const ALL: [Self; 4] = [Self::Run, Self::Sweep, Self::Recording, Self::Damaged];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Sweep => "sweep",
            Self::Recording => "recording",
            Self::Damaged => "damaged",
        }
    }
}

/// A run, a sweep or a recording.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// What it is called in addresses: its path below the folder, percent-encoded.
    pub id: String,
    /// That path, for people.
    pub shown: String,
    pub path: PathBuf,
    pub kind: Kind,
    /// When it began, in nanoseconds since 1970; 0: not known.
    pub started_unix_ns: u64,
    pub target: String,
    /// What was done, in a few words.
    pub load: String,
    /// How it ended; of what is damaged, why.
    pub state: String,
    /// I/Os and bytes a second, and the longer 99th percentile of both directions in nanoseconds.
    pub iops: Option<f64>,
    pub bytes_per_second: Option<f64>,
    pub lat_ns_p99: Option<u64>,
    pub note: Note,
}

/// A folder and what is known of it.
#[derive(Debug)]
pub(super) struct Listing {
    folder: PathBuf,
    known: Mutex<HashMap<PathBuf, (Changed, Arc<Entry>)>>,
}

/// When document, series and note were changed.
type Changed = [Option<SystemTime>; 3];

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Listed {
    /// The newest first.
    pub entries: Vec<Arc<Entry>>,
    /// Whether there is more than was looked at.
    pub is_cut: bool,
}

impl Listed {
    /// The entry of that name in addresses.
    pub(super) fn named(&self, id: &str) -> Option<Arc<Entry>> {
        self.entries.iter().find(|entry| entry.id == id).cloned()
    }
}

impl Listing {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            known: Mutex::default(),
        }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// All that is there now.
    ///
    /// # Errors
    /// The folder cannot be read, in words.
    pub(super) fn read(&self) -> Result<Listed, String> {
        let mut listed = Listed::default();
        let mut seen = 0;
        let mut waiting = vec![(self.folder.clone(), 0)];
        while let Some((dir, depth)) = waiting.pop() {
            let children = match fs::read_dir(&dir) {
                Ok(children) => children,
                Err(error) if depth == 0 => return Err(format!("{}: {error}", dir.display())),
                // One that is gone meanwhile, or somebody else's.
                Err(_) => continue,
            };
            for child in children.flatten() {
                if !child.file_type().is_ok_and(|kind| kind.is_dir()) {
                    continue;
                }
                seen += 1;
                if seen > DIRECTORIES_MAX {
                    listed.is_cut = true;
                    break;
                }
                let path = child.path();
                match self.entry(&path) {
                    Some(entry) => listed.entries.push(entry),
                    None if depth + 1 < DEPTH_MAX => waiting.push((path, depth + 1)),
                    None => {}
                }
            }
        }
        listed.entries.sort_by(|a, b| {
            b.started_unix_ns
                .cmp(&a.started_unix_ns)
                .then_with(|| a.id.cmp(&b.id))
        });
        Ok(listed)
    }

    /// What a directory holds; `None`: nothing of fathom's.
    fn entry(&self, path: &Path) -> Option<Arc<Entry>> {
        let changed = |name: &str| {
            fs::symlink_metadata(path.join(name))
                .and_then(|found| found.modified())
                .ok()
        };
        let sweep = is_sweep(path);
        let document = if sweep { fathom_store::SWEEP_FILE } else { RUN_FILE };
        let changed = [
            Some(changed(document)?),
            changed(SERIES_FILE),
            changed(fathom_store::NOTE_FILE),
        ];
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((then, entry)) = known.get(path)
            && *then == changed
        {
            return Some(Arc::clone(entry));
        }
        let entry = Arc::new(self.look(path, sweep));
        known.insert(path.to_owned(), (changed, Arc::clone(&entry)));
        Some(entry)
    }

    fn look(&self, path: &Path, sweep: bool) -> Entry {
        let below = path.strip_prefix(&self.folder).unwrap_or(path);
        let empty = Entry {
            id: encoded(below.as_os_str().as_bytes()),
            shown: below.display().to_string(),
            path: path.to_owned(),
            kind: Kind::Damaged,
            started_unix_ns: 0,
            target: String::new(),
            load: String::new(),
            state: String::new(),
            iops: None,
            bytes_per_second: None,
            lat_ns_p99: None,
            note: Note::default(),
        };
        let read = if sweep {
            of_sweep(path, &empty)
        } else {
            of_run(path, &empty)
        };
        let mut entry = read.unwrap_or_else(|why| Entry { state: why, ..empty });
        match read_note(path) {
            Ok(note) => entry.note = note,
            Err(error) => entry.note.text = error.to_string(),
        }
        entry
    }
}

fn of_sweep(path: &Path, empty: &Entry) -> Result<Entry, String> {
    let plan = read_sweep_plan(path).map_err(|error| error.to_string())?;
    let results = fathom_store::read_sweep_results(path).ok();
    Ok(Entry {
        kind: Kind::Sweep,
        started_unix_ns: plan.started_unix_ns.0,
        target: plan.target.description.clone(),
        load: format!("{}: {} points", plan.name, plan.points.len()),
        state: results
            .map_or("not complete", |results| state(results.status))
            .to_owned(),
        ..empty.clone()
    })
}

fn of_run(path: &Path, empty: &Entry) -> Result<Entry, String> {
    let run = read_run_of_whole_files(path).map_err(|error| error.to_string())?;
    let data = run
        .summary
        .jobs
        .iter()
        .flat_map(|job| [&job.read, &job.write, &job.trim]);
    let busy: Vec<_> = data.filter(|op| op.ios > 0).collect();
    let sum = |of: fn(&fathom_core::run::OpSummary) -> f64| {
        (!busy.is_empty()).then(|| busy.iter().map(|op| of(op)).sum::<f64>())
    };
    let p99 = busy.iter().filter_map(|op| op.lat_ns.percentile(99.0)).max();
    Ok(Entry {
        kind: if run.workload.jobs.is_empty() {
            Kind::Recording
        } else {
            Kind::Run
        },
        started_unix_ns: run.started_unix_ns.0,
        target: run.summary.target.description.clone(),
        load: load(&run),
        state: state(run.status).to_owned(),
        iops: sum(|op| op.iops),
        bytes_per_second: sum(|op| op.bytes_per_second),
        lat_ns_p99: p99,
        ..empty.clone()
    })
}

fn load(run: &Run) -> String {
    let jobs: Vec<&str> = run
        .workload
        .jobs
        .iter()
        .map(|job| job.name.as_str())
        .take(4)
        .collect();
    if let Some(command) = run.summary.commands.first() {
        return command.argv.join(" ");
    }
    match (jobs.len(), run.workload.jobs.len()) {
        (0, _) => String::from("no load of its own"),
        (shown, all) if shown < all => format!("{} and {} more", jobs.join(", "), all - shown),
        _ => jobs.join(", "),
    }
}

const fn state(status: Status) -> &'static str {
    match status {
        Status::Running => "under way or killed",
        Status::Complete => "complete",
        Status::Interrupted => "interrupted",
        Status::Failed => "failed",
    }
}

/// Which entries are asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Filter {
    /// Words that must be in path, name, note, target or load, in any case.
    pub words: String,
    /// Of this kind alone; empty: any.
    pub kind: String,
    /// Days, as 2026-11-23; empty: any. The last one counts.
    pub from: String,
    pub to: String,
}

impl Filter {
    pub(super) fn of(fields: &Fields) -> Self {
        let field = |name| {
            fields
                .first(name)
                .map(|value| value.trim().to_owned())
                .unwrap_or_default()
        };
        Self {
            words: field("q"),
            kind: field("kind"),
            from: field("from"),
            to: field("to"),
        }
    }

    pub(super) fn fits(&self, entry: &Entry) -> bool {
        let all = [
            &entry.shown,
            &entry.note.name,
            &entry.note.text,
            &entry.target,
            &entry.load,
        ];
        let all = all.map(|text| text.to_lowercase());
        let has = |word: &str| all.iter().any(|text| text.contains(&word.to_lowercase()));
        let day = super::pages::day(entry.started_unix_ns);
        self.words.split_whitespace().all(has)
            && (self.kind.is_empty() || self.kind == entry.kind.name())
            && (self.from.is_empty() || day.as_str() >= self.from.as_str())
            && (self.to.is_empty() || day.as_str() <= self.to.as_str())
    }
}
