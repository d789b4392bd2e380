//! Which machine on sale this is, by what lies on it: no network is asked.
//!
//! Data in: firmware tables, what cloud-init kept of the machine's metadata. Data out: the provider's name of the size. Nothing
//! is guessed from the number of processors.

use crate::root::SystemRoot;
use serde_json::Value;

/// Where cloud-init keeps what it learned at boot, without secrets, for everybody to read (cloud-init's documentation,
/// "Instance metadata").
const INSTANCE_DATA: &str = "/run/cloud-init/instance-data.json";
/// Where the size stands in it: Azure's metadata service, Amazon's in two forms, Google's.
const SIZES: [&str; 4] = [
    "/ds/meta_data/imds/compute/vmSize",
    "/ds/meta_data/instance-type",
    "/ds/dynamic/instance-identity/document/instanceType",
    "/ds/meta_data/machine-type",
];

pub(super) fn machine(root: &SystemRoot) -> Option<String> {
    // Amazon's Nitro machines have it in their firmware tables.
    if root.text("/sys/class/dmi/id/sys_vendor").as_deref() == Some("Amazon EC2") {
        return root.text("/sys/class/dmi/id/product_name");
    }
    let text = root.text(INSTANCE_DATA)?;
    let data: Value = serde_json::from_str(&text).ok()?;
    let size = SIZES.iter().find_map(|place| data.pointer(place)?.as_str())?;
    // Google's is a path: `projects/1/machineTypes/n2-standard-4`.
    let name = size.rsplit('/').next().unwrap_or(size);
    (!name.is_empty() && name.len() <= 64).then(|| name.to_owned())
}

#[cfg(test)]
mod tests;
