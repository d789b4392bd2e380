use super::{MountRow, parse_mounts, servers};
use std::path::{Path, PathBuf};

#[test]
fn mounts_of_servers_are_known_by_their_names() {
    let table = "/dev/vda / ext4 rw 0 0\nfathom-disk:4711 /mnt/a\\040b fuse.fathom rw 0 0\nfathom-disk:x /mnt/c fuse rw 0 0\n";
    let mounts = parse_mounts(table);
    let expected = MountRow {
        source: String::from("fathom-disk:4711"),
        at: PathBuf::from("/mnt/a b"),
    };
    assert_eq!(mounts[1], expected);
    assert_eq!(
        servers(&mounts).collect::<Vec<_>>(),
        [(4711, Path::new("/mnt/a b"))]
    );
}
