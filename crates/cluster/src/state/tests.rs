use super::{Grade, Seen, hindrances, is_started};
use k8s_openapi::api::core::v1::{Event, Node, PersistentVolumeClaim, Pod};
use serde_json::{Value, json};

fn of<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("an object")
}

fn pod(status: Value) -> Pod {
    let mut object = json!({"metadata": {"name": "p"}});
    object["status"] = status;
    of(object)
}

fn worst(
    pod: Option<&Pod>,
    claim: Option<&PersistentVolumeClaim>,
    events: &[Event],
) -> Option<(Grade, String)> {
    let found = hindrances(&Seen {
        pod,
        claim,
        node: None,
        events,
    });
    found.into_iter().next().map(|one| (one.grade, one.to_string()))
}

#[test]
fn each_way_of_not_starting_is_named_with_its_grade() {
    let waiting = |reason: &str, message: &str| {
        json!({"phase": "Pending", "containerStatuses": [{"name": "fathom", "ready": false, "restartCount": 0,
               "image": "", "imageID": "", "state": {"waiting": {"reason": reason, "message": message}}}]})
    };
    let cases = [
        (
            waiting("ImagePullBackOff", "Back-off pulling image \"x\""),
            Some((
                Grade::Hindered,
                "pod p, container fathom: ImagePullBackOff: Back-off pulling image \"x\"",
            )),
        ),
        (
            waiting("InvalidImageName", ""),
            Some((Grade::Over, "pod p, container fathom: InvalidImageName")),
        ),
        (waiting("ContainerCreating", ""), None),
        (
            json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
                "reason": "Unschedulable", "message": "0/2 nodes are available: 2 Insufficient cpu."}]}),
            Some((
                Grade::Hindered,
                "pod p: Unschedulable: 0/2 nodes are available: 2 Insufficient cpu.",
            )),
        ),
        (
            json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
                "reason": "Unschedulable", "message": "pod has unbound immediate PersistentVolumeClaims"}]}),
            Some((
                Grade::Underway,
                "pod p: Unschedulable: pod has unbound immediate PersistentVolumeClaims",
            )),
        ),
        (
            json!({"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."}),
            Some((
                Grade::Over,
                "pod p: Evicted: The node was low on resource: memory.",
            )),
        ),
        (
            json!({"phase": "Failed", "containerStatuses": [{"name": "fathom", "ready": false, "restartCount": 0,
                "image": "", "imageID": "", "state": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}}]}),
            Some((Grade::Over, "pod p, container fathom: OOMKilled: exit code 137")),
        ),
    ];
    for (status, expected) in cases {
        let found = worst(Some(&pod(status)), None, &[]);
        let found = found.as_ref().map(|(grade, text)| (*grade, text.as_str()));
        assert_eq!(found, expected);
    }
}

#[test]
fn what_events_complain_of_counts_until_the_pod_runs() {
    let event: Event = of(
        json!({"metadata": {"name": "e"}, "type": "Warning", "reason": "ProvisioningFailed",
        "message": "no such pool", "involvedObject": {"kind": "PersistentVolumeClaim", "name": "c"},
        "lastTimestamp": "2024-01-30T20:26:28Z"}),
    );
    let normal: Event = of(
        json!({"metadata": {"name": "e"}, "type": "Normal", "reason": "WaitForFirstConsumer",
        "involvedObject": {"kind": "PersistentVolumeClaim", "name": "c"}}),
    );
    let events = [normal, event];
    let claim: PersistentVolumeClaim = of(json!({"metadata": {"name": "c"}, "status": {"phase": "Pending"}}));
    let found = worst(None, Some(&claim), &events);
    assert_eq!(
        found,
        Some((
            Grade::Hindered,
            String::from("claim c: ProvisioningFailed: no such pool")
        ))
    );
    let running = pod(json!({"phase": "Running"}));
    assert_eq!(worst(Some(&running), None, &events), None);
    let lost: PersistentVolumeClaim = of(json!({"metadata": {"name": "c"}, "status": {"phase": "Lost"}}));
    assert_eq!(
        worst(None, Some(&lost), &[]).map(|found| found.0),
        Some(Grade::Over)
    );
}

#[test]
fn a_node_that_does_not_answer_hinders() {
    let node: Node = of(json!({"metadata": {"name": "n"}, "status": {"conditions": [
        {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown", "message": "Kubelet stopped posting node status."}]}}));
    let running = pod(json!({"phase": "Running"}));
    let found = hindrances(&Seen {
        pod: Some(&running),
        claim: None,
        node: Some(&node),
        events: &[],
    });
    assert_eq!(
        found[0].to_string(),
        "node n: NodeStatusUnknown: Kubelet stopped posting node status."
    );
    assert_eq!(found[0].grade, Grade::Hindered);
}

#[test]
fn a_pod_has_started_when_its_container_has() {
    let status = |state: Value| {
        pod(
            json!({"phase": "Running", "containerStatuses": [{"name": "fathom", "ready": true,
            "restartCount": 0, "image": "", "imageID": "", "state": state}]}),
        )
    };
    assert!(is_started(
        &status(json!({"running": {"startedAt": "2024-01-30T20:26:28Z"}})),
        "fathom"
    ));
    assert!(!is_started(
        &status(json!({"waiting": {"reason": "PodInitializing"}})),
        "fathom"
    ));
    assert!(!is_started(&status(json!({"running": {}})), "other"));
}
