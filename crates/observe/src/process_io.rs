//! The kernel's account of a process's I/O.
//!
//! Data in: `/proc/PID/io`. Data out: [`ProcessIo`]. It must not know whose it is.

use crate::root::SystemRoot;
use fathom_core::run::ProcessIo;
use std::io;

/// What the kernel counted of process `pid` and of all its children that were waited for. Of a process that has ended it is
/// there until that one is waited for itself.
///
/// # Errors
/// It cannot be read, or lacks a count.
pub fn process_io(root: &SystemRoot, pid: u32) -> io::Result<ProcessIo> {
    let text = root.read(format!("/proc/{pid}/io"))?;
    let text = String::from_utf8_lossy(&text);
    parse(&text).map_err(|name| {
        let message = format!("/proc/{pid}/io has no {name}");
        io::Error::new(io::ErrorKind::InvalidData, message)
    })
}

/// The counts, or the name of one that is missing.
fn parse(text: &str) -> Result<ProcessIo, &'static str> {
    let field = |name: &'static str| {
        let mut lines = text.lines();
        let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        value.and_then(|value| value.trim().parse().ok()).ok_or(name)
    };
    Ok(ProcessIo {
        read_call_bytes: field("rchar")?,
        write_call_bytes: field("wchar")?,
        read_calls: field("syscr")?,
        write_calls: field("syscw")?,
        read_bytes: field("read_bytes")?,
        written_bytes: field("write_bytes")?,
        cancelled_bytes: field("cancelled_write_bytes")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_count_has_its_line() {
        let text = "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\ncancelled_write_bytes: 7\n";
        let io = parse(text).expect("all of them");
        assert_eq!((io.read_call_bytes, io.write_call_bytes), (1, 2));
        assert_eq!((io.read_calls, io.write_calls), (3, 4));
        assert_eq!((io.read_bytes, io.written_bytes, io.cancelled_bytes), (5, 6, 7));
        assert_eq!(parse("rchar: 1\nwchar: x\n"), Err("wchar"));
        assert_eq!(parse(&text.replace("7", "")), Err("cancelled_write_bytes"));
    }
}
