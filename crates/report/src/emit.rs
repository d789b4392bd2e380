//! What creates a layout: commands and files of the tools that people have for it.
//!
//! Data in: a layout. Data out: the text of a script or file, or why that tool cannot. A file here for each cloud, and one for what
//! is the same on all. It must not know why the layout was chosen.

mod azure;
mod stripe;

use fathom_plan::layout::Layout;

/// A tool that creates layouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// The cloud's own command line.
    CommandLine,
    Terraform,
    /// Kubernetes, by the cloud's storage driver.
    StorageClass,
    /// Linux' striping of what is attached.
    Mdadm,
}

/// Why a tool cannot create a layout.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmitError {
    /// Nobody wrote it for that cloud.
    #[error(
        "nothing is known of how {0} is told to create disks: az, terraform and storageclass are for azure"
    )]
    Cloud(String),
    /// A volume of Kubernetes is one disk.
    #[error(
        "a StorageClass makes volumes of one disk, and this layout stripes {0}: plan with --raid0-max 1, or emit az or terraform"
    )]
    Striped(u32),
}

/// What creates `layout` by `tool`, in `region`.
///
/// # Errors
/// The tool cannot.
pub fn emit(layout: &Layout<'_>, tool: Tool, region: &str) -> Result<String, EmitError> {
    if layout.cloud != azure::CLOUD {
        return Err(EmitError::Cloud(layout.cloud.to_owned()));
    }
    match tool {
        Tool::CommandLine => Ok(azure::az(layout, region)),
        Tool::Terraform => Ok(azure::terraform(layout, region)),
        Tool::StorageClass if layout.count > 1 => Err(EmitError::Striped(layout.count)),
        Tool::StorageClass => Ok(azure::storage_class(layout)),
        Tool::Mdadm => Ok(stripe::mdadm(layout, azure::BY_LUN)),
    }
}

#[cfg(test)]
mod tests;
