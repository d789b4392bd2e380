use super::{Source, place};

#[test]
fn it_holds_what_was_filled_in() {
    let source = Source::new(10_000, |bytes| bytes.fill(7)).expect("memory");
    assert!(source.bytes().len() == 10_000 && source.bytes().iter().all(|byte| *byte == 7));
    assert_eq!(place(Some(&source), 4096, 5904).addr() % 4096, 0);
}

#[test]
#[should_panic(expected = "out of range")]
fn nothing_is_read_beyond_its_end() {
    let source = Source::new(10_000, |_| {}).expect("memory");
    place(Some(&source), 4096, 5905);
}
