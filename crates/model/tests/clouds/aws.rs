//! The rules of AWS that the model keeps, each by its name.

use crate::rig::{KIB, MIB, Rig, catalog, near, refused, spec};
use fathom_core::backend::Op;
use fathom_model::spec::Limit;

/// What is really released at a limit.
const FACTOR: f64 = 1.023;

fn burst(target: &str) -> (u64, u64) {
    let spec = spec(target);
    let burst = spec.disks[0].limits.burst.as_ref().expect("it bursts");
    let credit = burst.iops_credit.or(burst.bytes_credit).expect("a bucket");
    (burst.full_seconds, credit)
}

/// "100 GiB bursts 2,000 s, refills in 18,000 s; 750 GiB 7,200 s / 2,400 s. Above 1,000 GiB no burst."
#[test]
fn gp2_buckets_are_the_documented_ones() {
    for (gib, lasts, refills) in [(100u64, 2_000, 18_000), (750, 7_200, 2_400)] {
        let target = format!("aws/gp2:{gib}GiB");
        let (seconds, credit) = burst(&target);
        assert_eq!((seconds, credit), (lasts, 5_400_000), "{target}");
        assert_eq!(credit / (3 * gib), refills);
    }
    assert!(spec("aws/gp2:1000GiB").disks[0].limits.burst.is_none());
    assert!(spec("aws/gp2:2000GiB").disks[0].limits.burst.is_none());
}

/// The same, carried out: the credit of 100 GiB lasts 2,000 s, and is there again after 18,000 s of rest.
#[test]
fn gp2_bursts_as_long_as_documented() {
    let mut rig = Rig::new("aws/gp2:100GiB");
    let depth = 64;
    for _ in 0..2 {
        let burst = rig.load(Op::Read, 4 * KIB, depth, false, 1_990);
        near(burst.ios as f64, 1_990.0 * 3_000.0 * FACTOR, 0.5, "burst");
        rig.load(Op::Read, 4 * KIB, depth, false, 30);
        let base = rig.load(Op::Read, 4 * KIB, depth, false, 100);
        near(base.ios as f64, 100.0 * 300.0 * FACTOR, 1.0, "base");
        rig.rests(18_000);
    }
}

/// "3 IOPS/GiB, floor 100, cap 16,000"; "<=170 GiB: 128; >170 and <334 GiB: 128, burst to 250 with credits; >=334 GiB: 250".
#[test]
fn gp2_rates_follow_the_size() {
    for (gib, iops, mib, bursts) in [
        (10, 100, 128, false),
        (170, 510, 128, false),
        (171, 513, 128, true),
        (300, 900, 128, true),
        (333, 999, 128, true),
        (334, 1_002, 250, false),
        (400, 1_200, 250, false),
        (6_000, 16_000, 250, false),
    ] {
        let limits = spec(&format!("aws/gp2:{gib}GiB")).disks[0].limits.clone();
        assert_eq!(limits.iops, Limit::At(iops), "{gib}");
        assert_eq!(limits.bytes_per_second, Limit::At(mib * MIB), "{gib}");
        let ceiling = limits.burst.and_then(|burst| burst.bytes_per_second.rate());
        assert_eq!(ceiling, bursts.then_some(250 * MIB), "{gib}");
    }
    // "gp2 at 256 KiB reaches 250 MiB/s at 1,000 IOPS."
    let done = Rig::new("aws/gp2:1000GiB").load(Op::Read, 256 * KIB, 32, false, 20);
    near(
        done.bytes(256 * KIB) / 20.0,
        250.0 * MIB as f64 * FACTOR,
        1.0,
        "256 KiB",
    );
}

/// "128, burst to 250 with credits": without any, 300 GiB let 128 MiB/s through and no more, whichever I/Os took the credit.
#[test]
fn gp2_throughput_bursts_on_the_credit_of_ios() {
    let (base, ceiling) = (128.0 * MIB as f64 * FACTOR, 250.0 * MIB as f64 * FACTOR);
    let large = |rig: &mut Rig, seconds: u64| {
        let done = rig.load(Op::Read, 256 * KIB, 32, false, seconds);
        done.bytes(256 * KIB) / seconds as f64
    };
    near(large(&mut Rig::new("aws/gp2:300GiB"), 20), ceiling, 1.0, "full");
    near(
        large(&mut Rig::new("aws/gp2:300GiB,burst=empty"), 200),
        base,
        1.0,
        "empty",
    );
    // 5.4 million credits at 3,000 - 900 I/Os a second are 2,571 s.
    let mut rig = Rig::new("aws/gp2:300GiB");
    rig.load(Op::Read, 4 * KIB, 64, false, 2_600);
    near(large(&mut rig, 200), base, 2.0, "spent by small I/Os");
    rig.rests(1_000);
    near(large(&mut rig, 100), ceiling, 2.0, "after a rest");
    // Small I/Os do not ask for bytes.
    let small = Rig::new("aws/gp2:300GiB,burst=empty").load(Op::Read, 4 * KIB, 32, false, 20);
    near(small.ios as f64 / 20.0, 900.0 * FACTOR, 1.0, "small");
}

/// "Throttles differ in shape. gp2 at its 3,000 IOPS ceiling (4k, QD4): p20..p90 within 1.25-1.37 ms, mean 1.295 ms: each I/O is
/// paced." On Azure, in slices, most I/Os do not wait at all.
#[test]
fn limits_are_released_evenly() {
    let done = Rig::new("aws/gp2:100GiB").load(Op::Write, 4 * KIB, 4, false, 60);
    near(done.ios as f64 / 60.0, 3_070.0, 0.5, "rate");
    near(done.mean_ms(), 1.295, 2.0, "mean");
    let (p20, p90) = (done.percentile_ms(20), done.percentile_ms(90));
    assert!(p20 > 1.0 && p90 < 1.6, "{p20} {p90}");
    let slices = Rig::new("azure/P10").load(Op::Write, 4 * KIB, 16, false, 60);
    assert!(slices.percentile_ms(50) < 1.2 && slices.percentile_ms(98) > 30.0);
}

/// "3,000 IOPS and 125 MiB/s free; up to 500 IOPS/GiB and 0.25 MiB/s per IOPS. Maximum 80,000/2,000/64 TiB"; "gp3 itself never
/// bursts".
#[test]
fn gp3_keeps_its_caps() {
    let limits = spec("aws/gp3:500GiB").disks[0].limits.clone();
    assert_eq!(
        (limits.iops, limits.bytes_per_second),
        (Limit::At(3_000), Limit::At(125 * MIB))
    );
    assert!(limits.burst.is_none());
    let limits = spec("aws/gp3:500GiB,iops=6000,mbps=250,vm=m6i.xlarge").disks[0]
        .limits
        .clone();
    assert_eq!(
        (limits.iops, limits.bytes_per_second),
        (Limit::At(6_000), Limit::At(250_000_000))
    );
    let mib = spec("aws/gp3:500GiB,iops=6000,mibps=250").disks[0].limits.clone();
    assert_eq!(mib.bytes_per_second, Limit::At(250 * MIB));
    let answer = refused("aws/gp3:10GiB,iops=5001");
    assert!(answer.contains("3000 to 5000 IOPS, 500 for each GiB"), "{answer}");
    let answer = refused("aws/gp3:500GiB,mibps=800");
    assert!(answer.contains("add iops=3200"), "{answer}");
    let answer = refused("aws/gp3:500GiB,iops=80001");
    assert!(answer.contains("3000 to 80000"), "{answer}");
    assert!(refused("aws/gp3:500GiB,burst=empty").contains("does not burst on credit"));
    assert!(
        refused("aws/gp3:65t").contains("has 1 GiB to 64"),
        "{}",
        refused("aws/gp3:65t")
    );
}

/// io1: "50 IOPS/GiB, at most 64,000; IOPS<=32000: min(500, 256 KiB*IOPS); above, 16 KiB*IOPS up to 1000". io2: "1,000 a GiB, at
/// most 256,000; min(4000, 0.256*IOPS)".
#[test]
fn provisioned_iops_decide_the_throughput() {
    let rate = |target: &str| spec(target).disks[0].limits.bytes_per_second;
    assert_eq!(rate("aws/io1:100GiB,iops=1000"), Limit::At(250 * MIB));
    assert_eq!(rate("aws/io1:1000GiB,iops=32000"), Limit::At(500 * MIB));
    assert_eq!(rate("aws/io1:2000GiB,iops=48000"), Limit::At(750 * MIB));
    assert_eq!(rate("aws/io1:2000GiB,iops=64000"), Limit::At(1_000 * MIB));
    assert_eq!(rate("aws/io2:1000GiB,iops=10000"), Limit::At(2_560 * MIB));
    assert_eq!(rate("aws/io2:1000GiB,iops=256000"), Limit::At(4_000 * MIB));
    assert!(refused("aws/io1:100GiB,iops=5001").contains("50 for each GiB"));
    assert!(refused("aws/io2:100GiB,mbps=100").contains("follows from its IOPS"));
    assert!(refused("aws/io1").contains("write aws/io1:500GiB"));
}

/// io1 and io2: "32000 on non-Nitro instances": each volume, whatever the instance lets through.
#[test]
fn instances_without_nitro_let_a_volume_have_less() {
    let xen: Vec<_> = catalog("aws")
        .vms()
        .iter()
        .filter(|vm| vm.hypervisor == "xen")
        .collect();
    assert_eq!(xen.len(), 74);
    let most = |vm: &fathom_model::catalog::Vm| vm.burst_uncached_iops.max(vm.uncached_iops) > Some(32_000);
    let large: Vec<&str> = xen
        .iter()
        .filter(|vm| most(vm))
        .map(|vm| vm.name.as_str())
        .collect();
    assert_eq!(large.len(), 11, "{large:?}");
    for disk in ["io1:1000GiB", "io2:1000GiB"] {
        for name in &large {
            spec(&format!("aws/{disk},iops=32000,vm={name}"));
            spec(&format!("aws/2x{disk},iops=32000,vm={name}"));
            let answer = refused(&format!("aws/{disk},iops=32001,vm={name}"));
            let wanted = "have 32000 IOPS at most, not 32001: write iops=32000, or ";
            assert!(answer.contains(wanted) && !answer.contains("none of"), "{answer}");
        }
    }
    spec("aws/io1:1000GiB,iops=50000,vm=m6i.32xlarge");
    spec("aws/io1:1000GiB,iops=50000");
    // General purpose volumes have no such limit.
    spec(&format!("aws/gp3:1000GiB,iops=40000,vm={}", large[0]));
}

/// "`shared`: network interfaces and local `NVMe` disks use the same slots"; "`ebs_optimized`: supported (extra hourly fee, not sourced)".
#[test]
fn what_an_instance_takes_besides_is_said() {
    let said = |words: &str| {
        let vms = catalog("aws").vms().iter();
        vms.filter(|vm| vm.notes().any(|note| note.contains(words)))
            .count()
    };
    assert_eq!((said("network interfaces"), said("fee that no source")), (717, 0));
    assert_eq!(said("option EBS-optimized, whose fee no source states"), 16);
    let assumed = |vm: &str| spec(&format!("aws/gp3:100GiB,vm={vm}")).assumed.join("\n");
    let shared = assumed("m5.large");
    assert!(
        shared.contains("m5.large: network interfaces and local disks"),
        "{shared}"
    );
    let fee = assumed("c3.xlarge");
    assert!(
        fee.contains("c3.xlarge: limits hold with the option EBS-optimized"),
        "{fee}"
    );
    assert!(!assumed("m7i.48xlarge").contains("m7i.48xlarge"));
}

/// "st1/sc1: credits are bytes; bucket = volume size; base 40 / 12, burst 250 / 80 MiB/s per TiB, capped 500 / 250."
#[test]
fn hdd_buckets_hold_as_much_as_the_volume() {
    for (target, base, ceiling, credit) in [
        ("aws/st1:1t", 40, 250, 1u64 << 40),
        ("aws/st1:4t", 160, 500, 4 << 40),
        ("aws/sc1:1t", 12, 80, 1 << 40),
        ("aws/sc1:16t", 192, 250, 16 << 40),
    ] {
        let limits = spec(target).disks[0].limits.clone();
        let burst = limits.burst.expect(target);
        assert_eq!(limits.bytes_per_second, Limit::At(base * MIB), "{target}");
        assert_eq!(burst.bytes_per_second, Limit::At(ceiling * MIB), "{target}");
        assert_eq!(burst.bytes_credit, Some(credit), "{target}");
    }
    assert!(spec("aws/st1:13t").disks[0].limits.burst.is_none());
    // A bucket of 125 GiB lasts 125 GiB / (30.5 - 4.9 MiB/s) = 4,993 s.
    let mut rig = Rig::new("aws/st1:125GiB");
    let burst = rig.load(Op::Read, 1024 * KIB, 8, true, 4_900);
    near(
        burst.ios as f64 / 4_900.0,
        250.0 * 125.0 / 1024.0 * FACTOR,
        1.0,
        "burst",
    );
    rig.load(Op::Read, 1024 * KIB, 8, true, 200);
    let base = rig.load(Op::Read, 1024 * KIB, 8, true, 500);
    near(
        base.ios as f64 / 500.0,
        40.0 * 125.0 / 1024.0 * FACTOR,
        2.0,
        "base",
    );
}

/// "SSD 256 KiB, HDD 1,024 KiB: sequential smaller I/Os are merged up to it, larger ones split into it"; "A random or small I/O
/// costs a whole 1 MiB credit."
#[test]
fn sequential_ios_are_merged() {
    let rate = |target: &str, len: u32, sequential: bool| {
        let done = Rig::new(target).load(Op::Read, len, 64, sequential, 20);
        done.ios as f64 / 20.0
    };
    let mib = 125.0 * MIB as f64 * FACTOR;
    near(
        rate("aws/gp3:500GiB", 4 * KIB, false),
        3_000.0 * FACTOR,
        1.0,
        "random",
    );
    near(
        rate("aws/gp3:500GiB", 4 * KIB, true),
        mib / 4096.0,
        1.0,
        "sequential",
    );
    // Split: 1 MiB is four units, and 125 MiB/s bind before 3,000 of them.
    near(
        rate("aws/gp3:500GiB", 1024 * KIB, false),
        125.0 * FACTOR,
        1.0,
        "split",
    );
    // 16 KiB at random on 1 TiB of st1 while credit lasts: 250 MiB of credit a second are 250 I/Os.
    near(
        rate("aws/st1:1t", 16 * KIB, false),
        250.0 * FACTOR,
        2.0,
        "random on a disk with heads",
    );
}

/// "Instance burst: 30 minutes at maximum at least once per 24 h, then baseline." Bucket: "(max - base) x 1800 s is the natural
/// reading, not published". Limits in decimal MB/s.
#[test]
fn instances_burst_for_thirty_minutes() {
    let spec = spec("aws/gp3:2000GiB,iops=40000,mibps=2000,vm=m6i.xlarge");
    let vm = spec.vm.expect("a machine");
    let row = catalog("aws").vm("m6i.xlarge").expect("a row");
    assert_eq!(vm.uncached.iops, Limit::At(row.uncached_iops.expect("known")));
    let burst = vm.uncached.burst.expect("it bursts");
    assert_eq!(burst.full_seconds, 1_800);
    assert_eq!(burst.iops, Limit::At(40_000));
    assert_eq!(burst.bytes_per_second, Limit::At(1_250_000_000));
    let mut rig = Rig::new("aws/gp3:2000GiB,iops=40000,mibps=2000,vm=m6i.xlarge");
    let full = rig.load(Op::Read, 1024 * KIB, 64, false, 1_700);
    near(full.bytes(1024 * KIB) / 1_700.0, 1.25e9 * FACTOR, 1.0, "burst");
    rig.load(Op::Read, 1024 * KIB, 64, false, 200);
    let base = rig.load(Op::Read, 1024 * KIB, 64, false, 100);
    let wanted = row.uncached_bytes_per_second.expect("known") as f64;
    near(base.bytes(1024 * KIB) / 100.0, wanted * FACTOR, 1.0, "base");
}

/// "`ebs_cards`: 2 on 33 sizes; then each card has half of the total, so one volume reaches half".
#[test]
fn one_volume_reaches_one_card() {
    let two: Vec<_> = catalog("aws").vms().iter().filter(|vm| vm.cards == 2).collect();
    assert_eq!(two.len(), 33);
    let row = catalog("aws").vm("c8gn.48xlarge").expect("a row");
    assert_eq!(row.cards, 2);
    let total = row.uncached_bytes_per_second.expect("known") as f64;
    let rate = |count: usize| {
        let target = format!("aws/{count}xio2:8000GiB,iops=256000,vm=c8gn.48xlarge,chunk=1m");
        let done = Rig::new(&target).load(Op::Read, 1024 * KIB, 512, false, 5);
        done.bytes(1024 * KIB) / 5.0
    };
    let volume = 4_000.0 * MIB as f64 * FACTOR;
    near(rate(1), volume.min(total / 2.0 * FACTOR), 2.0, "one");
    near(rate(4), (4.0 * volume).min(total * FACTOR), 3.0, "four");
}

/// "Volume and instance combine by minimum: sum over volumes against the instance limit, IOPS and MB/s checked separately."
#[test]
fn whichever_is_lower_limits() {
    let row = catalog("aws").vm("m5.large").expect("a row");
    let (base, most) = (
        row.uncached_iops.expect("known"),
        row.burst_uncached_iops.expect("known"),
    );
    assert!(base < 16_000 && most > base);
    let mut rig = Rig::new("aws/4xgp3:500GiB,iops=10000,vm=m5.large,burst=empty");
    let done = rig.load(Op::Read, 4 * KIB, 128, false, 20);
    near(done.ios as f64 / 20.0, base as f64 * FACTOR, 1.0, "instance");
}

#[test]
fn attachments_are_limited() {
    let row = catalog("aws").vm("m5.large").expect("a row");
    // 27 by the API, of which one is the root volume.
    assert_eq!(row.max_data_disks, 26);
    spec("aws/26xgp3:100GiB,vm=m5.large");
    assert!(refused("aws/27xgp3:100GiB,vm=m5.large").contains("takes 26 data disks, not 27"));
}

/// Without a source, a limit is not known: not free of limits.
#[test]
fn old_instances_say_that_their_limits_are_not_known() {
    let open = spec("aws/gp3:100GiB,vm=t2.micro").not_known();
    assert_eq!(open.len(), 2, "{open:?}");
    assert!(spec("aws/io1:100GiB,iops=100").assumed[0].contains("no source states"));
}
