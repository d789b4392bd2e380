//! Striping by Linux, on any cloud.

use fathom_plan::layout::Layout;

/// The device that the stripe becomes.
const DEVICE: &str = "/dev/md/data";

/// `mdadm --create` with the layout's chunk; `by_lun` is what attached disks are called, but for their numbers.
pub(super) fn mdadm(layout: &Layout<'_>, by_lun: &str) -> String {
    if layout.count == 1 {
        return format!(
            "# {}: one disk, nothing to stripe. It is {by_lun}0.\n",
            layout.target()
        );
    }
    let disks: Vec<String> = (0..layout.count)
        .map(|number| format!("  {by_lun}{number}"))
        .collect();
    format!(
        "# {}\n# All that is on these disks is lost.\nmdadm --create {DEVICE} --level=0 --raid-devices={} --chunk={}K \\\n{}\n",
        layout.target(),
        layout.count,
        layout.chunk_bytes >> 10,
        disks.join(" \\\n")
    )
}

/// The same where disks are called by ids that are known only when they are there.
pub(super) fn mdadm_of_ids(layout: &Layout<'_>) -> String {
    let target = layout.target();
    if layout.count == 1 {
        return format!("# {target}: one disk, nothing to stripe.\n");
    }
    format!(
        "# {target}\n# All that is on these disks is lost.\n: \"${{DISKS:?set DISKS to the {count} volumes, as \
         /dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_vol...}}\"\n# shellcheck disable=SC2086\nmdadm --create {DEVICE} --level=0 \
         --raid-devices={count} --chunk={}K $DISKS\n",
        layout.chunk_bytes >> 10,
        count = layout.count,
    )
}
