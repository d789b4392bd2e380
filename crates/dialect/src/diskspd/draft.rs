//! A profile while the flags of a command line are applied to it.
//!
//! Data in: flags, one after the other. Data out: a time span and the settings that all its targets share. It must not know
//! the words it came from.

use super::profile::{CacheMode, Profile, ResultFormat, Target, TimeSpan};
use crate::diagnostic::Fault;

/// What may be set beside an XML profile as well.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Times {
    pub(super) duration_s: Option<u32>,
    pub(super) warmup_s: Option<u32>,
    pub(super) cooldown_s: Option<u32>,
    pub(super) seed: Option<u32>,
}

impl Times {
    /// Writes what was given into a time span.
    pub(super) fn apply(&self, span: &mut TimeSpan) {
        let set = |field: &mut u32, given: Option<u32>| {
            if let Some(value) = given {
                *field = value;
            }
        };
        set(&mut span.duration_s, self.duration_s);
        set(&mut span.warmup_s, self.warmup_s);
        set(&mut span.cooldown_s, self.cooldown_s);
        set(&mut span.random_seed, self.seed);
    }
}

/// The state of reading. All targets of a command line share their settings.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) profile: Profile,
    pub(super) span: TimeSpan,
    pub(super) target: Target,
    pub(super) times: Times,
    pub(super) result_format: Option<ResultFormat>,
    pub(super) help: bool,
    /// The block size, known before all other flags: sizes may be stated in blocks.
    pub(super) block: u64,
    /// Whether forms that only the Linux port has are read as it does.
    pub(super) is_linux: bool,
    /// The seed of a bare `-z`.
    pub(super) clock_seed: u32,
    pub(super) base_given: bool,
    cache: Option<CacheMode>,
    end_given: bool,
}

impl Draft {
    pub(super) fn new(block: u32, is_linux: bool, clock_seed: u32) -> Self {
        Self {
            profile: Profile::default(),
            span: TimeSpan::default(),
            target: Target {
                block_size: block,
                ..Target::default()
            },
            times: Times::default(),
            result_format: None,
            help: false,
            block: u64::from(block),
            is_linux,
            clock_seed,
            base_given: false,
            cache: None,
            end_given: false,
        }
    }

    /// The end of the region, once.
    pub(super) fn end_at(&mut self, end: u64) -> Result<(), Fault> {
        if self.end_given {
            return Err(
                Fault::new("the region's end is given twice").remedy("leave -f or the length of -B out")
            );
        }
        self.end_given = true;
        self.target.max_offset = end;
        Ok(())
    }

    /// One cache mode; two are a conflict, as in diskspd.
    pub(super) fn set_cache(&mut self, mode: CacheMode) -> Result<(), Fault> {
        if self.cache.is_some() {
            return Err(Fault::new("which caches are used is said twice").remedy("leave one -S or -h out"));
        }
        if mode == CacheMode::DisableOsCache && self.target.memory_mapped {
            return Err(mapped_and_uncached());
        }
        self.cache = Some(mode);
        self.target.cache = mode;
        Ok(())
    }

    pub(super) fn set_write_through(&mut self) -> Result<(), Fault> {
        if self.target.write_through {
            return Err(Fault::new("write-through is asked for twice").remedy("leave one of them out"));
        }
        self.target.write_through = true;
        Ok(())
    }

    pub(super) fn set_mapped(&mut self) -> Result<(), Fault> {
        if self.target.memory_mapped {
            return Err(Fault::new("a mapping is asked for twice").remedy("leave one of them out"));
        }
        if self.cache == Some(CacheMode::DisableOsCache) {
            return Err(mapped_and_uncached());
        }
        self.target.memory_mapped = true;
        Ok(())
    }

    /// `-h`, `-Sh`.
    pub(super) fn bypass_caches(&mut self) -> Result<(), Fault> {
        self.set_cache(CacheMode::DisableOsCache)?;
        self.set_write_through()
    }
}

pub(super) const MAPPED_AND_UNCACHED: &str =
    "a mapping (-Sm) goes through the page cache, which -Su and -Sh leave out";

fn mapped_and_uncached() -> Fault {
    Fault::new(MAPPED_AND_UNCACHED).remedy("leave one of them out")
}
