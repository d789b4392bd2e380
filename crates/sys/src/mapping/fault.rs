//! The SIGBUS handler and the table by which it knows our mappings.
//!
//! The handler runs in the middle of a copy, on any thread: it touches atomics and makes one system call,
//! nothing else.

use std::ffi::{c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How many mappings there may be at a time.
const TABLE_LEN: usize = 4096;

/// No mapping starts there: the entry is free.
const FREE: usize = 0;
/// No mapping starts there either: the entry is being filled, and matches no address.
const CLAIMED: usize = usize::MAX;

struct Entry {
    start: AtomicUsize,
    end: AtomicUsize,
    faulted: AtomicBool,
}

static TABLE: [Entry; TABLE_LEN] = [const {
    Entry {
        start: AtomicUsize::new(FREE),
        end: AtomicUsize::new(0),
        faulted: AtomicBool::new(false),
    }
}; TABLE_LEN];

/// Read by the handler; set before it is installed.
static PAGE_BYTES: AtomicUsize = AtomicUsize::new(4096);
static EARLIER_HANDLER: AtomicUsize = AtomicUsize::new(libc::SIG_DFL);
static EARLIER_TAKES_INFO: AtomicBool = AtomicBool::new(false);

/// `None` when installed, else the errno.
static INSTALLED: OnceLock<Option<i32>> = OnceLock::new();

/// A mapping's entry in the table.
#[derive(Debug)]
pub(super) struct Registration {
    index: usize,
}

impl Registration {
    /// Enters the range; `None` when the table is full.
    pub(super) fn new(start: usize, len_bytes: usize) -> Option<Self> {
        let index = TABLE.iter().position(|entry| {
            entry
                .start
                .compare_exchange(FREE, CLAIMED, Ordering::AcqRel, Ordering::Relaxed)
                .is_ok()
        })?;
        let entry = &TABLE[index];
        entry.faulted.store(false, Ordering::Relaxed);
        entry.end.store(start + len_bytes, Ordering::Relaxed);
        entry.start.store(start, Ordering::Release);
        Some(Self { index })
    }

    /// Whether a fault happened since the last call. The handler runs on the thread that faults, within its
    /// copy, so a fence of the compiler is all that is needed to see its mark.
    #[inline]
    pub(super) fn take(&self) -> bool {
        std::sync::atomic::compiler_fence(Ordering::SeqCst);
        let faulted = &TABLE[self.index].faulted;
        faulted.load(Ordering::Relaxed) && faulted.swap(false, Ordering::Relaxed)
    }

    /// Marks a fault again, for one that could not be mended.
    pub(super) fn renew(&self) {
        TABLE[self.index].faulted.store(true, Ordering::Relaxed);
    }

    /// Frees the entry. Call it once, before the range is unmapped.
    pub(super) fn withdraw(&self) {
        TABLE[self.index].start.store(FREE, Ordering::Release);
    }
}

/// Installs the handler, once in the life of the process.
pub(super) fn install() -> io::Result<()> {
    match *INSTALLED.get_or_init(|| try_install().err()) {
        None => Ok(()),
        Some(errno) => Err(io::Error::from_raw_os_error(errno)),
    }
}

fn try_install() -> Result<(), i32> {
    PAGE_BYTES.store(rustix::param::page_size(), Ordering::Relaxed);
    // The earlier handler is noted before ours can run.
    let earlier = sigaction(None)?;
    EARLIER_HANDLER.store(earlier.sa_sigaction, Ordering::Relaxed);
    EARLIER_TAKES_INFO.store(earlier.sa_flags & libc::SA_SIGINFO != 0, Ordering::Relaxed);
    let mut ours = earlier;
    let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = on_sigbus;
    ours.sa_sigaction = handler as *const () as usize;
    // On the alternate stack where there is one: the handlers before may rely on it.
    ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    sigaction(Some(&ours)).map(drop)
}

/// Sets the action of SIGBUS, if one is given, and returns the one before.
fn sigaction(action: Option<&libc::sigaction>) -> Result<libc::sigaction, i32> {
    let mut before = MaybeUninit::<libc::sigaction>::zeroed();
    let action = action.map_or(ptr::null(), ptr::from_ref);
    // SAFETY: `action` is null or valid, its handler is async-signal-safe (see there); `before` has room.
    let result = unsafe { libc::sigaction(libc::SIGBUS, action, before.as_mut_ptr()) };
    if result != 0 {
        return Err(crate::last_errno());
    }
    // SAFETY: the call succeeded and filled it.
    Ok(unsafe { before.assume_init() })
}

extern "C" fn on_sigbus(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a valid siginfo to a handler installed with SA_SIGINFO.
    let info_ref = unsafe { &*info };
    // SAFETY: SIGBUS carries an address.
    let address = unsafe { info_ref.si_addr() }.addr();
    let patched = entry_of(address).is_some_and(|entry| {
        let patched = patch_page(address);
        entry.faulted.store(true, Ordering::Relaxed);
        patched
    });
    if !patched {
        pass_on(signal, info, context);
    }
}

fn entry_of(address: usize) -> Option<&'static Entry> {
    TABLE.iter().find(|entry| {
        let start = entry.start.load(Ordering::Acquire);
        let inside = start != FREE && start <= address && address < entry.end.load(Ordering::Acquire);
        // The second look: an entry that changes hands meanwhile is nobody's.
        inside && entry.start.load(Ordering::Relaxed) == start
    })
}

/// Maps an anonymous page over the one that holds `address`.
fn patch_page(address: usize) -> bool {
    let page_bytes = PAGE_BYTES.load(Ordering::Relaxed);
    let page = address - address % page_bytes;
    // SAFETY: this thread's own errno.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above; the code that was interrupted must not see it changed.
    let saved = unsafe { *errno };
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_FIXED | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: the page is part of a registered mapping, which stays mapped while its owner is in the copy that
    // faulted; only that mapping's pages are replaced. mmap is a bare system call, safe in a handler.
    let mapped = unsafe {
        libc::mmap(
            ptr::without_provenance_mut(page),
            page_bytes,
            protection,
            flags,
            -1,
            0,
        )
    };
    // SAFETY: as above.
    unsafe { *errno = saved };
    mapped != libc::MAP_FAILED
}

/// A fault that is not ours: the handler before decides, or the default, which ends the process.
fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let handler = EARLIER_HANDLER.load(Ordering::Relaxed);
    if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
        // Returning repeats the access, which then faults with the default action.
        // SAFETY: SIG_DFL is a valid action, and signal() is async-signal-safe.
        unsafe { libc::signal(libc::SIGBUS, libc::SIG_DFL) };
    } else if EARLIER_TAKES_INFO.load(Ordering::Relaxed) {
        type WithInfo = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
        // SAFETY: sigaction gave this address as that of a handler with SA_SIGINFO.
        let handler = unsafe { std::mem::transmute::<usize, WithInfo>(handler) };
        handler(signal, info, context);
    } else {
        type Plain = extern "C" fn(c_int);
        // SAFETY: sigaction gave this address as that of a handler without SA_SIGINFO.
        let handler = unsafe { std::mem::transmute::<usize, Plain>(handler) };
        handler(signal);
    }
}
