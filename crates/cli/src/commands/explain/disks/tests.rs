use super::*;
use fathom_core::run::ModelSummary;
use fathom_model::target;
use fathom_testkit::make;

fn names(known: &[KnownDisk], own: bool) -> Vec<&str> {
    let of = known.iter().filter(|disk| disk.own == own);
    of.map(|disk| disk.name.as_str()).collect()
}

/// A machine of one cloud has that cloud's disks, and its own limits.
#[test]
fn a_machine_that_says_which_it_is_has_the_disks_of_its_cloud() {
    let mut run = make::run(Vec::new(), Vec::new());
    run.environment.machine = Some(String::from("m6i.xlarge"));
    let known = known(Catalog::azure(), false, &run);
    let gp3 = known.iter().find(|disk| disk.name == "gp3 without more paid for");
    let gp3 = gp3.expect("gp3");
    assert_eq!(gp3.iops, Some(3_000.0));
    assert_eq!(gp3.bytes_per_second, Some(125.0 * 1024.0 * 1024.0));
    assert!(!names(&known, false).iter().any(|name| name.starts_with("P15")));
    assert_eq!(
        names(&known, true),
        [
            "m6i.xlarge uncached",
            "m6i.xlarge uncached, in a burst",
            "m6i.xlarge cached"
        ]
    );
}

/// Where nobody says what machine it is, any disk may be meant, but of machines those of one catalogue alone: with those of
/// all clouds some would fit any rate.
#[test]
fn any_disk_may_be_meant_where_nobody_says_which_machine_it_is() {
    let mut run = make::run(Vec::new(), Vec::new());
    run.environment.machine = None;
    let chosen = known(Catalog::azure(), true, &run);
    let all = known(Catalog::azure(), false, &run);
    for (known, has) in [(&chosen, false), (&all, true)] {
        let names = names(known, false);
        assert!(names.contains(&"P15 (Premium SSD)"));
        assert_eq!(names.contains(&"pd-ssd at its most"), has);
        assert!(names.contains(&"Standard_D4s_v5 uncached"));
        assert!(!names.contains(&"m6i.xlarge uncached"));
    }
}

/// Limits that all disks have together, and those of a machine on one family, are the model's own.
#[test]
fn a_model_has_its_shared_limits() {
    let mut run = make::run(Vec::new(), Vec::new());
    let spec = target::parse("gcp/pd-ssd:200GiB,vm=n2-standard-8", Catalog::azure()).expect("a target");
    run.summary.model = Some(ModelSummary {
        name: spec.name.clone(),
        spec_toml: file::to_toml(&spec).expect("a model"),
        ..ModelSummary::default()
    });
    let known = known(Catalog::azure(), false, &run);
    let of = |scope| {
        let some = known
            .iter()
            .filter(|disk| disk.scope == scope && disk.iops.is_some());
        some.map(|disk| (disk.name.as_str(), disk.iops))
            .collect::<Vec<_>>()
    };
    assert!(known.iter().all(|disk| disk.own));
    expect_test::expect![[r#"
        [
            (
                "pd-ssd",
                Some(
                    12000.0,
                ),
            ),
            (
                "pd-ssd, reads",
                Some(
                    12000.0,
                ),
            ),
            (
                "pd-ssd, writes",
                Some(
                    12000.0,
                ),
            ),
        ]
    "#]]
    .assert_debug_eq(&of(LimitScope::Disk));
    expect_test::expect![[r#"
        [
            (
                "n2-standard-8",
                Some(
                    15000.0,
                ),
            ),
            (
                "n2-standard-8, reads",
                Some(
                    15000.0,
                ),
            ),
            (
                "n2-standard-8, writes",
                Some(
                    15000.0,
                ),
            ),
        ]
    "#]]
    .assert_debug_eq(&of(LimitScope::Machine));
}
