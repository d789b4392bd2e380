//! A modelled disk in words: `azure/P15`, `azure/2xP15,vm=Standard_DS3_v2,cache=none`, `aws/gp3:500GiB,iops=6000`.
//!
//! ```text
//! CLOUD/[Nx]DISK[:SIZE][,KEY=VALUE]…
//! CLOUD       azure, aws, gcp, or that of a catalogue of one's own
//! DISK        a product of its catalogue (P15, gp3, pd-ssd); or with a size a family, rounded up to its next disk
//! Nx          so many of them, striped
//! :SIZE       the same as size=
//! vm=NAME     the limits and the memory of this virtual machine; without: not part of the model
//! cache=      none, ro or rw: the host's cache (needs vm=)
//! cache_size= its size, where the catalogue does not know it
//! size=       the size, where it is less than the disk's; of freely sized disks: any (1t)
//! iops=       of freely sized disks, where it is chosen
//! mbps=       the same, in 10^6 bytes a second; mibps= in 2^20
//! burst=      full, empty (the credit at the start, of disk and virtual machine) or on-demand
//! service=    the year whose measurements of the family's times are meant (the newest)
//! redundancy= lrs or zrs; zone= with zrs, the machine's zone among those measured (their mean)
//! chunk=      the stripe's chunk (512k)
//! ram=        the guest's memory (the virtual machine's, or 28g)
//! seed=       of all chance (1)
//! ```
//!
//! Data in: the words behind `model:`, the catalogue. Data out: a [`Spec`], or why there is no such thing and what
//! is nearest to it. It must not know how a spec is carried out.

mod build;
mod disk;
mod error;
mod host;
mod words;

pub use error::TargetError;

use crate::catalog::Catalog;
use crate::spec::Spec;

/// Understands a target in words. A cloud other than `catalog`'s is looked for among those that are embedded.
///
/// # Errors
/// What is misspelt, or impossible by the catalogue's rules, with the nearest that works.
pub fn parse(text: &str, catalog: &Catalog) -> Result<Spec, TargetError> {
    let words = words::read(text)?;
    let catalog = catalog
        .of_cloud(&words.cloud)
        .ok_or_else(|| TargetError::cloud(&words.cloud))?;
    let spec = build::spec(text.trim(), &words, catalog)?;
    spec.validate()?;
    Ok(spec)
}

#[cfg(test)]
mod tests;
