//! On what machine and on what disk.

use crate::units::DevId;
use serde::{Deserialize, Serialize};

/// [`Environment::clock_source`] where the stamps come from the kernel and not from the processor's counter.
pub const CLOCK_MONOTONIC: &str = "clock_monotonic";

/// The program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    pub version: String,
    /// Built without optimisation: its numbers are not to be trusted.
    pub debug: bool,
}

/// The machine. What could not be learned is empty or `None`; never guessed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Environment {
    /// Host name.
    pub host: String,
    /// Kernel release.
    pub kernel: String,
    /// Machine architecture.
    pub arch: String,
    /// CPU model.
    pub cpu_model: String,
    /// CPUs online.
    pub cpus: u32,
    /// Main memory.
    pub memory_bytes: u64,
    /// What the stamps were taken with: `tsc` (`x86_64`), `arch_sys_counter` (`aarch64`), [`CLOCK_MONOTONIC`], `virtual`.
    pub clock_source: String,
    /// Load average over one minute before the start.
    pub load_1min: f64,
    /// Hypervisor or container, where the system tells.
    pub virtualization: Option<String>,
    /// Which machine on sale it is, where the system tells without the network: `m5.large`, `Standard_DS3_v2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
}

/// What the run was aimed at.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Target {
    /// In words: `file data.bin on ext4, /dev/vda (virtio)`.
    pub description: String,
    /// What its owners call it, where they said so: the claim or the database that it is. The description begins with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called: Option<String>,
    /// `true` for a modelled disk: time is virtual.
    pub modelled: bool,
    /// Each file or device.
    pub files: Vec<TargetFile>,
}

/// One file or device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetFile {
    /// As opened.
    pub path: String,
    pub kind: TargetKind,
    pub size_bytes: u64,
    /// The file system it is on.
    pub filesystem: Option<String>,
    /// The device below it, as far as the system tells.
    pub device: Option<DeviceInfo>,
    /// Why there is no device, where there is none.
    pub device_missing: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A regular file.
    File,
    BlockDevice,
    CharacterDevice,
    /// Nothing: the null engine.
    Null,
    /// A modelled disk.
    Modelled,
    /// What a server has.
    Remote,
}

/// A block device, as `/sys` describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceInfo {
    /// Kernel name, as in `/sys/block`: `vda`, `nvme0n1`.
    pub name: String,
    /// Its number.
    pub id: DevId,
    /// Model, as the device says.
    pub model: Option<String>,
    /// Whether the kernel takes it for a spinning disk.
    pub rotational: Option<bool>,
    /// The I/O scheduler in use.
    pub scheduler: Option<String>,
    /// Requests that its queue holds.
    pub nr_requests: Option<u32>,
    /// Logical sector size: what direct I/O must be a multiple of.
    pub logical_block_bytes: Option<u32>,
    pub size_bytes: Option<u64>,
    /// The devices below it (striping, LVM, crypt), by kernel name.
    pub slaves: Vec<String>,
    /// Their numbers, in the same order; none in records from before these were kept.
    #[serde(default)]
    pub slave_ids: Vec<DevId>,
}

/// The name of the requirement that the machine had nothing else to do.
pub const QUIET_HOST: &str = "quiet_host";

/// Something that sound numbers need.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requirement {
    /// A fixed name: `optimised_build`, `quiet_host`, `direct_io`, `written_extents`, …
    pub name: String,
    /// Whether it was met; `None`: could not be told.
    pub met: Option<bool>,
    /// What was seen.
    pub detail: String,
}
