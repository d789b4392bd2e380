use super::{Fold, FoldKind, ReplayFile, ReplayLayout};
use crate::rng::Rng;

/// Whatever is folded lies below the size with its end, and keeps its alignment.
#[test]
fn what_is_folded_lies_below_the_size() {
    let seed = 5;
    println!("seed {seed}");
    let mut rng = Rng::new(seed);
    for _ in 0..20_000 {
        let align = 512u64 << rng.below(4);
        let to_bytes = (1 + rng.below(1 << 20)) * 4096;
        let extent_bytes = to_bytes + rng.below(1 << 24) * align;
        let len = ((1 + rng.below(8)) * align).min(to_bytes) as u32;
        let offset = rng.below((extent_bytes - u64::from(len)) / align + 1) * align;
        for how in [FoldKind::Wrap, FoldKind::Scale { align_bytes: align }] {
            let fold = Fold { to_bytes, how };
            let at = fold.apply(offset, len, extent_bytes);
            assert!(
                at + u64::from(len) <= to_bytes,
                "{fold:?}: {offset} + {len} at {at}"
            );
            assert_eq!(at % align, 0, "{fold:?}: {offset} + {len} at {at}");
        }
    }
}

#[test]
fn wrapping_keeps_what_fits_and_scaling_keeps_the_order() {
    let wrap = Fold {
        to_bytes: 1 << 20,
        how: FoldKind::Wrap,
    };
    assert_eq!(wrap.apply(4096, 4096, 1 << 30), 4096);
    assert_eq!(wrap.apply((1 << 20) + 8192, 4096, 1 << 30), 8192);
    let scale = Fold {
        how: FoldKind::Scale { align_bytes: 512 },
        ..wrap
    };
    assert_eq!(scale.apply(1 << 29, 4096, 1 << 30), 1 << 19);
    assert!(scale.apply(1 << 28, 512, 1 << 30) < scale.apply(1 << 29, 512, 1 << 30));
}

#[test]
fn an_address_is_of_the_file_whose_part_it_lies_in() {
    let file = |base_bytes| ReplayFile {
        base_bytes,
        extent_bytes: 1 << 20,
    };
    let layout = ReplayLayout {
        files: vec![file(0), file(1 << 20), file(5 << 20)],
        ..ReplayLayout::default()
    };
    assert_eq!(layout.place(0), (0, 0));
    assert_eq!(layout.place((1 << 20) - 1), (0, (1 << 20) - 1));
    assert_eq!(layout.place(1 << 20), (1, 0));
    assert_eq!(layout.place((5 << 20) + 4096), (2, 4096));
    // As fio 3.33 does it: divided, then rounded down; within its file.
    let halved = ReplayLayout {
        divisor: 2,
        align_bytes: 4096,
        ..layout
    };
    assert_eq!(halved.place((5 << 20) + 10_000), (2, 4096));
    assert_eq!(halved.place(20_480), (0, 8_192));
    assert_eq!(ReplayLayout::default().place(77), (0, 77));
}
