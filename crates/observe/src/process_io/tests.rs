use super::*;

#[test]
fn each_count_has_its_line() {
    let text =
        "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\ncancelled_write_bytes: 7\n";
    let io = parse(text).expect("all of them");
    assert_eq!((io.read_call_bytes, io.write_call_bytes), (1, 2));
    assert_eq!((io.read_calls, io.write_calls), (3, 4));
    assert_eq!((io.read_bytes, io.written_bytes, io.cancelled_bytes), (5, 6, 7));
    assert_eq!(parse("rchar: 1\nwchar: x\n"), Err("wchar"));
    assert_eq!(parse(&text.replace('7', "")), Err("cancelled_write_bytes"));
}
