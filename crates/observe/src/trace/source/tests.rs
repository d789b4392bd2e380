use super::*;
use crate::target::TraceDevice;
use crate::trace::decode::BlockDecoder;
use crate::trace::format::EventFormat;
use crate::trace::matcher::{Matcher, Patience, Watched};
use fathom_core::record::{BlockFlags, BlockRequest};
use fathom_testkit::make;
use fathom_testkit::peer::Peer;

fn read_of(index: u64) -> BlockRequest {
    let at_ns = 1_000_000 + index * 10_000;
    BlockRequest {
        device: 8 << 20,
        allocated_ns: Some(at_ns + 100),
        issued_ns: Some(at_ns + 200),
        sector: index * 8,
        flags: BlockFlags(BlockFlags::SYNC),
        ..make::request(at_ns, at_ns + 300_000)
    }
}

/// The simulated kernel's pages in files, read as the pipes are.
#[test]
fn pages_in_files_become_events_in_order() {
    const REQUESTS: u64 = 3000;
    let mut peer = Peer::new(11, 3);
    for index in 0..REQUESTS {
        peer.request(&read_of(index));
    }
    let dir = tempfile::tempdir().expect("a directory");
    let layout = PageLayout::parse(&peer.header_page()).expect("a layout");
    let mut pipes = Vec::new();
    for cpu in 0..3 {
        let path = dir.path().join(cpu.to_string());
        std::fs::write(&path, peer.pages(cpu).concat()).expect("a file");
        pipes.push((cpu as u32, open(&path).expect("open")));
    }
    let formats: Vec<_> = peer
        .formats()
        .iter()
        .map(|text| EventFormat::parse(text).expect("a format"))
        .collect();
    let decoder = BlockDecoder::new(&formats).expect("a decoder");
    let watched = Watched {
        device: TraceDevice {
            name: "sda".to_owned(),
            dev: 8 << 20,
            request_based: true,
            partition_devs: vec![],
        },
        fua: false,
    };
    let mut matcher = Matcher::new(&[watched], Patience::default());
    let mut rows = Vec::new();
    let mut stream = Stream::new(Pipes::new(pipes, layout));
    let decode = |_: u32, record: &Record<'_>| decoder.decode(record);
    // Half of what happened is far enough in the past.
    let half_ns = 1_000_000 + REQUESTS / 2 * 10_000;
    let all_ns = 1_000_000 + REQUESTS * 10_000 + 1_000_000;
    stream
        .poll(
            half_ns,
            decode,
            |_, _| None,
            |event| matcher.apply(event, &mut rows),
        )
        .expect("read");
    assert!(stream.complete_to_ns() >= half_ns - HOLD_BACK_NS);
    let first = rows.len();
    assert!(first > 1000);
    stream
        .finish(
            all_ns,
            decode,
            |_, _| None,
            |event| matcher.apply(event, &mut rows),
        )
        .expect("read");
    let expected: Vec<_> = (0..REQUESTS).map(read_of).collect();
    assert_eq!(rows, expected);
    assert_eq!((stream.late(), stream.torn_pages()), (0, 0));
}
