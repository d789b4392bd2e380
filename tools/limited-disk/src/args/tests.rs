use super::*;

fn parse_line(line: &str) -> Result<Settings, clap::Error> {
    parse(line.split_whitespace().map(Into::into))
}

#[test]
fn the_command_is_well_formed() {
    command().debug_assert();
}

#[test]
fn flags_become_settings() {
    let settings = parse_line(
        "limited-disk /mnt/d --size-mib 64 --iops 1100 --bytes-per-second 125000000 --latency-us 2000 --slice-ms 0 \
         --burst-ms 30 --stall every=2s,for=300ms --stall at=1s,for=10ms --backing /tmp/x",
    )
    .expect("flags");
    assert_eq!(
        settings,
        Settings {
            mountpoint: "/mnt/d".into(),
            size_bytes: 64 << 20,
            backing: Some("/tmp/x".into()),
            iops: Some(1100),
            bytes_per_second: Some(125_000_000),
            discard_bytes_per_second: None,
            latency_ns: 2_000_000,
            slice_ns: 0,
            burst_ns: 30_000_000,
            stalls: vec![
                Stall::parse("every=2s,for=300ms").expect("a stall"),
                Stall::parse("at=1s,for=10ms").expect("a stall"),
            ],
        }
    );
    assert_eq!(
        parse_line("limited-disk /m").expect("defaults").slice_ns,
        50_000_000
    );
}

#[test]
fn what_makes_no_sense_is_refused() {
    for line in [
        "limited-disk",
        "limited-disk /m --iops 0",
        "limited-disk /m --size-mib 0",
        "limited-disk /m --stall every=1s",
        "limited-disk /m --stall every=2s,for=1s --stall every=4s,for=2s",
    ] {
        assert!(parse_line(line).is_err(), "{line}");
    }
}
