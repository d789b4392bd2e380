//! What scripts leave again and again: an earlier output is replaced, what only looks a little like one is not.

use crate::harness::Place;
use std::io::Write as _;

const JOB: &str = "fio --name=a --ioengine=null --size=64k --eta=never";

fn compressed(text: &str) -> Vec<u8> {
    let mut bytes = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    bytes.write_all(text.as_bytes()).expect("compressed");
    bytes.finish().expect("compressed")
}

#[test]
fn what_only_looks_like_an_earlier_output_stays() {
    let place = Place::new();
    let mut number = vec![0; 400];
    number[0] = 1;
    let packed = compressed("dear");
    let logs = "--write_lat_log=x --write_iops_log=x --write_bw_log=x --write_hist_log=x";
    let packed_logs = format!("{logs} --log_store_compressed=1");
    let verified = "fio --name=a --rw=write --bs=4k --size=64k --verify=crc32c --eta=never --filename=new";
    let cases: [(&str, &[u8], &str); 16] = [
        ("x", b"2;a;b;c\n2;d;e;f\n", "--output=x"),
        ("x", b"my notes\nfio-3.35 was installed\n", "--output=x"),
        ("x", b"fio: a tutorial\n", "--output=x"),
        ("x", b"{ \"a\": 1, \"fio version\" : \"fio-3.3\" }", "--output=x"),
        ("x", b"1, 2\n3, 4\n", "--output=x"),
        ("x", b"1, 2\n3, 4\n", "--write_iolog=x"),
        ("x", b"0, 1, 0, 4096, 0\n", "--write_iolog=x"),
        ("x", b"fio version 3 is what I have\n", "--write_iolog=x"),
        ("x", &packed, "--write_iolog=x"),
        ("x_lat.1.log", b"1, 2\n3, 4\n", logs),
        ("x_bw.1.log", &packed, logs),
        ("x_iops.1.log", b"fio version 3 iolog\n", logs),
        ("x_clat.1.log.fz", &packed, &packed_logs),
        ("x_clat_hist.1.log", b"1, 2, 3\n", logs),
        ("x-read_bw.log", b"1, 2\n3, 4\n", "--bandwidth-log=x"),
        ("local-a-0-verify.state", &number, verified),
    ];
    for (name, contents, words) in cases {
        let path = place.write(name, contents);
        let line = if words.starts_with("fio ") {
            words.to_owned()
        } else {
            format!("{JOB} {words}")
        };
        let outcome = place.fathom(&line);
        assert_eq!(
            std::fs::read(&path).expect("it is there"),
            contents,
            "{name}: {line}"
        );
        let said = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(said.contains("--force"), "{name}: {line}: {said}");
        for left in place.names() {
            std::fs::remove_file(place.path(left)).expect("removed");
        }
    }
}

#[test]
fn an_earlier_output_is_replaced() {
    let place = Place::new();
    let logs = "--write_lat_log=x --write_iops_log=x --write_bw_log=x --write_hist_log=x";
    let verified = "fio --name=a --rw=write --bs=4k --size=64k --verify=crc32c --eta=never --filename=new";
    let lines = [
        format!("{JOB} --output=out"),
        format!("{JOB} --output=out.json --output-format=json"),
        format!("{JOB} --output=out.terse --minimal"),
        format!("{JOB} --write_iolog=io"),
        format!("{JOB} {logs} --bandwidth-log=x"),
        format!("{JOB} {logs} --log_store_compressed=1"),
        verified.to_owned(),
    ];
    for line in &lines {
        place.fathom(line).expect(0);
    }
    let first = place.names();
    for line in &lines {
        place.fathom(line).expect(0);
    }
    assert_eq!(place.names(), first);
}

/// Blocks that do not match are left beside what a user has of that name.
#[test]
fn blocks_that_do_not_match_replace_nothing() {
    let place = Place::new();
    let job = "fio --name=a --verify=crc32c --bs=4k --size=64k --eta=never --filename=data";
    place.fathom(&format!("{job} --rw=write")).expect(0);
    let file = std::fs::File::options().write(true).open(place.path("data"));
    std::os::unix::fs::FileExt::write_all_at(&file.expect("open"), b"other", 1000).expect("written");
    let dear = place.write("data.0.received", "dear");
    for _ in 0..2 {
        let outcome = place.fathom(&format!("{job} --rw=read --verify_dump=1"));
        assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    }
    assert_eq!(std::fs::read(dear).expect("read"), b"dear");
    assert_eq!(
        std::fs::read(place.path("data.0.received.1"))
            .expect("read")
            .len(),
        4096
    );
    assert_eq!(
        std::fs::read(place.path("data.0.expected")).expect("read").len(),
        4096
    );
}
