//! An NBD server that keeps one export in memory, for clients to be tested against.
//!
//! Data in: connections on the loopback. Data out: answers, in the order of the requests.

use fathom_core::nbd::{
    GREETING, OPTION_MAGIC, OPTION_REPLY_MAGIC, RequestHeader, SimpleReply, can, command, handshake, info,
    option, reply, u32_at,
};
use std::io::{self, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// Serves so many bytes, zero at first, for as long as the program lives. Its address.
///
/// # Panics
/// There is no port.
pub fn memory(size_bytes: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let data = Arc::new(Mutex::new(vec![0; size_bytes]));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let data = Arc::clone(&data);
            // Who goes without a word is gone all the same.
            std::thread::spawn(move || drop(serve(stream, &data)));
        }
    });
    format!("nbd://{address}/memory")
}

fn serve(mut out: TcpStream, data: &Mutex<Vec<u8>>) -> io::Result<()> {
    out.set_nodelay(true)?;
    let mut input = BufReader::new(out.try_clone()?);
    let size = data.lock().map_or(0, |data| data.len() as u64);
    let flags = handshake::FIXED_NEWSTYLE | handshake::NO_ZEROES;
    out.write_all(
        &[
            &GREETING.to_be_bytes()[..],
            &OPTION_MAGIC.to_be_bytes(),
            &flags.to_be_bytes(),
        ]
        .concat(),
    )?;
    input.read_exact(&mut [0; 4])?;
    let mut header = [0; 16];
    input.read_exact(&mut header)?;
    let mut asked = vec![0; u32_at(&header, 12) as usize];
    input.read_exact(&mut asked)?;
    let can = can::HAS_FLAGS | can::FLUSH | can::FUA | can::TRIM | can::MULTI_CONN;
    let told = [
        &info::EXPORT.to_be_bytes()[..],
        &size.to_be_bytes(),
        &can.to_be_bytes(),
    ]
    .concat();
    for (kind, told) in [(reply::INFO, told), (reply::ACK, Vec::new())] {
        let len = told.len() as u32;
        let head = [option::GO, kind, len].map(u32::to_be_bytes).concat();
        out.write_all(&[&OPTION_REPLY_MAGIC.to_be_bytes()[..], &head, &told].concat())?;
    }
    let mut header = [0; RequestHeader::BYTES];
    loop {
        input.read_exact(&mut header)?;
        let request = RequestHeader::from_bytes(&header).ok_or(io::ErrorKind::InvalidData)?;
        let RequestHeader {
            command,
            cookie,
            offset_bytes,
            len_bytes,
            ..
        } = request;
        let range = offset_bytes as usize..offset_bytes as usize + len_bytes as usize;
        let mut given = vec![0; if command == command::WRITE { range.len() } else { 0 }];
        input.read_exact(&mut given)?;
        let mut answer = SimpleReply { errno: 0, cookie }.to_bytes().to_vec();
        if let Ok(mut data) = data.lock() {
            match command {
                command::READ => answer.extend(&data[range]),
                command::WRITE => data[range].copy_from_slice(&given),
                command::TRIM => data[range].fill(0),
                command::FLUSH => {}
                _ => return Ok(()),
            }
        }
        out.write_all(&answer)?;
    }
}
