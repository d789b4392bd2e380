//! Messages there and back.

use super::{AccountParts, HistogramParts, MessageError, ToClient, ToServer};
use fathom_core::histogram::Histogram;
use fathom_core::run::{LeftOut, WorkerAccount};
use fathom_core::units::MonoTime;
use proptest::prelude::{any, prop_assert_eq, proptest};

fn histogram(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    for &value in values {
        histogram.record(value);
    }
    histogram
}

proptest! {
    #[test]
    fn a_histogram_comes_back_exactly(values in proptest::collection::vec(any::<u64>(), 0..200)) {
        let there = histogram(&values);
        let back = HistogramParts::from(&there).whole().expect("whole");
        prop_assert_eq!(&there, &back);
        prop_assert_eq!(there.percentile(99.0), back.percentile(99.0));
    }

    /// What nobody sent is refused, and never more than that.
    #[test]
    fn made_up_histograms_do_no_harm(
        min in any::<u64>(),
        max in any::<u64>(),
        sum in any::<(u64, u64)>(),
        buckets in proptest::collection::vec(any::<(u64, u64)>(), 0..6),
    ) {
        let made_up = HistogramParts { min, max, sum, buckets };
        if let Ok(histogram) = made_up.whole() {
            histogram.summary(&[1.0, 50.0, 100.0]);
        }
    }
}

#[test]
fn what_does_not_add_up_is_refused() {
    let good = HistogramParts::from(&histogram(&[5, 700, 90_000]));
    assert!(good.whole().is_ok());
    let wrong = [
        HistogramParts {
            min: 6,
            ..good.clone()
        },
        HistogramParts {
            max: 1 << 40,
            ..good.clone()
        },
        HistogramParts {
            sum: (0, 3),
            ..good.clone()
        },
        HistogramParts {
            sum: (1, 0),
            ..good.clone()
        },
        HistogramParts {
            buckets: Vec::new(),
            ..good.clone()
        },
        HistogramParts {
            buckets: vec![(700, 1), (5, 2)],
            ..good.clone()
        },
        HistogramParts {
            buckets: vec![(5, u64::MAX), (700, 3)],
            ..good
        },
    ];
    for parts in wrong {
        assert!(
            matches!(parts.whole(), Err(MessageError::Histogram(_))),
            "{parts:?}"
        );
    }
}

#[test]
fn an_account_comes_back() {
    let mut account = WorkerAccount {
        job: 1,
        worker: 2,
        start: MonoTime(7),
        end: MonoTime(9),
        ..WorkerAccount::default()
    };
    account.ops[1].lat = histogram(&[10, 2_000]);
    account.ops[1].bw.record(17);
    account.depths.sent(9);
    account.ops[1].left_out = LeftOut {
        ios: 3,
        bytes: 12_288,
    };
    let back = AccountParts::from(&account).whole().expect("whole");
    assert_eq!(back, account);
}

#[test]
fn messages_are_json_and_other_bytes_are_refused() {
    let stop = ToServer::Stop.to_bytes().expect("bytes");
    assert_eq!(ToServer::from_bytes(&stop).expect("a message"), ToServer::Stop);
    for bytes in [&b""[..], b"{}", b"\"Run\"", b"[1", &[0xff, 0xfe]] {
        assert!(ToServer::from_bytes(bytes).is_err());
        assert!(ToClient::from_bytes(bytes).is_err());
    }
}
