//! What fathom wrote to be verified, fio verifies, and the reverse.

use crate::harness::{Place, count, skipped, tool};
use serde_json::Value;
use std::fmt::Write as _;
use std::process::Command;

/// All that fio 3.33 has.
const ALGORITHMS: [&str; 17] = [
    "crc7", "crc16", "crc32", "crc32c", "crc64", "md5", "xxhash", "sha1", "sha256", "sha512", "sha3-224",
    "sha3-256", "sha3-384", "sha3-512", "meta", "pattern", "null",
];

/// A job for each algorithm, on a file of its own.
fn jobs(rw: &str, options: &str) -> String {
    let mut text = format!("[global]\nsize=128k\nrw={rw}\n{options}\n");
    for algorithm in ALGORITHMS {
        let _ = write!(
            text,
            "[{algorithm}]\nfilename=f.{algorithm}\nverify={algorithm}\n"
        );
        if algorithm == "pattern" {
            text += "verify_pattern=0xdeadbeef%o\"xyz\"\n";
        }
    }
    text
}

/// fio on a job file of `place`; its document.
fn fio(place: &Place, file: &str) -> Value {
    let output = Command::new("fio")
        .args(["--output-format=json", "--thread", file])
        .current_dir(place.path(""))
        .output()
        .expect("fio");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let start = text.find('{').unwrap_or_else(|| {
        panic!("{}", String::from_utf8_lossy(&output.stderr));
    });
    serde_json::from_str(&text[start..]).expect("a document")
}

/// The jobs of fio's document that found something.
fn failed(document: &Value) -> Vec<String> {
    let jobs = document["jobs"].as_array().expect("jobs");
    assert_eq!(jobs.len(), ALGORITHMS.len());
    jobs.iter()
        .filter(|job| job["error"] != 0)
        .map(|job| job["jobname"].to_string())
        .collect()
}

#[test]
fn either_verifies_what_the_other_wrote() {
    if let Err(missing) = tool("fio --version") {
        return skipped("either_verifies_what_the_other_wrote", &missing);
    }
    for options in [
        "bs=4k",
        "bs=16k\nverify_interval=4k",
        "bs=8k\nverify_interval=1k\nverify_offset=200",
        "bs=1000",
    ] {
        for rw in ["write", "randwrite"] {
            let place = Place::new();
            place.write("write.fio", jobs(rw, &format!("{options}\ndo_verify=0")));
            place.write("read.fio", jobs("read", options));
            place.fathom("run -q -o none write.fio").expect(0);
            let document = fio(&place, "read.fio");
            assert_eq!(failed(&document), [""; 0], "fio of fathom's, {rw} {options}");
            let place = Place::new();
            place.write("write.fio", jobs(rw, &format!("{options}\ndo_verify=0")));
            place.write("read.fio", jobs("read", options));
            assert_eq!(failed(&fio(&place, "write.fio")), [""; 0]);
            let document = place.json("run -o none read.fio");
            for (at, algorithm) in ALGORITHMS.iter().enumerate() {
                let errors = &document["jobs"][at]["errors"];
                assert_eq!(
                    errors.as_array().map_or(1, Vec::len),
                    0,
                    "fathom of fio's, {rw} {options}: {algorithm}: {errors}"
                );
                assert!(count(&document, &format!("jobs.{at}.verified_ios")) > 0);
            }
        }
    }
}

/// A byte that changed is found by both, in what either wrote.
#[test]
fn either_finds_a_changed_byte() {
    if let Err(missing) = tool("fio --version") {
        return skipped("either_finds_a_changed_byte", &missing);
    }
    let place = Place::new();
    place.write("write.fio", jobs("write", "bs=4k\ndo_verify=0"));
    place.write("read.fio", jobs("read", "bs=4k"));
    place.fathom("run -q -o none write.fio").expect(0);
    for algorithm in ALGORITHMS {
        let path = place.path(format!("f.{algorithm}"));
        let mut bytes = std::fs::read(&path).expect("the file");
        bytes[3 * 4096 + 4000] ^= 0x10;
        std::fs::write(&path, bytes).expect("the file");
    }
    // A header alone says nothing of the rest; fio 3.33's SHA-512 is none.
    let blind = ["meta", "null", "sha512"];
    let document = fio(&place, "read.fio");
    let found: Vec<String> = ALGORITHMS
        .iter()
        .filter(|algorithm| !blind.contains(algorithm))
        .map(|algorithm| format!("\"{algorithm}\""))
        .collect();
    let told: Vec<String> = failed(&document)
        .into_iter()
        .filter(|name| name != "\"sha512\"")
        .collect();
    assert_eq!(told, found);
    let ours = place.fathom("run -q -o none --json read.fio").json();
    for (at, algorithm) in ALGORITHMS.iter().enumerate() {
        let errors = ours["jobs"][at]["errors"].as_array().map_or(0, Vec::len);
        if !blind.contains(algorithm) {
            assert_eq!(errors, 1, "{algorithm}");
        }
    }
}
