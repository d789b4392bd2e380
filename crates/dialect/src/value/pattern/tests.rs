use super::byte_pattern;

/// What fio 3.33 wrote into a file for each `buffer_pattern`, byte by byte.
#[test]
fn patterns_are_those_of_fio() {
    let measured: [(&str, &[u8]); 14] = [
        ("0xdeadbeef", &[0xde, 0xad, 0xbe, 0xef]),
        (
            "0xDEADBEEF12345678",
            &[0xde, 0xad, 0xbe, 0xef, 0x12, 0x34, 0x56, 0x78],
        ),
        ("0xabc", &[0x0a, 0xbc]),
        ("0x1", &[1]),
        ("0x00000000", &[0; 4]),
        ("\"abcd\"", b"abcd"),
        ("\"a\\n\"", b"a\\n"),
        ("-12", &[0xf4, 0xff, 0xff, 0xff]),
        ("0", &[0]),
        ("255", &[0xff]),
        ("256", &[0, 1]),
        ("70000", &[0x70, 0x11, 0x01]),
        ("\"ab\"0x41\"cd\"", b"abAcd"),
        ("\"a\"-1", &[0x61, 0xff, 0xff, 0xff, 0xff]),
    ];
    for (text, bytes) in measured {
        assert_eq!(byte_pattern(text).as_deref(), Ok(bytes), "{text}");
    }
}

#[test]
fn what_is_no_pattern() {
    for text in [
        "",
        "abc",
        "%o",
        "0xdead 0xbeef",
        "4294967296",
        "0x",
        "\"ab",
        "-",
        "'file'",
        "\"\"",
    ] {
        assert!(byte_pattern(text).is_err(), "{text}");
    }
    assert!(byte_pattern(&format!("0x{}", "00".repeat((1 << 20) + 1))).is_err());
}
