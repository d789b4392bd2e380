use super::*;
use crate::fixture::{Tree, dev};
use fathom_core::record::CounterRow;
use proptest::prelude::*;

fn value(rows: &[CounterRow], metric: &str) -> Option<f64> {
    rows.iter().find(|row| row.metric == metric).map(|row| row.value)
}

fn sample(disks: &mut Disks, remarks: &mut Remarks) -> Vec<CounterRow> {
    let mut out = Vec::new();
    disks.sample(
        &mut Rows {
            at_ns: 1,
            out: &mut out,
        },
        remarks,
    );
    out
}

#[test]
fn older_kernels_have_fewer_columns() {
    let mut tree = Tree::new();
    tree.disk("sda", dev(8, 0));
    for (columns, last) in [
        (11, "node_disk_io_time_weighted_seconds_total"),
        (15, "node_disk_discard_time_seconds_total"),
        (17, "node_disk_flush_requests_time_seconds_total"),
        (19, "node_disk_flush_requests_time_seconds_total"),
    ] {
        tree.attribute("sda", "stat", &vec!["4"; columns].join(" "));
        let mut remarks = Remarks::default();
        let mut disks = Disks::new(&tree.root, &["sda".to_owned()], &mut remarks);
        let rows = sample(&mut disks, &mut remarks);
        assert_eq!(
            (rows.len(), &*rows[rows.len() - 1].metric),
            (columns.min(17), last)
        );
        assert_eq!(remarks.0, Vec::<String>::new());
    }
    tree.attribute("sda", "stat", "1 2 3 4");
    let mut remarks = Remarks::default();
    let mut disks = Disks::new(&tree.root, &["sda".to_owned()], &mut remarks);
    assert!(sample(&mut disks, &mut remarks).is_empty());
    assert!(remarks.0[0].contains("fewer than 11 numbers"), "{:?}", remarks.0);
}

#[test]
fn milliseconds_go_on_over_their_32_bits_and_sectors_do_not_wrap() {
    let mut tree = Tree::new();
    tree.disk("sda", dev(8, 0));
    let mut remarks = Remarks::default();
    let stat = |ms: u64, sectors: u64| format!("1 0 {sectors} {ms} 0 0 0 0 0 {ms} {ms}");
    tree.attribute("sda", "stat", &stat((1 << 32) - 500, 1 << 33));
    let mut disks = Disks::new(&tree.root, &["sda".to_owned()], &mut remarks);
    let first = sample(&mut disks, &mut remarks);
    tree.attribute("sda", "stat", &stat(700, (1 << 33) + 2));
    let second = sample(&mut disks, &mut remarks);
    let seconds = ((1_u64 << 32) - 500) as f64 / 1e3;
    for metric in [
        "node_disk_read_time_seconds_total",
        "node_disk_io_time_seconds_total",
        "node_disk_io_time_weighted_seconds_total",
    ] {
        assert_eq!(value(&first, metric), Some(seconds));
        let grown = value(&second, metric).expect("a row") - seconds;
        assert!((grown - 1.2).abs() < 1e-6, "{metric} grew by {grown}");
    }
    let bytes = value(&second, "node_disk_read_bytes_total");
    assert_eq!(bytes, Some(((1_u64 << 33) + 2) as f64 * 512.0));
}

#[test]
fn a_disk_that_comes_later_is_read_then() {
    let mut tree = Tree::new();
    let mut remarks = Remarks::default();
    let mut disks = Disks::new(&tree.root, &["nvme1n1".to_owned()], &mut remarks);
    assert!(sample(&mut disks, &mut remarks).is_empty());
    assert_eq!(remarks.0.len(), 1);
    tree.disk("nvme1n1", dev(259, 1));
    tree.attribute("nvme1n1", "stat", &["4"; 17].join(" "));
    assert_eq!(sample(&mut disks, &mut remarks).len(), 17);
}

#[test]
fn names_are_written_for_sysfs_and_for_labels() {
    let disk = Disk::new("cciss/c0d0");
    assert_eq!(
        disk.path,
        std::path::Path::new("/sys/class/block/cciss!c0d0/stat")
    );
    assert_eq!(disk.labels, "device=\"cciss/c0d0\"");
    assert_eq!(escaped("a\"b\\c"), "a\\\"b\\\\c");
}

proptest! {
    #[test]
    fn any_text_is_taken_or_left(text in prop::collection::vec(any::<u8>(), 0..300)) {
        let _whatever = parse(&text);
    }

    #[test]
    fn numbers_come_back(values in prop::collection::vec(any::<u64>(), 11..20)) {
        let text: Vec<String> = values.iter().map(u64::to_string).collect();
        let (parsed, count) = parse(text.join("   ").as_bytes()).expect("numbers");
        prop_assert_eq!(count, values.len().min(17));
        prop_assert_eq!(&parsed[..count], &values[..count]);
    }
}
