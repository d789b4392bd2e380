use super::*;
use proptest::prelude::*;

impl Timed for (u64, usize) {
    fn time_ns(&self) -> u64 {
        self.0
    }
}

#[test]
fn what_others_may_still_precede_is_held_back() {
    let mut merge = Merge::new(2, 10);
    let mut given = Vec::new();
    merge.push(0, (100, 0));
    merge.push(0, (200, 0));
    merge.take(|event| given.push(*event));
    assert_eq!(given, [], "the other CPU has not been read");
    merge.read_to(1, 205);
    merge.read_to(0, 205);
    merge.take(|event| given.push(*event));
    assert_eq!(given, [(100, 0)], "the second is within the hold-back");
    merge.push(1, (150, 1));
    merge.read_to(0, 300);
    merge.read_to(1, 300);
    merge.take(|event| given.push(*event));
    assert_eq!(given, [(100, 0), (150, 1), (200, 0)]);
    assert_eq!((merge.late(), merge.complete_to_ns()), (0, 290));
    merge.push(1, (199, 1));
    assert_eq!(merge.late(), 1);
}

proptest! {
    #[test]
    fn it_is_sorting(streams in prop::collection::vec(prop::collection::vec(0u64..1000, 0..60), 1..6), step in 1usize..20) {
        let mut streams = streams;
        let mut merge = Merge::new(streams.len(), 5);
        let mut given = Vec::new();
        for stream in &mut streams {
            stream.sort_unstable();
        }
        // Each CPU is read in bits of its own length, with a call in between.
        let mut at = vec![0; streams.len()];
        while at.iter().zip(&streams).any(|(at, stream)| *at < stream.len()) {
            for (index, stream) in streams.iter().enumerate() {
                let end = (at[index] + step + index).min(stream.len());
                for &time in &stream[at[index]..end] {
                    merge.push(index, (time, index));
                }
                at[index] = end;
                if end == stream.len() {
                    merge.read_to(index, 2000);
                }
            }
            merge.take(|event| given.push(*event));
        }
        merge.take_all(|event| given.push(*event));
        let mut expected: Vec<u64> = streams.concat();
        expected.sort_unstable();
        let times: Vec<u64> = given.iter().map(|event| event.0).collect();
        prop_assert_eq!(times, expected);
        prop_assert_eq!(merge.late(), 0);
    }
}
