//! What a device says of itself, and commands as the specification has them. Devices: `cargo xtask guest`.

use super::*;

const NAMESPACE: Namespace = Namespace {
    id: 3,
    blocks: 1 << 20,
    block_bytes: 4096,
    metadata_bytes: 0,
};

fn identify(blocks: u64, formats: u8, format: u8, entry: (usize, [u8; 4])) -> [u8; IDENTIFY_BYTES] {
    let mut answer = [0; IDENTIFY_BYTES];
    answer[..8].copy_from_slice(&blocks.to_le_bytes());
    answer[25] = formats;
    answer[26] = format;
    answer[128 + 4 * entry.0..][..4].copy_from_slice(&entry.1);
    answer
}

#[test]
fn a_namespace_has_blocks_of_its_format() {
    let found = Namespace::from_identify(1, &identify(2048, 7, 4, (4, [0, 0, 12, 0])));
    let found = found.expect("a namespace");
    assert_eq!((found.id, found.block_bytes, found.metadata_bytes), (1, 4096, 0));
    assert_eq!(found.size_bytes(), 8 << 20);
    // Beside each block 8 bytes.
    let found = Namespace::from_identify(1, &identify(1, 0, 0, (0, [8, 0, 9, 0])));
    let found = found.expect("a namespace");
    assert_eq!((found.block_bytes, found.metadata_bytes), (512, 8));
    // Above 16 formats the number has six bits.
    let found = Namespace::from_identify(1, &identify(1, 40, 0b0100_0001, (33, [0, 0, 12, 0])));
    assert_eq!(found.map(|found| found.block_bytes), Some(4096));
    // A format that is not there.
    assert_eq!(Namespace::from_identify(1, &identify(1, 0, 0, (0, [0; 4]))), None);
    assert_eq!(
        Namespace::from_identify(1, &identify(1, 0, 0, (0, [0, 0, 63, 0]))),
        None
    );
}

#[test]
fn a_command_names_blocks_and_counts_from_zero() {
    let mut buffer = [0; 8192];
    let address = buffer.as_mut_ptr();
    let command = NAMESPACE.transfer(Op::Write, 0x1_0000_0000_3000, (address, 8192));
    let bytes = command.expect("whole blocks").bytes();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four"));
    assert_eq!((bytes[0], word(4)), (WRITE, 3));
    assert_eq!(
        u64::from_le_bytes(bytes[24..32].try_into().expect("eight")),
        address as u64
    );
    assert_eq!(word(36), 8192);
    // The first block in two halves; two blocks.
    assert_eq!((word(40), word(44), word(48)), (0x3, 0x10, 1));
    assert_eq!(
        NAMESPACE
            .transfer(Op::Read, 0, (address, 4096))
            .map(|command| command.bytes()[0]),
        Some(READ)
    );
}

#[test]
fn only_whole_blocks_are_transferred_and_no_more_than_a_command_counts() {
    let null = ptr::null_mut();
    for (op, offset, len) in [
        (Op::Read, 512, 4096),
        (Op::Read, 0, 512),
        (Op::Write, 0, 0),
        (Op::Trim, 0, 4096),
        (Op::Sync, 0, 0),
        (Op::Read, 0, (BLOCKS_MAX as u32 + 1) * 4096),
    ] {
        assert!(
            NAMESPACE.transfer(op, offset, (null, len)).is_none(),
            "{op:?} {offset} {len}"
        );
    }
    assert!(
        NAMESPACE
            .transfer(Op::Read, 0, (null, BLOCKS_MAX as u32 * 4096))
            .is_some()
    );
}

#[test]
fn a_status_becomes_the_errno_of_the_block_layer() {
    // With and without "do not retry" and "more".
    for more in [0, 0x4000, 0x2000] {
        assert_eq!(errno_of(0x281 | more), libc::ENODATA);
        assert_eq!(errno_of(0x80 | more), libc::EREMOTEIO);
        assert_eq!(errno_of(0x06 | more), libc::EIO);
    }
}

#[test]
fn what_is_no_namespace_says_so() {
    let file = tempfile::tempfile().expect("a file");
    let error = namespace(&file).expect_err("no namespace");
    assert_eq!(error.raw_os_error(), Some(libc::ENOTTY));
    assert_eq!(flush(&file, &NAMESPACE), Err(Errno(libc::ENOTTY)));
    assert_eq!(deallocate(&file, &NAMESPACE, 0, 4096), Err(Errno(libc::ENOTTY)));
    assert_eq!(deallocate(&file, &NAMESPACE, 0, 512), Err(Errno(libc::EINVAL)));
}
