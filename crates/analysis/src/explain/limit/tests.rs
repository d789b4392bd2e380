use super::super::scenarios::{Set, steady};

fn check(set: Set) {
    let mut wrong = Vec::new();
    for (kind, scenario) in steady(set) {
        let explanation = scenario.explain();
        let said = &explanation.limits[0];
        if said.limit != kind {
            wrong.push(format!("{kind:?} {}: {said:#?}", scenario.label));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn limits_that_a_machine_is_at_all_the_time() {
    check(Set::Development);
}

#[test]
fn limits_on_seeds_that_the_rules_were_not_made_with() {
    check(Set::HeldOut);
}
