//! Modelled disks, live: what is read back, by every way to them; faults; what is left behind.

mod data;
mod ends;
mod nbd;
mod postgres;
mod sealed;
mod served;
mod without;

use crate::harness::{Place, tool};
use fathom_testkit::{Needs, telling};
use served::{Served, or_skip};

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_touched() {
    let place = Place::new();
    std::fs::create_dir(place.path("at")).expect("a directory");
    place.write("at-full", "");
    std::fs::create_dir(place.path("full")).expect("a directory");
    place.write("full/something", "");
    place.write("dear", [7; 8192]);
    place.write("bad", "1s heal\nsoon stall 3s\n");
    for (line, code, said) in [
        ("serve --at at", 2, "say which disk"),
        ("serve model:azure/P15", 2, "--at"),
        ("serve dear --at at", 2, "only a modelled disk is served"),
        ("serve null: --at at", 2, "add --size"),
        (
            "serve model:azure/P15 --at nowhere",
            2,
            "a directory that is there, and empty",
        ),
        ("serve model:azure/P15 --at full", 2, "something is in it"),
        (
            "serve model:azure/P15 --at at --size 1TiB",
            2,
            "more than the modelled disk has",
        ),
        ("serve model:azure/P15 --at at --size 5000", 2, "whole sectors"),
        (
            "serve model:azure/P15 --at at --backing dear --size 8KiB",
            3,
            "no disk was served from it",
        ),
        (
            "serve model:azure/P15 --at at --faults bad",
            2,
            "line 2: `soon` is no time",
        ),
        ("serve model:azure/P15 --nbd 0.0.0.0:0", 2, "--allow-remote"),
        (
            "serve model:azure/P15 --disk data=P30 --at at",
            2,
            "the cloud and the machine only",
        ),
        ("serve --disk data=P30 --at at", 2, "say of which cloud"),
        (
            "serve model:azure --disk a=P30 --disk a=P10 --at at",
            2,
            "two disks have this name",
        ),
        (
            "serve model:azure/P15 --at at -o at/record",
            2,
            "would be on the disk",
        ),
        ("serve model:azure/P15 --at at --mkfs ext4", 2, "--loop"),
        ("fault freeze", 2, "`freeze` is no fault"),
        ("status --of full", 2, "no disk is served there"),
    ] {
        place.fathom(&format!("disk {line}")).expect(code).saying(said);
    }
    assert_eq!(std::fs::read(place.path("dear")).expect("still there"), [7; 8192]);
    assert_eq!(place.names(), ["at", "at-full", "bad", "dear", "full"]);
}

#[test]
fn a_live_p15_keeps_the_limits_of_the_model() {
    let test = "a_live_p15_keeps_the_limits_of_the_model";
    telling(test, &Needs::cpus().timely(), || {
        let place = Place::new();
        let served = or_skip!(
            test,
            Served::start(&place, "model:azure/P15,burst=empty --at at -o record")
        );
        let file = served.way("file");
        let fio = or_skip!(
            test,
            tool(&format!(
                "timeout 60 fio --name=x --filename={file} --rw=randread --bs=4k --iodepth=16 --ioengine=libaio --direct=1 \
                 --time_based --ramp_time=1 --runtime=4 --minimal"
            ))
        );
        // fio's terse format: 8 is the IOPS of reads.
        let iops: f64 = fio
            .split(';')
            .nth(7)
            .and_then(|value| value.parse().ok())
            .expect("its IOPS");
        assert!((iops / 1122.0 - 1.0).abs() < 0.03, "{iops} IOPS");
        let status = served.status();
        let late = &status["lateness_ns"];
        assert!(late["n"].as_u64() > Some(4000), "{status}");
        served.end(0);
        // What was recorded is read by everyone.
        let explained = place.fathom("explain record").expect(0).stdout;
        assert!(explained.contains("IOPS"), "{explained}");
        let shown = place.fathom("show record --json").expect(0).json();
        let reads = shown["disks"][0]["read_ios"].as_f64().expect("reads");
        // The second before was recorded as well, and what credit the disk had gained until the load came.
        assert!(
            reads > iops * 4.5 && reads < iops * 12.0,
            "{reads} reads recorded"
        );
        place.fathom("report record -o record.html").expect(0);
    });
}

#[test]
fn several_disks_share_their_machine_and_have_faults_of_their_own() {
    let test = "several_disks_share_their_machine_and_have_faults_of_their_own";
    let place = Place::new();
    place.write("later", "0s disk log errors # from the start\n");
    let line = "model:azure,vm=Standard_DS3_v2 --disk data=P30 --disk log=P10 --at at --nbd unix:s --size 64MiB --faults later";
    let served = or_skip!(test, Served::start(&place, line));
    assert_eq!(served.listing("at"), ["data", "log"]);
    let status = served.status();
    let machine = status["limits"].as_array().expect("limits");
    assert!(
        machine.iter().any(|limit| limit["limit"] == "VM uncached IOPS"),
        "{status}"
    );
    let disk = |number: usize| served.status()["disks"][number].clone();
    assert!(
        disk(1)["faults"][0]
            .as_str()
            .is_some_and(|fault| fault.starts_with("100 % of I/Os fail"))
    );
    let read = |name: &str| std::fs::read(place.path("at").join(name)).map(|data| data.len());
    assert_eq!(read("data").expect("no fault there"), 64 << 20);
    assert!(read("log").is_err());
    let healed = served.fault("disk log heal").expect(0).stdout;
    assert_eq!(healed.trim(), "log: attached, nothing is wrong with it");
    assert_eq!(read("log").expect("healed"), 64 << 20);
    served
        .fault("disk nothing heal")
        .expect(2)
        .saying("there is no disk `nothing` here: data, log");
    served.fault("detach").expect(0);
    assert!(read("data").is_err() && disk(0)["attached"] == false);
    served.end(0);
}
