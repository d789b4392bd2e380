use super::{Meter, names};
use crate::{Bench, DiskOptions, Options};
use fathom_core::run::Counted;
use fathom_door::backing;
use fathom_model::{Catalog, LimitState, target};
use std::collections::BTreeSet;

fn limit(name: &'static str, credit: Option<u64>) -> LimitState {
    LimitState {
        name,
        counts: Counted::IoUnits,
        rate_per_second: 1,
        credit_full: credit,
        credit_left: credit,
        taken: 0,
        held_ns: 0,
    }
}

#[test]
fn a_limit_and_the_higher_one_on_credit_are_told_apart() {
    let all = [
        limit("disk IOPS", None),
        limit("disk IOPS", Some(9)),
        limit("disk MB/s", None),
        limit("disk MB/s", None),
    ];
    assert_eq!(
        names(&all),
        ["disk IOPS, in a burst", "disk IOPS", "disk MB/s", "disk MB/s (2)"]
    );
}

/// Of every disk and machine of the catalogues no two limits have one name: they would be one series of a metric.
#[test]
fn no_two_limits_of_a_disk_have_one_name() {
    let mut seen = 0;
    for words in [
        "azure/P10,vm=Standard_D2s_v5",
        "azure/P30",
        "azure/2xP15,vm=Standard_DS3_v2,cache=ro",
        "azure/E20",
        "aws/gp2:100GiB,vm=m6i.large",
        "aws/gp3:500GiB,iops=6000,vm=m6i.xlarge",
        "gcp/pd-ssd:200GiB,vm=n2-standard-8",
    ] {
        let cloud = words.split('/').next().expect("a cloud");
        let catalog = Catalog::named(cloud).expect("a catalogue");
        let spec = target::parse(words, catalog).expect(words);
        let disk = DiskOptions {
            name: String::from("disk"),
            file: backing::memory("disk", 1 << 20).expect("memory"),
            size_bytes: 1 << 20,
            cache_bytes: 0,
        };
        let (running, _) = Bench::start(Some(&[spec]), vec![disk], Options::default()).expect("a bench");
        let status = Meter::new(&running.bench).look(&running.bench);
        let limits = &status.disks[0].limits;
        let different: BTreeSet<&str> = limits.iter().map(|limit| &*limit.limit).collect();
        assert_eq!(different.len(), limits.len(), "{words}: {limits:?}");
        seen += limits.len();
    }
    assert!(seen > 20, "{seen} limits");
}
