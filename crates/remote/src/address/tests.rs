use super::{Address, DEFAULT_PORT};
use std::path::PathBuf;

#[test]
fn fios_forms_are_read() {
    let host = |host: &str, port| Address::Host {
        host: host.to_owned(),
        port,
    };
    for (word, expected) in [
        ("box", host("box", DEFAULT_PORT)),
        ("box,4444", host("box", 4444)),
        (",4444", host("", 4444)),
        ("4444", host("", 4444)),
        ("", host("", DEFAULT_PORT)),
        ("ip:1.2.3.4,99", host("1.2.3.4", 99)),
        ("ip6:::1,4", host("::1", 4)),
        ("sock:/tmp/s", Address::Socket(PathBuf::from("/tmp/s"))),
    ] {
        assert_eq!(Address::from_word(word), Ok(expected), "{word}");
    }
    for word in ["box,0", "box,x", "sock:", "box,70000", "a b"] {
        assert!(Address::from_word(word).is_err(), "{word}");
    }
}
