use super::*;
use crate::fixture::Tree;

fn check(load: Option<&str>, pressure: Option<&str>, expected: Option<bool>) -> Requirement {
    let tree = Tree::new();
    tree.file("/sys/devices/system/cpu/online", "0-3\n");
    if let Some(load) = load {
        tree.file("/proc/loadavg", format!("{load} 0.10 0.05 1/120 4242\n"));
    }
    if let Some(avg10) = pressure {
        let text = format!(
            "some avg10={avg10} avg60=0.00 avg300=0.00 total=1\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
        );
        tree.file("/proc/pressure/cpu", text);
    }
    let requirement = quiet_host(&tree.root);
    assert_eq!(requirement.met, expected, "{}", requirement.detail);
    requirement
}

#[test]
fn either_sign_makes_a_busy_host() {
    check(Some("2.00"), Some("10.00"), Some(true));
    check(Some("2.01"), Some("0.00"), Some(false));
    check(Some("0.00"), Some("10.01"), Some(false));
    check(Some("0.00"), None, Some(true));
    check(None, Some("50.00"), Some(false));
    check(None, None, None);
}

#[test]
fn what_was_seen_is_said() {
    let requirement = check(Some("5.25"), None, Some(false));
    assert_eq!(requirement.name, "quiet_host");
    assert_eq!(requirement.detail, "load 5.25 on 4 CPUs; CPU pressure not known");
}
