//! Azure: its command line, Terraform's provider, its storage driver for Kubernetes.
//!
//! Names of SKUs, parameters and modes as the provider documents them (`az disk create`, `azurerm_managed_disk`,
//! `disk.csi.azure.com`).

use super::kubernetes;
use crate::words::shell_word;
use fathom_plan::Family;
use fathom_plan::layout::{Cache, GIB, Layout, MB};
use std::fmt::Write as _;

/// As targets begin.
pub(super) const CLOUD: &str = "azure";
/// Data disks in the guest, by SCSI and by `NVMe` alike, where Azure's udev rules (azure-vm-utils) are installed.
pub(super) const BY_LUN: &str = "/dev/disk/azure/data/by-lun/";

/// Of a family of the catalogue, as the catalogue's targets write it.
fn sku(family: Family) -> &'static str {
    match family.key() {
        "premium" => "Premium_LRS",
        "standard-ssd" => "StandardSSD_LRS",
        "standard-hdd" => "Standard_LRS",
        "premium-v2" => "PremiumV2_LRS",
        _ => "UltraSSD_LRS",
    }
}

const fn caching(cache: Cache) -> &'static str {
    match cache {
        Cache::None => "None",
        Cache::ReadOnly => "ReadOnly",
        Cache::ReadWrite => "ReadWrite",
    }
}

/// Whether disks of this family are made in one zone only.
fn is_zonal(family: Family) -> bool {
    matches!(family.key(), "premium-v2" | "ultra")
}

/// Of one disk.
struct Disk {
    sku: &'static str,
    gib: u64,
    /// IOPS and MB/s, where they are chosen.
    chosen: Option<(u64, u64)>,
    zonal: bool,
    on_demand: bool,
    ultra: bool,
}

fn disk(layout: &Layout<'_>) -> Disk {
    let disk = &layout.disk;
    let family = disk.family();
    Disk {
        sku: sku(family),
        gib: disk.size_bytes.div_ceil(GIB),
        chosen: disk
            .is_chosen()
            .then(|| (disk.iops, disk.bytes_per_second.div_ceil(MB))),
        zonal: is_zonal(family),
        on_demand: disk.on_demand,
        ultra: family.key() == "ultra",
    }
}

/// A script of `az` that makes the disks and a machine with them.
pub(super) fn az(layout: &Layout<'_>, region: &str) -> String {
    let disk = disk(layout);
    let region = &shell_word(region);
    let mut create =
        format!("az disk create --resource-group \"$GROUP\" --name \"data-$lun\" --location {region}");
    if disk.zonal {
        create.push_str(" --zone \"$ZONE\"");
    }
    // Writing to a string cannot fail.
    let _ = write!(create, " \\\n    --sku {} --size-gb {}", disk.sku, disk.gib);
    if let Some((iops, mbps)) = disk.chosen {
        let _ = write!(
            create,
            " --disk-iops-read-write {iops} --disk-mbps-read-write {mbps}"
        );
    }
    if disk.on_demand {
        create.push_str(" --enable-bursting true");
    }
    let machine = layout.machine.map_or_else(String::new, |vm| {
        let zone = if disk.zonal { " --zone \"$ZONE\"" } else { "" };
        let ultra = if disk.ultra { " --ultra-ssd-enabled true" } else { "" };
        format!(
            "az vm create --resource-group \"$GROUP\" --name \"$MACHINE\" --location {region}{zone} \\\n  --size {} --image \"$IMAGE\" \
             --generate-ssh-keys{ultra}\n",
            shell_word(&vm.name)
        )
    });
    let variables = ["GROUP", "MACHINE", "IMAGE", "ZONE"];
    let wanted = variables.iter().filter(|name| match **name {
        "IMAGE" => layout.machine.is_some(),
        "ZONE" => disk.zonal,
        _ => true,
    });
    let asked: Vec<String> = wanted
        .map(|name| format!(": \"${{{name}:?set {name}}}\"\n"))
        .collect();
    let asked = asked.concat();
    format!(
        "#!/usr/bin/env bash\n# {}\nset -euo pipefail\n{asked}{machine}for lun in $(seq 0 {}); do\n  {create}\n  az vm disk attach \
         --resource-group \"$GROUP\" --vm-name \"$MACHINE\" --name \"data-$lun\" --lun \"$lun\" \\\n    --caching {}\ndone\n",
        layout.target(),
        layout.count - 1,
        caching(layout.cache)
    )
}

/// Terraform's resources of the disks, and of their attachment to a machine.
pub(super) fn terraform(layout: &Layout<'_>, region: &str) -> String {
    let disk = disk(layout);
    let mut more = String::new();
    if let Some((iops, mbps)) = disk.chosen {
        let _ = write!(
            more,
            "  disk_iops_read_write = {iops}\n  disk_mbps_read_write = {mbps}\n"
        );
    }
    if disk.zonal {
        more.push_str("  zone                 = var.zone\n");
    }
    if disk.on_demand {
        more.push_str("  on_demand_bursting_enabled = true\n");
    }
    let zone = if disk.zonal {
        "\nvariable \"zone\" {\n  type = string\n}\n"
    } else {
        ""
    };
    let machine = layout.machine.map_or_else(String::new, |vm| {
        let ultra = if disk.ultra {
            ", with additional_capabilities { ultra_ssd_enabled = true }"
        } else {
            ""
        };
        format!("# The machine: size = \"{}\"{ultra}.\n", vm.name)
    });
    format!(
        r#"# {target}
{machine}
variable "resource_group_name" {{
  type = string
}}

variable "virtual_machine_id" {{
  type = string
}}
{zone}
resource "azurerm_managed_disk" "data" {{
  count                = {count}
  name                 = "data-${{count.index}}"
  location             = "{region}"
  resource_group_name  = var.resource_group_name
  create_option        = "Empty"
  storage_account_type = "{sku}"
  disk_size_gb         = {gib}
{more}}}

resource "azurerm_virtual_machine_data_disk_attachment" "data" {{
  count              = {count}
  managed_disk_id    = azurerm_managed_disk.data[count.index].id
  virtual_machine_id = var.virtual_machine_id
  lun                = count.index
  caching            = "{caching}"
}}
"#,
        target = layout.target(),
        count = layout.count,
        sku = disk.sku,
        gib = disk.gib,
        caching = caching(layout.cache),
    )
}

/// A `StorageClass` and a claim of the size.
pub(super) fn storage_class(layout: &Layout<'_>) -> String {
    let disk = disk(layout);
    let mut parameters = vec![
        ("skuName", disk.sku.to_owned()),
        ("cachingMode", caching(layout.cache).to_owned()),
    ];
    if let Some((iops, mbps)) = disk.chosen {
        parameters.push(("DiskIOPSReadWrite", iops.to_string()));
        parameters.push(("DiskMBpsReadWrite", mbps.to_string()));
    }
    if disk.on_demand {
        parameters.push(("enableBursting", String::from("true")));
    }
    kubernetes::storage_class(layout, "disk.csi.azure.com", &parameters)
}
