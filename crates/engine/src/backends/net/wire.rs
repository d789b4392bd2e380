//! What two sides of `ioengine=net` say beside their blocks, as fio 3.33 says it on the wire.
//!
//! Data in: blocks, datagrams. Data out: the same with their numbers; what a few bytes mean. It must not know sockets.

/// The sender of datagrams is there.
pub(super) const OPEN: [u8; 8] = *b"link\0\0\0\x98";
/// One side goes: the last bytes of a stream, or a datagram.
pub(super) const CLOSE: [u8; 8] = *b"knil\x89\0\0\0";

/// Behind the data of a datagram: a mark, its number, its length.
const MARK: [u8; 8] = *b"ceUnquse";
const NUMBER_BYTES: usize = 24;

/// Writes the number of a datagram over its last bytes, where it is long enough.
pub(super) fn write_number(datagram: &mut [u8], number: u64) {
    let len = datagram.len() as u64;
    let Some(at) = datagram.len().checked_sub(NUMBER_BYTES) else {
        return;
    };
    let parts = [MARK, number.to_le_bytes(), len.to_le_bytes()];
    for (place, part) in datagram[at..].chunks_exact_mut(8).zip(parts) {
        place.copy_from_slice(&part);
    }
}

/// The number of a datagram; `None`: it has none.
pub(super) fn number_of(datagram: &[u8]) -> Option<u64> {
    let tail = datagram.last_chunk::<NUMBER_BYTES>()?;
    let (mark, rest) = tail.split_first_chunk::<8>()?;
    let number = rest.first_chunk::<8>()?;
    (*mark == MARK).then(|| u64::from_le_bytes(*number))
}

/// Which datagrams came.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Numbers {
    next: u64,
    /// Those between that did not come.
    pub(super) lost: u64,
}

impl Numbers {
    /// The number of the next datagram to be sent.
    pub(super) fn take(&mut self) -> u64 {
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        number
    }

    /// One with this number has come.
    pub(super) fn came(&mut self, number: u64) {
        match number.checked_sub(self.next) {
            Some(between) => {
                self.lost = self.lost.saturating_add(between);
                self.next = number.saturating_add(1);
            }
            // It was overtaken.
            None => self.lost = self.lost.saturating_sub(1),
        }
    }
}
