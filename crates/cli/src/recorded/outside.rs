//! What others recorded: files in the formats of [`fathom_dialect::trace`].
//!
//! Data in: a path. Data out: arrivals of the volumes that were chosen, as if these lay one behind the other. It must not
//! know what is done with them.

use anyhow::{Context as _, bail};
use fathom_core::arrival::{Arrival, Arrivals, Sent};
use fathom_core::workload::RecordFormat;
use fathom_dialect::trace::{self, At, Known, Reader};
use fathom_session::replay::ArrivalSource;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Read at once.
const PIECE_BYTES: usize = 256 << 10;
/// Looked at to see what it is.
const HEAD_BYTES: u64 = 4 << 10;
/// Volumes begin at multiples of this.
const ALIGN_BYTES: u64 = 1 << 20;

/// A record of others.
#[derive(Debug, Clone)]
pub(crate) struct Outside {
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) format: RecordFormat,
    /// Of all its files.
    pub(crate) bytes: u64,
}

/// Where each volume begins; without any: each at 0.
pub(crate) type Bases = BTreeMap<String, u64>;

impl Outside {
    /// The record at `path`, in this format or in the one that it looks like.
    ///
    /// # Errors
    /// There is none, or none that is read.
    pub(crate) fn open(path: &Path, format: Option<RecordFormat>) -> anyhow::Result<Self> {
        let paths = files_of(path)?;
        let mut bytes = 0;
        let mut found = format;
        for path in &paths {
            let shown = path.display();
            let metadata = std::fs::metadata(path).with_context(|| format!("{shown}"))?;
            if !metadata.is_file() {
                bail!(
                    "{shown} is no regular file: a record is read twice, so that a pipe or a device will not do"
                );
            }
            bytes += metadata.len();
            if found.is_none() && metadata.len() > 0 || paths.len() == 1 {
                let mut head = Vec::new();
                let read = File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
                read.with_context(|| format!("cannot read {shown}"))?;
                let detected = trace::detect(&head);
                if format.is_none() {
                    found = Some(detected.map_err(|why| anyhow::anyhow!("{shown}: {why}"))?);
                } else if head.is_empty() {
                    bail!("{shown}: it is empty");
                }
            }
        }
        let Some(format) = found else {
            bail!("{}: all its files are empty", path.display());
        };
        Ok(Self { paths, format, bytes })
    }

    /// Reads it from the beginning: of these volumes, or of all; each where `bases` say.
    ///
    /// # Errors
    /// A file cannot be opened.
    pub(crate) fn source(&self, chosen: &[String], bases: Bases) -> anyhow::Result<OutsideIos> {
        let open =
            |path: &PathBuf| File::open(path).with_context(|| format!("cannot read {}", path.display()));
        Ok(OutsideIos {
            record: self.clone(),
            files: self.paths.iter().map(open).collect::<Result<_, _>>()?,
            reader: Reader::new(self.format, self.paths.len()),
            buffer: vec![0; PIECE_BYTES],
            arrivals: Arrivals::default(),
            chosen: chosen.to_vec(),
            bases,
            volumes: Vec::new(),
            others: 0,
            done_bytes: Arc::default(),
        })
    }
}

/// The files of a record: those of all processors where it is blktrace's.
fn files_of(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_default();
    let of_one = name.rsplit_once(".blktrace.").filter(|(_, cpu)| is_number(cpu));
    let prefix = match of_one {
        Some((device, _)) => format!("{device}.blktrace."),
        None if path.exists() => return Ok(vec![path.to_owned()]),
        None => format!("{name}.blktrace."),
    };
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let mut found: Vec<(u32, PathBuf)> = Vec::new();
    for entry in std::fs::read_dir(parent).with_context(|| format!("cannot read {}", parent.display()))? {
        let entry = entry.with_context(|| format!("cannot read {}", parent.display()))?;
        let name = entry.file_name();
        let cpu = name.to_str().and_then(|name| name.strip_prefix(&prefix));
        if let Some(cpu) = cpu.and_then(|cpu| cpu.parse().ok()) {
            found.push((cpu, entry.path()));
        }
    }
    if found.is_empty() {
        bail!(
            "{}: no such file or directory: give a run directory, a trace, or the device of blktrace's files",
            path.display()
        );
    }
    found.sort_unstable();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Reads a record of others.
pub(crate) struct OutsideIos {
    record: Outside,
    files: Vec<File>,
    reader: Reader,
    buffer: Vec<u8>,
    arrivals: Arrivals,
    chosen: Vec<String>,
    bases: Bases,
    /// By the reader's numbers: what was seen of each.
    volumes: Vec<Volume>,
    /// I/Os of volumes that were not chosen.
    others: u64,
    done_bytes: Arc<AtomicU64>,
}

/// What was seen of a volume.
#[derive(Debug, Clone, Copy)]
struct Volume {
    /// Where it begins; `None`: it was not chosen.
    base_bytes: Option<u64>,
    ios: u64,
    end_bytes: u64,
}

/// What is known of a record that was read to its end.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) known: Known,
    /// Its volumes: names, and I/Os of each.
    pub(crate) volumes: Vec<(String, u64)>,
    /// Where those that were chosen begin, one behind the other.
    pub(crate) bases: Bases,
    /// How far each of them reaches, in the order of `volumes`.
    pub(crate) ends_bytes: Vec<u64>,
    /// How far all of them reach.
    pub(crate) extent_bytes: u64,
    /// I/Os of others.
    pub(crate) others: u64,
    pub(crate) skipped: Vec<(&'static str, u64)>,
}

impl OutsideIos {
    /// How many bytes were read, to be looked at from elsewhere.
    pub(crate) fn done_bytes(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.done_bytes)
    }

    /// What was seen of it; at its end.
    pub(crate) fn seen(&self) -> Seen {
        let names = self.reader.volumes();
        let mut bases = Bases::new();
        let mut extent_bytes = 0u64;
        for (name, volume) in names.iter().zip(&self.volumes) {
            if volume.base_bytes.is_some() {
                bases.insert(name.clone(), extent_bytes);
                // The last one ends where it ends.
                extent_bytes = extent_bytes.saturating_add(volume.end_bytes.next_multiple_of(ALIGN_BYTES));
            }
        }
        Seen {
            known: self.reader.known(),
            volumes: names
                .iter()
                .cloned()
                .zip(self.volumes.iter().map(|volume| volume.ios))
                .collect(),
            ends_bytes: self.volumes.iter().map(|volume| volume.end_bytes).collect(),
            extent_bytes: match bases.len() {
                1 => self
                    .volumes
                    .iter()
                    .map(|volume| volume.end_bytes)
                    .max()
                    .unwrap_or(0),
                _ => extent_bytes,
            },
            bases,
            others: self.others,
            skipped: self.reader.skipped().collect(),
        }
    }

    /// Reads a piece of the file that is wanted. `false`: all have ended.
    fn read_piece(&mut self) -> anyhow::Result<bool> {
        let Some(input) = self.reader.wants() else {
            return Ok(false);
        };
        let path = &self.record.paths[input];
        let read = self.files[input].read(&mut self.buffer);
        let read = read.with_context(|| format!("cannot read {}", path.display()))?;
        self.done_bytes.fetch_add(read as u64, Ordering::Relaxed);
        let fed = self.reader.feed(input, &self.buffer[..read]);
        fed.map_err(|error| {
            let path = self.record.paths[error.input].display();
            match error.at {
                At::Line(line) => anyhow::anyhow!("{path}:{line}: {}", error.message),
                At::Byte(byte) => anyhow::anyhow!("{path}: byte {byte}: {}", error.message),
            }
        })?;
        for number in self.volumes.len()..self.reader.volumes().len() {
            let name = &self.reader.volumes()[number];
            let wanted = self.chosen.is_empty() || self.chosen.contains(name);
            self.volumes.push(Volume {
                base_bytes: wanted.then(|| self.bases.get(name).copied().unwrap_or(0)),
                ios: 0,
                end_bytes: 0,
            });
        }
        for row in self.reader.take() {
            let volume = &mut self.volumes[row.volume as usize];
            volume.ios += 1;
            let Some(base_bytes) = volume.base_bytes else {
                self.others += 1;
                continue;
            };
            let Sent {
                offset_bytes,
                len_bytes,
                ..
            } = row.sent;
            volume.end_bytes = volume.end_bytes.max(offset_bytes + u64::from(len_bytes));
            self.arrivals.sent(Sent {
                offset_bytes: base_bytes.saturating_add(offset_bytes),
                ..row.sent
            });
        }
        Ok(true)
    }
}

impl ArrivalSource for OutsideIos {
    fn next(&mut self, arrivals: &mut Vec<Arrival>) -> anyhow::Result<bool> {
        if self.read_piece()? {
            arrivals.extend_from_slice(self.arrivals.ready());
            return Ok(true);
        }
        let rest = self.arrivals.rest();
        arrivals.extend_from_slice(rest.unwrap_or_default());
        Ok(rest.is_some())
    }
}
