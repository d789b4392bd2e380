//! Kubernetes: a class of storage and a claim of it, by any cloud's driver.

use fathom_plan::layout::{GIB, Layout};

/// A `StorageClass` of `provisioner` with these parameters, all of them texts as Kubernetes wants them, and a claim of the size.
pub(super) fn storage_class(layout: &Layout<'_>, provisioner: &str, parameters: &[(&str, String)]) -> String {
    let name = layout.disk.sku().to_ascii_lowercase();
    let parameters: Vec<String> = parameters
        .iter()
        .map(|(key, value)| {
            // A number or a truth would not be a text.
            let bare = value.parse::<f64>().is_err() && value != "true" && value != "false";
            let quote = if bare { "" } else { "\"" };
            format!("  {key}: {quote}{value}{quote}\n")
        })
        .collect();
    format!(
        "# {}\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata:\n  name: {name}\nprovisioner: {provisioner}\n\
         parameters:\n{}reclaimPolicy: Delete\nallowVolumeExpansion: true\nvolumeBindingMode: WaitForFirstConsumer\n---\n\
         apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata:\n  name: data\nspec:\n  storageClassName: {name}\n  accessModes:\n    - \
         ReadWriteOnce\n  resources:\n    requests:\n      storage: {}Gi\n",
        layout.target(),
        parameters.concat(),
        layout.disk.size_bytes.div_ceil(GIB)
    )
}
