//! The way back: a workload as a job file that parses to the same workload.
//!
//! Data in: a workload. Data out: text in canonical form, with only what differs from the defaults. It must
//! not know how the workload was written.

mod sections;
mod words;

use fathom_core::workload::Workload;

/// What no job file can say.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PrintError {
    /// A text holds a character that ends a line or begins a comment, or begins or ends with a space.
    #[error(
        "job `{job}`: a job file cannot hold {option}=`{text}`; use no `#`, `;`, line end or outer space"
    )]
    Text {
        job: String,
        option: &'static str,
        text: String,
    },
    /// A setting that no option describes.
    #[error("job `{job}`: no option of a job file says {what}")]
    Setting { job: String, what: &'static str },
}

/// Prints `workload` as a job file. Parsing it gives the same workload.
///
/// # Errors
/// A [`PrintError`] if the workload holds something that no job file can say; workloads that came from job
/// files do so only if an environment variable brought it in.
pub fn print(workload: &Workload) -> Result<String, PrintError> {
    let mut text = String::new();
    let mut last_group = None;
    for job in &workload.jobs {
        if last_group.is_some() {
            text.push('\n');
        }
        sections::section(job, last_group, &mut text)?;
        last_group = Some(job.group);
    }
    Ok(text)
}

#[cfg(test)]
mod tests;
