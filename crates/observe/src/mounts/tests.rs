use super::*;
use crate::fixture::{Tree, dev};

#[test]
fn rows_are_parsed_with_and_without_optional_fields() {
    let tree = Tree::new();
    tree.file(
        "/proc/self/mountinfo",
        "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n\
         36 35 98:0 /mnt1 /mnt\\0402/a rw,noatime master:1 shared:2 - ext3 /dev/root rw,errors=continue\n\
         a line that is none\n\
         40 1 0:33 / /o rw - overlay overlay rw,lowerdir=/l,upperdir=/up\\054per\\134x,workdir=/w\n",
    );
    let table = mounts(&tree.root).expect("the table");
    assert_eq!(table.len(), 3);
    assert_eq!(
        (table[0].device, table[0].filesystem.as_str()),
        (dev(254, 0), "ext4")
    );
    assert_eq!(table[1].point, Path::new("/mnt 2/a"));
    assert_eq!(table[1].source, Path::new("/dev/root"));
    assert_eq!(
        table[2].option("upperdir").as_deref(),
        Some(Path::new("/up,per\\x"))
    );
    assert_eq!(table[2].option("upper"), None);
}

#[test]
fn the_deepest_mount_wins_and_the_later_one_of_two() {
    let tree = Tree::new();
    tree.mounts(&[
        "8:1 / ext4 /dev/sda1 rw",
        "8:17 /data xfs /dev/sdb1 rw",
        "8:33 /data ext4 /dev/sdc1 rw",
        "8:49 /database ext4 /dev/sdd1 rw",
    ]);
    let table = mounts(&tree.root).expect("the table");
    let anywhere = dev(0, 0);
    let point = |path: &str, id| mount_of(&table, Path::new(path), id).map(|mount| mount.device);
    assert_eq!(point("/data/x", anywhere), Some(dev(8, 33)));
    assert_eq!(point("/data/x", dev(8, 17)), Some(dev(8, 17)));
    assert_eq!(point("/database/x", anywhere), Some(dev(8, 49)));
    assert_eq!(point("/elsewhere", anywhere), Some(dev(8, 1)));
}

#[test]
fn swap_areas_are_named_without_escapes() {
    let tree = Tree::new();
    assert_eq!(swap_areas(&tree.root).expect("a table"), Vec::<PathBuf>::new());
    tree.swap_on("/swap\\040file");
    assert_eq!(
        swap_areas(&tree.root).expect("a table"),
        [PathBuf::from("/swap file")]
    );
}

#[test]
fn a_kernel_without_swap_has_no_areas() {
    let tree = Tree::new();
    std::fs::remove_file(tree.real("/proc/swaps")).expect("removed");
    assert_eq!(swap_areas(&tree.root).expect("no table"), Vec::<PathBuf>::new());
}

proptest::proptest! {
    #[test]
    fn any_bytes_parse_or_do_not(line in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
        let _ = parse_mount(&line);
        let plain: Vec<u8> = line.iter().copied().filter(|&b| b != b'\\').collect();
        proptest::prop_assert_eq!(unescape(&plain), plain);
    }
}
