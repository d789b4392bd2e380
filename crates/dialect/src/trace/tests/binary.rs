//! blktrace's records, in both versions and both byte orders, made here by the kernel's layout a second time.

use super::{read_in, shown};
use crate::trace::{At, Reader, Row, detect};
use expect_test::expect;
use fathom_core::workload::RecordFormat;

const READ: u64 = 1 << 16;
const WRITE: u64 = 1 << 17;
const FLUSH: u64 = 1 << 18;
const SYNC: u64 = 1 << 19;
const NOTIFY: u64 = 1 << 26;
const CGROUP: u64 = 0x100;
const Q: u64 = 1;
const D: u64 = 7;
const C: u64 = 8;

#[derive(Clone, Copy)]
pub(super) struct Form {
    version: u32,
    big: bool,
}

pub(super) const FORMS: [Form; 4] = [
    Form {
        version: 7,
        big: false,
    },
    Form {
        version: 7,
        big: true,
    },
    Form {
        version: 8,
        big: false,
    },
    Form {
        version: 8,
        big: true,
    },
];

impl Form {
    fn record(self, ns: u64, action: u64, sector: u64, bytes: u32, pdu: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let put32 = |out: &mut Vec<u8>, value: u32| {
            out.extend(if self.big {
                value.to_be_bytes()
            } else {
                value.to_le_bytes()
            });
        };
        let put64 = |out: &mut Vec<u8>, value: u64| {
            out.extend(if self.big {
                value.to_be_bytes()
            } else {
                value.to_le_bytes()
            });
        };
        let put16 = |out: &mut Vec<u8>, value: u16| {
            out.extend(if self.big {
                value.to_be_bytes()
            } else {
                value.to_le_bytes()
            });
        };
        put32(&mut out, 0x6561_7400 | self.version);
        put32(&mut out, 1);
        put64(&mut out, ns);
        put64(&mut out, sector);
        put32(&mut out, bytes);
        let (pid, device, cpu) = (42, 8 << 20 | 16, 3);
        if self.version == 7 {
            put32(&mut out, action as u32);
            put32(&mut out, pid);
        } else {
            put32(&mut out, pid);
            put64(&mut out, action);
        }
        put32(&mut out, device);
        put32(&mut out, cpu);
        put16(&mut out, 0);
        put16(&mut out, pdu.len() as u16);
        if self.version == 8 {
            out.resize(64, 0);
        }
        out.extend_from_slice(pdu);
        out
    }
}

pub(super) fn trace(form: Form) -> Vec<u8> {
    [
        // A note whose number is Q's: none of an I/O.
        form.record(10, NOTIFY | 1, 0, 0, &[1, 2, 3, 4, 5, 6, 7, 8]),
        form.record(100, Q | READ | CGROUP, 64, 4096, &[0; 8]),
        form.record(200, Q | WRITE | SYNC | FLUSH, 128, 8192, &[]),
        form.record(300, D | READ, 64, 4096, &[]),
        form.record(900, C | READ, 64, 4096, &[]),
        form.record(1_000, C | WRITE, 128, 8192, &[]),
    ]
    .concat()
}

#[test]
fn both_versions_and_both_byte_orders_say_the_same() {
    for form in FORMS {
        let bytes = trace(form);
        assert_eq!(detect(&bytes), Ok(RecordFormat::Blktrace));
        for piece in [1, 47, 1 << 20] {
            let (rows, reader) = read_in(RecordFormat::Blktrace, &bytes, piece).expect("a good trace");
            expect![[r#"
                200 8,16 sync 0 + 0 by 42 Perhaps
                100 8,16 read 32768 + 4096 by 42 took 800 No
                200 8,16 write 65536 + 8192 by 42 took 800 Perhaps
                Known { times: true, ends: true, files: false }"#]]
            .assert_eq(&shown(&rows, &reader));
        }
    }
}

/// Cut anywhere but between records it is an error at the record that was cut.
#[test]
fn half_a_trace_is_no_trace() {
    let bytes = trace(FORMS[0]);
    let starts = [0, 56, 112, 160, 208, 256, 304];
    assert_eq!(bytes.len(), 304);
    for cut in 1..bytes.len() {
        let read = read_in(RecordFormat::Blktrace, &bytes[..cut], 1 << 20);
        if starts.contains(&cut) {
            continue;
        }
        let error = read.expect_err("cut off");
        let begun = starts.iter().rev().find(|&&start| start <= cut).copied();
        assert_eq!(Some(error.at), begun.map(|at| At::Byte(at as u64)), "{error}");
        assert!(error.message.contains("cut off"), "{error}");
    }
    let mut damaged = bytes;
    damaged[56] = 0;
    let error = read_in(RecordFormat::Blktrace, &damaged, 100).expect_err("damaged");
    assert_eq!(error.at, At::Byte(56));
    let other = FORMS[0].record(1, Q | READ, 0, 512, &[]);
    let mut other = [trace(FORMS[2]), other].concat();
    let error = read_in(RecordFormat::Blktrace, &other, 100).expect_err("mixed");
    assert!(error.message.contains("another version"), "{error}");
    other[0] = 5;
    let error = read_in(RecordFormat::Blktrace, &other, 100).expect_err("old");
    assert!(error.message.contains("version 5"), "{error}");
}

/// Files of several processors are merged by time, whoever is read first: an end on another processor is found.
#[test]
fn processors_are_merged_by_time() {
    let form = FORMS[0];
    let one: Vec<u8> = (0..500u64)
        .flat_map(|number| form.record(number * 1_000, Q | READ, number * 8, 4096, &[]))
        .collect();
    let other: Vec<u8> = (0..500u64)
        .flat_map(|number| form.record(number * 1_000 + 700, C | READ, number * 8, 4096, &[]))
        .collect();
    let mut reader = Reader::new(RecordFormat::Blktrace, 3);
    let files = [one, other, Vec::new()];
    let mut at = [0; 3];
    let mut rows: Vec<Row> = Vec::new();
    while let Some(input) = reader.wants() {
        let rest = &files[input][at[input]..];
        let piece = &rest[..rest.len().min(777)];
        at[input] += piece.len();
        reader.feed(input, piece).expect("good files");
        rows.extend(reader.take());
    }
    assert_eq!(rows.len(), 500);
    for (number, row) in (0u64..).zip(&rows) {
        assert_eq!(row.sent.start_ns, number * 1_000);
        assert_eq!(row.sent.end_ns, number * 1_000 + 700);
    }
}
