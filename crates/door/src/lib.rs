//! The one door: whatever creates, opens for writing, truncates, renames onto or removes goes through here.
//!
//! Duty: touch exactly what was permitted, and nothing that took its place. It knows six kinds of things that are
//! written:
//!
//! - [`target`]s, what a load writes to: permitted by identity, and what was opened is compared with what was
//!   permitted before anyone gets to write through it;
//! - empty directories that a load makes and removes, if fathom made them ([`directory`]);
//! - [`backing`]s, what a served disk keeps its data in: memory, or a file that was made for it;
//! - [`socket`]s among files, where a server listens: new ones, or in place of one that a killed fathom left;
//! - [`output`]s, what a command leaves for its user: new regular files, under their name only when they are whole;
//! - fathom's [`own`]: run and sweep directories and what is in them, and the kernel's switches for tracing.
//!
//! It must not know loads, records or reports, and it does not decide who may write where: `fathom-observe` judges a
//! target, commands name their outputs. `cargo xtask tidy` fails where anything else writes.
#![forbid(unsafe_code)]

pub mod backing;
pub mod directory;
pub mod identity;
pub mod mark;
pub mod output;
pub mod own;
pub mod socket;
pub mod target;

pub use identity::Identity;
pub use mark::Mark;
pub use output::{Output, OutputError};
pub use target::{Permit, Permits, Refused, Writer};
