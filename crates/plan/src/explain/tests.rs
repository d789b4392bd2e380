//! The questions of "IO Performance in Azure Explained" (2019), as it asks them.

use super::*;
use crate::layout::MB;
use crate::need::Ask;
use fathom_model::catalog::Family;

fn family(key: &str) -> Family {
    Catalog::azure().family(key).expect("a family")
}

fn explained(target: &str, need: &Need) -> Explained<'static> {
    let catalog = Catalog::azure();
    explain(Layout::named(target, catalog).expect(target), need, catalog)
}

#[test]
fn what_limits_a_p40_on_a_ds3_v2() {
    let explained = explained("azure/P40,vm=Standard_DS3_v2", &Need::none());
    let sustained = explained.answer.judged.sustained;
    assert_eq!(
        (sustained.iops, sustained.bytes_per_second),
        (Some(7_500), Some(192 * MB))
    );
    assert_eq!(explained.binds_iops, Some(Limit::DiskIops));
    assert_eq!(explained.binds_bytes, Some(Limit::UncachedThroughput));
    // The P40's 250 MB/s cannot pass this machine's 192.
    assert_eq!(
        explained.idle,
        [Idle {
            limit: Limit::DiskThroughput,
            has: 250 * MB,
            passes: 192 * MB,
            held_by: Limit::UncachedThroughput,
        }]
    );
    let larger = explained
        .changes
        .iter()
        .find(|change| change.to == To::LargerMachine)
        .expect("a larger one");
    assert_eq!(
        larger.answer.layout.machine.map(|vm| vm.name.as_str()),
        Some("Standard_DS4_v2")
    );
    assert_eq!(larger.answer.judged.sustained.bytes_per_second, Some(250 * MB));
}

#[test]
fn what_replaces_it() {
    // Two P15 striped let as much through, for far less, where the room is not needed.
    let two = explained("azure/2xP15,vm=Standard_DS3_v2", &Need::none());
    assert_eq!(two.answer.judged.sustained.bytes_per_second, Some(192 * MB));
    let [large, small] = ["azure/P30", "azure/2xP15"].map(|target| {
        let layout = Layout::named(target, Catalog::azure()).expect(target);
        search::answer(layout, &Need::none()).cost.microusd_month()
    });
    let saved = 1.0 - small as f64 / large as f64;
    assert!(
        (0.40..0.50).contains(&saved),
        "the post: around 45 %; here {saved}"
    );
    let mut ask = Ask {
        bytes_per_second: Some(192 * MB),
        size_bytes: Some(500 << 30),
        ..Ask::default()
    };
    ask.choice.families = vec![family("premium")];
    ask.choice.caches = vec![crate::layout::Cache::None];
    ask.choice.stripe_max = 2;
    let need = ask.need().expect("a need").0;
    let p40 = explained("azure/P40,vm=Standard_DS3_v2", &need);
    assert_eq!(p40.replaces[0].layout.target(), "azure/2xP15,vm=Standard_DS3_v2");
}

#[test]
fn a_disk_less_is_told_where_there_are_several() {
    let steps = |target| {
        let steps = explained(target, &Need::none()).changes;
        steps.iter().map(|change| change.to).collect::<Vec<To>>()
    };
    assert!(steps("azure/2xP15,vm=Standard_DS3_v2").contains(&To::OneDiskLess));
    assert!(!steps("azure/P15,vm=Standard_DS3_v2").contains(&To::OneDiskLess));
    // The machine has no place for a fifth.
    assert!(!steps("azure/4xP15,vm=Standard_D2s_v5").contains(&To::OneMoreDisk));
    assert!(!steps("azure/P80,vm=Standard_DS3_v2").contains(&To::LargerDisk));
}
