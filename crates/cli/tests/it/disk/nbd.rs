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

/// Of fathom itself: what may be written to is asked for as of a device, and either verifies what the other wrote.
#[test]
fn fathom_measures_an_export() {
    let test = "fathom_measures_an_export";
    let place = Place::new();
    let served = or_skip!(test, served(&place));
    let uri = served.way("nbd").to_owned();
    let job = |words: &str| format!("--ioengine=nbd --uri={uri} --bs=4k --iodepth=16 --size=16m {words}");
    let write = job("--name=w --rw=randrw --verify=crc32c --fsync=64");
    let refused = place.fathom(&format!("fio {write}")).expect(1);
    assert!(
        refused.stderr.contains(&format!("--allow-overwrite '{uri}'")),
        "{}",
        refused.stderr
    );
    let allowed = format!("--allow-overwrite {uri}");
    place.fathom(&format!("fio {allowed} {write}")).expect(0);
    let told = place
        .fathom(&format!(
            "fio {allowed} {} --output-format=json",
            job("--name=s --rw=write --verify=crc32c")
        ))
        .expect(0)
        .json();
    let job_of = &told["jobs"][0];
    assert_eq!(
        (&job_of["write"]["total_ios"], &job_of["read"]["total_ios"]),
        (&4096.into(), &4096.into())
    );
    assert!(
        job_of["iodepth_level"]["16"].as_f64().expect("a share") > 50.0,
        "{job_of}"
    );
    // fio, where it has the interface, finds what was written.
    if tool("fio --enghelp").is_ok_and(|engines| engines.split_whitespace().any(|engine| engine == "nbd")) {
        let said = shell(
            &place,
            &format!(
                "fio {}",
                job("--name=s --rw=read --verify=crc32c --verify_fatal=1").replace(&uri, &format!("'{uri}'"))
            ),
        );
        assert!(said.expect("fio").contains("err= 0"));
    }
    place
        .fathom(&format!(
            "fio {}",
            job("--name=s --rw=write --verify=crc32c --verify_only=1")
        ))
        .expect(0);
    // All of it; then what lies behind is clipped, and what is no export is no file either.
    let whole = place.json(&format!(
        "run --ioengine nbd --uri {uri} --rw randread --bs 64k --name r -o none"
    ));
    assert_eq!(whole["jobs"][0]["read"]["ios"], 1024);
    assert_eq!(whole["target"]["files"][0]["kind"], "remote");
    place
        .fathom(&format!("fio {allowed} {}", job("--name=t --rw=trim")))
        .expect(0);
    // What carries something wants one more word: the magic number of ext4 falls on 1080.
    place
        .fathom(&format!(
            "fio {allowed} {}",
            job("--name=m --rw=write --buffer_pattern=0x53ef")
        ))
        .expect(0);
    let refused = place
        .fathom(&format!("fio {allowed} {}", job("--name=t --rw=trim")))
        .expect(1);
    assert!(
        refused.stderr.contains("carries") && refused.stderr.contains("ext"),
        "{}",
        refused.stderr
    );
    place
        .fathom(&format!(
            "fio {allowed} --allow-overwrite-signature {uri} {}",
            job("--name=t --rw=trim")
        ))
        .expect(0);
    let nobody = uri.replace("/nbd", "/nobody");
    let missing = place
        .fathom(&format!("run --ioengine nbd --uri {nobody} --rw read -o none"))
        .expect(2);
    assert!(missing.stderr.contains("No such file"), "{}", missing.stderr);
    served.end(0);
}

/// The server of others.
#[test]
fn fathom_measures_an_export_of_qemu() {
    let test = "fathom_measures_an_export_of_qemu";
    let place = Place::new();
    or_skip!(test, installed("qemu-nbd"));
    place.write("image", vec![0; 8 << 20]);
    let socket = place.path("qemu").display().to_string();
    let mut server = std::process::Command::new("qemu-nbd")
        .args([
            "-f",
            "raw",
            "-k",
            &socket,
            "--persistent",
            "--shared=8",
            "-x",
            "disk one",
        ])
        .arg(place.path("image"))
        .spawn()
        .expect("qemu-nbd");
    let begun = std::time::Instant::now();
    while !place.path("qemu").exists() && begun.elapsed() < std::time::Duration::from_secs(20) {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let uri = format!("nbd+unix:///disk%20one?socket={socket}");
    let line = format!(
        "fio --name=q --ioengine=nbd --uri={uri} --rw=randwrite --bs=4k --iodepth=8 --size=2m --numjobs=2 --offset_increment=2m \
         --verify=md5 --sync=1 --allow-overwrite {uri}"
    );
    let outcome = place.fathom(&line);
    server.kill().expect("end it");
    server.wait().expect("its end");
    outcome.expect(0);
    let image = std::fs::read(place.path("image")).expect("the image");
    assert!(
        image[..4 << 20]
            .chunks(4096)
            .all(|block| block.iter().any(|&byte| byte != 0)),
        "a block was not written"
    );
    assert!(
        image[4 << 20..].iter().all(|&byte| byte == 0),
        "something was written behind it"
    );
}
