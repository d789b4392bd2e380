//! The objects of a test, as JSON that any version of the API takes: a claim, what goes along in a config map, a pod.
//!
//! Data in: a [`Plan`] and one of its tests. Data out: objects. It must not speak to a cluster.

use crate::agent::{Step, Steps};
use crate::plan::{Plan, PodSpec, Side, Test, Watched, Work};
use serde_json::{Value, json};

/// Who made it.
pub const MANAGED_LABEL: &str = "app.kubernetes.io/managed-by";
pub const MANAGED_BY: &str = "fathom";
/// The run that it belongs to: [`Plan::id`].
pub const RUN_LABEL: &str = "fathom/run";
/// Which of its sides, from 1, and which repeat.
pub const SIDE_LABEL: &str = "fathom/side";
pub const REPEAT_LABEL: &str = "fathom/repeat";

/// Where the program lies in its own image.
pub const PROGRAM: &str = "/fathom";
/// The same in an image of the user's.
pub(crate) const PROGRAM_BESIDE: &str = "/fathom-bin/fathom";
/// The container that does the work.
pub const CONTAINER: &str = "fathom";
/// Where the volume is in the pod: mounted, or as a device.
pub const DATA_DIR: &str = "/data";
pub const DATA_DEVICE: &str = "/dev/fathom-data";
/// What goes along.
pub const JOBS_DIR: &str = "/fathom-jobs";
pub const STEPS_FILE: &str = "steps.json";
/// Where what came of it is kept until it is fetched.
pub const OUT_DIR: &str = "/fathom-out";

/// A user without rights, where the image does not say one.
const NOBODY: i64 = 65_532;
/// The group of disks in the node's `/dev`, as Debian, Ubuntu, Red Hat and their kin number it.
const DISK_GROUP: i64 = 6;
/// Beyond the time for the work: for the pod to start and for what it left to be fetched.
const DEADLINE_SLACK_S: u64 = 3_600;

/// How a pod's work is called that is no load.
pub const COMMAND_STEP: &str = "command";
pub const RECORD_STEP: &str = "record";
/// Begins the names of steps that look at what others left.
pub(crate) const CONTRIBUTION_OF: &str = "part of ";

/// What the agent does in the pod of a test.
pub fn steps(plan: &Plan, test: Test) -> Steps {
    let mut prepare = None;
    let mut steps = match &plan.work {
        Work::Load { files, options } => {
            let target = if plan.claim.block { DATA_DEVICE } else { DATA_DIR };
            let each = files.iter().map(|file| {
                let mut words = vec![
                    String::from("run"),
                    format!("{JOBS_DIR}/{}.fio", file.name),
                    String::from("--on"),
                    target.to_owned(),
                    String::from("-o"),
                    format!("{OUT_DIR}/{}", file.name),
                ];
                if plan.claim.block {
                    words.extend([String::from("--allow-overwrite"), target.to_owned()]);
                }
                // The seccomp profile of newer runtimes (containerd from 2.0 on) keeps io_uring away from pods.
                words.push(String::from("--libaio-if-blocked"));
                words.extend(options.iter().cloned());
                Step {
                    name: file.name.clone(),
                    words,
                    volume: None,
                    afterwards: false,
                }
            });
            let steps: Vec<Step> = each.collect();
            if plan.begins_together() {
                prepare = steps.first().map(preparing);
            }
            steps
        }
        Work::Watch {
            volumes,
            duration,
            options,
        } => {
            let watched = &volumes[test.side];
            let mut words = vec![
                String::from("record"),
                String::from("--called"),
                watched.called.clone(),
                String::from("-o"),
                format!("{OUT_DIR}/{RECORD_STEP}"),
            ];
            if let Some(duration) = duration {
                words.extend([String::from("--duration"), format!("{}ms", duration.as_millis())]);
            }
            words.extend(options.iter().cloned());
            vec![Step {
                name: String::from(RECORD_STEP),
                words,
                volume: Some(watched.volume.clone()),
                afterwards: false,
            }]
        }
        Work::Command {
            prepare,
            command,
            cleanup,
            options,
            ..
        } => {
            let mut words = vec![
                String::from("record"),
                String::from("-o"),
                format!("{OUT_DIR}/{COMMAND_STEP}"),
            ];
            for (flag, line) in [("--prepare", prepare), ("--cleanup", cleanup)] {
                if let Some(line) = line {
                    words.extend([flag.to_owned(), line.clone()]);
                }
            }
            if !plan.claim.block {
                words.extend([String::from("--device"), DATA_DIR.to_owned()]);
            }
            words.extend(options.iter().cloned());
            words.extend(["--", "/bin/sh", "-c"].map(String::from));
            words.push(command.clone());
            vec![Step {
                name: String::from(COMMAND_STEP),
                words,
                volume: None,
                afterwards: false,
            }]
        }
    };
    if plan.records.is_some() {
        let parts: Vec<Step> = steps.iter().map(contribution).collect();
        steps.extend(parts);
    }
    Steps {
        out: OUT_DIR.to_owned(),
        prepare,
        steps,
    }
}

/// What a run contributes to what many did is computed where it ran.
fn contribution(of: &Step) -> Step {
    let dir = format!("{OUT_DIR}/{}", of.name);
    Step {
        name: format!("{CONTRIBUTION_OF}{}", of.name),
        words: ["k8s", "agent", "part", &dir].map(String::from).into(),
        volume: None,
        afterwards: true,
    }
}

/// The same load as far as its files: to make them takes each member its own time.
fn preparing(load: &Step) -> Step {
    let mut words = load.words.clone();
    if let Some(output) = words.iter().position(|word| word == "-o")
        && let Some(dir) = words.get_mut(output + 1)
    {
        *dir = String::from("none");
    }
    words.push(String::from("--create_only=1"));
    Step {
        name: format!("files of {}", load.name),
        words,
        volume: None,
        afterwards: false,
    }
}

fn metadata(plan: &Plan, test: Test) -> Value {
    let mut metadata = json!({
        "name": plan.name_of(test),
        "labels": {
            MANAGED_LABEL: MANAGED_BY,
            RUN_LABEL: plan.id,
            SIDE_LABEL: (test.side + 1).to_string(),
            REPEAT_LABEL: test.repeat.to_string(),
        },
    });
    if let Some(namespace) = &plan.namespace {
        metadata["namespace"] = json!(namespace);
    }
    metadata
}

/// The claim of a test; `None`: its side is one that is there.
pub fn claim(plan: &Plan, test: Test) -> Option<Value> {
    let Side::Class(class) = &plan.sides[test.side] else {
        return None;
    };
    Some(json!({
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata(plan, test),
        "spec": {
            "accessModes": [plan.claim.access.name()],
            "storageClassName": class,
            "volumeMode": if plan.claim.block { "Block" } else { "Filesystem" },
            "resources": {"requests": {"storage": plan.claim.size}},
        },
    }))
}

/// What the agent reads.
pub fn config_map(plan: &Plan, test: Test) -> Value {
    let mut data = serde_json::Map::new();
    if let Work::Load { files, .. } = &plan.work {
        for file in files {
            data.insert(format!("{}.fio", file.name), json!(file.text));
        }
    }
    data.insert(STEPS_FILE.to_owned(), json!(steps(plan, test).to_json()));
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata(plan, test),
        "data": data,
    })
}

/// The pod of a test.
pub fn pod(plan: &Plan, test: Test) -> Value {
    let name = plan.name_of(test);
    let claim = match &plan.sides[test.side] {
        Side::Class(_) => &name,
        Side::Claim(claim) => claim,
    };
    let mut volumes = vec![
        json!({"name": "jobs", "configMap": {"name": name}}),
        json!({"name": "out", "emptyDir": {}}),
    ];
    let watched = watched(plan, test);
    if watched.is_none() {
        volumes.push(json!({"name": "data", "persistentVolumeClaim": {"claimName": claim}}));
    }
    let mut mounts = vec![
        json!({"name": "jobs", "mountPath": JOBS_DIR, "readOnly": true}),
        json!({"name": "out", "mountPath": OUT_DIR}),
    ];
    let (image, program) = match &plan.work {
        Work::Load { .. } | Work::Watch { .. } => (&plan.pod.image, PROGRAM),
        Work::Command { image, .. } => (image, PROGRAM_BESIDE),
    };
    let mut init = Vec::new();
    if program == PROGRAM_BESIDE {
        volumes.push(json!({"name": "bin", "emptyDir": {}}));
        let mount = json!({"name": "bin", "mountPath": "/fathom-bin"});
        let words = [PROGRAM, "k8s", "agent", "install", PROGRAM_BESIDE];
        let mut copies = container("program", &plan.pod.image, &words, &plan.pod);
        copies["volumeMounts"] = json!([mount]);
        with_security(&mut copies, plan);
        init.push(copies);
        mounts.push(mount);
    }
    let steps = format!("{JOBS_DIR}/{STEPS_FILE}");
    let words = [program, "k8s", "agent", "work", &steps];
    let mut work = container(CONTAINER, image, &words, &plan.pod);
    if watched.is_some() {
        // It looks at the node, and uses no claim.
    } else if plan.claim.block {
        work["volumeDevices"] = json!([{"name": "data", "devicePath": DATA_DEVICE}]);
    } else {
        mounts.push(json!({"name": "data", "mountPath": DATA_DIR}));
    }
    work["volumeMounts"] = json!(mounts);
    match plan.work {
        Work::Load { .. } | Work::Watch { .. } => work["workingDir"] = json!(OUT_DIR),
        Work::Command { .. } if plan.claim.block => {}
        Work::Command { .. } => work["workingDir"] = json!(DATA_DIR),
    }
    with_security(&mut work, plan);
    let mut spec = json!({
        "restartPolicy": "Never",
        "automountServiceAccountToken": false,
        "enableServiceLinks": false,
        "terminationGracePeriodSeconds": 5,
        "activeDeadlineSeconds": plan.patience.work.as_secs().saturating_add(DEADLINE_SLACK_S),
        "containers": [work],
        "volumes": volumes,
    });
    if !init.is_empty() {
        spec["initContainers"] = json!(init);
    }
    if !plan.pod.node_selector.is_empty() {
        spec["nodeSelector"] = json!(plan.pod.node_selector);
    }
    if let Some(watched) = watched {
        // On that node, whatever keeps others away from it; and its processes are those that use the volume.
        spec["nodeName"] = json!(watched.node);
        spec["tolerations"] = json!([{"operator": "Exists"}]);
        spec["hostPID"] = json!(true);
    } else if let Some(node) = plan.node_of(test) {
        spec["affinity"] = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}],
        }}});
    } else if plan.pod.spread {
        spec["affinity"] = apart(plan);
    }
    if let Some(user) = user(plan) {
        // The volume is its group's: else only root could write to it.
        spec["securityContext"] = json!({
            "runAsNonRoot": true,
            "runAsUser": user,
            "runAsGroup": user,
            "fsGroup": user,
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        });
        if plan.claim.block {
            // `fsGroup` is for file systems: a device keeps the owner and the group that it has on its node, unless containerd is told
            // to give it to the pod's user.
            spec["securityContext"]["supplementalGroups"] = json!([DISK_GROUP]);
        }
    }
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata(plan, test), "spec": spec})
}

fn container(name: &str, image: &str, words: &[&str], pod: &PodSpec) -> Value {
    let mut container = json!({"name": name, "image": image, "command": words});
    if let Some(pull) = &pod.pull {
        container["imagePullPolicy"] = json!(pull);
    }
    let asked = [("cpu", &pod.cpu), ("memory", &pod.memory)];
    let asked: serde_json::Map<String, Value> = asked
        .into_iter()
        .filter_map(|(name, quantity)| Some((name.to_owned(), json!(quantity.as_ref()?))))
        .collect();
    if !asked.is_empty() {
        container["resources"] = json!({"requests": asked});
    }
    container
}

/// Whom the pod runs as; `None`: what its image says, with the rights that the runtime gives.
fn user(plan: &Plan) -> Option<i64> {
    match (&plan.work, plan.pod.privileged) {
        (_, true) => None,
        (Work::Load { .. }, false) => Some(plan.pod.user.unwrap_or(NOBODY)),
        // Images of databases begin as root and give that up by themselves.
        (Work::Command { .. } | Work::Watch { .. }, false) => plan.pod.user,
    }
}

fn with_security(container: &mut Value, plan: &Plan) {
    if plan.pod.privileged {
        container["securityContext"] = json!({"privileged": true, "runAsUser": 0});
    } else if user(plan).is_some() {
        container["securityContext"] = json!({
            "allowPrivilegeEscalation": false,
            "capabilities": {"drop": ["ALL"]},
        });
    }
}

/// The volume of others that a test watches.
fn watched(plan: &Plan, test: Test) -> Option<&Watched> {
    match &plan.work {
        Work::Watch { volumes, .. } => volumes.get(test.side),
        Work::Load { .. } | Work::Command { .. } => None,
    }
}

/// No two pods of a run on one node.
fn apart(plan: &Plan) -> Value {
    json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{
        "labelSelector": {"matchLabels": {RUN_LABEL: plan.id}},
        "topologyKey": "kubernetes.io/hostname",
    }]}})
}

/// All objects of a test in the order in which they are made.
pub fn all(plan: &Plan, test: Test) -> Vec<Value> {
    let others = [config_map(plan, test), pod(plan, test)];
    claim(plan, test).into_iter().chain(others).collect()
}

#[cfg(test)]
mod tests;
