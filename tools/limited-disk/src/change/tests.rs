use super::*;

#[test]
fn each_is_read() {
    let parsed = |line| Change::parse(line).expect(line);
    assert_eq!(parsed("latency-us 4000\n"), Change::Latency { ns: 4_000_000 });
    assert_eq!(parsed("iops 500"), Change::Iops(Some(500)));
    assert_eq!(parsed("bytes-per-second none"), Change::Bandwidth(None));
}

#[test]
fn nonsense_is_refused() {
    for line in [
        "",
        "iops",
        "iops 0",
        "iops many",
        "latency-us none",
        "speed 1",
        "latency-us 60000001",
    ] {
        assert!(Change::parse(line).is_err(), "{line}");
    }
}
