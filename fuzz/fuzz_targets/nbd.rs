//! Any bytes as what a client of the NBD server sends: first its negotiation, then requests; and any text as a schedule of faults.
//! No panic, the talk ends, what is agreed is what was offered, what passes the check fits the export, and nothing is allocated
//! for what a client only says that it will send.
#![no_main]

use fathom_disk::fault;
use fathom_disk::nbd::protocol::{
    Agreed, Command, Export, REQUEST_BYTES_MAX, Request, negotiate, negotiate_secured,
};
use libfuzzer_sys::fuzz_target;
use std::io::{self, Cursor, Read, Write};

/// A client whose words are all there from the beginning.
struct Client<'a> {
    says: Cursor<&'a [u8]>,
    heard: usize,
}

impl Read for Client<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.says.read(buffer)
    }
}

impl Write for Client<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.heard += buffer.len();
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data)
        && let Ok(schedule) = fault::parse_schedule(text)
    {
        assert!(schedule.is_sorted_by_key(|scheduled| scheduled.at_ns));
    }
    let exports = [("data", 1 << 20), ("log", 1 << 40)].map(|(name, size_bytes)| Export {
        name: name.to_owned(),
        size_bytes,
    });
    let mut client = Client {
        says: Cursor::new(data),
        heard: 0,
    };
    // What follows a TLS handshake are words of the same protocol.
    let agreed = match negotiate(&mut client, &exports, data.len() % 2 == 1) {
        Ok(Agreed::StartTls(opening)) => negotiate_secured(&mut client, &exports, opening),
        agreed => agreed,
    };
    // An option of 16 bytes asks for no more than all exports.
    assert!(client.heard <= 18 + 2 * 128 * 200, "{} bytes said", client.heard);
    let Ok(Agreed::Export(agreed)) = agreed else {
        return;
    };
    assert_eq!(agreed.size_bytes, exports[agreed.export].size_bytes);
    while let Ok(Some(request)) = Request::read(&mut client) {
        let moves = matches!(request.command, Command::Write { .. });
        assert!(!moves || request.len_bytes <= REQUEST_BYTES_MAX);
        if request.check(&agreed).is_ok() && !matches!(request.command, Command::Flush | Command::Disconnect)
        {
            let end = request.offset_bytes + u64::from(request.len_bytes);
            assert!(end <= agreed.size_bytes);
        }
        if moves {
            let mut data = (&mut client).take(u64::from(request.len_bytes));
            let skipped = io::copy(&mut data, &mut io::sink());
            if skipped.ok() != Some(u64::from(request.len_bytes)) {
                return;
            }
        }
    }
});
