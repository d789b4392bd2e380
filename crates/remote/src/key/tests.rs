use super::Key;

#[test]
fn a_key_is_64_digits() {
    let text = "00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF";
    let key = Key::from_text(&format!("  {text}\n")).expect("a key");
    assert_eq!(key.bytes()[..3], [0, 0x11, 0x22]);
    assert_eq!(format!("{key:?}"), "Key(…)");
    for other in ["", &text[1..], "zz", &format!("{text}00")] {
        assert!(Key::from_text(other).is_err(), "{other}");
    }
}
