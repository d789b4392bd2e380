//! The image as a reader of the specification would take it.

use super::super::{MACHINES, Release};
use super::*;
use flate2::read::GzDecoder;
use std::collections::BTreeMap;
use std::io::Read as _;

fn release() -> Release {
    Release {
        version: String::from("1.2.3"),
        epoch: 1_700_000_000,
    }
}

fn binaries() -> Vec<Binary<'static>> {
    MACHINES
        .iter()
        .map(|machine| Binary {
            machine,
            bytes: machine.arch.repeat(1000).into_bytes(),
        })
        .collect()
}

fn files(archive: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut archive = tar::Archive::new(archive);
    let mut files = BTreeMap::new();
    for entry in archive.entries().expect("an archive") {
        let mut entry = entry.expect("an entry");
        assert_eq!(entry.header().mtime().expect("a time"), 1_700_000_000);
        let name = entry.path().expect("a name").display().to_string();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).expect("its bytes");
        files.insert(name, bytes);
    }
    files
}

/// The blob that a descriptor names, of the size and the digest that it says.
fn blob<'f>(files: &'f BTreeMap<String, Vec<u8>>, descriptor: &Value) -> &'f [u8] {
    let digest = descriptor["digest"].as_str().expect("a digest");
    let digest = digest.strip_prefix("sha256:").expect("of SHA-256");
    let bytes = &files[&format!("blobs/sha256/{digest}")];
    assert_eq!(sha256(bytes), digest);
    assert_eq!(descriptor["size"], bytes.len());
    bytes
}

fn parsed(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).expect("JSON")
}

#[test]
fn every_digest_from_the_index_down_to_the_program_is_right() {
    let binaries = binaries();
    let files = files(&archive(&release(), &binaries).expect("an image"));
    assert_eq!(parsed(&files["oci-layout"])["imageLayoutVersion"], "1.0.0");
    let top = parsed(&files["index.json"]);
    let images = top["manifests"].as_array().expect("manifests");
    assert_eq!(images.len(), 1, "podman takes no more");
    let index = parsed(blob(&files, &images[0]));
    let manifests = index["manifests"].as_array().expect("manifests");
    assert_eq!(manifests.len(), binaries.len());
    for (descriptor, binary) in manifests.iter().zip(&binaries) {
        assert_eq!(descriptor["platform"]["architecture"], binary.machine.short);
        let manifest = parsed(blob(&files, descriptor));
        let config = parsed(blob(&files, &manifest["config"]));
        assert_eq!(config["architecture"], binary.machine.short);
        assert_eq!(config["created"], "2023-11-14T22:13:20Z");
        let mut layer = Vec::new();
        GzDecoder::new(blob(&files, &manifest["layers"][0]))
            .read_to_end(&mut layer)
            .expect("gzip");
        assert_eq!(
            config["rootfs"]["diff_ids"][0],
            format!("sha256:{}", sha256(&layer))
        );
        let inside = self::files(&layer);
        assert_eq!(inside.len(), 1);
        assert_eq!(inside["fathom"], binary.bytes);
    }
}

#[test]
fn older_dockers_find_the_same_blobs() {
    let files = files(&archive(&release(), &binaries()).expect("an image"));
    let images = parsed(&files["manifest.json"]);
    let tags: Vec<&Value> = (0..2).map(|image| &images[image]["RepoTags"][0]).collect();
    assert_eq!(tags, ["fathom:1.2.3-amd64", "fathom:1.2.3-arm64"]);
    for image in images.as_array().expect("images") {
        for name in [&image["Config"], &image["Layers"][0]] {
            assert!(files.contains_key(name.as_str().expect("a name")), "{name}");
        }
    }
}

#[test]
fn the_same_programs_make_the_same_image() {
    let make = || archive(&release(), &binaries()).expect("an image");
    assert!(make() == make());
}

#[test]
fn an_image_that_is_too_large_is_none() {
    let of = |bytes: u64| fetched("amd64", &[&json!({"size": 1000}), &json!({"size": bytes})]);
    assert_eq!(of(29_999_000).expect("it fits"), 30_000_000);
    let error = of(29_999_001).expect_err("too large").to_string();
    assert!(error.contains("amd64") && error.contains("30000001"), "{error}");
}
