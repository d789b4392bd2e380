use super::address;

#[test]
fn a_port_alone_is_of_this_machine() {
    for (text, found) in [
        ("9000", "127.0.0.1:9000"),
        (":9000", "127.0.0.1:9000"),
        ("localhost:1", "127.0.0.1:1"),
        ("0.0.0.0:80", "0.0.0.0:80"),
        ("[::1]:80", "[::1]:80"),
    ] {
        assert_eq!(address(text).expect("an address").to_string(), found);
    }
    for wrong in ["", "host:80", "127.0.0.1", "99999", "127.0.0.1:99999", "::1"] {
        assert!(address(wrong).is_err(), "{wrong}");
    }
}
