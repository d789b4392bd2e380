use super::{AttachTimes, Look, Step};
use k8s_openapi::api::core::v1::{Event, PersistentVolumeClaim, Pod};
use serde_json::{Value, json};

fn of<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("an object")
}

fn look<'a>(at_ms: u64, pod: &'a Pod, claim: &'a PersistentVolumeClaim, events: &'a [Event]) -> Look<'a> {
    Look {
        at_ms,
        pod: Some(pod),
        claim: Some(claim),
        attachments: None,
        events,
        container: "fathom",
    }
}

#[test]
fn steps_are_noted_when_they_are_first_seen_with_what_the_cluster_states() {
    let mut times = AttachTimes::default();
    let bare: Pod = of(json!({"metadata": {"name": "p"}}));
    let pending: PersistentVolumeClaim = of(json!({"status": {"phase": "Pending"}}));
    times.look(&look(10, &bare, &pending, &[]));
    assert_eq!(times, AttachTimes::default());

    let placed: Pod = of(json!({"metadata": {"name": "p"}, "spec": {"nodeName": "n", "containers": []}}));
    let bound: PersistentVolumeClaim = of(json!({"status": {"phase": "Bound"}}));
    times.look(&look(260, &placed, &bound, &[]));
    let scheduled = times.scheduled.expect("scheduled");
    assert_eq!((scheduled.seen_ms, scheduled.stated_unix_ms), (260, None));

    // The event comes after the fact; the scheduler's has microseconds, the others' whole seconds.
    let events: [Event; 2] = [
        of(
            json!({"metadata": {}, "involvedObject": {}, "reason": "Scheduled", "eventTime": "2026-01-01T00:00:03.281606Z"}),
        ),
        of(
            json!({"metadata": {}, "involvedObject": {}, "reason": "SuccessfulAttachVolume", "firstTimestamp": "2026-01-01T00:00:04Z"}),
        ),
    ];
    times.look(&look(1_260, &placed, &bound, &events));
    let scheduled = times.scheduled.expect("scheduled");
    assert_eq!((scheduled.seen_ms, scheduled.stated_in_seconds), (260, false));
    assert_eq!(scheduled.stated_unix_ms, Some(1_767_225_603_281));
    let attached = times.attached.expect("attached");
    assert_eq!((attached.seen_ms, attached.stated_in_seconds), (1_260, true));

    let runs: Pod = of(
        json!({"metadata": {"name": "p"}, "spec": {"nodeName": "n", "containers": []}, "status": {
        "conditions": [{"type": "PodReadyToStartContainers", "status": "True", "lastTransitionTime": "2026-01-01T00:00:05Z"}],
        "containerStatuses": [{"name": "fathom", "ready": true, "restartCount": 0, "image": "", "imageID": "",
            "state": {"running": {"startedAt": "2026-01-01T00:00:06Z"}}}]}}),
    );
    times.look(&look(3_000, &runs, &bound, &events));
    assert_eq!(times.between_ms(None, Step::Started), Some(3_000));
    assert_eq!(
        times.between_ms(Some(Step::Scheduled), Step::Attached),
        Some(1_000)
    );
    assert_eq!(times.between_ms(Some(Step::Attached), Step::Detached), None);
}
