use super::*;
use crate::catalog::Catalog;

fn row(cloud: &str, sku: &str) -> &'static FlexDisk {
    let catalog = Catalog::named(cloud).expect(cloud);
    let mut rows = catalog.flex_disks().iter();
    rows.find(|row| row.sku == sku).expect(sku)
}

#[test]
fn chosen_figures_are_kept_and_the_others_follow() {
    let gp3 = row("aws", "gp3").figures(100 * GIB, 5_000, 200 << 20);
    assert_eq!((gp3.iops, gp3.bytes_per_second), (Some(5_000), Some(200 << 20)));
    // Neither is chosen: the arguments do not matter.
    let gp2 = row("aws", "gp2");
    assert_eq!(gp2.figures(100 * GIB, 0, 0), gp2.figures(100 * GIB, 9, 9));
    let io1 = row("aws", "io1").figures(100 * GIB, 1_000, 9);
    assert_eq!(io1.bytes_per_second, Some(250 << 20));
    let throughput = row("gcp", "hyperdisk-throughput").figures(4096 * GIB, 0, 100 << 20);
    assert_eq!(throughput.iops, Some(400));
    assert_eq!(
        row("gcp", "pd-extreme")
            .figures(1024 * GIB, 9_000, 0)
            .bytes_per_second,
        None
    );
}

/// io2 above 32,000 and 64,000 IOPS.
#[test]
fn prices_by_tier_are_read() {
    assert_eq!(
        row("aws", "io2").price_tiers,
        [(32_000, 45_500), (64_000, 31_850)]
    );
    // What follows is paid for with the capacity.
    let gp2 = row("aws", "gp2");
    assert_eq!((gp2.iops_free, gp2.bytes_per_second_free), (u64::MAX, u64::MAX));
    assert_eq!(
        row("gcp", "hyperdisk-balanced-high-availability").price_microusd_iops_month,
        None
    );
}

/// A listing shows what the largest disk has; what follows from nothing known is not known, and no bound of the reader is shown.
#[test]
fn listings_show_what_the_largest_has() {
    use crate::catalog::{Offer, Value};
    let shown = |cloud: &str, sku: &str| {
        let catalog = Catalog::named(cloud).expect(cloud);
        let mut rows = catalog.listed_disks();
        let (_, row) = rows.find(|(offer, _)| Offer::sku(*offer) == sku).expect(sku);
        (row.values[4], row.values[5])
    };
    let mbps = |mib: u32| Value::Number(f64::from(mib) * 1.048_576);
    assert_eq!(shown("aws", "gp2"), (Value::Number(16_000.0), mbps(250)));
    assert_eq!(shown("aws", "io1"), (Value::Number(64_000.0), mbps(1_000)));
    assert_eq!(
        shown("gcp", "pd-extreme"),
        (Value::Number(120_000.0), Value::NotKnown)
    );
    assert_eq!(
        shown("azure", "Ultra"),
        (Value::Number(400_000.0), Value::Number(10_000.0))
    );
}
