use super::{all, claim, config_map, pod, steps};
use crate::agent::Steps;
use crate::plan::tests::plan;
use crate::plan::{Records, Side, Test, Watched, Work};
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim, Pod};
use std::time::Duration;

const FIRST: Test = Test {
    side: 0,
    repeat: 1,
    member: 1,
};

#[test]
fn a_test_is_a_claim_a_config_map_and_a_pod_with_the_labels_of_its_run() {
    let plan = plan();
    let objects = all(&plan, FIRST);
    let kinds: Vec<&str> = objects.iter().filter_map(|one| one["kind"].as_str()).collect();
    assert_eq!(kinds, ["PersistentVolumeClaim", "ConfigMap", "Pod"]);
    for object in &objects {
        assert_eq!(object["metadata"]["name"], "fathom-r1-1-1");
        assert_eq!(object["metadata"]["namespace"], "tests");
        assert_eq!(object["metadata"]["labels"]["fathom/run"], "r1");
        assert_eq!(
            object["metadata"]["labels"]["app.kubernetes.io/managed-by"],
            "fathom"
        );
    }
    // What the typed API would drop is misspelt.
    let typed: Pod = serde_json::from_value(objects[2].clone()).expect("a pod");
    let again = serde_json::to_value(&typed).expect("JSON");
    assert_eq!(again["spec"], objects[2]["spec"]);
    let typed: PersistentVolumeClaim = serde_json::from_value(objects[0].clone()).expect("a claim");
    assert_eq!(
        serde_json::to_value(&typed).expect("JSON")["spec"],
        objects[0]["spec"]
    );
    let typed: ConfigMap = serde_json::from_value(objects[1].clone()).expect("a config map");
    let steps: Steps =
        serde_json::from_str(&typed.data.expect("data")["steps.json"]).expect("the agent reads it");
    assert_eq!(steps, super::steps(&plan, FIRST));
}

#[test]
fn a_load_needs_no_privilege() {
    let pod = pod(&plan(), FIRST);
    let container = &pod["spec"]["containers"][0];
    assert_eq!(pod["spec"]["securityContext"]["runAsNonRoot"], true);
    assert_eq!(
        pod["spec"]["securityContext"]["seccompProfile"]["type"],
        "RuntimeDefault"
    );
    assert_eq!(container["securityContext"]["allowPrivilegeEscalation"], false);
    assert_eq!(container["securityContext"]["capabilities"]["drop"][0], "ALL");
    assert_eq!(pod["spec"]["automountServiceAccountToken"], false);
    assert_eq!(pod["spec"]["nodeSelector"]["disk"], "fast");
    assert_eq!(container["resources"]["requests"]["memory"], "256Mi");
    assert_eq!(pod["spec"]["securityContext"].get("supplementalGroups"), None);
    let words = &steps(&plan(), FIRST).steps[0].words;
    assert_eq!(
        words.join(" "),
        "run /fathom-jobs/randread.fio --on /data -o /fathom-out/randread --libaio-if-blocked --runtime=5s"
    );
}

#[test]
fn a_claim_that_is_there_is_used_and_not_made() {
    let mut plan = plan();
    plan.sides[0] = Side::Claim(String::from("pgdata"));
    assert_eq!(claim(&plan, FIRST), None);
    let pod = pod(&plan, FIRST);
    let volumes = pod["spec"]["volumes"].as_array().expect("volumes");
    let data = volumes.iter().find(|volume| volume["name"] == "data");
    assert_eq!(
        data.expect("its data")["persistentVolumeClaim"]["claimName"],
        "pgdata"
    );
}

#[test]
fn a_block_volume_is_a_device_that_may_be_written_to() {
    let mut plan = plan();
    plan.claim.block = true;
    let pod = pod(&plan, FIRST);
    let container = &pod["spec"]["containers"][0];
    assert_eq!(container["volumeDevices"][0]["devicePath"], "/dev/fathom-data");
    let mounts = container["volumeMounts"].as_array().expect("mounts");
    assert!(mounts.iter().all(|mount| mount["name"] != "data"));
    assert_eq!(pod["spec"]["securityContext"]["supplementalGroups"][0], 6);
    let words = steps(&plan, FIRST).steps[0].words.join(" ");
    assert!(words.contains("--on /dev/fathom-data"), "{words}");
    assert!(words.contains("--allow-overwrite /dev/fathom-data"), "{words}");
    assert_eq!(
        super::claim(&plan, FIRST).expect("a claim")["spec"]["volumeMode"],
        "Block"
    );
}

#[test]
fn a_command_runs_in_its_own_image_with_the_program_beside_it() {
    let mut plan = plan();
    plan.work = Work::Command {
        image: String::from("postgres:15"),
        prepare: Some(String::from("createdb d")),
        command: String::from("pg_restore -d d /dump"),
        cleanup: None,
        options: vec![String::from("--record=counters")],
    };
    let pod = pod(&plan, FIRST);
    assert_eq!(pod["spec"]["initContainers"][0]["image"], "fathom:1");
    assert_eq!(pod["spec"]["containers"][0]["image"], "postgres:15");
    assert_eq!(pod["spec"]["containers"][0]["command"][0], "/fathom-bin/fathom");
    assert_eq!(
        pod["spec"].get("securityContext"),
        None,
        "databases begin as root"
    );
    let words = &steps(&plan, FIRST).steps[0].words;
    assert_eq!(
        words[words.len() - 3..],
        ["/bin/sh", "-c", "pg_restore -d d /dump"]
    );
    assert!(words.contains(&String::from("createdb d")));
    plan.pod.user = Some(999);
    let restricted = super::pod(&plan, FIRST);
    assert_eq!(restricted["spec"]["securityContext"]["runAsUser"], 999);
    assert_eq!(
        config_map(&plan, FIRST)["data"]
            .as_object()
            .map(serde_json::Map::len),
        Some(1)
    );
}

#[test]
fn a_volume_of_others_is_watched_from_its_node_and_not_used() {
    let mut plan = plan();
    plan.sides = vec![Side::Claim(String::from("pgdata"))];
    plan.pod.privileged = true;
    plan.work = Work::Watch {
        volumes: vec![Watched {
            volume: String::from("pvc-1"),
            node: String::from("node-b"),
            called: String::from("claim pgdata of pod pg-0"),
        }],
        duration: Some(Duration::from_mins(1)),
        options: Vec::new(),
    };
    let objects = all(&plan, FIRST);
    let kinds: Vec<&str> = objects.iter().filter_map(|one| one["kind"].as_str()).collect();
    assert_eq!(kinds, ["ConfigMap", "Pod"]);
    let spec = &objects[1]["spec"];
    assert_eq!(spec["nodeName"], "node-b");
    assert_eq!(spec["hostPID"], true);
    assert!(!spec.to_string().contains("persistentVolumeClaim"), "{spec}");
    let step = &steps(&plan, FIRST).steps[0];
    assert_eq!(step.volume.as_deref(), Some("pvc-1"));
    assert_eq!(
        step.words.join(" "),
        "record --called claim pgdata of pod pg-0 -o /fathom-out/record --duration 60000ms"
    );
}

#[test]
fn members_have_names_nodes_and_files_of_their_own_before_they_begin() {
    let mut plan = plan();
    plan.members = 3;
    plan.nodes = vec![String::from("a"), String::from("b")];
    let third = Test { member: 3, ..FIRST };
    let pod = pod(&plan, third);
    assert_eq!(pod["metadata"]["name"], "fathom-r1-1-1-3");
    let terms = &pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
    assert_eq!(terms["nodeSelectorTerms"][0]["matchFields"][0]["values"][0], "a");
    let steps = steps(&plan, third);
    assert_eq!(
        steps.prepare.expect("files first").words.join(" "),
        "run /fathom-jobs/randread.fio --on /data -o none --libaio-if-blocked --runtime=5s --create_only=1"
    );
}

#[test]
fn what_each_run_contributes_is_computed_in_its_pod_where_records_are_put_together() {
    let mut plan = plan();
    let before = steps(&plan, plan.tests()[0]);
    plan.records = Some(Records {
        prefix: String::from("s3://bucket/fleet"),
        cluster: String::from("prod"),
        classes: vec![String::from("fast"), String::from("slow")],
    });
    let after = steps(&plan, plan.tests()[0]);
    let (own, parts) = after.steps.split_at(before.steps.len());
    assert_eq!(own, before.steps);
    let names: Vec<String> = own.iter().map(|step| format!("part of {}", step.name)).collect();
    assert_eq!(
        parts.iter().map(|step| step.name.clone()).collect::<Vec<_>>(),
        names
    );
    assert_eq!(parts[0].words[..3], ["k8s", "agent", "part"]);
    // A recording that was ended from outside has a part, too.
    assert!(parts.iter().all(|step| step.afterwards));
}
