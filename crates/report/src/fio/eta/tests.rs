//! The line of a run under way.

use super::{Eta, Standing, letter};

#[test]
fn it_reads_as_fios() {
    let mut eta = Eta {
        standing: vec![Standing::Running('m'), Standing::Running('m'), Standing::Ended],
        running: 2,
        files: 2,
        elapsed_s: 1,
        fraction: Some(0.25),
        left_s: Some(4),
        bytes: [2_052_096, 9_216, 0],
        ios: [501, 2_340_000, 0],
    };
    assert_eq!(eta.line(), "Jobs: 2 (f=2)");
    eta.elapsed_s = 3;
    assert_eq!(
        eta.line(),
        "Jobs: 2 (f=2): [m(2),_(1)][25.0%][r=2004KiB/s,w=9216B/s][r=501,w=2340k IOPS][eta 00m:04s]"
    );
    (eta.fraction, eta.left_s) = (None, Some(90_061));
    (eta.bytes, eta.ios) = ([0; 3], [0; 3]);
    eta.standing = vec![Standing::Waiting, Standing::Ramping];
    assert_eq!(
        eta.line(),
        "Jobs: 2 (f=2): [P(1),/(1)][-.-%][eta 01d:01h:01m:01s]"
    );
}

#[test]
fn letters_tell_what_is_done() {
    let told = [
        [true, false, false],
        [false, true, false],
        [true, true, false],
        [false, true, true],
    ];
    let sequential: String = told.iter().map(|&uses| letter(uses, false)).collect();
    let random: String = told.iter().map(|&uses| letter(uses, true)).collect();
    assert_eq!((sequential.as_str(), random.as_str()), ("RWMD", "rwmd"));
}
