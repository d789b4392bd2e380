//! How long a volume took to be bound, scheduled, attached, mounted and to have its pod started, and to be detached again.
//!
//! Data in: what was seen of a test, and what the cluster says of it. Data out: [`AttachTimes`]. It must not ask anybody.
//!
//! Two clocks: what this program saw ([`Moment::seen_ms`], since it made the pod, to about as often as it looked) and what the
//! cluster wrote ([`Moment::stated_unix_ms`]: microseconds of the scheduler, whole seconds of everybody else). They are not mixed:
//! durations are of what was seen.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Event, PersistentVolumeClaim, Pod};
use k8s_openapi::api::storage::v1::VolumeAttachment;
use serde::{Deserialize, Serialize};

/// A step of a volume's way to a running pod, or back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// The claim has a volume.
    Bound,
    /// The pod has a node.
    Scheduled,
    /// The volume is attached to that node.
    Attached,
    /// Volumes are mounted and the sandbox is there: containers may begin.
    Mounted,
    /// The container that does the work runs.
    Started,
    /// After the pod was deleted: the volume is at no node any more.
    Detached,
}

impl Step {
    pub const ALL: [Self; 6] = [
        Self::Bound,
        Self::Scheduled,
        Self::Attached,
        Self::Mounted,
        Self::Started,
        Self::Detached,
    ];

    /// As it is told.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bound => "bound",
            Self::Scheduled => "scheduled",
            Self::Attached => "attached",
            Self::Mounted => "mounted",
            Self::Started => "started",
            Self::Detached => "detached",
        }
    }
}

/// When something was so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// First seen so, in milliseconds since the pod was made (of [`Step::Detached`]: since it was deleted).
    pub seen_ms: u64,
    /// When the cluster says that it became so.
    pub stated_unix_ms: Option<i64>,
    /// Of that: whole seconds only.
    pub stated_in_seconds: bool,
}

/// What is known of one test.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachTimes {
    /// How often it was looked, in milliseconds: what was seen is late by up to that.
    pub looked_every_ms: u64,
    pub bound: Option<Moment>,
    pub scheduled: Option<Moment>,
    pub attached: Option<Moment>,
    pub mounted: Option<Moment>,
    pub started: Option<Moment>,
    pub detached: Option<Moment>,
    /// Why something is not known, a sentence each.
    pub missing: Vec<String>,
}

/// What was looked at once.
#[derive(Debug, Clone, Copy)]
pub struct Look<'a> {
    /// Since the pod was made.
    pub at_ms: u64,
    pub pod: Option<&'a Pod>,
    pub claim: Option<&'a PersistentVolumeClaim>,
    pub attachments: Option<&'a [VolumeAttachment]>,
    pub events: &'a [Event],
    pub container: &'a str,
}

impl AttachTimes {
    pub fn of(&self, step: Step) -> Option<Moment> {
        match step {
            Step::Bound => self.bound,
            Step::Scheduled => self.scheduled,
            Step::Attached => self.attached,
            Step::Mounted => self.mounted,
            Step::Started => self.started,
            Step::Detached => self.detached,
        }
    }

    fn slot(&mut self, step: Step) -> &mut Option<Moment> {
        match step {
            Step::Bound => &mut self.bound,
            Step::Scheduled => &mut self.scheduled,
            Step::Attached => &mut self.attached,
            Step::Mounted => &mut self.mounted,
            Step::Started => &mut self.started,
            Step::Detached => &mut self.detached,
        }
    }

    /// Notes what has become so since the last look.
    pub fn look(&mut self, look: &Look<'_>) {
        for step in [
            Step::Bound,
            Step::Scheduled,
            Step::Attached,
            Step::Mounted,
            Step::Started,
        ] {
            let Some(Reached { stated }) = reached(step, look) else {
                continue;
            };
            let slot = self.slot(step);
            match slot {
                None => {
                    *slot = Some(Moment {
                        seen_ms: look.at_ms,
                        stated_unix_ms: stated.map(|stated| stated.0),
                        stated_in_seconds: stated.is_some_and(|stated| stated.1),
                    });
                }
                // Events come after the fact.
                Some(moment) if moment.stated_unix_ms.is_none() => {
                    moment.stated_unix_ms = stated.map(|stated| stated.0);
                    moment.stated_in_seconds = stated.is_some_and(|stated| stated.1);
                }
                Some(_) => {}
            }
        }
    }

    /// From one step to another as it was seen, in milliseconds.
    pub fn between_ms(&self, from: Option<Step>, to: Step) -> Option<u64> {
        let from_ms = match from {
            None => 0,
            Some(step) => self.of(step)?.seen_ms,
        };
        Some(self.of(to)?.seen_ms.saturating_sub(from_ms))
    }
}

/// That a step is done, with the time that the cluster states, where it does.
struct Reached {
    /// With whether it has whole seconds only.
    stated: Option<(i64, bool)>,
}

impl Reached {
    fn at(stated: Option<(i64, bool)>) -> Self {
        Self { stated }
    }
}

/// Whether a step is done.
fn reached(step: Step, look: &Look<'_>) -> Option<Reached> {
    let seconds = |time: Option<&Timestamp>| time.map(|time| (time.as_millisecond(), true));
    match step {
        Step::Bound => {
            let phase = look.claim?.status.as_ref()?.phase.as_deref();
            (phase == Some("Bound")).then_some(Reached::at(None))
        }
        Step::Scheduled => {
            look.pod?.spec.as_ref()?.node_name.as_ref()?;
            let event = event(look.events, "Scheduled");
            let precise = event.and_then(|event| event.event_time.as_ref());
            let precise = precise.map(|time| (time.0.as_millisecond(), false));
            Some(Reached::at(
                precise.or_else(|| seconds(condition(look.pod?, "PodScheduled"))),
            ))
        }
        Step::Attached => {
            let event = event(look.events, "SuccessfulAttachVolume");
            let stated = seconds(
                event
                    .and_then(|event| event.first_timestamp.as_ref())
                    .map(|time| &time.0),
            );
            let is_attached = look.attachments.is_some_and(|all| {
                all.iter()
                    .any(|one| one.status.as_ref().is_some_and(|status| status.attached))
            });
            (is_attached || stated.is_some()).then_some(Reached::at(stated))
        }
        Step::Mounted => {
            let ready = condition(look.pod?, "PodReadyToStartContainers");
            let created = ["Pulling", "Pulled", "Created"]
                .into_iter()
                .find_map(|reason| event(look.events, reason));
            let created = created.and_then(|event| event.first_timestamp.as_ref());
            let stated = seconds(ready.or(created.map(|time| &time.0)));
            stated.map(|stated| Reached::at(Some(stated)))
        }
        Step::Started => {
            let statuses = look.pod?.status.as_ref()?.container_statuses.as_ref()?;
            let status = statuses.iter().find(|status| status.name == look.container)?;
            let state = status.state.as_ref()?;
            let running = state
                .running
                .as_ref()
                .and_then(|running| running.started_at.as_ref());
            let ended = state
                .terminated
                .as_ref()
                .and_then(|ended| ended.started_at.as_ref());
            seconds(running.or(ended).map(|time| &time.0)).map(|stated| Reached::at(Some(stated)))
        }
        Step::Detached => None,
    }
}

fn event<'a>(events: &'a [Event], reason: &str) -> Option<&'a Event> {
    events
        .iter()
        .find(|event| event.reason.as_deref() == Some(reason))
}

/// When a condition of a pod became true.
fn condition<'a>(pod: &'a Pod, name: &str) -> Option<&'a Timestamp> {
    let conditions = pod.status.as_ref()?.conditions.as_ref()?;
    let found = conditions
        .iter()
        .find(|condition| condition.type_ == name && condition.status == "True")?;
    found.last_transition_time.as_ref().map(|time| &time.0)
}

#[cfg(test)]
mod tests;
