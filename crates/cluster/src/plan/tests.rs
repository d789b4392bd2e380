use super::{AccessMode, ClaimSpec, JobFile, Patience, Plan, PlanError, PodSpec, Side, Test, Work};
use std::collections::BTreeMap;

/// A plan of two classes with one job file.
pub(crate) fn plan() -> Plan {
    Plan {
        id: String::from("r1"),
        context: None,
        namespace: Some(String::from("tests")),
        sides: vec![
            Side::Class(String::from("managed-csi-premium")),
            Side::Class(String::from("acstor-azuredisk")),
        ],
        repeat: 3,
        claim: ClaimSpec {
            size: String::from("8Gi"),
            access: AccessMode::ReadWriteOnce,
            block: false,
        },
        pod: PodSpec {
            image: String::from("fathom:1"),
            pull: None,
            node_selector: BTreeMap::from([(String::from("disk"), String::from("fast"))]),
            spread: false,
            cpu: None,
            memory: Some(String::from("256Mi")),
            user: None,
            privileged: false,
        },
        work: Work::Load {
            files: vec![JobFile {
                name: String::from("randread"),
                text: String::from("[j]\nrw=randread\n"),
            }],
            options: vec![String::from("--runtime=5s")],
        },
        patience: Patience::default(),
        together: false,
        members: 1,
        alone: false,
        nodes: Vec::new(),
        records: None,
    }
}

#[test]
fn every_second_repeat_goes_the_other_way_round() {
    let turns: Vec<(usize, u32)> = plan()
        .tests()
        .iter()
        .map(|test| (test.side, test.repeat))
        .collect();
    assert_eq!(turns, [(0, 1), (1, 1), (1, 2), (0, 2), (0, 3), (1, 3)]);
    assert_eq!(
        plan().name_of(Test {
            side: 1,
            repeat: 3,
            member: 1
        }),
        "fathom-r1-2-3"
    );
}

#[test]
fn words_that_kubernetes_would_not_take_are_named_with_their_flag() {
    type Change = fn(&mut Plan);
    let wrong: [(Change, &str); 7] = [
        (|plan| plan.sides.clear(), "give what is to be measured"),
        (
            |plan| plan.sides[1] = plan.sides[0].clone(),
            "class managed-csi-premium is given twice",
        ),
        (
            |plan| plan.sides[1] = Side::Claim(String::from("managed-csi-premium")),
            "claim managed-csi-premium is given twice",
        ),
        (
            |plan| plan.sides[0] = Side::Class(String::from("Fast_Disk")),
            "--class Fast_Disk: no name",
        ),
        (
            |plan| plan.sides[0] = Side::Claim(String::from("../x")),
            "--claim ../x: no name",
        ),
        (
            |plan| plan.claim.size = String::from("8 GB"),
            "--size 8 GB: no quantity",
        ),
        (
            |plan| plan.namespace = Some(String::from("a/b")),
            "--namespace a/b: no name",
        ),
    ];
    for (change, expected) in wrong {
        let mut plan = plan();
        change(&mut plan);
        let found = plan.check().map_err(|error| error.to_string());
        assert!(
            found.as_ref().is_err_and(|found| found.starts_with(expected)),
            "{found:?}"
        );
    }
    assert_eq!(plan().check(), Ok(()));
}

#[test]
fn what_is_asked_otherwise_than_it_was_begun_is_named() {
    let begun = Plan {
        context: Some(String::from("prod")),
        ..plan()
    };
    let mut asked = plan();
    asked.id = String::from("r2");
    asked.namespace = None;
    assert!(
        begun.otherwise(&asked).is_empty(),
        "{:?}",
        begun.otherwise(&asked)
    );
    asked.claim.size = String::from("1Gi");
    asked.nodes = vec![String::from("a")];
    assert_eq!(
        begun.otherwise(&asked),
        [
            "claim.size: \"8Gi\" then, \"1Gi\" now",
            "nodes: null then, [\"a\"] now"
        ]
    );
}

#[test]
fn sizes_are_quantities() {
    let mut plan = plan();
    for (size, is) in [
        ("8Gi", true),
        ("0.5Ti", true),
        ("1000000000", true),
        ("500M", true),
        ("0", false),
        ("-1Gi", false),
        ("1e3Gi", false),
        ("Gi", false),
        ("8gb", false),
        ("8Gi ", false),
        ("inf", false),
    ] {
        plan.claim.size = String::from(size);
        assert_eq!(plan.check().is_ok(), is, "{size}");
    }
    plan.claim.size = String::from("1Gi");
    let Work::Load { files, .. } = &mut plan.work else {
        return;
    };
    files.push(files[0].clone());
    assert_eq!(plan.check(), Err(PlanError::SameName(String::from("randread"))));
}

#[test]
fn members_go_on_at_once_after_one_of_them_alone() {
    let mut plan = plan();
    plan.repeat = 2;
    plan.members = 3;
    plan.alone = true;
    let batches: Vec<Vec<(usize, u32)>> = plan
        .batches()
        .iter()
        .map(|batch| batch.iter().map(|test| (test.side, test.member)).collect())
        .collect();
    assert_eq!(batches[0], [(0, 0)]);
    assert_eq!(batches[1], [(0, 1), (0, 2), (0, 3)]);
    assert_eq!(batches[4], [(1, 0)], "the other way round");
    assert_eq!(batches.len(), 8);
    plan.members = 1;
    plan.together = true;
    assert_eq!(plan.batches()[0].len(), 2);
}
