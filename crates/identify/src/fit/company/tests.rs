use super::{Crowding, Handling, Occupied};
use crate::fit::Fit;
use crate::held_out::{self, HeldOut};
use crate::schedule::{Options, Schedule};
use crate::{Mix, drive, spec};
use fathom_model::catalog::Catalog;
use fathom_model::spec::{CrowdingSpec, HandlingSpec, Limit, PathLimits};
use fathom_model::{Spec, target};

/// A disk without limits whose I/Os take about `us`.
fn fast(us: f64, of: impl FnOnce(&mut fathom_model::spec::DiskSpec)) -> Spec {
    let mut spec = target::parse("azure/P30", Catalog::azure()).expect("a disk");
    let disk = &mut spec.disks[0];
    disk.limits = PathLimits {
        iops: Limit::Off,
        bytes_per_second: Limit::Off,
        burst: None,
    };
    disk.released = None;
    disk.crowding = None;
    for service in [&mut disk.read, &mut disk.write] {
        service.quantiles_us = vec![(0.0, us * 0.9), (50.0, us), (99.0, us * 1.3), (100.0, us * 2.0)];
        service.ns_per_kib = 0;
    }
    of(disk);
    spec
}

fn identified(disk: &Spec, options: Options) -> (Fit, HeldOut) {
    let schedule: Schedule = drive::identify(disk, options, 7);
    let fit = Fit::new(&schedule, None).expect("all is measured");
    let model = spec::spec(&fit, "found", disk.volume_bytes());
    let mix = if options.readonly { Mix::Read } else { Mix::Both };
    let measured = schedule
        .last(crate::Purpose::HeldOut, mix)
        .expect("it is measured");
    let held_out = held_out::compare(measured, &model);
    (fit, held_out)
}

fn near(found: f64, truth: f64, off: f64) {
    assert!((found / truth - 1.0).abs() < off, "{found}, not {truth}");
}

/// What a processor does for each I/O, and for each byte of it, adds up: the times are those of a disk in compressed memory.
#[test]
fn what_handles_all_is_told_from_two_limits() {
    let disk = fast(45.0, |disk| {
        disk.handling = Some(HandlingSpec {
            read_ns: 31_000,
            read_ns_per_kib: 1_440,
            write_ns: 32_000,
            write_ns_per_kib: 7_100,
        });
    });
    for readonly in [false, true] {
        let options = Options {
            readonly,
            depth_max: 256,
            ..Options::default()
        };
        let (fit, held_out) = identified(&disk, options);
        let Some(Handling { read, write }) = fit.handling else {
            panic!("{:?}, {:?}", fit.read, fit.write);
        };
        let check = |found: Occupied, each_ns: f64, ns_per_kib: f64| {
            near(found.each_ns as f64, each_ns, 0.03);
            near(found.ns_per_kib as f64, ns_per_kib, 0.02);
        };
        check(read, 31_000.0, 1_440.0);
        assert_eq!(write.is_none(), readonly);
        if let Some(write) = write {
            check(write, 32_000.0, 7_100.0);
        }
        near(held_out.iops.modelled, held_out.iops.measured, 0.03);
        near(
            held_out.latency_ns_p50.modelled,
            held_out.latency_ns_p50.measured,
            0.05,
        );
    }
}

#[test]
fn two_limits_are_no_handling() {
    for words in [
        "azure/P30",
        "aws/gp3:500GiB,iops=6000,mbps=250",
        "gcp/pd-ssd:200GiB",
    ] {
        let disk = target::parse(words, Catalog::azure()).expect("a disk");
        let (fit, _) = identified(&disk, Options::default());
        assert_eq!(fit.handling, None, "{words}");
    }
}

#[test]
fn others_in_service_are_seen_to_slow_one_down() {
    for (crowding, most_seen) in [
        (None, None),
        (Some((15_000, 1_000)), Some(256)),
        (Some((30_000, 3)), Some(3)),
    ] {
        let disk = fast(200.0, |disk| {
            disk.crowding = crowding.map(|(ns_per_io, most)| CrowdingSpec { ns_per_io, most });
        });
        let options = Options {
            depth_max: 256,
            ..Options::default()
        };
        let (fit, held_out) = identified(&disk, options);
        let seen: Option<Crowding> = fit.read.service.crowding;
        assert_eq!(seen.map(|one| one.most), most_seen, "{seen:?}");
        if let Some((one, (ns_per_io, _))) = seen.zip(crowding) {
            near(one.ns_per_io as f64, ns_per_io as f64, 0.1);
        }
        near(held_out.iops.modelled, held_out.iops.measured, 0.05);
        near(
            held_out.latency_ns_p50.modelled,
            held_out.latency_ns_p50.measured,
            0.05,
        );
    }
}
