use super::{BACK, Moment, Span, span_of};
use fathom_core::units::Nanos;
use jiff::Timestamp;

#[test]
fn a_span_ends_now_and_begins_an_hour_ago() {
    let now = Timestamp::from_second(10_000).expect("a time");
    let span = |from, to| span_of((from, to), BACK, now);
    assert_eq!(
        span(None, None).expect("a span"),
        Span {
            from_s: 6400,
            to_s: 10_000
        }
    );
    let ago = |s| Some(Moment::Ago(Nanos::from_secs(s)));
    assert_eq!(
        span(ago(600), ago(60)).expect("a span"),
        Span {
            from_s: 9400,
            to_s: 9940
        }
    );
    assert!(span(ago(60), ago(600)).is_err());
    assert!(span(ago(10), None).is_err());
}
