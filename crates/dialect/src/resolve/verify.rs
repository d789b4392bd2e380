//! Verification: whether there is any, and what keeps it from finding anything.

use super::Settling;
use crate::diagnostic::Fault;
use fathom_core::workload::{Verify, VerifyAlgorithm};

impl Settling<'_> {
    pub(super) fn verify(&mut self) {
        let given = &self.draft.verify;
        let has_pattern = !given.pattern.is_empty() || given.pattern_file.is_some();
        let implied = has_pattern.then_some(VerifyAlgorithm::Pattern);
        let Some(algorithm) = self.draft.verify_algorithm.or(implied) else {
            if given.only {
                let fault = Fault::new("verify_only needs to know what to verify");
                self.error(&["verify_only"], fault.remedy("add such as verify=crc32c"));
            }
            return;
        };
        if matches!(
            algorithm,
            VerifyAlgorithm::Pattern | VerifyAlgorithm::PatternHeader
        ) && !has_pattern
        {
            let fault = Fault::new("verify=pattern needs a pattern");
            self.error(&["verify"], fault.remedy("add such as verify_pattern=0xdeadbeef"));
        }
        let interval_bytes = self.verify_interval(given.interval_bytes);
        self.job.verify = Some(Verify {
            algorithm,
            interval_bytes,
            ..given.clone()
        });
        self.verify_by_many();
    }

    /// An interval has to divide every block; else there is one header a block.
    fn verify_interval(&mut self, interval: u32) -> u32 {
        let smallest = self.job.min_block_bytes();
        if interval != 0 && !smallest.is_multiple_of(interval.into()) {
            let fault = Fault::new(format!(
                "verify_interval={interval} does not divide blocks of {smallest}: not used"
            ));
            self.warning(&["verify_interval"], fault.remedy("choose one that divides bs"));
            return 0;
        }
        interval
    }

    fn verify_by_many(&mut self) {
        let writes = self.job.writes();
        if writes && self.job.numjobs > 1 && !self.job.files.names.is_empty() {
            let fault =
                Fault::new("several workers write the same file, so that verification finds mismatches");
            self.warning(
                &["numjobs"],
                fault.remedy("give each a part with offset_increment, or use numjobs=1"),
            );
        }
    }
}

#[cfg(test)]
mod tests;
