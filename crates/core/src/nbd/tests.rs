use super::{Place, RequestHeader, SimpleReply, Uri, UriError, option_bytes, u16_at, u32_at, u64_at};
use proptest::prelude::*;

fn tcp(host: &str, port: u16, export: &str) -> Uri {
    Uri {
        place: Place::Tcp {
            host: String::from(host),
            port,
        },
        export: String::from(export),
    }
}

#[test]
fn addresses() {
    for (text, meant) in [
        ("nbd://localhost", tcp("localhost", 10_809, "")),
        ("nbd://h:99/a%20b/c", tcp("h", 99, "a b/c")),
        ("nbd://[::1]:1/x", tcp("::1", 1, "x")),
        ("nbd://[::1]", tcp("::1", 10_809, "")),
        ("nbd://h:/x?other=1", tcp("h", 10_809, "x")),
    ] {
        assert_eq!(Uri::parse(text), Ok(meant), "{text}");
    }
    let unix = |path: &str, export: &str| Uri {
        place: Place::Unix(String::from(path)),
        export: String::from(export),
    };
    assert_eq!(Uri::parse("nbd+unix:///?socket=/tmp/s"), Ok(unix("/tmp/s", "")));
    assert_eq!(
        Uri::parse("nbd+unix:///disk?a=b&socket=rel%3Fative"),
        Ok(unix("rel?ative", "disk"))
    );
    for (text, why) in [
        ("", UriError::NoScheme),
        ("/dev/nbd0", UriError::NoScheme),
        ("http://x", UriError::NoScheme),
        ("nbds://h/x", UriError::Tls),
        ("nbd+vsock://2/x", UriError::Vsock),
        ("nbd://me@h", UriError::User),
        ("nbd:///x", UriError::NoHost),
        ("nbd://[::1", UriError::NoHost),
        ("nbd://h:0", UriError::Port),
        ("nbd://h:65536", UriError::Port),
        ("nbd://[::1]x", UriError::Port),
        ("nbd+unix:///x", UriError::NoSocket),
        ("nbd+unix:///x?socket=", UriError::NoSocket),
        ("nbd+unix://h/x?socket=s", UriError::Host),
        ("nbd://h/%4", UriError::Escape),
        ("nbd://h/%zz", UriError::Escape),
        ("nbd://h/%ff", UriError::Escape),
    ] {
        assert_eq!(Uri::parse(text), Err(why), "{text}");
    }
}

/// The layout is the document's, byte by byte.
#[test]
fn headers_lie_as_the_protocol_says() {
    let header = RequestHeader {
        flags: 1,
        command: 4,
        cookie: 0x0102_0304_0506_0708,
        offset_bytes: 0x1112_1314_1516_1718,
        len_bytes: 0x2122_2324,
    };
    let bytes = header.to_bytes();
    assert_eq!(bytes[..8], [0x25, 0x60, 0x95, 0x13, 0, 1, 0, 4]);
    assert_eq!(bytes[8..16], [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(bytes[16..24], [0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18]);
    assert_eq!(bytes[24..], [0x21, 0x22, 0x23, 0x24]);
    let reply = SimpleReply { errno: 5, cookie: 7 };
    assert_eq!(
        reply.to_bytes(),
        [0x67, 0x44, 0x66, 0x98, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 7]
    );
    assert_eq!(option_bytes(7, b"ab"), b"IHAVEOPT\0\0\0\x07\0\0\0\x02ab");
    let numbers = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    assert_eq!(u16_at(&numbers, 1), 0x0203);
    assert_eq!(u32_at(&numbers, 1), 0x0203_0405);
    assert_eq!(u64_at(&numbers, 1), 0x0203_0405_0607_0809);
}

proptest! {
    #[test]
    fn headers_come_back(flags: u16, command: u16, cookie: u64, offset_bytes: u64, len_bytes: u32, errno: u32) {
        let header = RequestHeader { flags, command, cookie, offset_bytes, len_bytes };
        prop_assert_eq!(RequestHeader::from_bytes(&header.to_bytes()), Some(header));
        let reply = SimpleReply { errno, cookie };
        prop_assert_eq!(SimpleReply::from_bytes(&reply.to_bytes()), Some(reply));
    }

    #[test]
    fn no_address_is_too_strange(text in "(nbd|nbds|nbd\\+unix)?(://)?\\PC{0,20}") {
        let _told = Uri::parse(&text);
    }
}
