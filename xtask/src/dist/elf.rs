//! What the header of a program says (elf(5)), as far as it takes to tell for whom it is.

pub(super) struct Program {
    /// `e_machine`.
    pub(super) machine: u16,
    /// Whether it asks for a dynamic linker (`PT_INTERP`).
    pub(super) has_interpreter: bool,
}

const PT_INTERP: u64 = 3;

impl Program {
    /// `None` unless it is a little-endian ELF file of 64 bits.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        if !bytes.starts_with(b"\x7fELF\x02\x01") {
            return None;
        }
        let segments = number(bytes, 32, 8)?;
        let (size, count) = (number(bytes, 54, 2)?, number(bytes, 56, 2)?);
        let mut has_interpreter = false;
        for index in 0..count {
            let at = segments.checked_add(index * size)?;
            has_interpreter |= number(bytes, usize::try_from(at).ok()?, 4)? == PT_INTERP;
        }
        Some(Self {
            machine: u16::try_from(number(bytes, 18, 2)?).ok()?,
            has_interpreter,
        })
    }
}

fn number(bytes: &[u8], at: usize, len: usize) -> Option<u64> {
    let mut whole = [0; 8];
    whole[..len].copy_from_slice(bytes.get(at..)?.get(..len)?);
    Some(u64::from_le_bytes(whole))
}

#[cfg(test)]
mod tests;
