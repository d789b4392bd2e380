use super::{NbdAddress, address, size};
use std::path::PathBuf;

#[test]
fn sizes_have_binary_units() {
    assert_eq!(size("64GiB"), Ok(64 << 30));
    assert_eq!(
        (size("512m"), size("0"), size("4kb")),
        (Ok(512 << 20), Ok(0), Ok(4096))
    );
    for wrong in ["", "x", "1.5g", "-1", "9999999t", "4q"] {
        assert!(size(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn addresses_are_sockets_or_ports() {
    assert_eq!(
        address("unix:a.sock"),
        Ok(NbdAddress::Unix(PathBuf::from("a.sock")))
    );
    let local = "127.0.0.1:10809"
        .parse()
        .map(NbdAddress::Tcp)
        .expect("an address");
    for text in ["127.0.0.1:10809", ":10809", "localhost:10809"] {
        assert_eq!(address(text).as_ref(), Ok(&local), "{text}");
    }
    for wrong in ["unix:", "10809", "host", "127.0.0.1"] {
        assert!(address(wrong).is_err(), "{wrong}");
    }
}
