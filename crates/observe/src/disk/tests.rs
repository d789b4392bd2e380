use super::*;
use crate::fixture::Tree;

fn snapshot(tree: &Tree, table: &str, names: &[&str]) -> Snapshot {
    tree.file("/proc/diskstats", table);
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    Snapshot::take(&tree.root, &names).expect("a snapshot")
}

#[test]
fn all_widths_of_the_table_are_read() {
    let tree = Tree::new();
    let narrow = "254 0 vda 1 2 3 4 5 6 7 8 0 10 11";
    let before = snapshot(&tree, &format!("{narrow}\n"), &["vda"]);
    for (tail, discards, flushes) in [("", 0, 0), (" 100 1 1 1", 100, 0), (" 100 1 1 1 200 1", 100, 200)] {
        let table = format!("254 0 vda 11 22 33 44 55 66 77 88 3 110 121{tail}\n");
        let after = snapshot(&tree, &table, &["vda"]);
        let expected = DiskSummary {
            name: "vda".to_owned(),
            duration_ns: 9,
            read_ios: 10,
            read_merges: 20,
            read_bytes: 30 * 512,
            read_time_ns: 40_000_000,
            write_ios: 50,
            write_merges: 60,
            write_bytes: 70 * 512,
            write_time_ns: 80_000_000,
            discard_ios: discards,
            flush_ios: flushes,
            busy_ns: 100_000_000,
            weighted_busy_ns: 110_000_000,
        };
        assert_eq!(before.until(&after, 9), [expected]);
    }
}

#[test]
fn a_time_that_wraps_is_undone() {
    let tree = Tree::new();
    let before = snapshot(
        &tree,
        "8 0 sda 0 0 0 4294967290 0 0 0 0 0 0 4294967295\n",
        &["sda"],
    );
    let after = snapshot(&tree, "8 0 sda 0 0 0 4 0 0 0 0 0 0 0\n", &["sda"]);
    let disk = &before.until(&after, 1)[0];
    assert_eq!(
        (disk.read_time_ns, disk.weighted_busy_ns),
        (10_000_000, 1_000_000)
    );
}

#[test]
fn what_cannot_be_compared_is_left_out_and_said() {
    let tree = Tree::new();
    let names = ["vda", "loop0", "gone", "never", "sdb"];
    let table = "254 0 vda 1 0 0 0 0 0 0 0 0 0 0\n7 0 loop0 500 0 0 0 0 0 0 0 0 0 0\n\
                 8 0 gone 1 0 0 0 0 0 0 0 0 0 0\n8 16 sdb 1 0 0 0 0 0 0 0 0 0 0\n";
    let before = snapshot(&tree, table, &names);
    let table = "254 0 vda 4 0 0 0 0 0 0 0 0 0 0\n7 0 loop0 2 0 0 0 0 0 0 0 0 0 0\n\
                 8 32 sdb 9 0 0 0 0 0 0 0 0 0 0\n";
    let after = snapshot(&tree, table, &names);
    let found = before.until(&after, 1);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].read_ios, 3);
    let lost: Vec<String> = before.lost(&after).iter().map(ToString::to_string).collect();
    expect_test::expect![[r"
        the record is incomplete: no disk counters of loop0: its counters started again: the device was replaced meanwhile
        the record is incomplete: no disk counters of gone: it was gone from /proc/diskstats at the end
        the record is incomplete: no disk counters of never: it had no row in /proc/diskstats at the start
        the record is incomplete: no disk counters of sdb: its counters started again: the device was replaced meanwhile
    "]]
    .assert_eq(&(lost.join("\n") + "\n"));
}

#[test]
fn odd_lines_are_no_disks() {
    let tree = Tree::new();
    // Kernels before 2.6.25 give partitions four counters.
    let table = "3 1 hda1 35486 38030 38030 38030\n\nnonsense\n8 0 sda 1 2 x\n104 0 cciss!c0d0 1 0 0 0 0 0 0 0 0 0 0\n";
    let found = snapshot(&tree, table, &["hda1", "sda", "cciss/c0d0", "cciss/c0d0"]);
    assert_eq!(found.rows.len(), 1);
    assert_eq!(found.rows[0].name, "cciss/c0d0");
}

#[test]
fn intervals_add_up_to_the_whole() {
    let tree = Tree::new();
    let table = |n: u64| format!("8 0 sda {n} 0 {} {n} 0 0 0 0 0 {n} {n}\n", n * 8);
    let shots: Vec<Snapshot> = [3, 10, 25].map(|n| snapshot(&tree, &table(n), &["sda"])).into();
    let mut total = Vec::new();
    add(&mut total, &shots[0].until(&shots[1], 100));
    add(&mut total, &shots[1].until(&shots[2], 50));
    assert_eq!(total, shots[0].until(&shots[2], 150));
}

#[test]
fn the_running_system_has_a_table() {
    match Snapshot::take(&SystemRoot::default(), &[]) {
        Ok(shot) => assert!(shot.until(&shot, 0).is_empty()),
        Err(error) => fathom_testkit::skipped(
            "the_running_system_has_a_table",
            format!("/proc/diskstats: {error}"),
        ),
    }
}
