//! The way back: a profile as diskspd prints it, in its XML and in the text that heads its results.
//!
//! Data in: a profile. Data out: text. XML that is read again gives a profile that prints the same. It must not know how
//! the profile was written.

mod text;
mod xml;

pub use text::profile_as_text;
pub(super) use text::{aligned_size, size};
pub use xml::profile_as_xml;
