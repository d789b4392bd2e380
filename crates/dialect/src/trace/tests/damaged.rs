//! Good records with bytes changed, cut and doubled: no panic, the same however they come, and nothing that no disk has.

use super::binary::{FORMS, trace};
use super::read_in;
use fathom_core::rng::Rng;
use fathom_core::workload::RecordFormat;

const TEXTS: [(RecordFormat, &str); 5] = [
    (
        RecordFormat::FioIolog,
        "fio version 3 iolog\n18 F1 add\n259 F1 read 0 4096\n3703 F2 write 20480 4096\n15283 F2 sync 16384 0\n31689 F1 close\n",
    ),
    (
        RecordFormat::Blkparse,
        "  8,0    3        1     0.000000000   697  Q   R 1000 + 8 [fio]\n  8,0    3        3     0.000002000   697  Q  WS 2000 + 8 [a b]\n  \
         8,0    1        9     0.000100000     0  C  WS 2000 + 4 [0]\n  8,0    1       11     2.900200000     0  C   R 1000 + 8 [0]\n",
    ),
    (
        RecordFormat::MsrCambridge,
        "128166372003061629,hm,1,Read,383496192,32768,413\n128166372016382155,hm,1,Write,2822144,4096,8000\n",
    ),
    (
        RecordFormat::Alibaba,
        "419,W,8792731648,16384,1577808144360767\n725,R,59110326272,360448,1577808144360813\n",
    ),
    (
        RecordFormat::Tencent,
        "1538323200,12910952,128,0,1063\n1538323200,6338688,8,1,1063\n1538323201,16,8,0,7\n",
    ),
];

fn damage(bytes: &mut Vec<u8>, rng: &mut Rng) {
    const LIKELY: &[u8] = b"0123456789,.+-[ \n\0\xffFWRDSQC";
    for _ in 0..=rng.below(4) {
        let at = rng.below(bytes.len() as u64) as usize;
        match rng.below(4) {
            0 => bytes[at] = LIKELY[rng.below(LIKELY.len() as u64) as usize],
            1 => bytes[at] ^= 1 << rng.below(8),
            2 => bytes.truncate(at.max(1)),
            _ => {
                let copied = bytes[at..].to_vec();
                bytes.extend(copied);
            }
        }
    }
}

#[test]
fn no_damage_makes_it_panic_or_say_two_things() {
    let seed = 3;
    println!("seed {seed}");
    let mut rng = Rng::new(seed);
    let binary = FORMS.map(|form| (RecordFormat::Blktrace, trace(form)));
    let texts = TEXTS.map(|(format, text)| (format, text.as_bytes().to_vec()));
    for (format, good) in texts.into_iter().chain(binary) {
        let mut read = 0;
        for _ in 0..2_000 {
            let mut bytes = good.clone();
            damage(&mut bytes, &mut rng);
            let whole = read_in(format, &bytes, bytes.len()).map(|(rows, _)| rows);
            let piece = 1 + rng.below(40) as usize;
            let pieces = read_in(format, &bytes, piece).map(|(rows, _)| rows);
            assert_eq!(whole, pieces, "{format:?} in pieces of {piece}: {bytes:?}");
            for row in whole.iter().flatten() {
                let end = row.sent.offset_bytes + u64::from(row.sent.len_bytes);
                assert!(
                    i64::try_from(end).is_ok() && row.sent.end_ns >= row.sent.start_ns,
                    "{row:?}"
                );
            }
            read += usize::from(whole.is_ok());
        }
        assert!((20..1_980).contains(&read), "{format:?}: {read} were good");
    }
}
