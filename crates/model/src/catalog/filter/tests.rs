use super::*;
use crate::catalog::{Catalog, disk_columns, vm_columns};
use expect_test::expect;

fn disks(filter: &str) -> Vec<String> {
    let filter = Filter::parse(filter, disk_columns()).unwrap_or_else(|error| panic!("{error}"));
    let rows = Catalog::azure().listed_disks();
    let wanted = rows.filter(|(_, row)| filter.wants(&row.values));
    wanted
        .map(|(_, row)| match row.values[0] {
            Value::Text(name) => name.to_owned(),
            other => panic!("{other:?}"),
        })
        .collect()
}

fn count_vms(filter: &str) -> usize {
    let filter = Filter::parse(filter, vm_columns()).unwrap_or_else(|error| panic!("{error}"));
    let rows = Catalog::azure().listed_vms();
    rows.filter(|row| filter.wants(&row.values)).count()
}

#[test]
fn conditions_join() {
    assert_eq!(disks("").len(), 41);
    assert_eq!(disks("family=premium ssd v2"), ["PremiumV2"]);
    assert_eq!(disks("family = Premium SSD, iops>=16000"), ["P60", "P70", "P80"]);
    assert_eq!(disks("name~p1"), ["P1", "P10", "P15"]);
    assert_eq!(disks("burst=on-demand,size<2048"), ["P30"]);
    assert_eq!(disks("price<=0.6,price!=0.6"), ["E1"]);
    assert_eq!(
        disks("caching=no,family!=Standard HDD,iops>20000"),
        ["PremiumV2", "Ultra"]
    );
}

#[test]
fn what_is_not_known_meets_no_condition_but_its_own() {
    let all = Catalog::azure().vms().len();
    let unknown = count_vms("cached_iops=not known");
    assert_eq!(unknown, 1189);
    assert_eq!(count_vms("cached_iops!=not known"), all - unknown);
    assert_eq!(count_vms("cached_iops>=0"), all - unknown);
    assert_eq!(count_vms("cached_iops!=4000,cached_iops=not known"), 0);
    assert_eq!(
        count_vms("premium=true") + count_vms("premium=false") + count_vms("premium=not known"),
        all
    );
    assert_eq!(disks("burst_iops=not known").len(), 0);
}

#[test]
fn mistakes_name_the_columns() {
    let texts = [
        "iops",
        "iops>",
        "iops>=many",
        "iops>=nan",
        "iop>=5",
        "=5",
        "name>=P15",
        "iops~5",
        "caching>=true",
        "caching=perhaps",
        "family=Premium SSD,zzzzzzz=1",
    ];
    let answer = |text: &str| match Filter::parse(text, disk_columns()) {
        Ok(_) => panic!("{text} is accepted"),
        Err(error) => format!("{error}\n"),
    };
    expect![[r#"
        filter `iops`: no operator: write a column, one of = != ~ < <= > >=, and a value, as in iops>=5000
        filter `iops>`: `` is not a number
        filter `iops>=many`: `many` is not a number
        filter `iops>=nan`: `nan` is not a number
        filter `iop>=5`: no column `iop` (did you mean `iops`?): the columns are name, family, size, size_min, iops, mbps, burst_iops, burst_mbps, burst_minutes, burst, caching, unit, iops_free, mbps_free, price, price_gib, price_iops, price_mbps, price_region, price_date, source
        filter `=5`: no column ``: the columns are name, family, size, size_min, iops, mbps, burst_iops, burst_mbps, burst_minutes, burst, caching, unit, iops_free, mbps_free, price, price_gib, price_iops, price_mbps, price_region, price_date, source
        filter `name>=P15`: >= compares numbers, but `name` is text
        filter `iops~5`: ~ compares text, but `iops` is a number
        filter `caching>=true`: >= compares numbers, but `caching` is true or false
        filter `caching=perhaps`: `perhaps` is not true, false or not known
        filter `zzzzzzz=1`: no column `zzzzzzz`: the columns are name, family, size, size_min, iops, mbps, burst_iops, burst_mbps, burst_minutes, burst, caching, unit, iops_free, mbps_free, price, price_gib, price_iops, price_mbps, price_region, price_date, source
    "#]].assert_eq(&texts.map(answer).concat());
}
