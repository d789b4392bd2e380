//! AWS: Terraform's provider, and its storage driver for Kubernetes.
//!
//! Names of types, arguments and parameters as the providers document them (`aws_ebs_volume`, `ebs.csi.aws.com`).

use super::kubernetes;
use fathom_plan::layout::{GIB, Layout};
use std::fmt::Write as _;

/// As targets begin.
pub(super) const CLOUD: &str = "aws";

/// Throughput is counted in MiB/s.
const MIB: u64 = 1 << 20;

/// Terraform's resources of the volumes, and of their attachment to an instance.
pub(super) fn terraform(layout: &Layout<'_>) -> String {
    let disk = &layout.disk;
    let mut more = String::new();
    if disk.iops > 0 {
        // Writing to a string cannot fail.
        let _ = writeln!(more, "  iops              = {}", disk.iops);
    }
    if disk.bytes_per_second > 0 {
        let _ = writeln!(
            more,
            "  throughput        = {}",
            disk.bytes_per_second.div_ceil(MIB)
        );
    }
    let machine = layout.machine.map_or_else(String::new, |vm| {
        format!("# The instance: instance_type = \"{}\".\n", vm.name)
    });
    format!(
        r#"# {target}
{machine}
variable "availability_zone" {{
  type = string
}}

variable "instance_id" {{
  type = string
}}

resource "aws_ebs_volume" "data" {{
  count             = {count}
  availability_zone = var.availability_zone
  type              = "{sku}"
  size              = {gib}
{more}}}

resource "aws_volume_attachment" "data" {{
  count       = {count}
  device_name = "/dev/xvdb${{substr("abcdefghijklmnopqrstuvwxyz", count.index % 26, 1)}}"
  volume_id   = aws_ebs_volume.data[count.index].id
  instance_id = var.instance_id
}}
"#,
        target = layout.target(),
        count = layout.count,
        sku = disk.sku(),
        gib = disk.size_bytes.div_ceil(GIB),
    )
}

/// Volumes that can be attached under the names that are written above.
pub(super) const ATTACHED_MAX: u32 = 26;

/// A `StorageClass` and a claim of the size.
pub(super) fn storage_class(layout: &Layout<'_>) -> String {
    let disk = &layout.disk;
    let mut parameters = vec![("type", disk.sku().to_owned())];
    if disk.iops > 0 {
        parameters.push(("iops", disk.iops.to_string()));
    }
    if disk.bytes_per_second > 0 {
        parameters.push(("throughput", disk.bytes_per_second.div_ceil(MIB).to_string()));
    }
    kubernetes::storage_class(layout, "ebs.csi.aws.com", &parameters)
}
