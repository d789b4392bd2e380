//! From a target's parts to a specification, by the catalogue.
//!
//! Data in: parts, the catalogue. Data out: the whole of a [`Spec`]. It must not know how the parts were written.

use super::disk::{self, Chosen};
use super::error::TargetError;
use super::host;
use super::words::Words;
use crate::catalog::Catalog;
use crate::defaults;
use crate::spec::{DiskSpec, Limit, Spec};

/// The specification of `words`, to be called `name`.
pub(super) fn spec(name: &str, words: &Words, catalog: &Catalog) -> Result<Spec, TargetError> {
    let chosen = disk::choose(words, catalog)?;
    let vm = host::find(words, catalog)?;
    if let Some(vm) = vm {
        host::takes(vm, &chosen, words.count, catalog)?;
    }
    let limits = disk::limits(&chosen, vm, words.burst)?;
    let host_cache = host::cache(words, vm, &chosen, catalog)?;
    let ram_bytes = words
        .ram_bytes
        .or_else(|| vm.and_then(|vm| vm.memory_bytes))
        .unwrap_or(defaults::RAM_BYTES);
    let Chosen {
        family,
        io_unit_bytes,
        ..
    } = chosen;
    let one = DiskSpec {
        name: chosen.name,
        size_bytes: chosen.size_bytes,
        io_unit_bytes,
        limits,
        write_bytes_per_second: Limit::Off,
        read: defaults::read_service(family),
        write: defaults::write_service(family),
        seek: defaults::seek(family),
        crowding: defaults::crowding(family),
        outages: Vec::new(),
    };
    Ok(Spec {
        name: name.to_owned(),
        seed: words.seed.unwrap_or(defaults::SEED),
        disks: vec![one; words.count],
        stripe_chunk_bytes: words.chunk_bytes.unwrap_or(defaults::CHUNK_BYTES),
        slices: defaults::slices(),
        vm: vm.map(|vm| host::spec(vm, words.burst)),
        host_cache,
        guest: defaults::guest(ram_bytes),
    })
}
