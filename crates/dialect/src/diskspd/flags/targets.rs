//! Flags about what is accessed: regions, sizes, offsets, caches, contents.

use super::super::draft::Draft;
use super::super::profile::{CacheMode, FlushMode, WriteSource};
use super::super::value::{distribution, number, size, size_prefix};
use super::{FlagRow, like_a_number, switches};
use crate::diagnostic::Fault;
use crate::table::Support;

pub(super) const ROWS: &[FlagRow] = &[
    FlagRow::number("b", "<size>", |_, _| Ok(()), "Block size; `b` elsewhere counts in it")
        .default("64K")
        .example("-b8K")
        .test("block_size_is_read_first"),
    FlagRow::new("B", "<base>[:<length>]", base, "Where the region of a target begins, and how long it is")
        .default("0, to the end")
        .linux("it has no length")
        .example("-B1G:512M")
        .test("regions")
        .fits(|text| text.split(':').all(like_a_number)),
    FlagRow::number("c", "<size>", create, "Make the targets, files of this size")
        .example("-c2G")
        .test("files_are_made_with_their_size"),
    FlagRow::new(
        "f",
        "<size> | r,s,t",
        max_or_hints,
        "Where the region ends; or hints for opening: random, sequential, temporary",
    )
    .default("the target's end")
    .linux("it has no hints")
    .example("-f10G")
    .test("regions")
    .fits(|text| like_a_number(text) || text.chars().all(|c| "rst".contains(c))),
    FlagRow::new(
        "l",
        "",
        switches!(target.large_pages),
        "Buffers in large pages",
    )
    .not_in_linux()
    .example("-l")
    .test("large_pages"),
    FlagRow::new("N", "v | n | i", flush, "How writes to a mapping are flushed, with -Sm")
        .default("not")
        .support(Support::Approximate(
            "`v` is an fdatasync after each write; `n` and `i` flush the processor's caches, which is refused",
        ))
        .not_in_linux()
        .example("-Nv")
        .test("mappings")
        .fits(|text| matches!(text, "v" | "n" | "i" | "V" | "N" | "I")),
    FlagRow::number("r", "[<align>]", random, "Random offsets, multiples of this size")
        .default("multiples of the block size")
        .example("-r4K")
        .test("random_and_sequential_exclude_each_other"),
    FlagRow::new("rd", "pct… | abs…", zones, "Which parts of the target random I/O goes to, and how much of it")
        .default("all alike")
        .not_in_linux()
        .example("-rdpct90/10:0/10:5/20")
        .test("distributions")
        .fits(|text| text.starts_with("pct") || text.starts_with("abs")),
    FlagRow::number("rs", "<percent>", random_share, "This share of the I/Os is random, the others go on in sequence")
        .default("100 with -r")
        .not_in_linux()
        .example("-rs50")
        .test("runs_keep_their_direction"),
    FlagRow::number("s", "[<stride>]", sequential, "Ascending offsets, this far from one to the next")
        .default("the block size")
        .example("-s128K")
        .test("random_and_sequential_exclude_each_other"),
    FlagRow::number("si", "[<stride>]", interlocked, "As -s; all threads of a target take their offsets from one pointer")
        .default("each thread for itself")
        .example("-si")
        .test("threads_share_a_pointer"),
    FlagRow::new("S", "[b|h|m|u|r|w …]", caches, "Which caches are used: b all, u no software cache (bare -S too), w write-through, h both, m a mapping, r none on this machine")
        .default("b")
        .linux("the letters are d (no software cache), s (write-through), h (both)")
        .example("-Suw")
        .test("cache_letters_combine")
        .fits(|text| text.chars().all(|c| "bhmurwds".contains(c))),
    FlagRow::number("T", "<size>", thread_stride, "Each further thread of a target begins so much later")
        .default("0")
        .example("-T1G")
        .test("threads_begin_apart"),
    FlagRow::new("Z", "[<size>[,<file>]]", buffers, "Zeros in write buffers; or take what is written from a buffer of this size, filled at random or from a file")
        .default("bytes 0 to 255, again and again")
        .linux("-Zz zeros, -Zs separate buffers for reads and writes")
        .example("-Z1M")
        .test("write_buffers")
        .fits(|text| text.split(',').next().is_some_and(like_a_number) || matches!(text, "z" | "s")),
    FlagRow::new("Zr", "", random_buffers, "New random contents for each write")
        .linux("the buffers are filled with random data once")
        .example("-Zr")
        .test("write_buffers"),
];

fn base(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    let (base, rest) = size_prefix(text, draft.block)?;
    if draft.base_given {
        return Err(Fault::new("the region's begin is given twice").remedy("leave one -B out"));
    }
    draft.base_given = true;
    draft.target.base_offset = base;
    match rest.strip_prefix(':') {
        Some(length) => {
            let length = size(length, draft.block)?;
            let end = base.checked_add(length).ok_or_else(|| {
                Fault::new("the region ends beyond 64 bits").remedy("write a shorter length")
            })?;
            draft.end_at(end)
        }
        None if rest.is_empty() => Ok(()),
        None => Err(Fault::new(format!("`{rest}` is left over")).remedy("write -B<base>:<length>")),
    }
}

fn create(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    draft.target.file_size = Some(size(text, draft.block)?);
    Ok(())
}

fn max_or_hints(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return draft.end_at(size(text, draft.block)?);
    }
    if text.is_empty() {
        return Err(Fault::new("its value is missing").remedy("write -f<size>, or -f with r, s or t"));
    }
    for letter in text.chars() {
        match letter {
            'r' => draft.target.random_access_hint = true,
            's' => draft.target.sequential_scan_hint = true,
            't' => draft.target.temporary_hint = true,
            _ => {
                return Err(Fault::new(format!("`{letter}` is no hint")).remedy("write r, s, t or a size"));
            }
        }
    }
    Ok(())
}

fn flush(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    draft.target.flush = Some(match text {
        "v" | "V" => FlushMode::ViewOfFile,
        "n" | "N" => FlushMode::NonVolatileMemory,
        "i" | "I" => FlushMode::NonVolatileMemoryNoDrain,
        _ => return Err(Fault::new(format!("`{text}` is no flush mode")).remedy("write -Nv")),
    });
    Ok(())
}

fn random(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    let align = match text {
        "" => draft.block,
        text => size(text, draft.block)?,
    };
    if align == 0 {
        return Err(Fault::new("random offsets cannot be multiples of 0").remedy("leave the size out"));
    }
    let target = &mut draft.target;
    if target.random_percent == 0 {
        target.random_percent = 100;
    } else if target.random_percent == 100 && target.alignment.is_some_and(|bytes| bytes > 0) {
        return Err(Fault::new("random I/O is asked for twice").remedy("leave one -r out"));
    }
    if target.alignment.is_some_and(|bytes| bytes > 0) {
        return Err(
            Fault::new("-s asks for sequential I/O and -r for random").remedy("leave one of them out")
        );
    }
    target.alignment = Some(align);
    Ok(())
}

fn random_share(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    let percent = number(text, 1, 100)?;
    let target = &mut draft.target;
    if target.random_percent == 0 && target.alignment.is_some_and(|bytes| bytes > 0) {
        return Err(
            Fault::new("-s gives the alignment of sequential I/O only").remedy("write -r<align> beside -rs")
        );
    }
    if !matches!(target.random_percent, 0 | 100) {
        return Err(Fault::new("the share of random I/O is given twice").remedy("leave one -rs out"));
    }
    target.random_percent = percent;
    Ok(())
}

fn zones(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    draft.target.distribution = Some(distribution(text, draft.block)?);
    Ok(())
}

fn sequential(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    let stride = match text {
        "" => draft.block,
        text => size(text, draft.block)?,
    };
    let target = &mut draft.target;
    match target.random_percent {
        0 => {}
        100 => {
            return Err(
                Fault::new("-r asks for random I/O and -s for sequential").remedy("leave one of them out")
            );
        }
        _ => {
            return Err(Fault::new("-s gives the alignment of sequential I/O only")
                .remedy("write -r<align> beside -rs"));
        }
    }
    if target.alignment.is_some_and(|bytes| bytes > 0) {
        return Err(Fault::new("sequential I/O is asked for twice").remedy("leave one -s out"));
    }
    target.alignment = Some(stride);
    Ok(())
}

fn interlocked(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    draft.target.interlocked = true;
    sequential(draft, text)
}

fn caches(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    if text.is_empty() {
        return draft.set_cache(CacheMode::DisableOsCache);
    }
    for letter in text.chars() {
        match (letter, draft.is_linux) {
            ('h', _) => draft.bypass_caches()?,
            ('b', false) => draft.set_cache(CacheMode::Cached)?,
            ('r', false) => draft.set_cache(CacheMode::DisableLocalCache)?,
            ('u', false) | ('d', true) => draft.set_cache(CacheMode::DisableOsCache)?,
            ('w', false) | ('s', true) => draft.set_write_through()?,
            ('m', false) => draft.set_mapped()?,
            (_, false) => {
                return Err(
                    Fault::new(format!("`{letter}` is no cache letter")).remedy("write b, h, m, r, u or w")
                );
            }
            (_, true) => {
                return Err(
                    Fault::new(format!("`{letter}` is no cache letter of the Linux port"))
                        .remedy("write d, s or h"),
                );
            }
        }
    }
    Ok(())
}

fn thread_stride(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    match size(text, draft.block)? {
        0 => Err(Fault::new("a distance of 0 is none").remedy("leave -T out")),
        bytes => {
            draft.target.thread_stride = bytes;
            Ok(())
        }
    }
}

fn buffers(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    if draft.is_linux {
        return linux_buffers(draft, text);
    }
    if text.is_empty() {
        draft.target.zero_buffers = true;
        return Ok(());
    }
    let (bytes, file) = match text.split_once(',') {
        Some((bytes, file)) => (bytes, Some(file.to_owned()).filter(|file| !file.is_empty())),
        None => (text, None),
    };
    match size(bytes, draft.block)? {
        0 => Err(Fault::new("a buffer of no bytes").remedy("write -Z1M")),
        size_bytes => {
            draft.target.write_source = Some(WriteSource { size_bytes, file });
            Ok(())
        }
    }
}

fn random_buffers(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    if draft.is_linux {
        return linux_buffers(draft, &format!("r{text}"));
    }
    if text.is_empty() {
        draft.span.random_write_data = true;
        return Ok(());
    }
    Err(Fault::new(format!("`{text}` is left over")).remedy("write -Zr alone"))
}

/// The Linux port's letters: `z` zeros, `r` random once, `s` separate buffers, which they are anyway.
fn linux_buffers(draft: &mut Draft, text: &str) -> Result<(), Fault> {
    if text.is_empty() {
        return Err(Fault::new("its letters are missing").remedy("write -Zz, -Zr or -Zs"));
    }
    for letter in text.chars() {
        match letter {
            's' => {}
            'z' => draft.target.zero_buffers = true,
            'r' => {
                draft.target.write_source = Some(WriteSource {
                    size_bytes: draft.block,
                    file: None,
                });
            }
            _ => {
                let fault = Fault::new(format!("`{letter}` is no letter of the Linux port's -Z"));
                return Err(fault.remedy("write z, r or s"));
            }
        }
    }
    if draft.target.zero_buffers && draft.target.write_source.is_some() {
        return Err(Fault::new("zeros and random data exclude each other").remedy("leave z or r out"));
    }
    Ok(())
}
