use super::*;

#[test]
fn who_did_most_is_the_principal_and_stays_it_until_another_does_more() {
    let mut principals = Principals::default();
    assert_eq!(principals.of(1), None);
    principals.did(1, 1, 10, 4096);
    principals.did(2, 1, 20, 8192);
    principals.did(3, 2, 10, 1);
    assert_eq!((principals.of(1), principals.of(2)), (Some(20), Some(10)));
    for _ in 0..40 {
        principals.age(1);
        assert_eq!(principals.of(1), Some(20));
    }
    principals.did(4, 1, 10, 1);
    assert_eq!(principals.of(1), Some(10));
}

#[test]
fn memory_is_bounded() {
    let mut principals = Principals::default();
    for thing in 0..40_000u64 {
        for tid in 1..20 {
            principals.did(thing, thing, tid, u64::from(tid));
        }
    }
    assert!(principals.things.len() <= THINGS);
    assert!(principals.things.values().all(|tally| tally.tasks.len() <= TASKS));
    assert_eq!(principals.of(39_999), Some(19));
}
