use super::*;

/// A header with one segment of that kind.
fn program(machine: u8, segment: u8) -> Vec<u8> {
    let mut bytes = vec![0; 120];
    bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
    bytes[18] = machine;
    bytes[32] = 64;
    bytes[54] = 56;
    bytes[56] = 1;
    bytes[64] = segment;
    bytes
}

#[test]
fn machine_and_interpreter_are_told() {
    let loaded = Program::read(&program(183, 1)).expect("a program");
    assert_eq!((loaded.machine, loaded.has_interpreter), (183, false));
    let dynamic = Program::read(&program(62, 3)).expect("a program");
    assert_eq!((dynamic.machine, dynamic.has_interpreter), (62, true));
}

#[test]
fn the_program_of_this_test_is_read() {
    let own = std::fs::read(std::env::current_exe().expect("a path")).expect("a file");
    let number = if cfg!(target_arch = "aarch64") { 183 } else { 62 };
    assert_eq!(Program::read(&own).map(|program| program.machine), Some(number));
}

#[test]
fn what_is_no_program_or_is_cut_short_is_refused() {
    assert!(Program::read(b"#!/bin/sh\n").is_none());
    assert!(Program::read(&program(62, 1)[..64]).is_none());
}
