//! What an experiment is: its runs, models and published figures.
//!
//! Data in: the files of a directory below `experiments/`, built in or on the disk: `experiment.toml`, `figures.csv`, job
//! files, model files. Data out: an [`Experiment`]. They hold parameters and what was published, never a result of the
//! model. It must not know how runs are carried out.

use crate::model_target::is_model_file;
use anyhow::{Context, bail};
use fathom_analysis::figures::{self, Figure};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The file that describes an experiment.
const ABOUT_FILE: &str = "experiment.toml";
/// The file with the published figures.
const FIGURES_FILE: &str = "figures.csv";

#[derive(Debug, Clone)]
pub(crate) struct Experiment {
    /// The name of its directory.
    pub name: String,
    /// What it says of itself.
    pub about: About,
    /// Its published figures.
    pub figures: Vec<Figure>,
    /// The text of each of its files, by name.
    pub files: BTreeMap<String, String>,
}

/// `experiment.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct About {
    /// In a few words.
    pub title: String,
    /// The post's title.
    pub post: String,
    /// Who wrote it.
    pub author: String,
    /// When.
    pub date: String,
    /// What to know before reading the figures.
    #[serde(default)]
    pub notes: Vec<String>,
    pub runs: Vec<RunAbout>,
    /// Constants that were fitted.
    #[serde(default)]
    pub fitted: Vec<Fitted>,
    /// Published figures that the model has nothing to say of.
    #[serde(default)]
    pub not_modelled: Vec<NotModelled>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunAbout {
    /// What figures call it.
    pub name: String,
    /// In words.
    pub about: String,
    /// A job file that is carried out before, on the same machine.
    pub before: Option<String>,
    /// The job file.
    pub job: String,
    /// Only these sections; empty: all.
    #[serde(default)]
    pub sections: Vec<String>,
    /// Whether each section has an outcome of its own, which is then called `NAME/SECTION`. All run on one machine, in the
    /// order that the job file says.
    #[serde(default)]
    pub each_section: bool,
    /// Options that override those of the job file.
    #[serde(default)]
    pub options: BTreeMap<String, String>,
    /// The machine: a target in words, or a model file (`*.toml`).
    pub model: String,
}

/// A constant that was fitted.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fitted {
    pub constant: String,
    /// To which published figures.
    pub to: String,
}

/// What the model has nothing to say of.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NotModelled {
    /// Which figures.
    pub what: String,
    /// Why.
    pub reason: String,
}

/// The files of a built-in experiment, and their texts.
type Files = &'static [(&'static str, &'static str)];

/// `(file, its text)` of each file of an experiment.
macro_rules! files {
    ($name:literal: $($file:literal),+ $(,)?) => {
        ($name, &[$(($file, include_str!(concat!("../../../../../experiments/", $name, "/", $file)))),+])
    };
}

/// All that are built in, in the order in which `all` carries them out.
pub(crate) const BUILT_IN: [(&str, Files); 6] = [
    files!(
        "aks-2019": "experiment.toml",
        "figures.csv",
        "jobs.fio",
        "os-disk.toml",
        "p15.toml",
    ),
    files!(
        "azure-a2-2016": "experiment.toml",
        "figures.csv",
        "matrix.fio",
        "sweep.toml",
        "hdd-2016.toml",
    ),
    files!(
        "premium-24h": "experiment.toml",
        "figures.csv",
        "reads.fio",
        "h20.toml",
        "h00.toml",
        "day.toml",
    ),
    files!(
        "raid0-2019": "experiment.toml",
        "figures.csv",
        "fiowrite-sdc.ini",
        "fiowrite-sdd.ini",
        "fiowrite-md0.ini",
        "p15.toml",
        "p40.toml",
        "md0.toml",
    ),
    files!(
        "acs-2024": "experiment.toml",
        "figures.csv",
        "warm-acstor.fio",
        "warm-azdisk.fio",
        "acstor-randread.fio",
        "acstor-randwrite.fio",
        "acstor-randrw.fio",
        "azdisk-randread.fio",
        "azdisk-randwrite.fio",
        "azdisk-randrw.fio",
        "acs.toml",
        "p2-full.toml",
        "p2-empty.toml",
    ),
    files!(
        "others": "experiment.toml",
        "figures.csv",
        "tkubica.fio",
        "p10.fio",
        "p15.fio",
        "ebs.fio",
        "pd-ssd.fio",
    ),
];

/// The experiment in the directory of this name, or the built-in one.
pub(crate) fn named(name: &str) -> anyhow::Result<Experiment> {
    match Path::new(name) {
        dir if dir.is_dir() => in_directory(dir),
        _ => built_in(name),
    }
}

/// The built-in experiment of this name.
pub(crate) fn built_in(name: &str) -> anyhow::Result<Experiment> {
    let Some((name, files)) = BUILT_IN.iter().find(|(known, _)| *known == name) else {
        let names: Vec<&str> = BUILT_IN.iter().map(|(name, _)| *name).collect();
        bail!(
            "no experiment is called `{name}`: there are {}; or give the directory of one",
            names.join(", ")
        );
    };
    let texts = files
        .iter()
        .map(|&(file, text)| (file.to_owned(), text.to_owned()));
    read(name, texts.collect())
}

pub(crate) fn in_directory(dir: &Path) -> anyhow::Result<Experiment> {
    let mut files = BTreeMap::new();
    let entries = std::fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))?;
    for entry in entries {
        let path = entry
            .with_context(|| format!("cannot read {}", dir.display()))?
            .path();
        let Some(name) = path
            .file_name()
            .and_then(|name| name.to_str())
            .filter(|_| path.is_file())
        else {
            continue;
        };
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        files.insert(name.to_owned(), text);
    }
    let name = dir.file_name().map(|name| name.to_string_lossy().into_owned());
    read(&name.unwrap_or_else(|| dir.display().to_string()), files)
}

fn read(name: &str, files: BTreeMap<String, String>) -> anyhow::Result<Experiment> {
    let text = |file: &str| {
        let found = files.get(file).map(String::as_str);
        found.with_context(|| format!("{name}: there is no {file}"))
    };
    let about: About = toml::from_str(text(ABOUT_FILE)?).with_context(|| format!("{name}/{ABOUT_FILE}"))?;
    let figures = figures::read(&format!("{name}/{FIGURES_FILE}"), text(FIGURES_FILE)?)?;
    for run in &about.runs {
        text(&run.job)?;
        run.before.as_deref().map(text).transpose()?;
        if is_model_file(&run.model) {
            text(&run.model)?;
        }
    }
    Ok(Experiment {
        name: name.to_owned(),
        about,
        figures,
        files,
    })
}
