use super::*;
use expect_test::expect;

fn built_in() -> table::About {
    table::About {
        limits: None,
        sources: String::from("Sources: some."),
    }
}

fn disks(filter: &str, width: usize) -> String {
    let rows = Catalog::azure().listed_disks().map(|(_, row)| row).collect();
    let rows = wanted(rows, disk_columns(), &[filter.to_owned()]).expect("a filter");
    table::text(Listing::Disks, disk_columns(), &rows, width, &built_in())
}

fn vms(filter: &str, width: usize) -> String {
    let rows = wanted(
        Catalog::azure().listed_vms().collect(),
        vm_columns(),
        &[filter.to_owned()],
    );
    table::text(
        Listing::Vms,
        vm_columns(),
        &rows.expect("a filter"),
        width,
        &built_in(),
    )
}

#[test]
fn a_wide_terminal_shows_more() {
    expect![[r#"
        virtual machine  vCPUs  GiB  disks  premium   IOPS  MB/s  burst IOPS       MB/s  cached IOPS  MB/s  cache GiB  USD/hour
        DS3_v2               4   14     16      yes  12800   192   not known  not known        16000   128        172     0.293

        1 size. Limits without host cache; MB/s: 10^6 bytes.
        Prices: USD, eastus, pay as you go, without taxes and transactions; read 2026-06-18.
        Sources: some.
    "#]].assert_eq(&vms("name~_ds3_v2,series=DSv2", 120));
    expect![[r#"
        virtual machine  vCPUs  GiB  disks  premium  IOPS       MB/s  USD/hour
        A2_v2                2    4      4       no  2000  not known     0.090

        1 size. Limits without host cache; MB/s: 10^6 bytes.
        Columns that do not fit: burst_iops, burst_mbps, cached_iops, cached_mbps, cache
        (a wider terminal, --csv or --json has them).
        Prices: USD, eastus, pay as you go, without taxes and transactions; read
        2026-06-18.
        Sources: some.
    "#]]
    .assert_eq(&vms("name~_a2_v2", 80));
}

#[test]
fn freely_sized_disks_show_their_ranges() {
    expect![[r#"
        disk           GiB       IOPS      MB/s  burst IOPS  MB/s      burst  USD/month
        Premium SSD
        P80          32767      20000       900       30000  1000  on-demand    3604.11
        Standard SSD
        E80          32767       6000       750           –     –       none    2457.60
        Premium SSD v2
        PremiumV2  1–65536   to 80000   to 2000           –     –       none  0.081/GiB
        Ultra Disk
        Ultra      4–65536  to 400000  to 10000           –     –       none  0.120/GiB

        4 disks. Limits without burst, then with; MB/s: 10^6 bytes.
        Columns that do not fit: caching (a wider terminal, --csv or --json has them).
        Prices: USD, eastus, pay as you go, without taxes and transactions; read
        2026-09-23.
        Sources: some.
    "#]]
    .assert_eq(&disks("size>=32767,family!=Standard HDD", 80));
}

#[test]
fn no_line_is_wider_than_asked_for() {
    for width in [80, 90, 100, 120, 200] {
        for text in [disks("", width), vms("", width)] {
            let longest = text.lines().map(|line| line.chars().count()).max();
            assert!(longest <= Some(width), "{longest:?} > {width}");
        }
    }
}

#[test]
fn csv_of_a_cell_with_commas_is_quoted() {
    let columns = &disk_columns()[..2];
    let row = Listed {
        values: vec![
            fathom_model::catalog::Value::Text("a,\"b\""),
            fathom_model::catalog::Value::NotKnown,
        ],
    };
    assert_eq!(export::csv(columns, &[row]), "name,family\n\"a,\"\"b\"\"\",\n");
}

#[test]
fn ascii_keeps_the_alignment() {
    assert_eq!(ascii("1–2 µ"), "1-2 ?");
}
