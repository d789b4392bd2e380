//! An image of the program alone, for both kinds of machine: an OCI image layout (image-spec v1.1, image-layout.md) in a tar
//! archive. `manifest.json` beside it is for `docker load` before Docker 25, which knows no such layout.

use super::archive::{Entry, gzip, sha256, tar};
use super::{Binary, Release};
use anyhow::{Result, ensure};
use serde_json::{Value, json};

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// What is fetched of an image for one machine, at most.
const IMAGE_BYTES_MAX: u64 = 30_000_000;

pub(super) fn archive(release: &Release, binaries: &[Binary<'_>]) -> Result<Vec<u8>> {
    let mut layout = Layout::default();
    let mut manifests = Vec::new();
    let mut for_docker = Vec::new();
    for binary in binaries {
        let machine = binary.machine;
        let layer = tar(&[Entry::program("fathom", binary.bytes.clone())], release.epoch)?;
        let config = config(release, machine.short, &sha256(&layer))?;
        let config = layout.add(CONFIG, serde_json::to_vec(&config)?);
        let layer = layout.add(LAYER, gzip(&layer)?);
        for_docker.push(json!({
            "Config": place(&config),
            "RepoTags": [format!("fathom:{}-{}", release.version, machine.short)],
            "Layers": [place(&layer)],
        }));
        let image_bytes = fetched(machine.short, &[&config, &layer])?;
        println!("{image_bytes:>12} bytes  of the image for {}", machine.short);
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": config,
            "layers": [layer],
        });
        let mut manifest = layout.add(MANIFEST, serde_json::to_vec(&manifest)?);
        manifest["platform"] = json!({"architecture": machine.short, "os": "linux"});
        manifests.push(manifest);
    }
    // One entry that is an index of its own: with two, podman would ask which one is meant.
    let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": manifests});
    let mut index = layout.add(INDEX, serde_json::to_vec(&index)?);
    index["annotations"] = json!({
        "io.containerd.image.name": format!("docker.io/library/fathom:{}", release.version),
        "org.opencontainers.image.ref.name": release.version,
    });
    let top = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": [index]});
    let mut files = layout.files;
    for (name, value) in [
        ("index.json", top),
        ("manifest.json", Value::Array(for_docker)),
        ("oci-layout", json!({"imageLayoutVersion": "1.0.0"})),
    ] {
        files.push(Entry::file(name, serde_json::to_vec(&value)?));
    }
    tar(&files, release.epoch)
}

/// What an image's blobs have together, which is not too much.
fn fetched(machine: &str, descriptors: &[&Value]) -> Result<u64> {
    let sizes = descriptors
        .iter()
        .filter_map(|descriptor| descriptor["size"].as_u64());
    let bytes = sizes.sum();
    ensure!(
        bytes <= IMAGE_BYTES_MAX,
        "the image for {machine} has {bytes} bytes, {IMAGE_BYTES_MAX} are the most: look what made the program larger (nm --size-sort)"
    );
    Ok(bytes)
}

fn config(release: &Release, architecture: &str, layer: &str) -> Result<Value> {
    let created = jiff::Timestamp::from_second(i64::try_from(release.epoch)?)?.to_string();
    Ok(json!({
        "architecture": architecture,
        "os": "linux",
        "created": created,
        "config": {
            "Entrypoint": ["/fathom"],
            "WorkingDir": "/data",
            "Labels": {
                "org.opencontainers.image.title": "fathom",
                "org.opencontainers.image.version": release.version,
                "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [format!("sha256:{layer}")]},
        "history": [{"created": created, "created_by": "cargo xtask dist"}],
    }))
}

/// Blobs under their digests.
#[derive(Default)]
struct Layout {
    files: Vec<Entry>,
}

impl Layout {
    /// Keeps a blob; its descriptor.
    fn add(&mut self, kind: &str, bytes: Vec<u8>) -> Value {
        let digest = sha256(&bytes);
        let descriptor = json!({
            "mediaType": kind,
            "digest": format!("sha256:{digest}"),
            "size": bytes.len(),
        });
        self.files
            .push(Entry::file(&format!("blobs/sha256/{digest}"), bytes));
        descriptor
    }
}

/// Where the blob of a descriptor is.
fn place(descriptor: &Value) -> String {
    let digest = descriptor["digest"].as_str().unwrap_or_default();
    format!("blobs/{}", digest.replace(':', "/"))
}

#[cfg(test)]
mod tests;
