//! Google Cloud: Terraform's provider, and its storage driver for Kubernetes.
//!
//! Names of types, arguments and parameters as the providers document them (`google_compute_disk`, `pd.csi.storage.gke.io`).

use super::kubernetes;
use fathom_plan::layout::{GIB, Layout};
use std::fmt::Write as _;

/// As targets begin.
pub(super) const CLOUD: &str = "gcp";
/// Disks in the guest, by the name that they are attached under.
pub(super) const BY_NAME: &str = "/dev/disk/by-id/google-data-";

/// Throughput is counted in MiB/s.
const MIB: u64 = 1 << 20;

/// Whether a disk of this product is kept in two zones: another resource, with other arguments.
pub(super) fn is_regional(layout: &Layout<'_>) -> bool {
    layout.disk.sku().ends_with("high-availability")
}

/// Terraform's resources of the disks, and of their attachment to an instance.
pub(super) fn terraform(layout: &Layout<'_>) -> String {
    let disk = &layout.disk;
    let mut more = String::new();
    if disk.iops > 0 {
        // Writing to a string cannot fail.
        let _ = writeln!(more, "  provisioned_iops       = {}", disk.iops);
    }
    if disk.bytes_per_second > 0 {
        let _ = writeln!(
            more,
            "  provisioned_throughput = {}",
            disk.bytes_per_second.div_ceil(MIB)
        );
    }
    let machine = layout.machine.map_or_else(String::new, |vm| {
        format!("# The instance: machine_type = \"{}\".\n", vm.name)
    });
    format!(
        r#"# {target}
{machine}
variable "zone" {{
  type = string
}}

variable "instance" {{
  type = string
}}

resource "google_compute_disk" "data" {{
  count = {count}
  name  = "data-${{count.index}}"
  type  = "{sku}"
  zone  = var.zone
  size  = {gib}
{more}}}

resource "google_compute_attached_disk" "data" {{
  count       = {count}
  disk        = google_compute_disk.data[count.index].id
  instance    = var.instance
  device_name = "data-${{count.index}}"
}}
"#,
        target = layout.target(),
        count = layout.count,
        sku = disk.sku(),
        gib = disk.size_bytes.div_ceil(GIB),
    )
}

/// A `StorageClass` and a claim of the size.
pub(super) fn storage_class(layout: &Layout<'_>) -> String {
    let disk = &layout.disk;
    let mut parameters = vec![("type", disk.sku().to_owned())];
    if disk.iops > 0 {
        parameters.push(("provisioned-iops-on-create", disk.iops.to_string()));
    }
    if disk.bytes_per_second > 0 {
        let rate = format!("{}Mi", disk.bytes_per_second.div_ceil(MIB));
        parameters.push(("provisioned-throughput-on-create", rate));
    }
    kubernetes::storage_class(layout, "pd.csi.storage.gke.io", &parameters)
}
