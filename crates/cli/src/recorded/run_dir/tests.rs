use super::{Volumes, is_below};
use fathom_core::run::DeviceInfo;
use fathom_core::units::DevId;

fn info(name: &str, minor: u32, slaves: &[&str]) -> DeviceInfo {
    DeviceInfo {
        name: name.to_owned(),
        id: DevId { major: 9, minor },
        model: None,
        rotational: None,
        scheduler: None,
        nr_requests: None,
        logical_block_bytes: None,
        size_bytes: Some(1 << 30),
        slaves: slaves.iter().map(|&slave| slave.to_owned()).collect(),
        slave_ids: Vec::new(),
    }
}

/// What goes through a stripe is counted there, not on its members as well.
#[test]
fn members_of_a_stack_are_below_it() {
    let (upper, one, other) = (
        info("md0", 0, &["sda", "sdb"]),
        info("sda", 1, &[]),
        info("sdc", 2, &[]),
    );
    let all = [&upper, &one, &other];
    assert_eq!(all.map(|info| is_below(info, &all)), [false, true, false]);
}

#[test]
fn devices_lie_one_behind_the_other() {
    let volumes = Volumes {
        devices: [(DevId { major: 9, minor: 2 }.number(), 1 << 30)].into(),
        ..Volumes::default()
    };
    assert_eq!(volumes.of_device((9 << 20) + 2), Some(1 << 30));
    assert_eq!(volumes.of_device((9 << 20) + 3), None);
    assert_eq!(Volumes::default().of_device(5), Some(0));
}
