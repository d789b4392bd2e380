//! The package as dpkg takes it apart.

use super::*;
use flate2::read::GzDecoder;
use std::io::Read as _;

fn package() -> Vec<u8> {
    let files = [
        Entry::file("usr/share/doc/fathom/copyright", b"text".to_vec()),
        Entry::program("usr/bin/fathom", b"program".to_vec()),
    ];
    let release = Release {
        version: String::from("1.2.3"),
        epoch: 1_700_000_000,
    };
    let control = control(&release, "arm64", &files);
    assemble(&files, &control, release.epoch).expect("a package")
}

fn members(package: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut archive = ar::Archive::new(package);
    let mut members = Vec::new();
    while let Some(member) = archive.next_entry() {
        let mut member = member.expect("a member");
        let name = String::from_utf8_lossy(member.header().identifier()).into_owned();
        let mut bytes = Vec::new();
        member.read_to_end(&mut bytes).expect("its bytes");
        members.push((name, bytes));
    }
    members
}

/// Name, mode and contents of each.
fn unpacked(bytes: &[u8]) -> Vec<(String, u32, String)> {
    let mut archive = tar::Archive::new(GzDecoder::new(bytes));
    let entries = archive.entries().expect("an archive");
    entries
        .map(|entry| {
            let mut entry = entry.expect("an entry");
            let name = entry.path().expect("a name").display().to_string();
            let mode = entry.header().mode().expect("a mode");
            let mut text = String::new();
            entry.read_to_string(&mut text).expect("text");
            (name, mode, text)
        })
        .collect()
}

#[test]
fn the_members_are_those_of_a_package_in_their_order() {
    let members = members(&package());
    let names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["debian-binary", "control.tar.gz", "data.tar.gz"]);
    assert_eq!(members[0].1, b"2.0\n");
    let about = unpacked(&members[1].1);
    assert!(about[0].2.contains("Architecture: arm64\n"), "{about:?}");
    // md5sum of `program` and `text`.
    let sums = "1cb251ec0d568de6a929b520c4aed8d1  usr/share/doc/fathom/copyright\n";
    assert!(about[1].2.contains(sums), "{about:?}");
}

#[test]
fn directories_come_before_what_is_in_them() {
    let members = members(&package());
    let data = unpacked(&members[2].1);
    let names: Vec<&str> = data.iter().map(|(name, _, _)| name.as_str()).collect();
    let want = [
        "usr/",
        "usr/bin/",
        "usr/share/",
        "usr/share/doc/",
        "usr/share/doc/fathom/",
        "usr/bin/fathom",
        "usr/share/doc/fathom/copyright",
    ];
    assert_eq!(names, want);
    let modes: Vec<u32> = data.iter().map(|(_, mode, _)| *mode).collect();
    assert_eq!(modes, [0o755, 0o755, 0o755, 0o755, 0o755, 0o755, 0o644]);
}
