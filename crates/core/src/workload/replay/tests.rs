use super::{Fold, FoldKind};
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
