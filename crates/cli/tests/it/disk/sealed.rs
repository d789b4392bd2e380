//! NBD by TLS, with the clients of others.

use super::nbd::installed;
use super::served::{Served, or_skip, shell};
use crate::certificates::Certificates;
use crate::harness::{Place, tool};
use fathom_core::rng::Rng;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

/// A server that lets only clients with certificates in.
fn served<'a>(place: &'a Place, own: &Certificates) -> Result<Served<'a>, String> {
    Served::start(
        place,
        &format!("null: --size 64MiB --nbd 127.0.0.1:0 {}", own.flags(Some(own))),
    )
}

#[test]
fn nbdinfo_and_nbdcopy_by_tls() {
    let test = "nbdinfo_and_nbdcopy_by_tls";
    let place = Place::new();
    or_skip!(test, installed("nbdinfo").and(installed("nbdcopy")));
    let own = or_skip!(test, Certificates::make(&place, "own"));
    let other = or_skip!(test, Certificates::make(&place, "other"));
    let served = or_skip!(test, served(&place, &own));
    let uri = served.way("nbd").to_owned();
    assert!(uri.starts_with("nbds://127.0.0.1:"), "{uri}");
    let with = |certificates: &Certificates| format!("{uri}?tls-certificates={}", certificates.dir());
    let info = tool(&format!("nbdinfo {}", with(&own))).expect("nbdinfo");
    assert!(
        info.contains("with TLS") && info.contains("export-size: 67108864"),
        "{info}"
    );
    // Neither without TLS, nor with a certificate of somebody else's, nor with none.
    std::fs::create_dir(place.path("none")).expect("a folder");
    std::fs::copy(own.path("ca-cert.pem"), place.path("none/ca-cert.pem")).expect("a copy");
    for wrong in [
        uri.replacen("nbds", "nbd", 1),
        format!("{uri}?tls-certificates={}", place.path("none").display()),
    ] {
        assert!(tool(&format!("nbdinfo {wrong}")).is_err(), "{wrong}");
    }
    for file in ["client-cert.pem", "client-key.pem"] {
        std::fs::copy(other.path(file), place.path("none").join(file)).expect("a copy");
    }
    let foreign = format!("{uri}?tls-certificates={}", place.path("none").display());
    assert!(
        tool(&format!("nbdinfo {foreign}")).is_err(),
        "of another authority"
    );
    // In, out, and the same.
    let mut data = vec![0u8; 64 << 20];
    Rng::new(fathom_testkit::seed()).fill(&mut data[..40 << 20]);
    place.write("in", &data);
    let (from, to) = (place.path("in"), place.path("out"));
    let uri = with(&own);
    tool(&format!("nbdcopy {} {uri}", from.display())).expect("nbdcopy in");
    tool(&format!("nbdcopy {uri} {}", to.display())).expect("nbdcopy out");
    assert!(std::fs::read(&to).expect("what came out") == data, "it differs");
    served.end(0);
}

#[test]
fn qemu_by_tls() {
    let test = "qemu_by_tls";
    let place = Place::new();
    or_skip!(test, installed("qemu-io").and(installed("qemu-img")));
    let own = or_skip!(test, Certificates::make(&place, "own"));
    let served = or_skip!(test, served(&place, &own));
    let port = served.way("nbd").rsplit(':').next().expect("a port").to_owned();
    let image = format!(
        "--object tls-creds-x509,id=tls0,dir={},endpoint=client --image-opts driver=nbd,host=127.0.0.1,port={port},tls-creds=tls0",
        own.dir()
    );
    let line = format!(
        "qemu-io -c 'write -P 0xcd 1M 3M' -c 'flush' -c 'write -f -P 0xab 2M 64k' -c 'read -P 0xcd 1M 1M' -c 'read -P 0xab 2M 64k' \
         -c 'discard 1M 1M' -c 'read -P 0 1M 1M' {image}"
    );
    let said = shell(&place, &line).expect("qemu-io");
    assert!(!said.contains("failed"), "{said}");
    // Many at a time: answers are sealed by one thread, requests opened by another.
    let mut data = vec![0u8; 64 << 20];
    Rng::new(fathom_testkit::seed()).fill(&mut data[10 << 20..]);
    place.write("in", &data);
    let (object, options) = image.split_once(" --image-opts ").expect("both");
    for line in [
        format!("qemu-img convert {object} -n -W -m 16 -f raw --target-image-opts in {options}"),
        format!("qemu-img convert {object} --image-opts -W -m 16 -O raw {options} out"),
    ] {
        shell(&place, &format!("cd {} && {line}", place.path("").display())).expect("qemu-img convert");
    }
    assert!(
        std::fs::read(place.path("out")).expect("what came out") == data,
        "it differs"
    );
    served.end(0);
}

/// Who says nothing, or nonsense in the place of a handshake, holds up nobody else, and the server ends all the same.
#[test]
fn who_does_not_finish_a_handshake_holds_up_nobody() {
    let test = "who_does_not_finish_a_handshake_holds_up_nobody";
    let place = Place::new();
    or_skip!(test, installed("nbdinfo"));
    let own = or_skip!(test, Certificates::make(&place, "own"));
    let served = or_skip!(test, served(&place, &own));
    let uri = served.way("nbd").to_owned();
    let at = uri.trim_start_matches("nbds://").to_owned();
    let begin = |after: &[u8]| {
        let mut stream = TcpStream::connect(&at).expect("a connection");
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .expect("patience");
        stream.read_exact(&mut [0; 18]).expect("a greeting");
        let mut says = 3u32.to_be_bytes().to_vec();
        says.extend(0x4948_4156_454f_5054u64.to_be_bytes());
        // NBD_OPT_STARTTLS
        says.extend([0, 0, 0, 5, 0, 0, 0, 0]);
        says.extend(after);
        stream.write_all(&says).expect("sent");
        stream.read_exact(&mut [0; 20]).expect("leave to begin");
        stream
    };
    let silent: Vec<TcpStream> = (0..8).map(|_| begin(&[])).collect();
    // What is sent before the handshake is taken for a part of it, and is none.
    let mut injected = begin(b"IHAVEOPT\0\0\0\x07\0\0\0\x06\0\0\0\0\0\0");
    let mut rest = Vec::new();
    let ended = injected.read_to_end(&mut rest);
    assert!(
        ended.is_err() || rest.len() < 100,
        "it went on: {} bytes",
        rest.len()
    );
    tool(&format!("nbdinfo {uri}?tls-certificates={}", own.dir())).expect("others are served");
    served.end(0);
    drop(silent);
}

#[test]
fn certificates_that_make_no_sense_are_refused_before_anything_is_touched() {
    let test = "certificates_that_make_no_sense_are_refused_before_anything_is_touched";
    let place = Place::new();
    let own = or_skip!(test, Certificates::make(&place, "own"));
    let other = or_skip!(test, Certificates::make(&place, "other"));
    place.write("text", "no certificate\n");
    let text = place.path("text").display().to_string();
    let (cert, key) = (own.path("server-cert.pem"), own.path("server-key.pem"));
    let other_key = other.path("server-key.pem");
    let before = place.names();
    for (flags, said) in [
        (format!("--nbd 127.0.0.1:0 --tls-cert {cert}"), "--tls-key"),
        (format!("--nbd 127.0.0.1:0 --tls-ca {cert}"), "--tls-cert"),
        (
            format!("--nbd 127.0.0.1:0 --tls-cert nothing --tls-key {key}"),
            "--tls-cert nothing",
        ),
        (
            format!("--nbd 127.0.0.1:0 --tls-cert {text} --tls-key {key}"),
            "no certificate is in it",
        ),
        (
            format!("--nbd 127.0.0.1:0 --tls-cert {cert} --tls-key {text}"),
            "give a private key in PEM",
        ),
        (
            format!("--nbd 127.0.0.1:0 --tls-cert {cert} --tls-key {other_key}"),
            "they do not belong together",
        ),
        (
            format!("--nbd unix:s --tls-cert {cert} --tls-key {key}"),
            "there is nothing to be sealed",
        ),
        // Sealed, but for everybody.
        (
            format!("--nbd 0.0.0.0:0 --tls-cert {cert} --tls-key {key}"),
            "--tls-ca",
        ),
    ] {
        place
            .fathom(&format!("disk serve null: --size 1MiB {flags}"))
            .expect(2)
            .saying(said);
    }
    assert_eq!(place.names(), before);
}

/// A client of this test's own, so that many requests are under way at once and answers are left lying.
struct Client(rustls::StreamOwned<rustls::ClientConnection, TcpStream>);

impl Client {
    /// Begins with TLS, and chooses the first export by the old option: answers are simple.
    fn connect(at: &str, own: &Certificates) -> Self {
        let read = |file: &str| CertificateDer::from_pem_file(own.path(file)).expect("a certificate");
        let mut trusted = rustls::RootCertStore::empty();
        trusted.add(read("ca-cert.pem")).expect("an authority");
        let key = PrivateKeyDer::from_pem_file(own.path("client-key.pem")).expect("a key");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .expect("TLS 1.3")
            .with_root_certificates(trusted)
            .with_client_auth_cert(vec![read("client-cert.pem")], key)
            .expect("a client");
        let mut stream = TcpStream::connect(at).expect("a connection");
        let patience = Some(Duration::from_mins(1));
        stream.set_read_timeout(patience).expect("patience");
        stream.set_write_timeout(patience).expect("patience");
        stream.read_exact(&mut [0; 18]).expect("a greeting");
        let option = |number: u32| [&b"IHAVEOPT"[..], &number.to_be_bytes(), &[0; 4]].concat();
        let begin = [&3u32.to_be_bytes()[..], &option(5)].concat();
        stream.write_all(&begin).expect("sent");
        stream.read_exact(&mut [0; 20]).expect("leave to begin");
        let name = "localhost".try_into().expect("a name");
        let connection = rustls::ClientConnection::new(Arc::new(config), name).expect("a connection");
        let mut sealed = Self(rustls::StreamOwned::new(connection, stream));
        sealed.0.write_all(&option(1)).expect("sent");
        sealed.0.read_exact(&mut [0; 10]).expect("an export");
        sealed
    }

    fn ask(&mut self, kind: u16, cookie: u64, offset: u64, len: u32, data: &[u8]) {
        let mut request = 0x2560_9513_u32.to_be_bytes().to_vec();
        request.extend(0u16.to_be_bytes());
        request.extend(kind.to_be_bytes());
        request.extend(cookie.to_be_bytes());
        request.extend(offset.to_be_bytes());
        request.extend(len.to_be_bytes());
        request.extend(data);
        self.0.write_all(&request).expect("sent");
    }

    /// The cookie of the next answer, which is one of success.
    fn answered(&mut self) -> u64 {
        let mut head = [0; 16];
        self.0.read_exact(&mut head).expect("an answer");
        assert_eq!(head[..8], [0x67, 0x44, 0x66, 0x98, 0, 0, 0, 0]);
        u64::from_be_bytes(head[8..].try_into().expect("eight"))
    }

    fn data(&mut self, len: usize) -> Vec<u8> {
        let mut data = vec![0; len];
        self.0.read_exact(&mut data).expect("its data");
        data
    }
}

const READ: u16 = 0;
const WRITE: u16 = 1;

/// Random reads and writes, many at a time, agree with an oracle; and so do answers of which 64 MiB lie about unread, while another
/// client goes on.
#[test]
fn random_io_by_tls_agrees_with_an_oracle() {
    const SLOT: u64 = 256 << 10;
    let test = "random_io_by_tls_agrees_with_an_oracle";
    let place = Place::new();
    let own = or_skip!(test, Certificates::make(&place, "own"));
    let served = or_skip!(test, served(&place, &own));
    let at = served.way("nbd").trim_start_matches("nbds://").to_owned();
    let seed = fathom_testkit::seed();
    let mut rng = Rng::new(seed);
    let mut client = Client::connect(&at, &own);
    let mut oracle = vec![0u8; 64 << 20];
    // What is under way, by slot: where a read began and its length; nothing of a write.
    let mut under_way: BTreeMap<u64, Option<(usize, usize)>> = BTreeMap::new();
    let take = |client: &mut Client, under_way: &mut BTreeMap<u64, Option<(usize, usize)>>, oracle: &[u8]| {
        let slot = client.answered();
        if let Some((from, len)) = under_way.remove(&slot).expect("an answer to what was asked") {
            assert!(
                client.data(len) == oracle[from..from + len],
                "slot {slot} differs, seed {seed}"
            );
        }
    };
    for _ in 0..20_000 {
        let slot = rng.below(oracle.len() as u64 / SLOT);
        while under_way.contains_key(&slot) || under_way.len() >= 32 {
            take(&mut client, &mut under_way, &oracle);
        }
        let most = if rng.below(50) == 0 { SLOT } else { 8192 };
        let len = 1 + rng.below(most);
        let offset = slot * SLOT + rng.below(SLOT - len + 1);
        let (from, to) = (offset as usize, (offset + len) as usize);
        if rng.below(2) == 0 {
            under_way.insert(slot, Some((from, to - from)));
            client.ask(READ, slot, offset, len as u32, &[]);
        } else {
            rng.fill(&mut oracle[from..to]);
            under_way.insert(slot, None);
            client.ask(WRITE, slot, offset, len as u32, &oracle[from..to]);
        }
    }
    while !under_way.is_empty() {
        take(&mut client, &mut under_way, &oracle);
    }
    for mebibyte in 0..64u64 {
        client.ask(READ, mebibyte, mebibyte << 20, 1 << 20, &[]);
    }
    let mut other = Client::connect(&at, &own);
    for _ in 0..100 {
        other.ask(READ, 7, 4096, 4096, &[]);
        assert_eq!(other.answered(), 7);
        assert!(other.data(4096) == oracle[4096..8192]);
    }
    for _ in 0..64 {
        let from = (client.answered() as usize) << 20;
        assert!(
            client.data(1 << 20) == oracle[from..from + (1 << 20)],
            "at {from}, seed {seed}"
        );
    }
    served.end(0);
}
