use super::{Access, HostName, Refusal, Token, TokenError, same, split_host};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use std::net::SocketAddr;
use std::path::Path;

const LOCAL: &str = "127.0.0.1:9877";

fn access(address: &str) -> Access {
    Access {
        address: address.parse().expect("an address"),
        token: None,
        tls: None,
        names: vec!["Disk-Host.example".parse().expect("a name")],
    }
}

fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
    let pairs = pairs.iter().map(|(name, value)| {
        let name = HeaderName::from_bytes(name.as_bytes()).expect("a name");
        (name, HeaderValue::from_str(value).expect("a value"))
    });
    pairs.collect()
}

fn check(access: &Access, pairs: &[(&str, &str)]) -> Result<(), Refusal> {
    let local: SocketAddr = LOCAL.parse().expect("an address");
    access.check(&headers(pairs), local)
}

#[test]
fn only_names_of_this_machine_are_answered() {
    let access = access(LOCAL);
    for host in [
        "127.0.0.1:9877",
        "localhost:9877",
        "LOCALHOST",
        "[::1]:9877",
        "disk-host.example:1",
        "localhost:80",
    ] {
        assert_eq!(check(&access, &[("host", host)]), Ok(()), "{host}");
    }
    for host in [
        "evil.example",
        "evil.example:9877",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "192.0.2.1:9877",
        "0.0.0.0:9877",
        "",
        ":9877",
        "localhost:x",
        "localhost@evil.example",
        "[::1].evil.example",
    ] {
        assert_eq!(
            check(&access, &[("host", host)]),
            Err(Refusal::OtherHost),
            "{host}"
        );
    }
    assert_eq!(check(&access, &[]), Err(Refusal::Malformed));
    assert_eq!(
        check(&access, &[("host", "localhost"), ("host", "localhost")]),
        Err(Refusal::Malformed)
    );
}

#[test]
fn pages_of_other_sites_are_not_answered() {
    let access = access(LOCAL);
    let asked = |pairs: &[(&str, &str)]| {
        let mut all = vec![("host", "localhost:9877")];
        all.extend_from_slice(pairs);
        check(&access, &all)
    };
    for own in [
        &[("origin", "http://localhost:9877")][..],
        &[("sec-fetch-site", "same-origin")],
        &[("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate")],
        &[
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "document"),
        ],
    ] {
        assert_eq!(asked(own), Ok(()), "{own:?}");
    }
    for other in [
        &[("origin", "http://evil.example")][..],
        &[("origin", "null")],
        &[("origin", "http://localhost:80")],
        &[
            ("origin", "http://evil.example"),
            ("sec-fetch-site", "same-origin"),
        ],
        &[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")],
        &[
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "iframe"),
        ],
        &[("sec-fetch-site", "same-site"), ("sec-fetch-mode", "cors")],
    ] {
        assert_eq!(asked(other), Err(Refusal::CrossSite), "{other:?}");
    }
}

#[test]
fn a_token_is_a_bearers_or_a_password() {
    let mut access = access("0.0.0.0:9877");
    access.token = Some(Token(String::from("0123456789abcdef")));
    let asked = |sent: &str| check(&access, &[("host", "localhost"), ("authorization", sent)]);
    let basic = |pair: &str| format!("Basic {}", data_encoding::BASE64.encode(pair.as_bytes()));
    assert_eq!(asked("Bearer 0123456789abcdef"), Ok(()));
    assert_eq!(asked("bearer  0123456789abcdef"), Ok(()));
    assert_eq!(asked(&basic("anyone:0123456789abcdef")), Ok(()));
    assert_eq!(asked(&basic(":0123456789abcdef")), Ok(()));
    for wrong in [
        "Bearer 0123456789abcdeg",
        "Bearer 0123456789abcdef0",
        "Bearer 0123456789abcde",
        "Bearer 0123456789abcdef0123456789abcdef",
        "Bearer ",
        "Bearer",
        "0123456789abcdef",
        "Basic 0123456789abcdef",
        "Digest 0123456789abcdef",
        &basic("0123456789abcdef"),
        &basic("0123456789abcdef:"),
    ] {
        assert_eq!(asked(wrong), Err(Refusal::Unknown), "{wrong}");
    }
    assert_eq!(check(&access, &[("host", "localhost")]), Err(Refusal::Unknown));
    // Who asks for another host is not asked for a token.
    assert_eq!(
        check(&access, &[("host", "evil.example")]),
        Err(Refusal::OtherHost)
    );
    assert!(!same(b"", b"x") && same(b"x", b"x"));
    assert!(!format!("{access:?}").contains("0123456789abcdef"));
}

#[test]
fn hosts_are_split_where_their_ports_begin() {
    assert_eq!(split_host("a:1"), ("a", Some("1")));
    assert_eq!(split_host("a"), ("a", None));
    assert_eq!(split_host("[::1]"), ("[::1]", None));
    assert_eq!(split_host("[::1]:80"), ("[::1]", Some("80")));
    assert!("a b".parse::<HostName>().is_err() && "a:1".parse::<HostName>().is_err());
}

/// A device gives without end; no more is read of it than a token can have.
#[test]
fn a_token_is_read_of_a_short_file_or_a_pipe_alone() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("token");
    for endless in ["/dev/zero", "/dev/urandom"] {
        let read = Token::read(Path::new(endless));
        assert!(matches!(read, Err(TokenError::Unfit { .. })), "{read:?}");
    }
    for (letters, fits) in [
        (15, false),
        (16, true),
        (1024, true),
        (1025, false),
        (1 << 20, false),
    ] {
        std::fs::write(&path, "x".repeat(letters) + "\n").expect("a file");
        assert_eq!(Token::read(&path).is_ok(), fits, "{letters}");
    }
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    std::io::Write::write_all(&mut writer, b"0123456789abcdef\n").expect("written");
    drop(writer);
    let name = format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&reader));
    assert!(Token::read(Path::new(&name)).is_ok());
}
