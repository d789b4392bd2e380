use super::*;

#[test]
fn the_scheduler_that_is_chosen_stands_in_brackets() {
    assert_eq!(in_brackets("none [mq-deadline] kyber bfq \n"), "mq-deadline");
    assert_eq!(in_brackets("[none] mq-deadline\n"), "none");
    // Of a device that has but one.
    assert_eq!(in_brackets("none\n"), "none");
}

#[test]
fn the_controller_is_found_where_it_is_mounted() {
    let mounts = "tmpfs /sys/fs/cgroup tmpfs rw 0 0\n\
        cgroup /sys/fs/cgroup/cpu cgroup rw,relatime,cpu 0 0\n\
        cgroup /sys/fs/cgroup/blkio cgroup rw,relatime,blkio 0 0\n\
        cgroup2 /sys/fs/cgroup/unified cgroup2 rw,relatime 0 0\n";
    assert_eq!(mount_of(mounts), Some("/sys/fs/cgroup/blkio"));
    assert_eq!(mount_of("cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"), None);
}

#[test]
fn a_group_lies_below_the_mount() {
    for name in ["../x", "/x", "a/../../x"] {
        let refused = path_of(name).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidInput, "{name}");
    }
}
