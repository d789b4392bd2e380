use super::*;
use fathom_core::record::Comm;
use proptest::prelude::*;

proptest! {
    /// However a time is divided, no nanosecond is lost or made.
    #[test]
    fn division_is_exact(ns in 0u64..1 << 50, weights in prop::collection::vec(0.0f64..1e12, 0..20)) {
        let owner = |index: usize| Owner::by(OwnerClass::NoCpu, Process { pid: index as u32, comm: Comm::default() });
        let shares: Vec<(Owner, f64)> = weights.iter().enumerate().map(|(index, weight)| (owner(index), *weight)).collect();
        let mut ledger = Ledger::default();
        ledger.divide(ns, &shares);
        prop_assert_eq!(ledger.total_ns(), ns);
        let mut scaled = Ledger::default();
        scaled.join_scaled(&ledger, ns / 3);
        prop_assert_eq!(scaled.total_ns(), ns / 3);
    }
}

#[test]
fn tasks_of_one_name_are_one() {
    let process = |pid: u32, name: &str| Process {
        pid,
        comm: Comm::from(name),
    };
    let mut ledger = Ledger::default();
    ledger.add(Owner::by(OwnerClass::NoCpu, process(1, "sh")), 10);
    ledger.add(Owner::by(OwnerClass::NoCpu, process(2, "sh")), 30);
    ledger.add(Owner::by(OwnerClass::NoCpu, process(3, "dd")), 35);
    ledger.add(Owner::NOT_SEEN, 5);
    let sorted = ledger.sorted(|_| ());
    assert_eq!(sorted[0], (Owner::by(OwnerClass::NoCpu, process(2, "sh")), 40));
    assert_eq!((sorted.len(), ledger.total_ns()), (3, 80));
    // Those in different groups are not.
    let sorted = ledger.sorted(|pid| pid % 2);
    assert_eq!(sorted[0], (Owner::by(OwnerClass::NoCpu, process(3, "dd")), 35));
    assert_eq!(sorted.len(), 4);
}
