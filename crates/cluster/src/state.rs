//! What stands in the way of a test, in the cluster's own words.
//!
//! Data in: a pod, its claim, its node, the events about them. Data out: [`Hindrance`]s, the gravest first. It must not ask anybody.
//!
//! Sources: the reasons of container states in `pkg/kubelet/images` and `pkg/kubelet/kuberuntime`, those of events in
//! `pkg/kubelet/events/event.go` and `pkg/controller/volume` of Kubernetes 1.34, which are part of no API promise: a reason that is
//! not known here is waited for, and told at the end.

use k8s_openapi::api::core::v1::{ContainerStatus, Event, Node, PersistentVolumeClaim, Pod};

/// Exit codes that a killed container has: 128 and the signal's number.
const KILLED: i32 = 137;

/// How long it is worth waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// As it should be: something is on its way.
    Underway,
    /// It may go away, as a missing node does; it rarely does.
    Hindered,
    /// It never will.
    Over,
}

/// Something that is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hindrance {
    pub grade: Grade,
    /// `pod x`, `claim y`, `node z`.
    pub of: String,
    /// The cluster's word for it: `ImagePullBackOff`.
    pub reason: String,
    /// What it says of it.
    pub message: String,
}

impl std::fmt::Display for Hindrance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.of, self.reason)?;
        match self.message.trim() {
            "" => Ok(()),
            message => write!(f, ": {message}"),
        }
    }
}

/// All that is known of a test at a moment.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    pub pod: Option<&'a Pod>,
    pub claim: Option<&'a PersistentVolumeClaim>,
    pub node: Option<&'a Node>,
    pub events: &'a [Event],
}

/// Containers whose failures count, with their grade.
const WAITING: [(&str, Grade); 10] = [
    ("ErrImagePull", Grade::Hindered),
    ("ImagePullBackOff", Grade::Hindered),
    ("ImageInspectError", Grade::Hindered),
    ("RegistryUnavailable", Grade::Hindered),
    ("CreateContainerConfigError", Grade::Hindered),
    ("CreateContainerError", Grade::Hindered),
    ("RunContainerError", Grade::Hindered),
    ("ErrImageNeverPull", Grade::Over),
    ("InvalidImageName", Grade::Over),
    ("CrashLoopBackOff", Grade::Over),
];

/// Events that say that something does not work, as long as it does not.
const EVENTS: [&str; 8] = [
    "ProvisioningFailed",
    "FailedBinding",
    "FailedAttachVolume",
    "FailedMount",
    "FailedMapVolume",
    "FailedCreatePodSandBox",
    "VolumeMismatch",
    "ClaimLost",
];

/// Whether the container that does the work runs, or has run.
pub fn is_started(pod: &Pod, container: &str) -> bool {
    let status = container_status(pod, container);
    let state = status.and_then(|status| status.state.as_ref());
    state.is_some_and(|state| state.running.is_some() || state.terminated.is_some())
}

fn container_status<'a>(pod: &'a Pod, name: &str) -> Option<&'a ContainerStatus> {
    let statuses = pod.status.as_ref()?.container_statuses.as_ref()?;
    statuses.iter().find(|status| status.name == name)
}

/// What stands in the way, the gravest first; empty where all is well.
pub fn hindrances(seen: &Seen<'_>) -> Vec<Hindrance> {
    let mut found = Vec::new();
    if let Some(pod) = seen.pod {
        of_pod(pod, &mut found);
        of_containers(pod, &mut found);
    }
    if let Some(node) = seen.node {
        of_node(node, &mut found);
    }
    if let Some(claim) = seen.claim {
        of_claim(claim, &mut found);
    }
    let begun = seen.pod.and_then(|pod| pod.status.as_ref());
    let runs = begun.and_then(|status| status.phase.as_deref()) == Some("Running");
    if !runs {
        of_events(seen.events, &mut found);
    }
    found.sort_by_key(|one| std::cmp::Reverse(one.grade));
    found
}

fn named(kind: &str, name: Option<&String>) -> String {
    format!("{kind} {}", name.map_or("?", String::as_str))
}

fn of_pod(pod: &Pod, found: &mut Vec<Hindrance>) {
    let Some(status) = &pod.status else { return };
    let of = named("pod", pod.metadata.name.as_ref());
    if status.phase.as_deref() == Some("Failed") {
        // Evicted, DeadlineExceeded, NodeLost say so themselves; else a container tells.
        if let Some(reason) = &status.reason {
            found.push(Hindrance {
                grade: Grade::Over,
                of: of.clone(),
                reason: reason.clone(),
                message: status.message.clone().unwrap_or_default(),
            });
        }
    }
    if let Some(target) = status
        .conditions
        .iter()
        .flatten()
        .find(|condition| condition.type_ == "DisruptionTarget" && condition.status == "True")
    {
        found.push(Hindrance {
            grade: Grade::Over,
            of: of.clone(),
            reason: target.reason.clone().unwrap_or_default(),
            message: target.message.clone().unwrap_or_default(),
        });
    }
    let scheduled = status.conditions.iter().flatten();
    for condition in scheduled.filter(|one| one.type_ == "PodScheduled" && one.status == "False") {
        let grade = match condition.message.as_deref().unwrap_or_default() {
            // The scheduler looks again as soon as the claim is bound.
            message if message.contains("unbound immediate PersistentVolumeClaims") => Grade::Underway,
            _ => Grade::Hindered,
        };
        found.push(Hindrance {
            grade,
            of: of.clone(),
            reason: condition.reason.clone().unwrap_or_default(),
            message: condition.message.clone().unwrap_or_default(),
        });
    }
}

fn of_containers(pod: &Pod, found: &mut Vec<Hindrance>) {
    let Some(status) = &pod.status else { return };
    let of = named("pod", pod.metadata.name.as_ref());
    let first = status.init_container_statuses.iter().flatten();
    let first = first.map(|status| (status, true));
    let others = status.container_statuses.iter().flatten();
    for (container, is_init) in first.chain(others.map(|status| (status, false))) {
        let Some(state) = &container.state else { continue };
        if let Some(waiting) = &state.waiting {
            let reason = waiting.reason.clone().unwrap_or_default();
            let known = WAITING.iter().find(|(known, _)| *known == reason);
            if let Some((_, grade)) = known {
                found.push(Hindrance {
                    grade: *grade,
                    of: format!("{of}, container {}", container.name),
                    reason,
                    message: waiting.message.clone().unwrap_or_default(),
                });
            }
        }
        if let Some(ended) = &state.terminated
            && (ended.exit_code != 0 || !is_init)
        {
            let killed = ended.exit_code == KILLED && ended.reason.as_deref() != Some("OOMKilled");
            let message = match (&ended.message, killed) {
                (Some(message), _) => message.clone(),
                (None, true) => String::from("it was killed"),
                (None, false) => format!("exit code {}", ended.exit_code),
            };
            found.push(Hindrance {
                grade: Grade::Over,
                of: format!("{of}, container {}", container.name),
                reason: ended.reason.clone().unwrap_or_else(|| String::from("Terminated")),
                message,
            });
        }
    }
}

fn of_node(node: &Node, found: &mut Vec<Hindrance>) {
    let conditions = node
        .status
        .iter()
        .flat_map(|status| status.conditions.iter().flatten());
    for ready in conditions.filter(|one| one.type_ == "Ready" && one.status != "True") {
        found.push(Hindrance {
            grade: Grade::Hindered,
            of: named("node", node.metadata.name.as_ref()),
            reason: ready.reason.clone().unwrap_or_else(|| String::from("NotReady")),
            message: ready.message.clone().unwrap_or_default(),
        });
    }
}

fn of_claim(claim: &PersistentVolumeClaim, found: &mut Vec<Hindrance>) {
    let phase = claim.status.as_ref().and_then(|status| status.phase.as_deref());
    let of = named("claim", claim.metadata.name.as_ref());
    match phase {
        Some("Bound") => {}
        Some("Lost") => found.push(Hindrance {
            grade: Grade::Over,
            of,
            reason: String::from("Lost"),
            message: String::from("its volume is gone"),
        }),
        _ => found.push(Hindrance {
            grade: Grade::Underway,
            of,
            reason: String::from("Pending"),
            message: String::from("it has no volume yet"),
        }),
    }
}

/// The newest of each reason.
fn of_events(events: &[Event], found: &mut Vec<Hindrance>) {
    for reason in EVENTS {
        let some = events.iter().filter(|event| {
            event.reason.as_deref() == Some(reason) && event.type_.as_deref() == Some("Warning")
        });
        let Some(last) = some.max_by_key(|event| event.last_timestamp.as_ref().map(|time| time.0)) else {
            continue;
        };
        let object = &last.involved_object;
        let kind = match object.kind.as_deref() {
            Some("PersistentVolumeClaim") => "claim",
            Some("Pod") => "pod",
            _ => "object",
        };
        found.push(Hindrance {
            grade: Grade::Hindered,
            of: named(kind, object.name.as_ref()),
            reason: reason.to_owned(),
            message: last.message.clone().unwrap_or_default(),
        });
    }
}

#[cfg(test)]
mod tests;
