use super::Setup;
use crate::layout::{Cache, Disk, GIB, Layout};
use fathom_core::rng::Rng;
use fathom_model::Catalog;
use fathom_model::target;

/// What decides here is what the model is made of: of random layouts of each cloud, from the rows and by way of the target.
#[test]
fn it_is_what_the_model_has() {
    let seed = 5;
    println!("seed {seed}");
    let mut rng = Rng::new(seed);
    for cloud in Catalog::names() {
        let catalog = Catalog::named(cloud).expect(cloud);
        let mut compared = 0;
        for _ in 0..2_000 {
            let vms = catalog.vms();
            let vm = &vms[rng.below(vms.len() as u64) as usize];
            let disk = any(catalog, &mut rng);
            let count = 1 + rng.below(5) as u32;
            let layout = Layout::new(catalog, vm, disk, count, Cache::None);
            let text = layout.target();
            // Not every machine takes every disk.
            let Ok(spec) = target::parse(&text, catalog) else {
                continue;
            };
            compared += 1;
            assert_eq!(Some(Setup::of(&layout)), Setup::of_spec(&spec), "{text}");
            assert_eq!(Layout::of_spec(&spec, catalog).as_ref(), Ok(&layout), "{text}");
        }
        assert!(compared > 500, "{cloud}: {compared}");
    }
}

fn any<'a>(catalog: &'a Catalog, rng: &mut Rng) -> Disk<'a> {
    let (fixed, flex) = (catalog.disks(), catalog.flex_disks());
    let number = rng.below((fixed.len() + flex.len()) as u64) as usize;
    if let Some(row) = fixed.get(number) {
        return Disk::fixed(row);
    }
    let row = &flex[number - fixed.len()];
    let most = row.size_bytes_max.min(20_000 * GIB) - row.size_bytes_min;
    let size_bytes = row.size_bytes_min + rng.below(most / GIB + 1) * GIB;
    let (least, cap) = (row.iops_least(size_bytes), row.iops_cap(size_bytes));
    let iops = (least + rng.below(cap.saturating_sub(least) + 1)).min(cap.max(least));
    let (least, most) = row.bytes_per_second_bounds(size_bytes, iops);
    let unit = row.throughput_unit_bytes;
    let rate = (least.div_ceil(unit) + rng.below((most - least) / unit + 1)) * unit;
    Disk::chosen(row, size_bytes, iops, rate.min(most))
}
