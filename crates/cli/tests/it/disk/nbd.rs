//! The clients of others on the NBD server.

use super::served::{Served, or_skip, shell};
use crate::harness::{Place, skipped, tool};

/// Whether a tool is installed.
pub(super) fn installed(name: &str) -> Result<(), String> {
    let found = tool(&format!("which {name}"));
    found.map(drop).map_err(|_| format!("{name} is not installed"))
}

fn served(place: &Place) -> Result<Served<'_>, String> {
    Served::start(place, "null: --size 64MiB --nbd unix:nbd --nbd 127.0.0.1:0")
}

#[test]
fn nbdinfo_and_nbdcopy() {
    let test = "nbdinfo_and_nbdcopy";
    let place = Place::new();
    or_skip!(test, installed("nbdinfo").and(installed("nbdcopy")));
    let served = or_skip!(test, served(&place));
    let uri = served.way("nbd");
    let info = tool(&format!("nbdinfo {uri}")).expect("nbdinfo");
    for expected in [
        "export-size: 67108864",
        "can_multi_conn: true",
        "can_fua: true",
        "can_trim: true",
        "can_zero: true",
        "block_size_maximum: 33554432",
        "base:allocation",
        "using structured packets",
    ] {
        assert!(info.contains(expected), "`{expected}` is not in\n{info}");
    }
    let list = tool(&format!("nbdinfo --list {uri}")).expect("nbdinfo --list");
    assert!(list.contains("export=\"disk\""), "{list}");
    // In, out, and the same.
    let mut data = vec![0u8; 64 << 20];
    fathom_core::rng::Rng::new(fathom_testkit::seed()).fill(&mut data[..40 << 20]);
    place.write("in", &data);
    let (from, to) = (place.path("in"), place.path("out"));
    tool(&format!("nbdcopy {} {uri}", from.display())).expect("nbdcopy in");
    tool(&format!("nbdcopy {uri} {}", to.display())).expect("nbdcopy out");
    assert!(std::fs::read(&to).expect("what came out") == data, "it differs");
    let map = tool(&format!("nbdinfo --map {uri}")).expect("nbdinfo --map");
    let last = map.lines().last().expect("a line");
    assert!(last.contains("hole,zero"), "the end was never written:\n{map}");
    served.end(0);
}

#[test]
fn qemu() {
    let test = "qemu";
    let place = Place::new();
    or_skip!(test, installed("qemu-io").and(installed("qemu-img")));
    let served = or_skip!(test, served(&place));
    let uri = served.way("nbd").to_owned();
    let line = format!(
        "qemu-io -f raw -c 'write -P 0xcd 1M 3M' -c 'flush' -c 'write -f -P 0xab 2M 64k' -c 'read -P 0xcd 1M 1M' \
         -c 'read -P 0xab 2M 64k' -c 'discard 1M 1M' -c 'read -P 0 1M 1M' -c 'write -z 3M 64k' -c 'read -P 0 3M 64k' '{uri}'"
    );
    let said = shell(&place, &line).expect("qemu-io");
    assert!(!said.contains("failed"), "{said}");
    let bench = format!("qemu-img bench -f raw -c 20000 -d 16 -s 4096 -n -t none '{uri}'");
    let said = shell(&place, &bench).expect("qemu-img bench");
    assert!(said.contains("Run completed"), "{said}");
    let bench = format!("qemu-img bench -f raw -w --flush-interval=64 -c 5000 -d 16 -s 4096 -t none '{uri}'");
    shell(&place, &bench).expect("qemu-img bench of writes");
    served.end(0);
}

#[test]
fn fio_verifies_what_it_wrote() {
    let test = "fio_verifies_what_it_wrote";
    let place = Place::new();
    let engines = or_skip!(test, tool("fio --enghelp"));
    if !engines.split_whitespace().any(|engine| engine == "nbd") {
        return skipped(test, "fio with its nbd engine");
    }
    let served = or_skip!(test, served(&place));
    let line = format!(
        "fio --name=x --ioengine=nbd --uri='{}' --rw=randrw --bs=4k --iodepth=16 --size=16m --verify=crc32c --verify_fatal=1 \
         --do_verify=1",
        served.way("nbd")
    );
    let said = shell(&place, &line).expect("fio");
    assert!(said.contains("err= 0"), "{said}");
    served.end(0);
}
