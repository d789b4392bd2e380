//! What Arm's machines tell otherwise than others: cores by number, hypervisors in the firmware tables alone.

use super::cpuinfo_value;

/// Implementer, part (both as `/proc/cpuinfo` shows them), and the core's name: those that clouds rent and desks have. Arm's
/// "Main ID Register" of each core's manual; as `lscpu` (util-linux, sys-utils/lscpu-arm.c) names them.
const CORES: [(&str, &str, &str); 18] = [
    ("0x41", "0xd03", "Arm Cortex-A53"),
    ("0x41", "0xd08", "Arm Cortex-A72"),
    ("0x41", "0xd0b", "Arm Cortex-A76"),
    ("0x41", "0xd0c", "Arm Neoverse-N1"),
    ("0x41", "0xd40", "Arm Neoverse-V1"),
    ("0x41", "0xd49", "Arm Neoverse-N2"),
    ("0x41", "0xd4a", "Arm Neoverse-E1"),
    ("0x41", "0xd4f", "Arm Neoverse-V2"),
    ("0x41", "0xd83", "Arm Neoverse-V3AE"),
    ("0x41", "0xd84", "Arm Neoverse-V3"),
    ("0x41", "0xd8e", "Arm Neoverse-N3"),
    ("0x43", "0x0a1", "Cavium ThunderX"),
    ("0x43", "0x0af", "Cavium ThunderX2"),
    ("0x48", "0xd01", "HiSilicon Kunpeng-920"),
    ("0x50", "0x000", "APM X-Gene"),
    ("0x6d", "0xd49", "Microsoft Azure-Cobalt-100"),
    ("0xc0", "0xac3", "Ampere-1"),
    ("0xc0", "0xac4", "Ampere-1a"),
];

/// The core by the numbers that it gives of itself; one that is not known by these numbers.
pub(super) fn core_name(cpuinfo: &str) -> Option<String> {
    let implementer = cpuinfo_value(cpuinfo, "CPU implementer")?;
    let part = cpuinfo_value(cpuinfo, "CPU part")?;
    let known = CORES.iter().find(|(i, p, _)| (*i, *p) == (implementer, part));
    Some(known.map_or_else(
        || format!("Arm core, implementer {implementer}, part {part}"),
        |(_, _, name)| (*name).to_owned(),
    ))
}

/// Whether vendor or product of the firmware tables is a hypervisor's (as systemd-detect-virt knows them). The vendor alone
/// does not tell a cloud's whole machines: AWS names those `TYPE.metal`, and Microsoft and Google have a product for virtual
/// ones.
pub(super) fn is_virtual(vendor: Option<&str>, product: Option<&str>) -> bool {
    let product = product.unwrap_or_default();
    let by_product = [
        "KVM",
        "Virtual Machine",
        "Google Compute Engine",
        "OpenStack",
        "VMware",
    ];
    by_product.iter().any(|known| product.starts_with(known))
        || match vendor {
            Some("Amazon EC2") => !product.contains(".metal"),
            Some("QEMU" | "VMware, Inc." | "Xen" | "Parallels" | "OpenStack Foundation") => true,
            _ => false,
        }
}
