//! Which jobs can be verified, and what has to be read back.
//!
//! Data in: a job as resolved. Data out: verdicts, before anything is touched. It must not know contents.

use crate::pattern::{FilePattern, Span};
use fathom_core::workload::{BlockSize, EngineKind, Job, Mix, VerifyAlgorithm};

/// What of this job keeps it from being verified: what was written is found by drawing it again from the seed alone, and
/// what is read back is counted.
pub(crate) fn unfit(job: &Job) -> Option<&'static str> {
    if job.files.new_each_loop
        && let Some(what) = keeps_its_files(job)
    {
        return Some(what);
    }
    let verify = job.verify.as_ref()?;
    let header = crate::blocks::header_bytes(verify) as u32;
    if verify.offset_bytes > 0 && header > 2 * verify.offset_bytes {
        // Where it is moved to, it would lie on itself: fio does not find it again either.
        return Some("a verify_offset that is less than its header is long");
    }
    if verify.trims() && job.writes() && !crate::blocks::writes_once(job) {
        return Some("trim_percentage where a block is written more than once");
    }
    let sequence = !job.pattern.random;
    if sequence && job.pattern.shared_sequence {
        Some("a sequence that the workers share")
    } else if sequence && job.pattern.same_offset {
        Some("a sequence for each I/O in flight")
    } else if sequence && job.pattern.first_offset_bytes > 0 {
        Some("a sequence that begins within its region")
    } else if !job.limit.cooldown_time.is_zero() {
        Some("a cooldown")
    } else {
        None
    }
}

/// What of this job keeps it from beginning each pass with new files.
fn keeps_its_files(job: &Job) -> Option<&'static str> {
    let kind = job.engine.kind;
    if !job.pattern.mix.uses()[1] {
        Some("unlink_each_loop of a job that does not write: nothing would be left to read")
    } else if kind == EngineKind::Mmap || job.engine.registered_files {
        Some("unlink_each_loop of files that are mapped or registered")
    } else if job.numjobs > 1 && !(job.files.names.is_empty() && job.files.all_below.is_none()) {
        Some("unlink_each_loop of files that workers share")
    } else {
        None
    }
}

/// Whether sequences that are shared, or one a slot, come to no other place with each I/O.
pub(crate) fn stands_still(job: &Job) -> bool {
    let pattern = &job.pattern;
    let walks = !pattern.random && (pattern.shared_sequence || pattern.same_offset);
    let smallest = i64::try_from(job.min_block_bytes()).unwrap_or(i64::MAX);
    walks && smallest.saturating_add(pattern.skip_bytes) <= 0
}

/// Whether the blocks of this job have room for what verification puts into them.
pub(crate) fn fits(job: &Job) -> bool {
    let Some(verify) = &job.verify else { return true };
    let chunk = match verify.interval_bytes {
        0 => job.min_block_bytes(),
        given => u64::from(given),
    };
    chunk >= crate::blocks::header_bytes(verify) as u64
}

/// Whether blocks of this job may overlap in part: the later one would then destroy what the earlier one is
/// checked by. All offsets and lengths have to be multiples of the chunk; a bare pattern may also fit into all of
/// them a whole number of times.
pub(crate) fn overlaps(job: &Job) -> bool {
    let Some(verify) = &job.verify else { return false };
    if !job.writes() || crate::blocks::writes_once(job) && verify.interval_bytes == 0 {
        return false;
    }
    let smallest = job.min_block_bytes().max(1);
    if verify.algorithm == VerifyAlgorithm::Pattern {
        let pattern = verify.pattern.len().max(1) as u64;
        let comes_out_even = is_aligned(job, pattern) && smallest.is_multiple_of(pattern);
        return !(is_aligned(job, smallest) || comes_out_even);
    }
    let chunk = match u64::from(verify.interval_bytes) {
        0 => smallest,
        given => given,
    };
    !is_aligned(job, chunk)
}

/// Whether all offsets and lengths within a region are multiples of `chunk`.
fn is_aligned(job: &Job, chunk: u64) -> bool {
    let fits = |op: usize| !odd_size(&job.block_size[op], chunk) && job.block_align[op].is_multiple_of(chunk);
    job.used_ops().all(fits) && job.pattern.skip_bytes.unsigned_abs().is_multiple_of(chunk)
}

/// Whether some block of these sizes is no multiple of `chunk`.
fn odd_size(size: &BlockSize, chunk: u64) -> bool {
    match size {
        BlockSize::Fixed(bytes) => !bytes.is_multiple_of(chunk),
        BlockSize::Range { unaligned, .. } => *unaligned || !size.min().is_multiple_of(chunk),
        BlockSize::Split(entries) => entries.iter().any(|entry| !entry.bytes.is_multiple_of(chunk)),
    }
}

/// Whether each pass of `amount` bytes over `spans` writes the same blocks, in whatever order: it visits all of
/// the region and writes all that it visits. One whole pass then stands for all of them.
pub(crate) fn writes_same_blocks(job: &Job, spans: &[Span], amount: u64) -> bool {
    let pattern = &job.pattern;
    let whole = spans
        .iter()
        .fold(0u64, |sum, span| sum.saturating_add(span.bytes))
        <= amount;
    let visits_all = if pattern.random {
        let smallest = job.min_block_bytes().max(1);
        FilePattern::visits_each_block(job)
            && !job.used_ops().any(|op| odd_size(&job.block_size[op], smallest))
    } else {
        // Of several sizes the last may leave a rest that depends on those before it; and holes may move.
        let one_size = |op: usize| job.block_size[op].min() == job.block_size[op].max();
        pattern.skip_bytes == 0 && job.used_ops().all(one_size)
    };
    whole && visits_all && matches!(pattern.mix, Mix::Write | Mix::TrimWrite)
}
