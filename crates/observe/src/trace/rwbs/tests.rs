use super::*;

fn told(letters: &str) -> (BlockOp, u8) {
    let kind = decode(letters.as_bytes());
    (kind.op, kind.flags.0)
}

#[test]
fn letters_are_read_as_the_kernel_writes_them() {
    use BlockFlags as F;
    assert_eq!(told("R"), (BlockOp::Read, 0));
    assert_eq!(told("RA"), (BlockOp::Read, F::READ_AHEAD));
    assert_eq!(told("RSM"), (BlockOp::Read, F::SYNC | F::META));
    assert_eq!(told("WS\0\0garbage"), (BlockOp::Write, F::SYNC));
    assert_eq!(told("WFS"), (BlockOp::Write, F::FUA | F::SYNC));
    assert_eq!(
        told("FWFSM"),
        (BlockOp::Write, F::PREFLUSH | F::FUA | F::SYNC | F::META)
    );
    assert_eq!(told("FWS"), (BlockOp::Write, F::PREFLUSH | F::SYNC));
    assert_eq!(told("FF"), (BlockOp::Flush, F::PREFLUSH));
    assert_eq!(told("F"), (BlockOp::Flush, 0));
    assert_eq!(told("FN"), (BlockOp::Other, F::PREFLUSH));
    assert_eq!(told("DS"), (BlockOp::Discard, F::SYNC));
    assert_eq!(told("DE"), (BlockOp::Discard, 0));
    assert_eq!(told("WZ"), (BlockOp::Discard, 0));
    assert_eq!(told("N"), (BlockOp::Other, 0));
    assert_eq!(told("ZRA"), (BlockOp::Other, 0));
    assert_eq!(told(""), (BlockOp::Other, 0));
    assert_eq!(decode(&[0xFF; 10]).op, BlockOp::Other);
}
