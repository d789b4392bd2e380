use super::*;
use crate::fixture::Tree;
use expect_test::{Expect, expect};

fn error(errno: Errno) -> io::Error {
    io::Error::from_raw_os_error(errno.raw_os_error())
}

fn uring(tree: &Tree, errno: Errno, expected: &Expect) {
    let advice = io_uring_blocked(&tree.root, &error(errno)).expect("advice");
    expected.assert_eq(&advice.to_string());
}

fn aio(tree: &Tree, errno: Errno, expected: &Expect) {
    let advice = aio_exhausted(&tree.root, &error(errno)).expect("advice");
    expected.assert_eq(&advice.to_string());
}

fn in_docker(tree: &Tree) {
    tree.file("/.dockerenv", "");
    tree.file(
        "/proc/self/status",
        "Name:\tfathom\nSeccomp:\t2\nSeccomp_filters:\t1\n",
    );
}

#[test]
fn the_sysctl_is_named() {
    let tree = Tree::new();
    tree.file("/proc/sys/kernel/io_uring_disabled", "2\n");
    uring(
        &tree,
        Errno::PERM,
        &expect![
            "io_uring is switched off: kernel.io_uring_disabled is 2. Run `sysctl kernel.io_uring_disabled=0` as root, or use ioengine=libaio, which needs no permission."
        ],
    );
    tree.file("/proc/sys/kernel/io_uring_disabled", "1\n");
    tree.file("/proc/sys/kernel/io_uring_group", "-1\n");
    uring(
        &tree,
        Errno::PERM,
        &expect![
            "io_uring is for privileged processes only: kernel.io_uring_disabled is 1, this process lacks CAP_SYS_ADMIN, and no group is named in kernel.io_uring_group. Run `sysctl kernel.io_uring_disabled=0` as root, or use ioengine=libaio, which needs no permission."
        ],
    );
    tree.file("/proc/sys/kernel/io_uring_group", "1005\n");
    uring(
        &tree,
        Errno::PERM,
        &expect![
            "io_uring is for privileged processes only: kernel.io_uring_disabled is 1, this process lacks CAP_SYS_ADMIN, and this process is not in group 1005 (kernel.io_uring_group). Run `sysctl kernel.io_uring_disabled=0` as root, or use ioengine=libaio, which needs no permission."
        ],
    );
}

#[test]
fn the_filter_of_a_container_is_named() {
    let tree = Tree::new();
    in_docker(&tree);
    tree.file("/proc/sys/kernel/io_uring_disabled", "0\n");
    uring(
        &tree,
        Errno::PERM,
        &expect![
            "io_uring is not allowed: the seccomp filter of this container (docker) blocks it, as the default ones of container runtimes do. Run the container with a seccomp profile that allows io_uring_setup, io_uring_enter and io_uring_register (--security-opt seccomp=unconfined; in Kubernetes seccompProfile: Unconfined), or use ioengine=libaio, which needs no permission."
        ],
    );
    uring(
        &tree,
        Errno::NOSYS,
        &expect![
            "the kernel has io_uring, and the seccomp filter of this container (docker) hides it. Use ioengine=libaio, which needs no permission."
        ],
    );
}

#[test]
fn without_a_visible_cause_none_is_invented() {
    let tree = Tree::new();
    tree.file("/proc/self/status", "Seccomp:\t0\n");
    tree.file("/proc/sys/kernel/osrelease", "4.18.0\n");
    uring(
        &tree,
        Errno::PERM,
        &expect![
            "io_uring is not allowed, by a rule that is not visible from here (a security module?). Run as root outside of the container, or use ioengine=libaio, which needs no permission."
        ],
    );
    uring(
        &tree,
        Errno::NOSYS,
        &expect![
            "kernel 4.18.0 has no io_uring (it needs Linux 5.1 and CONFIG_IO_URING). Use ioengine=libaio, which needs no permission."
        ],
    );
}

#[test]
fn limits_are_quoted() {
    let tree = Tree::new();
    tree.file(
        "/proc/self/limits",
        "Limit                     Soft Limit           Hard Limit           Units     \n\
         Max locked memory         65536                unlimited            bytes     \n",
    );
    uring(
        &tree,
        Errno::NOMEM,
        &expect![
            "io_uring got no memory: the limit of locked memory (RLIMIT_MEMLOCK) is 65536 bytes. Raise it (ulimit -l unlimited; LimitMEMLOCK=infinity in a systemd unit), or use a smaller iodepth."
        ],
    );
    aio(
        &tree,
        Errno::AGAIN,
        &expect![
            "io_setup failed: the system's number of AIO requests is used up (fs.aio-max-nr). Run `sysctl fs.aio-max-nr=1048576` as root, or use ioengine=io_uring."
        ],
    );
    tree.file("/proc/sys/fs/aio-nr", "65000\n");
    tree.file("/proc/sys/fs/aio-max-nr", "65536\n");
    aio(
        &tree,
        Errno::AGAIN,
        &expect![
            "io_setup failed: 65000 of the system's 65536 AIO requests are in use (fs.aio-nr, fs.aio-max-nr), and each queue takes at least four for every CPU, and twice its depth. Run `sysctl fs.aio-max-nr=1048576` as root, use a smaller iodepth or fewer workers, or use ioengine=io_uring."
        ],
    );
    aio(
        &tree,
        Errno::NOSYS,
        &expect![
            "io_setup is not available: the kernel is built without CONFIG_AIO. Use ioengine=io_uring, or ioengine=psync with more numjobs."
        ],
    );
}

#[test]
fn other_errors_get_no_advice() {
    let tree = Tree::new();
    assert_eq!(io_uring_blocked(&tree.root, &error(Errno::INVAL)), None);
    assert_eq!(aio_exhausted(&tree.root, &error(Errno::INVAL)), None);
    assert_eq!(io_uring_blocked(&tree.root, &io::Error::other("no errno")), None);
}
