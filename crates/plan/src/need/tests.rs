use super::*;

fn ask(iops: Option<u64>, mbps: Option<u64>, block_bytes: Option<u64>) -> Ask {
    Ask {
        iops,
        bytes_per_second: mbps.map(|mbps| mbps * 1_000_000),
        block_bytes,
        read_percent: Some(70),
        ..Ask::default()
    }
}

/// I/Os and bytes a second, and what was assumed.
fn load(ask: &Ask) -> (u64, u64, Vec<Assumed>) {
    let (need, assumed) = ask.need().expect("a possible need");
    (need.load.ios, need.load.bytes, assumed)
}

#[test]
fn what_is_not_said_of_a_load_follows_from_the_rest() {
    assert_eq!(
        load(&ask(Some(12_000), Some(180), None)),
        (12_000, 180_000_000, vec![Assumed::MeanBlock(15_000)])
    );
    assert_eq!(
        load(&ask(Some(1_000), None, None)),
        (1_000, 16_384_000, vec![Assumed::BlockBytes(16 << 10)])
    );
    assert_eq!(
        load(&ask(None, Some(100), None)),
        (382, 100_000_000, vec![Assumed::BlockBytes(256 << 10)])
    );
    // I/Os of 16 KiB are more bytes than were asked for; of 4 KiB so many bytes are more I/Os.
    assert_eq!(
        load(&ask(Some(12_000), Some(180), Some(16 << 10))),
        (12_000, 196_608_000, vec![Assumed::Bytes(196_608_000)])
    );
    assert_eq!(
        load(&ask(Some(12_000), Some(180), Some(4 << 10))),
        (43_946, 180_000_000, vec![Assumed::Ios(43_946)])
    );
}

#[test]
fn growth_is_of_the_load_and_the_room() {
    let ask = Ask {
        size_bytes: Some(100 << 30),
        growth_permille: Some(1_500),
        ..ask(Some(1_001), None, Some(4096))
    };
    let need = ask.need().expect("a possible need").0;
    assert_eq!((need.load.ios, need.size_bytes), (1_502, 150 << 30));
    assert_eq!(need.load.working_set_bytes, 150 << 30);
}

#[test]
fn nothing_is_in_a_cache_where_nobody_says_how_much_is_used() {
    let need = ask(Some(1_000), None, None).need().expect("a possible need").0;
    assert_eq!(need.load.working_set_bytes, u64::MAX);
}

#[test]
fn what_contradicts_itself_is_refused() {
    let wrong = |ask: Ask| ask.need().expect_err("no need").to_string();
    let mut told = vec![
        wrong(Ask::default()),
        wrong(ask(Some(100_000), Some(1), None)),
        wrong(ask(Some(1), Some(2_000), None)),
        wrong(ask(Some(0), None, None)),
        wrong(ask(Some(1), None, Some(1000))),
    ];
    told.push(wrong(Ask {
        read_percent: Some(101),
        ..ask(Some(1), None, None)
    }));
    told.push(wrong(ask(Some(u64::MAX), None, None)));
    told.push(wrong(Ask {
        growth_permille: Some(1_000_000),
        ..ask(None, Some(9_000_000), None)
    }));
    for set in [0, 2 << 30] {
        told.push(wrong(Ask {
            size_bytes: Some(1 << 30),
            working_set_bytes: Some(set),
            ..Ask::default()
        }));
    }
    let mut narrow = ask(Some(1), None, None);
    narrow.choice.stripe_max = 65;
    told.push(wrong(narrow));
    expect_test::expect![[r#"
        nothing is asked for: give --iops, --mbps or --gib, as in --iops 5000 --mbps 200 --gib 500
        --iops 100000 and --mbps 1 contradict each other: that would be 10 bytes an I/O, and no I/O is smaller than 512: leave one of them out, or give --bs
        --iops 1 and --mbps 2000 contradict each other: that would be 1.86 GiB an I/O: leave one of them out, or give --bs
        --iops 0: more than nothing goes here, or leave it out
        --bs 1000 B: a multiple of 512 bytes up to 1 GiB goes here, as in --bs 16k
        --read 101: 0 to 100 percent of reads go here
        --iops 18446744073709551615: that is more than any cloud has, growth and the size of I/Os counted in: up to 10^9 IOPS and MB/s, and 1 EiB
        --iops 34332276000: that is more than any cloud has, growth and the size of I/Os counted in: up to 10^9 IOPS and MB/s, and 1 EiB
        --working-set 0: more than nothing goes here, or leave it out
        --working-set 2 GiB: no more can be read and written again and again than there is room for (--gib)
        --raid0-max 65: 1 to 64 disks can be striped
    "#]]
    .assert_eq(&(told.join("\n") + "\n"));
}
