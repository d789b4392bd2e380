//! That each row of the table is needed.

use super::{layout, load};
use crate::layout::{Cache, GIB, Layout};
use crate::need::{Load, MILLION};
use crate::rules::{Part, RULES, reaching, uses};
use crate::setup::Setup;
use fathom_model::catalog::Catalog;

/// Each rule decides something: a layout that it alone refuses, a load that takes of its limit alone, a part of an I/O that comes
/// from it alone. So none of them can be taken out, or made to do nothing, unnoticed.
#[test]
fn each_rule_that_is_carried_out_decides_something() {
    let some = load(1_000, 300 << 10, 60);
    let examples = [
        "azure/2xP30,vm=D8s_v3",
        "azure/P30,vm=D8s_v3,cache=ro",
        "azure/P30,vm=D8s_v3,cache=rw",
        "aws/gp3,size=100g,vm=m5.large",
        "gcp/pd-ssd,size=200g,vm=n2-standard-8",
        "gcp/pd-standard,size=1000g,vm=n2-standard-8",
        "gcp/hyperdisk-balanced,size=200g,vm=c4d-standard-16",
    ];
    let small = Load {
        working_set_bytes: 1_000 * GIB,
        ..some.clone()
    };
    let setups = examples.map(|target| Setup::of(&layout(target)));
    let plain = |name: &str| Catalog::azure().vm(name).expect(name);
    let refused = [
        Layout {
            machine: Some(plain("D4_v3")),
            ..layout("azure/P15,vm=D4s_v3")
        },
        Layout {
            count: 9,
            ..layout("azure/8xP15,vm=D4s_v5")
        },
        Layout {
            cache: Cache::ReadOnly,
            ..layout("azure/P50,vm=DS3_v2")
        },
        Layout {
            cache: Cache::ReadOnly,
            ..layout("azure/P15,vm=L8s_v3")
        },
        on_xen(),
    ];
    for rule in &RULES {
        let decides = match rule.part {
            Part::Takes(takes) => refused.iter().any(|layout| {
                let against = RULES
                    .iter()
                    .filter(|other| matches!(other.part, Part::Takes(takes) if !takes(layout)));
                !takes(layout) && against.count() == 1
            }),
            Part::Reaches(reaches) => setups.iter().any(|setup| reaches(setup, &small) > 0),
            Part::Counts(counts) => setups.iter().any(|setup| counts(setup, &some) > MILLION),
            Part::Limits(limits) => setups.iter().any(|setup| {
                let one = limits(setup, &small, reaching(setup, &small));
                one.is_some_and(|one| {
                    let of_it = uses(setup, &small).filter(|other| other.limit == one.limit);
                    one.used > 0 && of_it.count() == 1
                })
            }),
            Part::Kept(place) => is_kept(place),
        };
        assert!(decides, "{}", rule.name);
    }
}

/// A layout that is refused on a machine without Nitro alone.
pub(super) fn on_xen() -> Layout<'static> {
    let aws = Catalog::named("aws").expect("a cloud");
    let xen = aws.vms().iter().find(|vm| vm.hypervisor == "xen");
    Layout {
        machine: xen,
        ..layout("aws/io2,size=1000g,iops=40000,vm=m6i.32xlarge")
    }
}

/// Whether the places that a rule names as its own are there.
fn is_kept(place: &str) -> bool {
    const SOURCES: [(&str, &str); 11] = [
        ("setup", include_str!("../../setup.rs")),
        ("Setup", include_str!("../../setup.rs")),
        ("Rate", include_str!("../../setup.rs")),
        ("limits", include_str!("../limits.rs")),
        ("cost", include_str!("../../cost.rs")),
        ("pieces", include_str!("../../pieces.rs")),
        ("Disk", include_str!("../../layout.rs")),
        ("Layout", include_str!("../../layout.rs")),
        ("Family", include_str!("../../../../model/src/catalog/family.rs")),
        ("Vm", include_str!("../../../../model/src/catalog/vm.rs")),
        ("Catalog", include_str!("../../../../model/src/catalog.rs")),
    ];
    let is_there = |one: &str| match one.split_once("::") {
        Some((owner, name)) => {
            let found = SOURCES.iter().find(|(known, _)| *known == owner);
            let has =
                |text: &str| text.contains(&format!("fn {name}(")) || text.contains(&format!("fn {name}<"));
            match found {
                Some((_, text)) => has(text),
                None => panic!("{place}: which file is `{owner}`?"),
            }
        }
        None => false,
    };
    match place {
        "the catalogue's rows" | "Reaching has no such I/O" => true,
        "the model alone: fathom_model::merge" => {
            include_str!("../../../../model/src/lib.rs").contains("mod merge;")
        }
        "Judged::in_flight" => include_str!("../../judge.rs").contains("pub in_flight:"),
        _ => place.split(", ").all(is_there),
    }
}
