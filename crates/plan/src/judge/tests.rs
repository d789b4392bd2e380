use super::*;
use crate::layout::{GIB, MB};
use crate::need::Ask;
use fathom_model::catalog::Catalog;

fn judged(target: &str, ask: &Ask) -> Judged {
    let layout = Layout::named(target, Catalog::azure()).expect(target);
    judge(&layout, &ask.need().expect("a need").0)
}

#[test]
fn the_scarcest_binds_and_the_next_follows() {
    let ask = Ask {
        iops: Some(6_000),
        bytes_per_second: Some(150 * MB),
        size_bytes: Some(1024 * GIB),
        ..Ask::default()
    };
    let judged = judged("azure/P40,vm=Standard_DS3_v2", &ask);
    let names: Vec<Binding> = judged.shares.iter().map(|share| share.of).collect();
    assert_eq!(
        names,
        [
            Binding::Limit(Limit::DiskIops),
            Binding::Limit(Limit::UncachedThroughput),
            Binding::Limit(Limit::DiskThroughput),
            Binding::Size,
            Binding::Limit(Limit::UncachedIops),
        ]
    );
    assert_eq!(judged.headroom(), Some(0.25));
    assert_eq!(judged.lasts_seconds, None);
}

#[test]
fn what_lives_on_credit_says_for_how_long() {
    let ask = Ask {
        iops: Some(2_000),
        block_bytes: Some(4096),
        lasts_seconds: Some(600),
        ..Ask::default()
    };
    let judged = judged("azure/P15,vm=Standard_D8s_v3", &ask);
    // (3,500 - 1,100) x 1,800 s of credit for 900 a second above the base.
    assert_eq!(judged.lasts_seconds, Some(4_800));
    assert_eq!(
        judged.binding().map(|share| share.of),
        Some(Binding::Credit(Limit::DiskIops))
    );
    let burst = judged.burst.expect("a P15 bursts");
    assert_eq!(
        (burst.rates.iops, burst.rates.bytes_per_second),
        (Some(3_500), Some(170 * MB))
    );
    assert_eq!(burst.full_seconds, Some(1_800));
}

#[test]
fn what_no_source_states_is_not_known_and_stands_last() {
    let ask = Ask {
        iops: Some(100),
        block_bytes: Some(4096),
        ..Ask::default()
    };
    let judged = judged("azure/S10,vm=Standard_A2", &ask);
    assert_eq!(judged.sustained.bytes_per_second, None);
    assert_eq!(judged.shares.last().map(|share| share.allows), Some(None));
}

/// "1 MiB sequential or random I/O costs 1 MiB of credit, and a smaller random one as much": 20 MiB/s are 20 random I/Os.
#[test]
fn disks_with_heads_have_as_many_iops_as_their_bytes_have_units() {
    let layout =
        Layout::named("aws/st1,size=500g", Catalog::named("aws").expect("built in")).expect("a layout");
    let of = |block_bytes: u64| {
        let ask = Ask {
            block_bytes: Some(block_bytes),
            ..Ask::default()
        };
        let need = ask.kind().expect("a kind").0;
        let setup = Setup::of(&layout);
        (judge(&layout, &need), binds(&setup, &need.load, false))
    };
    let (small, bound_by) = of(16 << 10);
    assert_eq!(small.sustained.iops, Some(19));
    assert_eq!(bound_by, Some(Limit::DiskThroughput));
    let burst = small.burst.expect("credit").rates;
    assert_eq!(burst.iops, Some(122));
    let (large, _) = of(1 << 20);
    assert_eq!(large.sustained.iops, Some(19));
    assert_eq!(large.sustained.bytes_per_second, Some(20_480_000));
}
