//! The rules of Google Cloud that the model keeps, each by its name.

use crate::rig::{KIB, MIB, Rig, catalog, near, refused, spec};
use fathom_core::backend::Op;
use fathom_model::spec::{Counts, Limit};

fn shared(target: &str, counts: Counts, of_vm: bool) -> (Limit, Limit) {
    let spec = spec(target);
    let found = spec
        .shared
        .iter()
        .find(|shared| shared.counts == counts && shared.of_vm == of_vm);
    let limits = &found
        .unwrap_or_else(|| panic!("{target}: {:?}", spec.shared))
        .limits;
    (limits.iops, limits.bytes_per_second)
}

/// "PD: expected = baseline + per-GiB x (all disks of that type on the VM), capped by the VM row. 100 GB pd-balanced = 3,600 IOPS,
/// 168 MiB/s."
#[test]
fn persistent_disk_is_baseline_plus_size() {
    assert_eq!(
        shared("gcp/pd-balanced:100GiB", Counts::Reads, false),
        (Limit::At(3_600), Limit::At(168 * MIB))
    );
    assert_eq!(
        shared("gcp/pd-ssd:200GiB", Counts::Writes, false),
        (Limit::At(12_000), Limit::At(336 * MIB))
    );
    assert_eq!(
        shared("gcp/pd-standard:1000GiB", Counts::Reads, false),
        (Limit::At(750), Limit::At(120 * MIB))
    );
    assert_eq!(
        shared("gcp/pd-standard:1000GiB", Counts::Writes, false),
        (Limit::At(1_500), Limit::At(120 * MIB))
    );
}

/// "Persistent Disk limits are per VM and disk type (sum of sizes)": four disks have one baseline.
#[test]
fn disks_of_one_type_are_summed_over_the_machine() {
    assert_eq!(
        shared("gcp/4xpd-balanced:100GiB", Counts::Reads, false),
        (Limit::At(5_400), Limit::At(252 * MIB))
    );
    let done = Rig::new("gcp/4xpd-balanced:100GiB,vm=n2-standard-8").load(Op::Read, 4 * KIB, 128, false, 10);
    near(done.ios as f64 / 10.0, 5_400.0, 1.0, "four disks");
}

/// "capped by the VM row": n2-standard-8 on pd-ssd, 15,000 IOPS and 800 MiB/s.
#[test]
fn the_machine_caps_the_sum() {
    let target = "gcp/pd-ssd:1000GiB,vm=n2-standard-8";
    let vm = catalog("gcp").vm("n2-standard-8").expect("a row");
    let family = catalog("gcp").family("pd-ssd").expect("a family");
    let row = catalog("gcp").vm_limit(vm, family).expect("limits");
    let (iops, bytes) = (
        row.read_iops.expect("known"),
        row.read_bytes_per_second.expect("known"),
    );
    assert_eq!(
        shared(target, Counts::Reads, true),
        (Limit::At(iops), Limit::At(bytes))
    );
    let done = Rig::new(target).load(Op::Read, 4 * KIB, 128, false, 10);
    near(done.ios as f64 / 10.0, iops as f64, 1.0, "machine");
}

/// "pd-ssd has separate read and write limits"; "SSD persistent disks are capable of achieving maximum throughput limits for both
/// reads and writes simultaneously", "it is not possible … to reach their maximum IOPS limits for reads and writes simultaneously";
/// "for standard persistent disks, simultaneous reads and writes share the same resources"; "Hyperdisk limits count both together
/// (half duplex)".
#[test]
fn reads_and_writes_are_apart_or_together_as_the_source_says() {
    let target = "gcp/pd-ssd:200GiB,vm=n2-standard-8";
    assert_eq!(
        shared(target, Counts::All, false),
        (Limit::At(12_000), Limit::Off)
    );
    assert_eq!(shared(target, Counts::All, true), (Limit::At(15_000), Limit::Off));
    let mixed = Rig::new(target).load(Op::Write, 4 * KIB, 128, true, 10);
    near(mixed.ios as f64 / 10.0, 12_000.0, 1.0, "one direction");
    let (_, bytes) = shared("gcp/pd-standard:1000GiB", Counts::All, false);
    assert_eq!(bytes, Limit::At(120 * MIB));
    let hyperdisk = spec("gcp/hyperdisk-balanced:200GiB,vm=c4d-standard-16");
    assert!(hyperdisk.shared.iter().all(|shared| shared.counts == Counts::All));
    assert_eq!(hyperdisk.disks[0].limits.iops, Limit::At(3_000));
}

/// "Hyperdisk Balanced: 3,000 IOPS and 140 MiB/s free; IOPS up to 500/GiB, at most 160,000; MiB/s between max(140, IOPS/256) and
/// min(2,400, IOPS/4)."
#[test]
fn hyperdisk_balanced_keeps_its_caps() {
    let limits = |target: &str| {
        let limits = spec(target).disks[0].limits.clone();
        (limits.iops, limits.bytes_per_second)
    };
    assert_eq!(
        limits("gcp/hyperdisk-balanced:100GiB"),
        (Limit::At(3_000), Limit::At(140 * MIB))
    );
    assert_eq!(
        limits("gcp/hyperdisk-balanced:1000GiB,iops=160000"),
        (Limit::At(160_000), Limit::At(625 * MIB))
    );
    assert!(refused("gcp/hyperdisk-balanced:10GiB,iops=5001").contains("3000 to 5000 IOPS"));
    let answer = refused("gcp/hyperdisk-balanced:100GiB,iops=4000,mibps=1001");
    assert!(answer.contains("with 4000 IOPS has"), "{answer}");
    spec("gcp/hyperdisk-balanced:100GiB,iops=4000,mibps=1000");
}

/// "HA: same, at most 100,000": the sizes below it are not free of the rule.
#[test]
fn high_availability_keeps_the_caps_of_balanced() {
    let target =
        |size: &str, iops: u64| format!("gcp/hyperdisk-balanced-high-availability:{size},iops={iops}");
    for (size, cap) in [
        ("4GiB", 3_000),
        ("6GiB", 3_000),
        ("7GiB", 3_500),
        ("100GiB", 50_000),
    ] {
        spec(&target(size, cap));
        assert!(
            refused(&target(size, cap + 1)).contains(&format!("3000 to {cap} IOPS")),
            "{size}"
        );
    }
    spec(&target("320GiB", 100_000));
    assert!(refused(&target("1t", 100_001)).contains("3000 to 100000 IOPS"));
    let assumed = spec(&target("4GiB", 3_000)).assumed.join("\n");
    assert!(assumed.contains("below 320 GiB"), "{assumed}");
}

/// "Extreme: 2..1,200 IOPS/GiB, 128..350,000; 250 MiB/s per 1,000 IOPS up to 5,000." "Throughput: 4 IOPS per MiB/s."
#[test]
fn hyperdisk_extreme_and_throughput_follow_what_is_provisioned() {
    let extreme = spec("gcp/hyperdisk-extreme:100GiB,iops=10000").disks[0]
        .limits
        .clone();
    assert_eq!(extreme.bytes_per_second, Limit::At(2_500 * MIB));
    assert!(refused("gcp/hyperdisk-extreme:1000GiB,iops=1999").contains("2000 to 350000"));
    assert!(refused("gcp/hyperdisk-extreme:64GiB,iops=76801").contains("128 to 76800"));
    let throughput = spec("gcp/hyperdisk-throughput:4t,mibps=200").disks[0]
        .limits
        .clone();
    assert_eq!(
        (throughput.iops, throughput.bytes_per_second),
        (Limit::At(800), Limit::At(200 * MIB))
    );
    assert!(refused("gcp/hyperdisk-throughput:2t,mibps=181").contains("has 20.97152 to 188.74368 MB/s"));
    assert!(refused("gcp/hyperdisk-throughput:2t,iops=100").contains("follows from its throughput"));
}

/// What no source states is not known, and said: never free, never unlimited.
#[test]
fn what_no_source_states_is_said() {
    let told = refused("gcp/pd-extreme:1000GiB");
    assert!(told.contains("iops=5000"), "{told}");
    let open = spec("gcp/pd-extreme:1000GiB,iops=50000,vm=n2-standard-64").not_known();
    assert_eq!(open, ["pd-extreme: MB/s limit"]);
    let open = spec("gcp/hyperdisk-balanced:100GiB,vm=n4-standard-8").not_known();
    assert_eq!(open, ["n4-standard-8: IOPS limit", "n4-standard-8: MB/s limit"]);
    let assumed = spec("gcp/pd-standard:100GiB").assumed.join("\n");
    for wanted in [
        "how this cloud releases its limits",
        "weigh against each other",
        "counted by size",
    ] {
        assert!(assumed.contains(wanted), "{assumed}");
    }
    // Below 100 GiB of all its disks, one source says that the limits do not follow from the size.
    let small = |target: &str| {
        spec(target)
            .assumed
            .iter()
            .any(|note| note.contains("below 100 GiB"))
    };
    assert!(small("gcp/pd-standard:99GiB") && small("gcp/3xpd-standard:33GiB"));
    assert!(!small("gcp/pd-standard:100GiB") && !small("gcp/2xpd-standard:50GiB"));
    assert!(!small("gcp/pd-balanced:50GiB"));
    let noted = spec("gcp/pd-ssd:100GiB,vm=n1-standard-4").assumed.join("\n");
    assert!(noted.contains("limits of this machine"), "{noted}");
}

#[test]
fn attachments_are_limited() {
    assert!(refused("gcp/17xpd-ssd:100GiB,vm=e2-medium").contains("takes 15 data disks"));
}
