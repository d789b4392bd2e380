//! What a diskspd command line or XML profile says, with diskspd's defaults filled in.
//!
//! Data in: the readers set its fields. Data out: plain data that is checked, printed and turned into workloads. It must
//! not know how it was written nor how it is carried out. The names follow diskspd's own (`Common.h` of v2.2).

/// A whole profile: one or more time spans, run one after the other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Profile {
    /// The command line, as the results repeat it.
    pub command_line: String,
    /// `-v`: say what is done while it is done.
    pub verbose: bool,
    /// `-vs`: wait statistics in the results.
    pub verbose_stats: bool,
    /// `-:`: experimental behaviour, a mask of bits.
    pub experiment_flags: u32,
    /// `-R`: how results are written.
    pub result_format: ResultFormat,
    /// `-Rp`: only print the profile.
    pub profile_only: bool,
    /// `-P`: a dot after every so many I/Os; 0: none.
    pub progress: u32,
    /// `PrecreateFiles`: which files are made before the first time span; only in XML.
    pub precreate: Option<Precreate>,
    /// `-x` of the Linux port: which interface; `None`: the one that suits the flags.
    pub linux_engine: Option<LinuxEngine>,
    /// At least one.
    pub time_spans: Vec<TimeSpan>,
}

/// How results are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResultFormat {
    /// Tables.
    #[default]
    Text,
    Xml,
}

/// Which files are made before the first time span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precreate {
    /// Each, with the largest size that any time span gives it.
    UseMaxSize,
    /// Those that have the same size in every time span.
    ConstantSizes,
    /// Those, and those that some time spans give no size.
    ConstantOrZeroSizes,
}

impl Precreate {
    /// The word in an XML profile.
    pub const fn word(self) -> &'static str {
        match self {
            Self::UseMaxSize => "UseMaxSize",
            Self::ConstantSizes => "CreateOnlyFilesWithConstantSizes",
            Self::ConstantOrZeroSizes => "CreateOnlyFilesWithConstantOrZeroSizes",
        }
    }
    /// All of them.
    pub const ALL: [Self; 3] = [Self::UseMaxSize, Self::ConstantSizes, Self::ConstantOrZeroSizes];
}

/// The interfaces of the Linux port (`-x`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinuxEngine {
    /// `k`: the kernel's asynchronous I/O.
    Kernel,
    /// `p`: the C library's POSIX asynchronous I/O.
    Posix,
}

/// A stretch of load with settings of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeSpan {
    /// `-d`, seconds.
    pub duration_s: u32,
    /// `-W`, seconds.
    pub warmup_s: u32,
    /// `-C`, seconds.
    pub cooldown_s: u32,
    /// `-z`.
    pub random_seed: u32,
    /// `-F`: threads in all; 0: each target has its own (`-t`).
    pub thread_count: u32,
    /// `-O`: in flight a thread over all targets; 0: each target has its own (`-o`).
    pub request_count: u32,
    /// `-Zr`: new random contents for each write.
    pub random_write_data: bool,
    /// `-n`.
    pub disable_affinity: bool,
    /// `-a`: the processors that threads are put on in turn; empty: all.
    pub affinity: Vec<Affinity>,
    /// `-x`.
    pub completion_routines: bool,
    /// `-L`.
    pub measure_latency: bool,
    /// `-D`.
    pub iops_std_dev: bool,
    /// `-D`: the interval, milliseconds.
    pub io_bucket_ms: u32,
    /// At least one.
    pub targets: Vec<Target>,
}

impl Default for TimeSpan {
    fn default() -> Self {
        Self {
            duration_s: 10,
            warmup_s: 5,
            cooldown_s: 0,
            random_seed: 0,
            thread_count: 0,
            request_count: 0,
            random_write_data: false,
            disable_affinity: false,
            affinity: Vec::new(),
            completion_routines: false,
            measure_latency: false,
            iops_std_dev: false,
            io_bucket_ms: 1000,
            targets: Vec::new(),
        }
    }
}

impl TimeSpan {
    /// Whether threads share all targets and draw the next one for each I/O (`-F` with `-O`).
    pub const fn is_pool(&self) -> bool {
        self.thread_count > 0 && self.request_count > 0
    }
    /// The interval of IOPS in milliseconds, where their deviation is asked for.
    pub fn interval_ms(&self) -> Option<u32> {
        self.iops_std_dev.then_some(self.io_bucket_ms)
    }
}

/// A processor, within its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Affinity {
    /// The processor group; Linux has none, so 0.
    pub group: u16,
    /// The processor.
    pub cpu: u16,
}

/// A file, device or template slot, and what is done to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// As typed; `*1`, `*2` … in a profile that is only printed.
    pub path: String,
    /// `-b`, bytes.
    pub block_size: u32,
    /// `-r`, `-s`: alignment of random offsets or the stride of sequential ones, bytes; `None`: the block size.
    pub alignment: Option<u64>,
    /// `-rs`, `-r`: how many of the I/Os are random, percent.
    pub random_percent: u32,
    /// `-B`, bytes.
    pub base_offset: u64,
    /// `-f`, `-B…:len`: where the region ends, bytes; 0: at the target's end.
    pub max_offset: u64,
    /// `-fs`.
    pub sequential_scan_hint: bool,
    /// `-fr`.
    pub random_access_hint: bool,
    /// `-ft`.
    pub temporary_hint: bool,
    /// `-l`.
    pub large_pages: bool,
    /// `-Sb`, `-Su`, `-Sr`.
    pub cache: CacheMode,
    /// `-Sw`.
    pub write_through: bool,
    /// `-Sm`.
    pub memory_mapped: bool,
    /// `-N`.
    pub flush: Option<FlushMode>,
    /// `-Z`.
    pub zero_buffers: bool,
    /// `-Z<size>`.
    pub write_source: Option<WriteSource>,
    /// `-p`.
    pub parallel_async: bool,
    /// `-i`.
    pub burst: Option<u32>,
    /// `-j`, milliseconds.
    pub think_ms: Option<u32>,
    /// `-c`, bytes.
    pub file_size: Option<u64>,
    /// `-rd`.
    pub distribution: Option<Distribution>,
    /// `-si`.
    pub interlocked: bool,
    /// `-T`, bytes.
    pub thread_stride: u64,
    /// `-o`.
    pub request_count: u32,
    /// `-w`, percent.
    pub write_percent: u32,
    /// `-g`.
    pub throughput: Throughput,
    /// `-t`.
    pub threads_per_file: u32,
    /// `-I`: 1 very low, 2 low, 3 normal.
    pub io_priority: u8,
    /// Share of a pool's I/Os; only in XML.
    pub weight: u32,
    /// The pool's threads that use it; empty: all. Only in XML.
    pub thread_targets: Vec<ThreadTarget>,
}

impl Default for Target {
    fn default() -> Self {
        Self {
            path: String::new(),
            block_size: 64 << 10,
            alignment: None,
            random_percent: 0,
            base_offset: 0,
            max_offset: 0,
            sequential_scan_hint: false,
            random_access_hint: false,
            temporary_hint: false,
            large_pages: false,
            cache: CacheMode::Cached,
            write_through: false,
            memory_mapped: false,
            flush: None,
            zero_buffers: false,
            write_source: None,
            parallel_async: false,
            burst: None,
            think_ms: None,
            file_size: None,
            distribution: None,
            interlocked: false,
            thread_stride: 0,
            request_count: 2,
            write_percent: 0,
            throughput: Throughput::None,
            threads_per_file: 1,
            io_priority: 3,
            weight: 1,
            thread_targets: Vec::new(),
        }
    }
}

impl Target {
    /// The alignment or stride in bytes; as in diskspd, 0 stands for the block size.
    pub fn alignment_bytes(&self) -> u64 {
        match self.alignment {
            None | Some(0) => u64::from(self.block_size),
            Some(bytes) => bytes,
        }
    }
}

/// What keeps I/O away from caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheMode {
    /// Through the page cache.
    Cached,
    /// Past the cache of this machine, through that of a file server.
    DisableLocalCache,
    /// Past all software caches.
    DisableOsCache,
}

/// How writes to a mapping are flushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlushMode {
    /// `-Nv`.
    ViewOfFile,
    /// `-Nn`.
    NonVolatileMemory,
    /// `-Ni`.
    NonVolatileMemoryNoDrain,
}

impl FlushMode {
    /// The word in an XML profile.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ViewOfFile => "ViewOfFile",
            Self::NonVolatileMemory => "NonVolatileMemory",
            Self::NonVolatileMemoryNoDrain => "NonVolatileMemoryNoDrain",
        }
    }
    /// All of them.
    pub const ALL: [Self; 3] = [
        Self::ViewOfFile,
        Self::NonVolatileMemory,
        Self::NonVolatileMemoryNoDrain,
    ];
}

/// A buffer that writes take their contents from, each from another place in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteSource {
    pub size_bytes: u64,
    /// The file that fills it; `None`: random contents.
    pub file: Option<String>,
}

/// A limit for each thread on each target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Throughput {
    None,
    /// Bytes a millisecond.
    BytesPerMs(u32),
    /// I/Os a second.
    Iops(u32),
}

/// Where random I/Os go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Distribution {
    /// Ranges in percent of the target.
    Percent(Vec<Range>),
    /// Ranges in bytes; a size of 0, only as the last: all that is left.
    Absolute(Vec<Range>),
}

impl Distribution {
    /// Its ranges, from the start of the region on.
    pub fn ranges(&self) -> &[Range] {
        match self {
            Self::Percent(ranges) | Self::Absolute(ranges) => ranges,
        }
    }
    /// Adds the last range, with the I/Os that the others leave: diskspd does so as soon as it has read them.
    #[must_use]
    pub fn completed(self) -> Self {
        let add = |mut ranges: Vec<Range>, size: fn(u64) -> u64| {
            let io: u64 = ranges.iter().map(|range| u64::from(range.io_percent)).sum();
            let covered = ranges
                .iter()
                .fold(0u64, |sum, range| sum.saturating_add(range.target));
            if io < 100 && !ranges.is_empty() {
                ranges.push(Range {
                    io_percent: 100 - io as u32,
                    target: size(covered),
                });
            }
            ranges
        };
        match self {
            Self::Percent(ranges) => Self::Percent(add(ranges, |covered| 100u64.saturating_sub(covered))),
            Self::Absolute(ranges) => Self::Absolute(add(ranges, |_| 0)),
        }
    }
}

/// One range of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// Its share of the I/Os, percent; 0: a gap.
    pub io_percent: u32,
    /// Its size: percent of the target, or bytes.
    pub target: u64,
}

/// A thread of a pool that uses a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadTarget {
    /// The thread, from 0.
    pub thread: u32,
    /// The target's weight for this thread; 0: the target's own.
    pub weight: u32,
}
