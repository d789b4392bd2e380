//! What creates a layout: commands and files of the tools that people have for it.
//!
//! Data in: a layout. Data out: the text of a script or file, or why that tool cannot. A file here for each cloud, and one for what
//! is the same on all. It must not know why the layout was chosen.

mod aws;
mod azure;
mod gcp;
mod kubernetes;
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
    #[error("nothing is known of how {0} is told to create disks, but of azure, aws and gcp")]
    Cloud(String),
    /// The command line of another cloud.
    #[error(
        "az is the command line of Azure, and this layout is of {0}: emit terraform, storageclass or mdadm"
    )]
    CommandLine(String),
    /// A product that is created otherwise.
    #[error("{0} is kept in two zones, which takes another resource: only its StorageClass is written here")]
    Regional(String),
    /// More volumes than there are names for.
    #[error(
        "names to attach volumes under are written for {most} at most, and this layout has {count}: plan with --raid0-max {most}"
    )]
    Attached {
        /// Volumes of the layout.
        count: u32,
        /// Names.
        most: u32,
    },
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
    if tool == Tool::StorageClass && layout.count > 1 {
        return Err(EmitError::Striped(layout.count));
    }
    let cloud = layout.cloud;
    match (cloud, tool) {
        (azure::CLOUD, Tool::CommandLine) => Ok(azure::az(layout, region)),
        (azure::CLOUD, Tool::Terraform) => Ok(azure::terraform(layout, region)),
        (azure::CLOUD, Tool::StorageClass) => Ok(azure::storage_class(layout)),
        (azure::CLOUD, Tool::Mdadm) => Ok(stripe::mdadm(layout, azure::BY_LUN)),
        (aws::CLOUD, Tool::Terraform) if layout.count > aws::ATTACHED_MAX => Err(EmitError::Attached {
            count: layout.count,
            most: aws::ATTACHED_MAX,
        }),
        (aws::CLOUD, Tool::Terraform) => Ok(aws::terraform(layout)),
        (aws::CLOUD, Tool::StorageClass) => Ok(aws::storage_class(layout)),
        (aws::CLOUD, Tool::Mdadm) => Ok(stripe::mdadm_of_ids(layout)),
        (gcp::CLOUD, Tool::Terraform) if gcp::is_regional(layout) => {
            Err(EmitError::Regional(layout.disk.sku().to_owned()))
        }
        (gcp::CLOUD, Tool::Terraform) => Ok(gcp::terraform(layout)),
        (gcp::CLOUD, Tool::StorageClass) => Ok(gcp::storage_class(layout)),
        (gcp::CLOUD, Tool::Mdadm) => Ok(stripe::mdadm(layout, gcp::BY_NAME)),
        (aws::CLOUD | gcp::CLOUD, Tool::CommandLine) => Err(EmitError::CommandLine(cloud.to_owned())),
        _ => Err(EmitError::Cloud(cloud.to_owned())),
    }
}

#[cfg(test)]
mod tests;
