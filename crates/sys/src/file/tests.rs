//! Extents, residency and the refusal of device calls on files.

use super::*;
use crate::testing::{open, scratch, skipped};
use fathom_core::rng::Rng;
use rustix::fs::{Advice, FallocateFlags, fadvise, fallocate};
use std::num::NonZeroU64;
use std::os::unix::fs::FileExt;

#[test]
fn fiemap_tells_allocated_from_written() {
    const MIB: u64 = 1 << 20;
    let file = tempfile::tempfile().expect("a scratch file");
    fallocate(&file, FallocateFlags::empty(), 0, 4 * MIB).expect("fallocate");
    let extents = match fiemap(&file, 0, u64::MAX, 1000) {
        Ok(extents) => extents,
        Err(error) => {
            return skipped(
                "fiemap_tells",
                format!("FIEMAP on the file system of /tmp ({error})"),
            );
        }
    };
    let length: u64 = extents.iter().map(|extent| extent.length_bytes).sum();
    assert!(
        length >= 4 * MIB && extents.iter().all(Extent::is_unwritten),
        "{extents:?}"
    );
    assert!(extents.last().expect("an extent").is_last());

    file.write_all_at(&vec![7; MIB as usize], MIB).expect("write");
    file.sync_all().expect("sync");
    let written: u64 = fiemap(&file, MIB, MIB, 1000)
        .expect("fiemap")
        .iter()
        .filter(|extent| !extent.is_unwritten() && !extent.is_delalloc())
        .map(|extent| {
            let end = (extent.logical_bytes + extent.length_bytes).min(2 * MIB);
            end - extent.logical_bytes.max(MIB)
        })
        .sum();
    assert_eq!(written, MIB);
    assert!(
        fiemap(&file, 2 * MIB, 2 * MIB, 1000)
            .expect("fiemap")
            .iter()
            .all(Extent::is_unwritten)
    );
}

#[test]
fn fiemap_gives_all_extents_or_as_many_as_asked() {
    // Every other block: more extents than one call holds.
    let file = tempfile::tempfile().expect("a scratch file");
    for block in 0..300 {
        file.write_all_at(&[1; 4096], block * 8192).expect("write");
    }
    file.sync_all().expect("sync");
    let extents = match fiemap(&file, 0, u64::MAX, usize::MAX) {
        Ok(extents) => extents,
        Err(error) => {
            return skipped(
                "fiemap_gives_all",
                format!("FIEMAP on the file system of /tmp ({error})"),
            );
        }
    };
    let mut covered = 0;
    for pair in extents.windows(2) {
        assert!(
            pair[0].logical_bytes + pair[0].length_bytes <= pair[1].logical_bytes,
            "{pair:?}"
        );
    }
    for extent in &extents {
        covered += extent.length_bytes;
    }
    assert_eq!(covered, 300 * 4096);
    assert_eq!(fiemap(&file, 0, u64::MAX, 100).expect("fiemap"), extents[..100]);
    assert_eq!(fiemap(&file, 0, u64::MAX, 0).expect("fiemap"), []);
}

#[test]
fn residency_follows_the_page_cache() {
    const LEN: u64 = 1 << 20;
    let (scratch, _) = scratch(&mut Rng::new(3), LEN as usize);
    let file = open(&scratch, false).expect("open");
    let resident = |offset, len| page_cache_resident(&file, offset, len).expect("cachestat or mincore");
    assert_eq!(
        (resident(0, LEN), resident(4096, 4096), resident(0, 0)),
        (LEN, 4096, 0)
    );
    assert_eq!(cache::by_mincore(&file, 0, LEN).expect("mincore"), LEN);
    assert_eq!(
        cache::by_mincore(&file, 5000, 4096).expect("mincore"),
        8192,
        "whole pages"
    );

    fadvise(&file, 0, NonZeroU64::new(LEN), Advice::DontNeed).expect("fadvise");
    if resident(0, LEN) == LEN {
        return skipped(
            "residency_follows",
            "a file system that drops pages (tmpfs cannot)",
        );
    }
    assert_eq!(resident(0, LEN), 0);
    assert_eq!(cache::by_mincore(&file, 0, LEN).expect("mincore"), 0);
}

#[test]
fn device_calls_refuse_a_file() {
    let file = tempfile::tempfile().expect("a scratch file");
    let refused = |error: io::Error| error.raw_os_error() == Some(libc::ENOTTY);
    assert!(block_device_size(&file).is_err_and(refused));
    assert!(logical_block_size(&file).is_err_and(refused));
    assert!(blk_flush_buffers(&file).is_err_and(refused));
    assert!(blk_discard(&file, 0, 4096).is_err_and(refused));
}

#[test]
fn device_facts_agree_with_sysfs() {
    // Reading only: no device is changed.
    let Some((name, device)) = any_block_device() else {
        return skipped("device_facts_agree", "a block device that may be opened");
    };
    let attribute = |path: &str| -> u64 {
        let path = format!("/sys/class/block/{name}/{path}");
        std::fs::read_to_string(path)
            .expect("sysfs")
            .trim()
            .parse()
            .expect("a number")
    };
    assert_eq!(block_device_size(&device).expect("size"), attribute("size") * 512);
    assert_eq!(
        u64::from(logical_block_size(&device).expect("ssz")),
        attribute("queue/logical_block_size")
    );
}

fn any_block_device() -> Option<(String, File)> {
    std::fs::read_dir("/sys/block").ok()?.flatten().find_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let device = File::open(format!("/dev/{name}")).ok()?;
        Some((name, device))
    })
}
