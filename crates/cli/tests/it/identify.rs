//! `fathom identify`: what it says of a disk, the model that it writes, and what it refuses.

use crate::harness::{LoopDevice, Place, number, skipped};
use expect_test::{Expect, expect};
use serde_json::Value;

fn check(actual: &str, expected: &Expect) {
    expected.assert_eq(actual);
}

#[test]
fn a_disk_on_a_machine_is_told_with_what_was_promised() {
    let place = Place::new();
    let told = place
        .fathom("identify model:azure/P40,vm=Standard_DS3_v2 --claims azure/P40,vm=Standard_DS3_v2 -q")
        .expect(0)
        .stdout;
    check(
        &told,
        &expect![[r#"
            fathom identify model:azure/P40,vm=Standard_DS3_v2
            It is azure/P40,vm=Standard_DS3_v2 (likelihood 100 %), limits within 0.0633 %.
              Equal limits, as far as was measured: azure/P50,vm=Standard_DS3_v2.
            Delivers what a P40 promises: 7,652 of 7,500 IOPS; the machine's limit of 192
              MB/s binds first.

            Limits
                             IOPS   bytes/s  at depth
              reads         7,649  196 MB/s       256
              writes        7,652  196 MB/s        32
              half of each  7,649  196 MB/s       512
              Released in time slices of 50.0 ms.
              What counts as one I/O does not show: bytes bind before large I/Os could count
                as several.
              Reads and writes share their limits.
              Whether the rates are on credit was not measured: they held for 13.0 s.
                --credit --time 40m measures it, at full load until they fall.

            Service
              4 KiB, one at a time       p5      p50      p95  each KiB more
              reads                 2.01 ms  2.17 ms  2.84 ms        6.64 µs
              writes                 712 µs   902 µs  3.44 ms        19.7 µs
              No cache of reads shows.

            The claim
                        promised   machine    measured  kept
              reads   7,500 IOPS         –  7,649 IOPS   yes
              reads     250 MB/s  192 MB/s    196 MB/s   yes
              writes  7,500 IOPS         –  7,652 IOPS   yes
              writes    250 MB/s  192 MB/s    196 MB/s   yes

            Nearest in the catalogues
              product                                                        equals  limits off  likelihood
              azure/P40,vm=Standard_DS3_v2                                        1    0.0633 %       100 %
              azure/PremiumV2:2048GiB,iops=7500,mbps=192,vm=Standard_DS3_v2       2    0.0633 %    0.0000 %
              azure/E80,vm=Standard_DS3_v2                                        –        25 %    0.0000 %
              azure/P30,vm=Standard_DS3_v2                                        –        50 %    0.0000 %
              azure/P60,vm=Standard_DS3_v2                                        2        41 %    0.0000 %
              azure/E30,vm=Standard_DS3_v2                                        –       650 %    0.0000 %

            A load that nothing was fitted to
              Random half reads, half writes of 16 KiB, 8 at a time:
                                  disk    model  model off
              IOPS               4,043    4,112     +1.7 %
              latency, median  2.12 ms  2.11 ms     -0.5 %
              latency, p99     7.02 ms  7.43 ms     +5.8 %

            22 measurements in 17.0 s. -o FILE.toml writes the model, for --on
              model:FILE.toml.
        "#]],
    );
    assert_eq!(place.names(), Vec::<String>::new(), "nothing is written");
}

#[test]
fn the_answer_for_programs() {
    let place = Place::new();
    let mut told = place.json("identify model:aws/gp2:50GiB --readonly");
    // Tables of quantiles are long, and the model's own tests know them.
    for direction in ["read", "write"] {
        if let Some(service) = told["service"].get_mut(direction).and_then(Value::as_object_mut) {
            service.remove("quantiles_us");
        }
    }
    check(
        &format!("{told:#}\n"),
        &expect![[r#"
            {
              "claim": null,
              "held_out": {
                "block_bytes": 16384,
                "depth": 8,
                "iops": {
                  "measured": 3068.9984,
                  "model": 3067.4984,
                  "off": -0.0005
                },
                "latency_ns_p50": {
                  "measured": 2448592.0,
                  "model": 2474698.0,
                  "off": 0.0107
                },
                "latency_ns_p99": {
                  "measured": 5472578.0,
                  "model": 5194194.0,
                  "off": -0.0509
                },
                "writes": false
              },
              "likelihood": 0.9996,
              "limits": {
                "credit": {
                  "held_ns": 4002696471,
                  "seen": null
                },
                "io_unit_bytes": null,
                "read": {
                  "large": {
                    "block_bytes": 262144,
                    "bytes_per_second": 137296134.0,
                    "depth": 16,
                    "iops": 523.7432,
                    "is_limit": true
                  },
                  "small": {
                    "block_bytes": 4096,
                    "bytes_per_second": 12568271.0,
                    "depth": 32,
                    "iops": 3068.4256,
                    "is_limit": true
                  }
                },
                "release": "even",
                "shared_bytes": null,
                "shared_iops": null,
                "slice_ns": null,
                "together": null,
                "write": null
              },
              "measured_ns": 5100172991,
              "measurements": 9,
              "model_file": null,
              "runners_up": [
                {
                  "equal": [],
                  "likelihood": 0.0004,
                  "machine": null,
                  "name": "gp3",
                  "off": 0.0239,
                  "target": "aws/gp3:50GiB"
                },
                {
                  "equal": [
                    "azure/PremiumV2:50GiB,mbps=135",
                    "azure/PremiumV2:50GiB,iops=3010,mbps=135"
                  ],
                  "likelihood": 0.0,
                  "machine": null,
                  "name": "Ultra",
                  "off": 0.0029,
                  "target": "azure/Ultra:50GiB,iops=3010,mbps=135"
                },
                {
                  "equal": [
                    "gcp/hyperdisk-balanced-high-availability:50GiB,iops=3070"
                  ],
                  "likelihood": 0.0,
                  "machine": null,
                  "name": "hyperdisk-balanced",
                  "off": 0.0647,
                  "target": "gcp/hyperdisk-balanced:50GiB,iops=3070"
                },
                {
                  "equal": [
                    "gcp/hyperdisk-balanced-high-availability:50GiB"
                  ],
                  "likelihood": 0.0,
                  "machine": null,
                  "name": "hyperdisk-balanced",
                  "off": 0.0647,
                  "target": "gcp/hyperdisk-balanced:50GiB"
                },
                {
                  "equal": [],
                  "likelihood": 0.0,
                  "machine": null,
                  "name": "io2",
                  "off": 0.8332,
                  "target": "aws/io2:50GiB,iops=3070"
                }
              ],
              "schema": "fathom.identify/1",
              "service": {
                "again_ns": null,
                "handling": null,
                "read": {
                  "crowding": null,
                  "in_order_ns_p50": null,
                  "latency_ns_p50": 403426,
                  "ns_per_kib": 2253
                },
                "write": null
              },
              "sku": {
                "equal": [
                  "aws/gp3:50GiB,mibps=128"
                ],
                "likelihood": 0.9996,
                "machine": null,
                "name": "gp2",
                "off": 0.0002,
                "target": "aws/gp2:50GiB"
              },
              "target": "model:aws/gp2:50GiB"
            }
        "#]],
    );
}

#[test]
fn the_model_that_it_writes_is_what_it_measured() {
    let place = Place::new();
    place
        .fathom("identify model:gcp/pd-standard:2000GiB -o mine.toml -q")
        .expect(0);
    let again = place.json("identify model:mine.toml");
    for (path, limit) in [
        ("limits.read.small.iops", 1_500.0),
        ("limits.write.small.iops", 3_000.0),
    ] {
        let measured = number(&again, path);
        assert!(
            (measured / limit - 1.0).abs() < 0.02,
            "{path}: {measured} of {limit}"
        );
    }
    assert_eq!(again["limits"]["shared_iops"], false);
    let run = "run --rw randwrite --bs 4k --iodepth 64 --ioengine io_uring --size 1g --runtime 2s --time_based --direct 1";
    let run = place.json(&format!("{run} --on model:mine.toml -o none"));
    let iops = number(&run, "groups.0.write.iops");
    assert!((iops / 3_000.0 - 1.0).abs() < 0.02, "{iops} of 3,000");
}

#[test]
fn a_file_of_its_own_is_measured_and_kept() {
    let place = Place::new();
    let told = place.json("identify disk --size 16m --time 60s --keep kept");
    assert!(number(&told, "limits.read.small.iops") > 0.0);
    assert!(number(&told, "held_out.iops.measured") > 0.0);
    let kept = place.listing("kept").len();
    assert_eq!(kept, number(&told, "measurements") as usize);
    // What fathom made it may read again, and does not have to write.
    let mut names = place.names();
    names.sort();
    assert_eq!(names, ["disk", "kept"]);
}

#[test]
fn a_device_is_only_read_where_that_is_asked() {
    let place = Place::new();
    let device = match LoopDevice::new(&place, 32 << 20) {
        Ok(device) => device,
        Err(missing) => return skipped("a_device_is_only_read_where_that_is_asked", &missing),
    };
    let path = &device.path;
    // Not named as what may be written over.
    place
        .fathom(&format!("identify {path} --time 60s --keep refused -q"))
        .expect(3)
        .saying(path);
    let before = device.checksum();
    let told = place.json(&format!("identify {path} --readonly --time 60s --keep kept"));
    assert_eq!(device.checksum(), before);
    assert!(number(&told, "limits.read.small.iops") > 0.0);
    assert!(told["limits"]["write"].is_null() && told["service"]["write"].is_null());
    assert!(number(&told, "held_out.iops.measured") > 0.0);
    assert_eq!(told["held_out"]["writes"], false);
    assert_eq!(
        place.listing("kept").len(),
        number(&told, "measurements") as usize
    );
}

#[test]
fn what_cannot_be_done_is_refused_and_nothing_is_touched() {
    let place = Place::new();
    place.write("own.data", [7; 8192]);
    for (words, code, saying) in [
        ("identify nothing", 2, "--size"),
        ("identify nothing --readonly --size 16m", 2, "nothing to read"),
        ("identify nothing --size much", 2, "--size much"),
        ("identify null:", 2, "null: is no disk"),
        ("identify model:azure/P3000", 2, "P3000"),
        (
            "identify model:azure/P30 --claims azure/P3000",
            2,
            "--claims azure/P3000",
        ),
        ("identify model:azure/P30 --vm Standard_X", 2, "--vm Standard_X"),
        ("identify model:azure/P30 --size 1g", 2, "--size is for files"),
        ("identify model:azure/P30 --time 5s", 2, "60s"),
        ("identify model:azure/P30 -o model.txt", 2, ".toml"),
        ("identify own.data --size 4k", 3, "own.data"),
    ] {
        place.fathom(&format!("{words} -q")).expect(code).saying(saying);
    }
    assert_eq!(place.names(), ["own.data"]);
}
