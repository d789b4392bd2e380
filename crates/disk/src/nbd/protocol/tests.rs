use super::{Agreed, Command, Error, Export, Negotiated, Request, negotiate, negotiate_secured};
use std::io::{self, Cursor, Read, Write};

/// A client whose words are all there from the beginning.
struct Script {
    says: Cursor<Vec<u8>>,
    hears: Vec<u8>,
}

impl Read for Script {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.says.read(buffer)
    }
}

impl Write for Script {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.hears.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn exports() -> Vec<Export> {
    ["data", "log"]
        .map(|name| Export {
            name: name.to_owned(),
            size_bytes: 1 << 20,
        })
        .to_vec()
}

fn option(number: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = 0x4948_4156_454f_5054u64.to_be_bytes().to_vec();
    bytes.extend(number.to_be_bytes());
    bytes.extend((data.len() as u32).to_be_bytes());
    bytes.extend(data);
    bytes
}

fn counted(text: &[u8]) -> Vec<u8> {
    let mut bytes = (text.len() as u32).to_be_bytes().to_vec();
    bytes.extend(text);
    bytes
}

/// What comes of options, and the kinds of the replies.
fn talk(options: &[Vec<u8>]) -> (Result<Option<Negotiated>, Error>, Vec<u32>) {
    let mut says = 3u32.to_be_bytes().to_vec();
    says.extend(options.concat());
    let mut script = Script {
        says: Cursor::new(says),
        hears: Vec::new(),
    };
    let result = negotiate(&mut script, &exports(), false).map(|agreed| match agreed {
        Agreed::Export(negotiated) => Some(negotiated),
        Agreed::Nothing => None,
        Agreed::StartTls(_) => panic!("nobody has TLS here"),
    });
    (result, kinds(&script.hears[18..]))
}

/// The kinds of replies.
fn kinds(mut rest: &[u8]) -> Vec<u32> {
    let mut kinds = Vec::new();
    while rest.len() >= 20 && rest[..8] == 0x0003_e889_0455_65a9u64.to_be_bytes() {
        kinds.push(u32::from_be_bytes(rest[12..16].try_into().expect("four")));
        let len = u32::from_be_bytes(rest[16..20].try_into().expect("four")) as usize;
        rest = &rest[20 + len..];
    }
    kinds
}

/// Nothing is told before TLS, not even which exports there are; and what was said before it does not count.
#[test]
fn where_tls_is_required_nothing_is_agreed_before_it() {
    const TLS_REQUIRED: u32 = (1 << 31) + 5;
    const INVALID: u32 = (1 << 31) + 3;
    let talk = |options: &[Vec<u8>]| {
        let mut says = 3u32.to_be_bytes().to_vec();
        says.extend(options.concat());
        let mut script = Script {
            says: Cursor::new(says),
            hears: Vec::new(),
        };
        let result = negotiate(&mut script, &exports(), true);
        (result, kinds(&script.hears[18..]))
    };
    let before = [
        option(3, &[]),
        option(8, &[]),
        go(b"data"),
        option(6, &counted(b"data")),
        option(10, &[]),
        option(99, &[]),
        option(5, b"x"),
        option(5, &[]),
    ];
    let (agreed, replies) = talk(&before);
    assert_eq!(replies[..6], [TLS_REQUIRED; 6]);
    assert_eq!(replies[6..], [INVALID, 1]);
    let Ok(Agreed::StartTls(opening)) = agreed else {
        panic!("{agreed:?}");
    };
    // The old way has no way to refuse.
    assert!(matches!(talk(&[option(1, b"data")]).0, Err(Error::Protocol(_))));
    assert!(matches!(talk(&[option(2, &[])]).0, Ok(Agreed::Nothing)));
    let mut script = Script {
        says: Cursor::new([option(5, &[]), option(10, &[]), go(b"log")].concat()),
        hears: Vec::new(),
    };
    let agreed = negotiate_secured(&mut script, &exports(), opening);
    let Ok(Agreed::Export(negotiated)) = agreed else {
        panic!("{agreed:?}");
    };
    assert_eq!((negotiated.export, negotiated.structured), (1, false));
    assert_eq!(kinds(&script.hears)[..2], [INVALID, INVALID], "no TLS within TLS");
}

#[test]
fn where_there_is_no_tls_it_is_not_begun() {
    let (agreed, replies) = talk(&[option(5, &[]), go(b"data")]);
    assert_eq!(replies[0], (1 << 31) + 1);
    assert!(agreed.is_ok_and(|agreed| agreed.is_some()));
}

fn go(name: &[u8]) -> Vec<u8> {
    let mut data = counted(name);
    data.extend(0u16.to_be_bytes());
    option(7, &data)
}

#[test]
fn an_export_is_chosen_with_what_was_agreed_before() {
    let mut contexts = counted(b"log");
    contexts.extend(1u32.to_be_bytes());
    contexts.extend(counted(b"base:allocation"));
    let (result, kinds) = talk(&[option(8, &[]), option(10, &contexts), go(b"log")]);
    let expected = Negotiated {
        export: 1,
        size_bytes: 1 << 20,
        structured: true,
        extents: true,
    };
    assert_eq!(result.expect("agreed"), Some(expected));
    assert_eq!(kinds, [1, 4, 1, 3, 3, 1]);
    // Extents were agreed for another export.
    let (result, _) = talk(&[option(8, &[]), option(10, &contexts), go(b"data")]);
    assert!(!result.expect("agreed").expect("an export").extents);
}

#[test]
fn options_are_refused_one_by_one_and_talk_goes_on() {
    let unsupported = (1 << 31) + 1;
    let (invalid, unknown, too_big) = ((1 << 31) + 3, (1 << 31) + 6, (1 << 31) + 9);
    let (result, kinds) = talk(&[
        option(5, &[]),
        option(99, b"what?"),
        option(3, b"x"),
        option(3, &[]),
        go(b"nothing"),
        option(7, &[0, 0, 0, 200, 1]),
        option(10, &[]),
        option(99, &vec![0; 100_000]),
        option(2, &[]),
    ]);
    assert_eq!(result.expect("an end"), None);
    let expected = [
        unsupported,
        unsupported,
        invalid,
        2,
        2,
        1,
        unknown,
        invalid,
        invalid,
        too_big,
        1,
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn what_nobody_can_answer_ends_the_talk() {
    assert!(talk(&[option(1, b"nothing")]).0.is_err());
    assert!(talk(&[option(1, &vec![b'x'; 20_000])]).0.is_err());
    assert!(talk(&[b"GET / HTTP/1.1\r\n".to_vec()]).0.is_err());
    assert!(talk(&vec![option(3, &[]); 1000]).0.is_err());
    assert!(talk(&[]).0.is_err());
}

#[test]
fn requests_are_read_and_judged() {
    let read = |bytes: &[u8]| Request::read(&mut &*bytes);
    assert!(matches!(read(&[]), Ok(None)));
    assert!(read(&[0; 27]).is_err());
    assert!(read(&[0; 28]).is_err());
    let mut bytes = 0x2560_9513u32.to_be_bytes().to_vec();
    bytes.extend(1u16.to_be_bytes());
    bytes.extend(1u16.to_be_bytes());
    bytes.extend(9u64.to_be_bytes());
    bytes.extend(4096u64.to_be_bytes());
    bytes.extend(512u32.to_be_bytes());
    let request = read(&bytes).expect("a request").expect("one");
    assert_eq!(
        (request.command, request.cookie),
        (Command::Write { forced: true }, 9)
    );
    let agreed = Negotiated {
        export: 0,
        size_bytes: 4096 + 512,
        structured: false,
        extents: false,
    };
    assert_eq!(request.check(&agreed), Ok(()));
    let smaller = Negotiated {
        size_bytes: 4096 + 511,
        ..agreed
    };
    assert_eq!(request.check(&smaller), Err(28));
    bytes[7] = 8;
    assert!(read(&bytes).is_err(), "no such command");
}
