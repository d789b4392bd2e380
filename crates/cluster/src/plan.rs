//! What is to be carried out: on which claims, by which pods, how often and in which order.
//!
//! Data in: what a user asks for, checked where the words alone can tell. Data out: [`Plan`] and its [`Test`]s. It must not speak
//! to a cluster.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

/// Of a name in Kubernetes that becomes a label's value.
const NAME_MAX: usize = 63;
/// What names of objects may take of it: the rest numbers the test.
const ID_MAX: usize = 24;

/// All tests of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Names the run: the value of its label, and the beginning of the names of its objects.
    pub id: String,
    /// The context of the kubeconfig: what goes on with the run goes to the same cluster, whichever is the current one by then. `None`: the
    /// cluster that this runs in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// `None`: that of the context.
    pub namespace: Option<String>,
    /// What is compared, in this order.
    pub sides: Vec<Side>,
    pub repeat: u32,
    /// How claims are made.
    pub claim: ClaimSpec,
    pub pod: PodSpec,
    pub work: Work,
    pub patience: Patience,
    /// All sides of a repeat at once, each in a pod of its own; else one after the other, with their turns changing.
    pub together: bool,
    /// How many pods of a side do the same at once; each with a claim of its own, unless the side is one.
    #[serde(default = "one")]
    pub members: u32,
    /// One of the members by itself before all of them: what it has alone tells whose limit it is.
    #[serde(default)]
    pub alone: bool,
    /// The nodes that members are placed on, in turn; empty: where the cluster puts them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<String>,
    /// Where each run is put as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records: Option<Records>,
}

/// Where runs are put, and under which names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Records {
    /// As [`crate::prefix::Prefix::open`] takes it; credentials are the environment's.
    pub prefix: String,
    pub cluster: String,
    /// The storage class of each side, in their order.
    pub classes: Vec<String>,
}

const fn one() -> u32 {
    1
}

/// The place of a member that is measured by itself.
pub const ALONE: u32 = 0;

/// What one side of the comparison is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// A storage class: each test has a claim of its own.
    Class(String),
    /// A claim that is there, and stays: each test writes where the one before did.
    Claim(String),
}

/// How a claim is made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimSpec {
    /// A quantity, as `8Gi`.
    pub size: String,
    pub access: AccessMode,
    /// A device in the pod and no file system.
    pub block: bool,
}

/// Who may use a claim at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum AccessMode {
    #[default]
    ReadWriteOnce,
    ReadWriteOncePod,
    ReadWriteMany,
}

impl AccessMode {
    /// As Kubernetes writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReadWriteOnce => "ReadWriteOnce",
            Self::ReadWriteOncePod => "ReadWriteOncePod",
            Self::ReadWriteMany => "ReadWriteMany",
        }
    }
}

/// How pods are made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PodSpec {
    /// That of the program itself.
    pub image: String,
    /// `Always`, `IfNotPresent`, `Never`; `None`: what the cluster does by itself.
    pub pull: Option<String>,
    pub node_selector: BTreeMap<String, String>,
    /// Sides on nodes of their own: no two of them on one.
    pub spread: bool,
    /// CPU and memory that are asked for, as quantities.
    pub cpu: Option<String>,
    pub memory: Option<String>,
    /// The user that it runs as; `None`: that of the image, which then must not be root unless [`Self::privileged`].
    pub user: Option<i64>,
    /// With all privileges: what the trace of the kernel needs. Else as Pod Security's `restricted` asks for.
    pub privileged: bool,
}

/// What is done in a pod.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// Job files, one after the other.
    Load {
        files: Vec<JobFile>,
        /// More words for each command line.
        options: Vec<String>,
    },
    /// A command in an image of the user's.
    Command {
        image: String,
        /// Lines for its shell.
        prepare: Option<String>,
        command: String,
        cleanup: Option<String>,
        /// More words for the command line of the recorder.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        options: Vec<String>,
    },
    /// Volumes that others use are watched from their nodes: one for each side, in their order.
    Watch {
        volumes: Vec<Watched>,
        /// `None`: until the user ends it.
        duration: Option<Duration>,
        /// More words for the command line.
        options: Vec<String>,
    },
}

/// A volume that others use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watched {
    /// The persistent volume behind the claim.
    pub volume: String,
    pub node: String,
    /// What reports call it.
    pub called: String,
}

/// A job file that goes along.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobFile {
    /// Without directories and ending: names the directory of what came of it.
    pub name: String,
    pub text: String,
}

/// How long is waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patience {
    /// For a pod to start, from its creation, as long as nothing says that it never will.
    pub start: Duration,
    /// For something that stands in its way and rarely goes away by itself: an image that cannot be had, a class that cannot
    /// provision, a pod that fits nowhere.
    pub hindered: Duration,
    /// For the work itself; the cluster ends the pod after it, too.
    pub work: Duration,
    /// For objects to be gone.
    pub removal: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            start: Duration::from_mins(10),
            hindered: Duration::from_mins(1),
            work: Duration::from_hours(24),
            removal: Duration::from_mins(2),
        }
    }
}

/// One pod on one claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Test {
    /// Of [`Plan::sides`].
    pub side: usize,
    /// From 1.
    pub repeat: u32,
    /// Of [`Plan::members`], from 1; [`ALONE`]: one of them by itself.
    #[serde(default = "one")]
    pub member: u32,
}

impl Side {
    /// As it is called in directories and reports.
    pub fn name(&self) -> &str {
        match self {
            Self::Class(name) | Self::Claim(name) => name,
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Class(name) => write!(f, "class {name}"),
            Self::Claim(name) => write!(f, "claim {name}"),
        }
    }
}

/// What is wrong with a plan, in words, with the flag.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    #[error("give what is to be measured: --class NAME or --claim NAME")]
    NoSide,
    #[error("{0} is given twice: a side is compared with another one")]
    Twice(Side),
    #[error("{flag} {value}: {why}")]
    Value {
        flag: &'static str,
        value: String,
        why: &'static str,
    },
    #[error("two job files are called {0}: what came of them goes into directories of that name")]
    SameName(String),
    #[error("{0} pods that begin together take one job file each: give one")]
    SeveralForMembers(u32),
}

impl Plan {
    /// Whether the words are such as Kubernetes takes.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check(&self) -> Result<(), PlanError> {
        let value = |flag, value: &str, why| PlanError::Value {
            flag,
            value: value.to_owned(),
            why,
        };
        if self.sides.is_empty() {
            return Err(PlanError::NoSide);
        }
        for (place, side) in self.sides.iter().enumerate() {
            if self.sides[..place]
                .iter()
                .any(|other| other.name() == side.name())
            {
                return Err(PlanError::Twice(side.clone()));
            }
            if !is_subdomain(side.name()) {
                let flag = match side {
                    Side::Class(_) => "--class",
                    Side::Claim(_) => "--claim",
                };
                let why = "no name of Kubernetes: lower-case letters, digits, - and .";
                return Err(value(flag, side.name(), why));
            }
        }
        if !is_quantity(&self.claim.size) {
            return Err(value("--size", &self.claim.size, "no quantity: 8Gi, 500Mi, 2Ti"));
        }
        if let Some(namespace) = &self.namespace
            && !is_label(namespace)
        {
            let why = "no name of a namespace: lower-case letters, digits and -";
            return Err(value("--namespace", namespace, why));
        }
        if !is_label(&self.id) || self.id.len() > ID_MAX {
            return Err(value(
                "--id",
                &self.id,
                "no name: up to 24 lower-case letters, digits and -",
            ));
        }
        if let Work::Load { files, .. } = &self.work {
            for (place, file) in files.iter().enumerate() {
                if files[..place].iter().any(|other| other.name == file.name) {
                    return Err(PlanError::SameName(file.name.clone()));
                }
            }
            if self.members > 1 && files.len() > 1 {
                return Err(PlanError::SeveralForMembers(self.members));
            }
        }
        Ok(())
    }

    /// What `asked` has otherwise, each with both values; but for what only a run that begins gets.
    pub fn otherwise(&self, asked: &Self) -> Vec<String> {
        let asked = Self {
            id: self.id.clone(),
            context: self.context.clone(),
            namespace: asked.namespace.clone().or_else(|| self.namespace.clone()),
            ..asked.clone()
        };
        let mut found = Vec::new();
        differences("", &json!(self), &json!(asked), &mut found);
        found
    }

    /// All tests in the order in which they are carried out, those together that go on at once: in every second repeat the
    /// sides take turns the other way round, so that what drifts hits all of them.
    pub fn batches(&self) -> Vec<Vec<Test>> {
        let turn = |repeat: u32| {
            let sides = 0..self.sides.len();
            let ordered: Vec<usize> = if repeat.is_multiple_of(2) {
                sides.rev().collect()
            } else {
                sides.collect()
            };
            if self.together {
                let all = ordered.into_iter().flat_map(|side| self.members_of(side, repeat));
                return vec![all.collect()];
            }
            let of_side = |side| {
                let alone = Test {
                    side,
                    repeat,
                    member: ALONE,
                };
                let alone = (self.alone && self.members > 1).then(|| vec![alone]);
                alone.into_iter().chain([self.members_of(side, repeat).collect()])
            };
            ordered.into_iter().flat_map(of_side).collect()
        };
        (1..=self.repeat).flat_map(turn).collect()
    }

    fn members_of(&self, side: usize, repeat: u32) -> impl Iterator<Item = Test> + use<> {
        (1..=self.members).map(move |member| Test { side, repeat, member })
    }

    /// All tests, in their order.
    pub fn tests(&self) -> Vec<Test> {
        self.batches().into_iter().flatten().collect()
    }

    /// Whether pods wait for each other, to begin at one moment.
    pub const fn begins_together(&self) -> bool {
        self.members > 1
    }

    /// The node that a test is placed on.
    pub fn node_of(&self, test: Test) -> Option<&str> {
        let place = (test.member as usize).saturating_sub(1);
        let node = self.nodes.get(place % self.nodes.len().max(1))?;
        Some(node)
    }

    /// What the objects of a test are called.
    pub fn name_of(&self, test: Test) -> String {
        let name = format!("fathom-{}-{}-{}", self.id, test.side + 1, test.repeat);
        if self.members > 1 {
            format!("{name}-{}", test.member)
        } else {
            name
        }
    }
}

/// What differs below `path`, a line each.
fn differences(path: &str, then: &Value, now: &Value, found: &mut Vec<String>) {
    match (then, now) {
        (Value::Object(before), Value::Object(after)) => {
            let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
            for key in keys {
                let below = if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path}.{key}")
                };
                differences(&below, &then[key], &now[key], found);
            }
        }
        _ if then == now => {}
        _ => found.push(format!("{path}: {then} then, {now} now")),
    }
}

/// As RFC 1123 has labels.
fn is_label(text: &str) -> bool {
    let ends = |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    text.len() <= NAME_MAX
        && ends(text.chars().next())
        && ends(text.chars().last())
        && text
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

fn is_subdomain(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_label)
}

/// A number with one of Kubernetes' units of bytes.
fn is_quantity(text: &str) -> bool {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let units = ["", "k", "M", "G", "T", "P", "Ki", "Mi", "Gi", "Ti", "Pi"];
    let number = digits
        .parse::<f64>()
        .is_ok_and(|number| number > 0.0 && number.is_finite());
    number
        && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && units.contains(&&text[digits.len()..])
}

#[cfg(test)]
pub(crate) mod tests;
