//! Each format against a few lines of it, and all of them against being cut and split anywhere.

mod binary;
mod damaged;

use super::{At, Reader, Row, TraceError, detect};
use expect_test::{Expect, expect};
use fathom_core::backend::Op;
use fathom_core::workload::RecordFormat;
use std::fmt::Write as _;

/// All rows of a text, fed in pieces of so many bytes.
pub(super) fn read_in(
    format: RecordFormat,
    bytes: &[u8],
    piece: usize,
) -> Result<(Vec<Row>, Reader), TraceError> {
    let mut reader = Reader::new(format, 1);
    let mut rows = Vec::new();
    for piece in bytes.chunks(piece.max(1)) {
        assert_eq!(reader.wants(), Some(0));
        reader.feed(0, piece)?;
        rows.extend(reader.take());
    }
    reader.feed(0, &[])?;
    rows.extend(reader.take());
    assert_eq!(reader.wants(), None);
    Ok((rows, reader))
}

pub(super) fn shown(rows: &[Row], reader: &Reader) -> String {
    let mut text = String::new();
    for row in rows {
        let sent = row.sent;
        let took = if sent.end_ns > sent.start_ns {
            format!(" took {}", sent.end_ns - sent.start_ns)
        } else {
            String::new()
        };
        let op = match sent.op {
            Op::DataSync => "datasync",
            op => op.name(),
        };
        let _ = writeln!(
            text,
            "{} {} {op} {} + {} by {}{took} {:?}",
            sent.start_ns,
            reader.volumes()[row.volume as usize],
            sent.offset_bytes,
            sent.len_bytes,
            sent.worker,
            sent.waits
        );
    }
    for (why, n) in reader.skipped() {
        let _ = writeln!(text, "skipped {n} {why}");
    }
    let _ = write!(text, "{:?}", reader.known());
    text
}

#[track_caller]
fn check(format: RecordFormat, text: &str, expected: &Expect) {
    assert_eq!(detect(text.as_bytes()), Ok(format));
    let (rows, reader) = read_in(format, text.as_bytes(), 1 << 20).expect("a good record");
    expected.assert_eq(&shown(&rows, &reader));
    for piece in [1, 2, 7, 64] {
        let (others, _) = read_in(format, text.as_bytes(), piece).expect("the same in pieces");
        assert_eq!(others, rows, "in pieces of {piece}");
    }
}

#[track_caller]
fn check_wrong(format: RecordFormat, text: &str, expected: &Expect) {
    for piece in [1 << 20, 3] {
        let error = read_in(format, text.as_bytes(), piece).expect_err("an error");
        expected.assert_eq(&error.to_string());
    }
}

#[test]
fn fio_iologs_of_both_versions() {
    // As fio 3.33 wrote it.
    check(
        RecordFormat::FioIolog,
        "fio version 3 iolog\n18 F1 add\n22 F2 add\n254 F1 open\n259 F1 read 0 4096\n3703 F2 write 20480 4096\n\
         15283 F2 sync 16384 0\n15290 F2 trim 0 65536\n31689 F1 close\n",
        &expect![[r#"
            259000 F1 read 0 + 4096 by 0 No
            3703000 F2 write 20480 + 4096 by 0 No
            15283000 F2 sync 0 + 0 by 0 No
            15290000 F2 trim 0 + 65536 by 0 No
            Known { times: true, ends: false, files: true }"#]],
    );
    check(
        RecordFormat::FioIolog,
        "fio version 2 iolog\n/d/a add\n/d/a open\n/d/a read 0 4096\n/d/a wait 20 0\n/d/a datasync 0 0\n/d/a close\n",
        &expect![[r#"
            0 /d/a read 0 + 4096 by 0 No
            20000000 /d/a datasync 0 + 0 by 0 No
            Known { times: true, ends: false, files: true }"#]],
    );
    check(
        RecordFormat::FioIolog,
        "fio version 2 iolog\na read 0 4096\na read 4096 0\n",
        &expect![[r#"
            0 a read 0 + 4096 by 0 No
            skipped 1 of length 0
            Known { times: false, ends: false, files: true }"#]],
    );
}

#[test]
fn a_wrong_iolog_says_where() {
    let log = RecordFormat::FioIolog;
    check_wrong(
        log,
        "",
        &expect!["line 1: empty: fio's iolog begins with `fio version 3 iolog`"],
    );
    check_wrong(
        log,
        "fio version 4 iolog\n",
        &expect![
            "line 1: `fio version 4 iolog`: fio's iolog begins with `fio version 2 iolog` or `fio version 3 iolog`"
        ],
    );
    check_wrong(
        log,
        "fio version 3 iolog\n1 a read 0\n",
        &expect!["line 2: the length is missing: `1 a read 0`"],
    );
    check_wrong(
        log,
        "fio version 3 iolog\n1 a erase 0 1\n",
        &expect![
            "line 2: unknown action `erase`: add, open, close, read, write, trim, sync, datasync and wait are known"
        ],
    );
    check_wrong(
        log,
        "fio version 3 iolog\n5000000 a read 0 512\n1 a read 0 512\n",
        &expect!["line 3: its time lies 5.000 s before an earlier one: sort the record by time first"],
    );
    check_wrong(
        log,
        "fio version 3 iolog\n1 a read 0 51",
        &expect!["line 2: the last line has no end: the file was cut off; where it is whole, end the line"],
    );
    check_wrong(
        log,
        "fio version 3 iolog\n1 a read -1 512\n",
        &expect!["line 2: the offset `-1` is no whole number that fits"],
    );
}

#[test]
fn the_three_public_sets() {
    check(
        RecordFormat::MsrCambridge,
        "128166372003061629,hm,1,Read,383496192,32768,413\n128166372016382155,hm,1,Write,2822144,4096,8000\n",
        &expect![[r#"
            1172163600306162900 hm.1 read 383496192 + 32768 by 0 took 41300 Perhaps
            1172163601638215500 hm.1 write 2822144 + 4096 by 0 took 800000 Perhaps
            Known { times: true, ends: true, files: false }"#]],
    );
    check(
        RecordFormat::Alibaba,
        "device_id,opcode,offset,length,timestamp\n419,W,8792731648,16384,1577808144360767\n725,R,59110326272,360448,\
         1577808144360813\n",
        &expect![[r#"
            1577808144360767000 419 write 8792731648 + 16384 by 0 No
            1577808144360813000 725 read 59110326272 + 360448 by 0 No
            Known { times: true, ends: false, files: false }"#]],
    );
    // Whole seconds: each volume's I/Os lie evenly in theirs.
    check(
        RecordFormat::Tencent,
        "1538323200,12910952,128,0,1063\n1538323200,6338688,8,1,1063\n1538323200,8,8,1,7\n1538323201,16,8,0,7\n",
        &expect![[r#"
            1538323200000000000 1063 read 6610407424 + 65536 by 0 No
            1538323200000000000 7 write 4096 + 4096 by 0 No
            1538323200500000000 1063 write 3245408256 + 4096 by 0 No
            1538323201000000000 7 read 8192 + 4096 by 0 No
            Known { times: true, ends: false, files: false }"#]],
    );
}

#[test]
fn a_wrong_table_says_where() {
    check_wrong(
        RecordFormat::MsrCambridge,
        "128166372003061629,hm,1,Read,383496192,32768,413\n128166372003061629,hm,1,Read,383496192\n",
        &expect![
            "line 2: 5 fields instead of 7 (Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime): \
             `128166372003061629,hm,1,Read,383496192`"
        ],
    );
    check_wrong(
        RecordFormat::Alibaba,
        "1,X,0,512,1\n",
        &expect!["line 1: the opcode `X` is neither R nor W"],
    );
    check_wrong(
        RecordFormat::Tencent,
        "1,18446744073709551615,8,1,7\n",
        &expect!["line 1: the offset 18446744073709551615 does not fit"],
    );
    check_wrong(
        RecordFormat::Alibaba,
        "1,R,9223372036854775807,512,1\n",
        &expect!["line 1: 512 bytes from the offset 9223372036854775807 on lie beyond any disk"],
    );
    check_wrong(
        RecordFormat::Alibaba,
        "1,R,0,4294967296,1\n",
        &expect!["line 1: a length of 4294967296 bytes: no I/O has more than 1 GiB"],
    );
    check_wrong(
        RecordFormat::Alibaba,
        "1,R,0,512,9000000\n1,R,0,512,1000000\n",
        &expect!["line 2: its time lies 8.000 s before an earlier one: sort the record by time first"],
    );
}

/// Merged, split, completed in parts, a flush with data, a discard: each I/O that was asked for, once, with its end.
#[test]
fn blkparse_pairs_what_was_queued_with_its_end() {
    check(
        RecordFormat::Blkparse,
        "  8,0    3        1     0.000000000   697  Q   R 1000 + 8 [fio]
  8,0    3        2     0.000001000   697  G   R 1000 + 8 [fio]
  8,0    3        3     0.000002000   697  Q  WS 2000 + 8 [a b]
  8,0    3        4     0.000003000   697  M  WS 2008 + 8 [a b]
  8,0    3        5     0.000003000   697  Q  WS 2008 + 8 [a b]
  8,0    1        6     0.000004000   697  P   N [fio]
  8,0    1        7     0.000004500   697  U   N [fio] 1
  8,0    1        8     0.000005000   697  D  WS 2000 + 16 [fio]
  8,0    1        9     0.000100000     0  C  WS 2000 + 12 [0]
  8,0    1       10     0.000150000     0  C  WS 2012 + 4 [0]
  8,0    1       11     0.000200000     0  C   R 1000 + 8 [0]
  8,0    1       12     0.000300000   700  Q FWFSM 3000 + 8 [jbd2/sda1-8]
  8,0    1       13     0.000310000   700  Q FWS [jbd2/sda1-8]
  8,0    1       14     0.000320000   701  Q   D 8192 + 2048 [fstrim]
  8,0    1       15     0.000400000     0  C   D 8192 + 2048 [0]
CPU1 (sda):
 Reads Queued:           1,        4KiB
",
        &expect![[r#"
            2000 8,0 write 1024000 + 4096 by 697 took 98000 Perhaps
            3000 8,0 write 1028096 + 4096 by 697 took 147000 Perhaps
            0 8,0 read 512000 + 4096 by 697 took 200000 No
            300000 8,0 sync 0 + 0 by 700 Perhaps
            310000 8,0 sync 0 + 0 by 700 Perhaps
            320000 8,0 trim 4194304 + 1048576 by 701 took 80000 No
            300000 8,0 write 1536000 + 4096 by 700 No
            Known { times: true, ends: true, files: false }"#]],
    );
}

/// What was asked for before the trace began is no I/O of it, and is counted; parts of what was asked for are none of these.
#[test]
fn requests_that_nobody_is_seen_to_ask_for_are_counted() {
    check(
        RecordFormat::Blkparse,
        "  8,0    3        1     0.000000000   697  D   R 5000 + 8 [fio]
  8,0    3        2     0.000001000   697  Q   R 1000 + 16 [fio]
  8,0    3        3     0.000002000   697  D   R 1000 + 8 [fio]
  8,0    3        4     0.000003000   697  D   R 1008 + 8 [fio]
  8,0    3        5     0.000004000   697  D  WS 1016 + 8 [fio]
  8,0    3        6     0.000005000   697  D   N [fio]
  8,0    3        7     0.000006000   697  D   D 9000 + 8 [fio]
  8,0    1        8     0.000100000     0  C   R 1000 + 16 [0]
  8,0    1        9     0.000100000     0  C   R 5000 + 8 [0]
",
        &expect![[r#"
            1000 8,0 read 512000 + 8192 by 697 took 99000 No
            skipped 2 that the device was given though no Q action of the two seconds before asked for them
            Known { times: true, ends: true, files: false }"#]],
    );
}

#[test]
fn what_is_not_blkparse_is_refused() {
    let text = RecordFormat::Blkparse;
    check_wrong(
        text,
        "  8,0 3 1 0.000000000 697 Q R 1000 + 8 [fio]\n1000 R 8\n",
        &expect!["line 2: `1000` is no device as `8,16`: this is no line of blkparse"],
    );
    check_wrong(
        text,
        "  8,0 3 1 0.5 697 Q R 1000 + 8 [fio]\n",
        &expect!["line 1: the time `0.5` is none as `12.000345678`"],
    );
    check_wrong(
        text,
        "  8,0 3 1 0.000000000 697 C R 1000 + 8 [0]\n",
        &expect![
            "line 1: no Q action is in it (1 of others): trace with queue, issue and complete (blktrace's default)"
        ],
    );
    check_wrong(
        text,
        "  8,0 3 1 0.000000000 697 Q R 99999999999999999 + 8 [fio]\n",
        &expect!["line 1: 4096 bytes at sector 99999999999999999: no disk has that"],
    );
}

#[test]
fn what_is_none_of_them_says_what_it_looks_like() {
    let cases: [(&[u8], &str); 7] = [
        (b"", "empty"),
        (b"\x1f\x8b\x08", "gunzip"),
        (b"PAR1", "directory"),
        (b"0,0.1,R,1,512,4096\n", "SYSTOR"),
        (
            b"Timestamp,Response,IOType,LUN,Offset,Size\n1455592552.4,0.1,R,0,1,2\n",
            "SYSTOR",
        ),
        (b"{\"a\": 1}\n", "`{\"a\": 1}`"),
        (b"\xff\xfe\x00\x01", "first line"),
    ];
    for (head, said) in cases {
        let why = detect(head).expect_err("no format");
        assert!(why.contains(said), "{why}");
    }
}

#[test]
fn where_something_is_is_said_in_its_own_unit() {
    assert_eq!(At::Line(7).to_string(), "line 7");
    assert_eq!(At::Byte(96).to_string(), "byte 96");
}
