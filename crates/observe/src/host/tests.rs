use super::*;
use crate::fixture::Tree;

#[test]
fn an_empty_system_gives_an_empty_environment() {
    let tree = Tree::new();
    let expected = Environment {
        arch: std::env::consts::ARCH.to_owned(),
        clock_source: "tsc".to_owned(),
        ..Environment::default()
    };
    assert_eq!(environment(&tree.root, "tsc"), expected);
}

#[test]
fn what_the_system_tells_is_taken() {
    let tree = Tree::new();
    tree.file("/proc/sys/kernel/hostname", "db-7\n");
    tree.file("/proc/sys/kernel/osrelease", "6.8.0-1015-azure\n");
    tree.file("/proc/sys/kernel/arch", "x86_64\n");
    tree.file(
        "/proc/cpuinfo",
        "processor\t: 0\nmodel name\t: AMD EPYC 7763\nflags\t\t: fpu hypervisor\n\nprocessor\t: 1\n",
    );
    tree.file("/sys/devices/system/cpu/online", "0-1,4,6-7\n");
    tree.file("/proc/meminfo", "MemTotal:       16384 kB\nMemFree: 1 kB\n");
    tree.file("/proc/loadavg", "0.42 0.10 0.05 1/120 4242\n");
    tree.file("/sys/class/dmi/id/sys_vendor", "Microsoft Corporation\n");
    tree.file("/sys/class/dmi/id/product_name", "Virtual Machine\n");
    tree.file("/var/run/secrets/kubernetes.io/serviceaccount/token", "secret");
    let expected = Environment {
        host: "db-7".to_owned(),
        kernel: "6.8.0-1015-azure".to_owned(),
        arch: "x86_64".to_owned(),
        cpu_model: "AMD EPYC 7763".to_owned(),
        cpus: 5,
        memory_bytes: 16 << 20,
        clock_source: "clock_monotonic".to_owned(),
        load_1min: 0.42,
        machine: None,
        virtualization: Some(
            "virtual machine (Microsoft Corporation Virtual Machine), container (kubernetes)".to_owned(),
        ),
    };
    assert_eq!(environment(&tree.root, "clock_monotonic"), expected);
}

#[test]
fn a_physical_server_with_firmware_tables_is_no_virtual_machine() {
    let tree = Tree::new();
    tree.file("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu vme\n");
    tree.file("/sys/class/dmi/id/sys_vendor", "Dell Inc.\n");
    let found = environment(&tree.root, "tsc");
    assert_eq!(found.virtualization, None);
    assert_eq!(found.cpus, 1);
}

/// As a Graviton 3 shows itself: neither model name nor flags.
#[test]
fn an_arm_machine_is_told_by_its_core_and_its_tables() {
    let tree = Tree::new();
    tree.file(
        "/proc/cpuinfo",
        "processor\t: 0\nBogoMIPS\t: 2100.00\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n\
         CPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: 0xd40\nCPU revision\t: 1\n\n",
    );
    tree.file("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
    tree.file("/sys/class/dmi/id/product_name", "c7g.large\n");
    let found = environment(&tree.root, "arch_sys_counter");
    assert_eq!(found.cpu_model, "Arm Neoverse-V1");
    assert_eq!(
        found.virtualization.as_deref(),
        Some("virtual machine (Amazon EC2 c7g.large)")
    );
    tree.file("/sys/class/dmi/id/product_name", "c7g.metal\n");
    assert_eq!(environment(&tree.root, "").virtualization, None);
    tree.file("/sys/class/dmi/id/sys_vendor", "Microsoft Corporation\n");
    tree.file("/sys/class/dmi/id/product_name", "Virtual Machine\n");
    let azure = environment(&tree.root, "").virtualization;
    assert_eq!(
        azure.as_deref(),
        Some("virtual machine (Microsoft Corporation Virtual Machine)")
    );
    tree.file(
        "/proc/cpuinfo",
        "processor\t: 0\nCPU implementer\t: 0x99\nCPU part\t: 0x123\n",
    );
    let unknown = environment(&tree.root, "").cpu_model;
    assert_eq!(unknown, "Arm core, implementer 0x99, part 0x123");
}

#[test]
fn nonsense_is_not_a_number() {
    let tree = Tree::new();
    tree.file("/sys/devices/system/cpu/online", "7-3\n");
    tree.file("/proc/meminfo", "MemTotal: 99999999999999999999 kB\n");
    tree.file("/proc/loadavg", "nan\n");
    let found = environment(&tree.root, "tsc");
    assert_eq!((found.cpus, found.memory_bytes), (0, 0));
    assert!(found.load_1min.abs() < f64::EPSILON);
}
