//! A modelled disk in words: `azure/P15`, `azure/2xP15,vm=Standard_DS3_v2,cache=none`.
//!
//! ```text
//! azure/[Nx]SKU[,KEY=VALUE]…
//! SKU         P1…P80, E1…E80, S4…S80, PremiumV2, Ultra; or with size= a family, rounded up to its next disk:
//!             premium, standard-ssd, standard-hdd
//! Nx          so many of them, striped
//! vm=NAME     the limits and the memory of this virtual machine; without: not part of the model
//! cache=      none, ro or rw: the host's cache (needs vm=)
//! cache_size= its size, where the catalogue does not know it
//! size=       the size, where it is less than the disk's; of PremiumV2 and Ultra: any (1t)
//! iops=       of PremiumV2 and Ultra
//! mbps=       of PremiumV2 and Ultra, in 10^6 bytes a second
//! burst=      full, empty (the credit at the start, of disk and virtual machine) or on-demand (from 1 TiB)
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

pub use disk::{FAMILY_NAMES, family};
pub use error::TargetError;

pub(crate) use words::CLOUD;

use crate::catalog::Catalog;
use crate::spec::Spec;

/// Understands a target in words.
///
/// # Errors
/// What is misspelt, or impossible by the catalogue's rules, with the nearest that works.
pub fn parse(text: &str, catalog: &Catalog) -> Result<Spec, TargetError> {
    let words = words::read(text)?;
    let spec = build::spec(text.trim(), &words, catalog)?;
    spec.validate()?;
    Ok(spec)
}

#[cfg(test)]
mod tests;
