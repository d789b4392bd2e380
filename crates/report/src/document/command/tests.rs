use super::*;
use fathom_analysis::explain::answer::{LimitKind, LimitTime, OutsideLimits};
use fathom_core::run::{CommandWaits, CpuUsage, ProcessIo};

fn command() -> CommandSummary {
    CommandSummary {
        argv: ["sh", "-c", "it's done", "a/b.c"].map(String::from).to_vec(),
        started_ns: 1_000,
        ended_ns: 10_000_001_000,
        exit: CommandExit::Code(3),
        cpu: CpuUsage::default(),
        io: Some(ProcessIo {
            written_bytes: 1 << 20,
            ..ProcessIo::default()
        }),
        devices: Vec::new(),
        waits: None,
        course: None,
        tasks: None,
        outliving: 0,
        sync_ns: None,
        missing: Vec::new(),
    }
}

#[test]
fn a_command_is_told_as_a_shell_takes_it() {
    assert_eq!(words(&command().argv), r"sh -c 'it'\''s done' a/b.c");
    assert_eq!(words(&[String::new()]), "''");
    let long = vec!["ä".repeat(300)];
    assert_eq!(words(&long).chars().count(), WORDS_MAX + 1);
}

#[test]
fn what_was_not_seen_is_not_told_as_nothing() {
    let mut command = command();
    assert_eq!(
        (spent(&command), threads(&command), left(&command)),
        (None, None, None)
    );
    command.waits = Some(CommandWaits {
        elapsed: TimeSplit {
            cpu_ns: 6_000_000_000,
            disk_ns: 3_000_000_000,
            ..TimeSplit::default()
        },
        threads: TimeSplit::default(),
    });
    let spent = spent(&command).expect("seen");
    assert_eq!(
        spent,
        "6.00 s (60 %) on a CPU, 3.00 s (30 %) waited for I/O, 1.00 s (10 %) not known"
    );
}

#[test]
fn what_the_disk_has_not_got_is_told() {
    let mut command = command();
    let moved = |write_bytes| Moved {
        write_bytes,
        ..Moved::default()
    };
    command.devices = vec![CommandDevice {
        name: String::from("vda"),
        tree: moved(1 << 20),
        tree_after: moved(1 << 18),
        ..CommandDevice::default()
    }];
    command.sync_ns = Some(2_000_000);
    let told = left(&command).expect("a quarter");
    assert!(
        told.starts_with("256 KiB of 1 MiB that it wrote had not reached vda"),
        "{told}"
    );
    command.devices[0].tree_after = Moved::default();
    assert_eq!(left(&command), None);
}

/// What a command did while the disk was at no limit is told by itself, not mixed with what it did while it was.
#[test]
fn the_rest_of_the_time_is_told_by_itself() {
    let split = |cpu: u64, disk: u64| TimeSplit {
        cpu_ns: cpu * 1_000_000_000,
        disk_ns: disk * 1_000_000_000,
        ..TimeSplit::default()
    };
    let mut command = CommandTime {
        argv: vec![String::from("tar")],
        duration_ns: 100_000_000_000,
        cpu_ns: 0,
        waits: Some(CommandWaits {
            elapsed: split(60, 40),
            threads: split(60, 40),
        }),
        limits: vec![LimitTime {
            device: String::from("vda"),
            limit: LimitKind::Iops,
            rate: 500.0,
            unit: Unit::Iops,
            ns: 40_000_000_000,
        }],
        outside_limits: Some(OutsideLimits {
            ns: 60_000_000_000,
            spent: split(55, 5),
        }),
    };
    assert_eq!(
        time(&command),
        "of 100 s, 40.0 s (40 %) at the limit of vda, 500 IOPS; of the rest, 55.0 s (55 %) on a CPU, 5.00 s (5.0 %) waited for I/O"
    );
    command.outside_limits = None;
    assert!(
        time(&command).contains("; over all of it, 60.0 s (60 %) on a CPU"),
        "{}",
        time(&command)
    );
}
