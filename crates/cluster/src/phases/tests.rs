use super::Phases;

#[test]
fn what_the_cluster_and_the_load_take_is_no_overhead() {
    let phases = Phases {
        making_ms: 40,
        starting_ms: 3_000,
        working_ms: 2_700,
        fetching_ms: 300,
        detaching_ms: 5_000,
        removing_ms: 20,
    };
    assert_eq!(phases.overhead_ms(2_300), 40 + 400 + 300 + 20);
    // The pod's clock and this one's need not run alike.
    assert_eq!(phases.overhead_ms(2_701), 360);
}
