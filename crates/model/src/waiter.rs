//! Who waits for an I/O of the machine.
//!
//! Data in and out: a name. It must not know why they wait.

/// Who waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiter {
    /// An I/O of a worker, by its ticket.
    Ticket(u32),
    /// The page cache: a writeback request of so many pages.
    Writeback { pages: u32, number: u64 },
}
