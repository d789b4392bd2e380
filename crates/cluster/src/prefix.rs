//! Records of many runs in one place: a prefix of object storage (S3, Azure Blob, GCS) or a directory.
//!
//! Data in: run directories with what each contributes ([`PART_FILE`]). Data out: the same below
//! `TABLE/cluster=…/class=…/node=…/run=…/`, a folder a table, so that whatever reads Parquet reads all runs as one table with four
//! more columns; the parts again, one after the other. It must not know what is in the files, nor read the environment.
//!
//! | folder | what |
//! |---|---|
//! | `series/`, `histograms/`, `io/`, `block/`, `counters/`, … | the Parquet files of runs, named as in their directories |
//! | `runs/` | all other files of theirs, [`PART_FILE`] last: a run without it is not there |

mod http;
mod objects;

use anyhow::{Context as _, bail};
use fathom_door::own;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use objects::Objects;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

/// What a run contributes to what many did: the last of its files that is put there.
pub const PART_FILE: &str = "part.json";
/// Ends the name of a run that one of many did by itself, to tell whose limit it is.
pub const ALONE_RUN: &str = "-alone";
/// The folder of what is no table.
const RUNS: &str = "runs";
/// So many objects are asked for at once.
const AT_ONCE: usize = 16;
/// More than any part has: a day of a run at a row a second is 4 MiB.
const PART_BYTES_MAX: u64 = 256 << 20;
/// What is read and sent at a time.
const PIECE_BYTES: usize = 8 << 20;
/// Of a word between `=` and `/`.
const WORD_MAX: usize = 200;

/// Which run it is: what its folders are called.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunKey {
    pub cluster: String,
    pub class: String,
    pub node: String,
    pub run: String,
}

impl RunKey {
    /// The names of its columns, in their order.
    pub const NAMES: [&'static str; 4] = ["cluster", "class", "node", "run"];

    /// From words as they are: what is no letter, digit, `.`, `_` or `-` becomes `-`, so that no reader has to decode it.
    pub fn new(cluster: &str, class: &str, node: &str, run: &str) -> Self {
        Self {
            cluster: plain(cluster),
            class: plain(class),
            node: plain(node),
            run: plain(run),
        }
    }

    fn words(&self) -> [&str; 4] {
        [&self.cluster, &self.class, &self.node, &self.run]
    }

    /// As `cluster=…/class=…/node=…/run=…`.
    fn path(&self) -> String {
        let each = Self::NAMES
            .iter()
            .zip(self.words())
            .map(|(name, word)| format!("{name}={word}"));
        each.collect::<Vec<_>>().join("/")
    }

    /// Of the path of a file below `runs/`.
    fn of_path(path: &str) -> Option<Self> {
        let mut parts = path.split('/');
        let mut next = |name: &str| Some(parts.next()?.strip_prefix(name)?.strip_prefix('=')?.to_owned());
        Some(Self {
            cluster: next("cluster")?,
            class: next("class")?,
            node: next("node")?,
            run: next("run")?,
        })
    }
}

fn plain(word: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let plain: String = word
        .chars()
        .map(|c| if fits(c) { c } else { '-' })
        .take(WORD_MAX)
        .collect();
    match plain.as_str() {
        "" => String::from("none"),
        // They are directories already.
        "." | ".." => String::from("-"),
        _ => plain,
    }
}

/// A prefix, and which of its runs are meant.
#[derive(Debug)]
pub struct Prefix {
    /// Without what selects runs.
    text: String,
    place: Place,
    /// By [`RunKey::NAMES`]: only these.
    only: [Option<String>; 4],
}

#[derive(Debug)]
enum Place {
    Directory(PathBuf),
    Objects(Objects),
}

/// A part's place, and how large it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub key: RunKey,
    size_bytes: u64,
}

impl Prefix {
    /// Whether `text` is one, and no run directory or file: it has a scheme, or is a directory with runs laid out.
    pub fn is_one(text: &str) -> bool {
        text.contains("://") || {
            let (base, _) = split(text);
            Path::new(base).join(RUNS).is_dir()
        }
    }

    /// The prefix `text`: `s3://BUCKET/PATH`, `az://CONTAINER/PATH`, `gs://BUCKET/PATH` or a directory, with the credentials of `vars`,
    /// named as in the environment. `…/class=fast` and the like at its end select runs.
    ///
    /// # Errors
    /// It is none, or what is needed to get there is missing.
    pub fn open(text: &str, vars: &[(String, String)]) -> anyhow::Result<Self> {
        let (base, only) = split(text);
        // Nothing, or a scheme with nothing but slashes behind it.
        if base.is_empty() || text.contains("://") != base.contains("://") {
            bail!("{text}: give a directory, or s3://BUCKET/PATH, az://CONTAINER/PATH, gs://BUCKET/PATH");
        }
        let place = match base.split_once("://") {
            None => Place::Directory(PathBuf::from(base)),
            Some(("file", path)) => Place::Directory(PathBuf::from(path)),
            Some(_) => Place::Objects(Objects::open(base, vars)?),
        };
        Ok(Self {
            text: base.to_owned(),
            place,
            only,
        })
    }

    /// As it was given, without what selects runs.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it can be reached: a directory is made by what is put there.
    ///
    /// # Errors
    /// It cannot, with the reason.
    pub async fn check(&self) -> anyhow::Result<()> {
        match &self.place {
            Place::Directory(dir) if dir.exists() && !dir.is_dir() => {
                bail!("{}: it is no directory", self.text)
            }
            Place::Directory(_) => Ok(()),
            Place::Objects(objects) => objects.check().await,
        }
    }

    /// Puts a run directory there; how many bytes that are. What was there under this key is replaced.
    ///
    /// # Errors
    /// It has no [`PART_FILE`], a file of it cannot be read, or the place does not take it.
    pub async fn put(&self, key: &RunKey, dir: &Path) -> anyhow::Result<u64> {
        let mut files = Vec::new();
        list(dir, "", &mut files)?;
        let Some(part) = files.iter().position(|file| file == PART_FILE) else {
            bail!("{}: it has no {PART_FILE}", dir.display());
        };
        // What makes it one comes last.
        let last = files.remove(part);
        files.push(last);
        let mut bytes = 0;
        for file in files {
            let to = format!("{}/{}/{}", table_of(&file), key.path(), name_in_table(&file));
            bytes += self
                .put_file(&dir.join(&file), &to)
                .await
                .with_context(|| format!("cannot put {} to {}", dir.join(&file).display(), self.text))?;
        }
        Ok(bytes)
    }

    async fn put_file(&self, from: &Path, to: &str) -> anyhow::Result<u64> {
        let mut file = File::open(from)?;
        match &self.place {
            Place::Directory(dir) => {
                let to = dir.join(to);
                let part = to.with_extension("part");
                own::make_directories(to.parent().unwrap_or(dir))?;
                let mut into = own::create_temporary(&part)?;
                let bytes = std::io::copy(&mut file, &mut into)?;
                into.flush()?;
                own::rename(&part, &to)?;
                Ok(bytes)
            }
            Place::Objects(objects) => objects.put(&mut file, to).await,
        }
    }

    /// The runs that are there and meant, in order.
    ///
    /// # Errors
    /// The place cannot be listed, or there are none.
    pub async fn runs(&self) -> anyhow::Result<Vec<Listed>> {
        let files = match &self.place {
            Place::Directory(dir) => sizes(&dir.join(RUNS))?,
            Place::Objects(objects) => objects.list(RUNS).await?,
        };
        let is_meant = |key: &RunKey| {
            let each = self.only.iter().zip(key.words());
            each.into_iter()
                .all(|(only, word)| only.as_deref().is_none_or(|only| only == word))
        };
        let listed = files.into_iter().filter_map(|(path, size_bytes)| {
            let key = RunKey::of_path(path.strip_suffix(PART_FILE)?)?;
            Some(Listed { key, size_bytes })
        });
        let mut all: Vec<Listed> = listed.collect();
        let there = all.len();
        all.retain(|one| is_meant(&one.key));
        if all.is_empty() {
            match there {
                0 => bail!(
                    "{}: there are no runs in it ({RUNS}/cluster=…/class=…/node=…/run=…/{PART_FILE}): fathom k8s run --records and \
                     fathom k8s store put them there",
                    self.text
                ),
                some => bail!("{}: none of its {some} runs is {}", self.text, self.wanted()),
            }
        }
        all.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(all)
    }

    /// What selects runs, in words.
    fn wanted(&self) -> String {
        let each = RunKey::NAMES.iter().zip(&self.only);
        let each = each.filter_map(|(name, only)| Some(format!("{name}={}", only.as_deref()?)));
        each.collect::<Vec<_>>().join(", ")
    }

    /// Gives what each of `runs` contributes to `take`, in their order, a few of them in memory at a time.
    ///
    /// # Errors
    /// One cannot be read, or those of `take`.
    pub async fn parts(
        &self,
        runs: &[Listed],
        mut take: impl FnMut(&RunKey, &[u8]) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let each =
            stream::iter(runs).map(|one| async move { Ok::<_, anyhow::Error>((one, self.part(one).await?)) });
        let mut each = std::pin::pin!(each.buffered(AT_ONCE));
        while let Some((one, part)) = each.try_next().await? {
            take(&one.key, &part).with_context(|| format!("{}/{RUNS}/{}", self.text, one.key.path()))?;
        }
        Ok(())
    }

    async fn part(&self, one: &Listed) -> anyhow::Result<Vec<u8>> {
        let path = format!("{RUNS}/{}/{PART_FILE}", one.key.path());
        if one.size_bytes > PART_BYTES_MAX {
            bail!(
                "{}/{path}: it has {} bytes, and no part of fathom's has more than {PART_BYTES_MAX}",
                self.text,
                one.size_bytes
            );
        }
        match &self.place {
            Place::Directory(dir) => {
                let path = dir.join(path);
                let mut part = Vec::new();
                let file = File::open(&path).with_context(|| format!("cannot read {}", path.display()))?;
                file.take(PART_BYTES_MAX)
                    .read_to_end(&mut part)
                    .with_context(|| format!("cannot read {}", path.display()))?;
                Ok(part)
            }
            Place::Objects(objects) => objects.get(&path).await,
        }
    }
}

/// What selects runs at the end of a prefix, and what stands before it.
fn split(text: &str) -> (&str, [Option<String>; 4]) {
    let mut only: [Option<String>; 4] = Default::default();
    let mut base = text.trim_end_matches('/');
    while let Some((before, last)) = base.rsplit_once('/')
        && let Some((name, word)) = last.split_once('=')
        && let Some(place) = RunKey::NAMES.iter().position(|known| *known == name)
    {
        only[place] = Some(word.to_owned());
        base = before.trim_end_matches('/');
    }
    (base, only)
}

/// Parquet files are of the table that their folder or else their own name says; all else is a run's own.
fn table_of(file: &str) -> &str {
    match (file.strip_suffix(".parquet"), file.split_once('/')) {
        (None, _) => RUNS,
        (Some(_), Some((folder, _))) => folder,
        (Some(name), None) => name,
    }
}

fn name_in_table(file: &str) -> &str {
    match file.split_once('/') {
        Some((_, name)) if file.ends_with(".parquet") => name,
        _ => file,
    }
}

/// The files below `dir` by their paths in it, in order.
fn list(dir: &Path, below: &str, files: &mut Vec<String>) -> anyhow::Result<()> {
    let at = dir.join(below);
    let reading = || format!("cannot read {}", at.display());
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(&at).with_context(reading)? {
        entries.push(entry.with_context(reading)?);
    }
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        let Some(name) = name.to_str() else {
            bail!("{}: its name is no text", entry.path().display());
        };
        let path = if below.is_empty() {
            name.to_owned()
        } else {
            format!("{below}/{name}")
        };
        let kind = entry.file_type().with_context(reading)?;
        if kind.is_dir() {
            list(dir, &path, files)?;
        } else if kind.is_file() {
            files.push(path);
        }
    }
    Ok(())
}

/// The files below `dir` by their paths in it, with their sizes.
fn sizes(dir: &Path) -> anyhow::Result<Vec<(String, u64)>> {
    let mut files = Vec::new();
    if !dir.is_dir() {
        return Ok(Vec::new());
    }
    list(dir, "", &mut files)?;
    files
        .into_iter()
        .map(|file| {
            let path = dir.join(&file);
            let metadata =
                std::fs::metadata(&path).with_context(|| format!("cannot read {}", path.display()))?;
            Ok((file, metadata.len()))
        })
        .collect()
}

#[cfg(test)]
mod tests;
