//! Whose bytes the devices move while a command runs.
//!
//! Data in: what is said of a command, requests, its tasks. Data out: what each device moved for it, for others, and for
//! nobody knows whom. It must not know how a command is started.

use fathom_core::record::{BlockFlags, BlockOp, BlockRequest};
use fathom_core::run::{CommandDevice, Moved};
use fathom_observe::trace::{Tree, TreeSeen};
use std::sync::mpsc::SyncSender;

/// What is said of a command.
#[derive(Debug)]
pub(crate) enum Control {
    /// What task `maker` starts from `from_ns` on is one.
    Follow {
        maker: u32,
        from_ns: u64,
        /// Kernel names of the disks that are counted.
        disks: Vec<String>,
        /// Hears when it is followed.
        followed: SyncSender<()>,
    },
    /// It took so long.
    Ran { from_ns: u64, to_ns: u64 },
}

/// What was seen of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct CommandSeen {
    pub devices: Vec<CommandDevice>,
    /// `None`: who belongs to it was not seen.
    pub tree: Option<TreeSeen>,
    /// What is not known, a sentence each.
    pub missing: Vec<String>,
}

/// Counts the requests of some devices.
#[derive(Debug)]
pub(super) struct Followed {
    from_ns: u64,
    /// `u64::MAX` while it goes on.
    to_ns: u64,
    devices: Vec<CommandDevice>,
}

impl Followed {
    /// `numbers` says of the devices that are watched their names; those among `disks` are counted.
    pub(super) fn new(from_ns: u64, numbers: &[(u32, String)], disks: &[String]) -> Self {
        let counted = numbers.iter().filter(|(_, name)| disks.contains(name));
        let device = |(device, name): &(u32, String)| CommandDevice {
            name: name.clone(),
            device: *device,
            ..CommandDevice::default()
        };
        Self {
            from_ns,
            to_ns: u64::MAX,
            devices: counted.map(device).collect(),
        }
    }

    /// The command has ended; what it left behind may still come.
    pub(super) fn ended(&mut self, to_ns: u64) {
        self.to_ns = to_ns;
    }

    /// Takes requests in; without its tasks nothing can be said of any.
    pub(super) fn rows(&mut self, rows: &[BlockRequest], tree: Option<&Tree>) {
        if let Some(tree) = tree {
            for row in rows {
                self.row(row, tree);
            }
        }
    }

    fn row(&mut self, row: &BlockRequest, tree: &Tree) {
        let mut devices = self.devices.iter_mut();
        let Some(device) = devices.find(|device| device.device == row.device) else {
            return;
        };
        let begun_ns = row.begun_ns();
        if begun_ns < self.from_ns || row.flags.has(BlockFlags::UNFINISHED) || row.errno != 0 {
            return;
        }
        let after = begun_ns > self.to_ns;
        let by_kernel = row.owner_pid != 0 && tree.held(row.owner_pid, begun_ns);
        if by_kernel || tree.holds(row.pid, begun_ns) {
            add(&mut device.tree, row);
            if by_kernel {
                add(&mut device.tree_by_kernel, row);
            }
            if after {
                add(&mut device.tree_after, row);
            }
        } else if after {
            // Others' I/O matters while the command runs.
        } else if row.owner_pid == 0 && row.comm.is_kernel_worker() {
            add(&mut device.unattributed, row);
        } else {
            add(&mut device.others, row);
        }
    }

    /// What was seen, of all its tasks where they are known, after `lost` events of the devices that the kernel could not keep.
    pub(super) fn finish(self, tree: Option<TreeSeen>, lost: u64) -> CommandSeen {
        let mut missing = Vec::new();
        if lost > 0 {
            missing.push(format!(
                "{lost} events of the devices were lost: their requests are counted as nobody's"
            ));
        }
        missing.extend(tree.iter().flat_map(|tree| tree.remarks.iter().cloned()));
        CommandSeen {
            devices: if tree.is_some() { self.devices } else { Vec::new() },
            tree,
            missing,
        }
    }
}

fn add(moved: &mut Moved, row: &BlockRequest) {
    let (ios, bytes) = match row.op {
        BlockOp::Read => (&mut moved.read_ios, &mut moved.read_bytes),
        BlockOp::Write => (&mut moved.write_ios, &mut moved.write_bytes),
        BlockOp::Discard | BlockOp::Flush | BlockOp::Other => return,
    };
    *ios += 1;
    *bytes += u64::from(row.len_bytes);
}

#[cfg(test)]
mod tests;
