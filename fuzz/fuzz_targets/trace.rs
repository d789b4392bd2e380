//! Any bytes as what the kernel's trace files hold: the first part as the descriptions of events and pages, the rest as
//! pages. No panic, and no more comes out than went in.
//!
//! The input: a byte that chooses (0: the descriptions of a simulated kernel, chosen by the next byte; else text up to
//! the first zero is split at lines `---`: the layout of pages, then formats), then pages, each with a byte before it
//! for its CPU.
#![no_main]

use fathom_observe::target::TraceDevice;
use fathom_observe::trace::Load;
use fathom_observe::trace::decode::{BlockDecoder, SchedDecoder};
use fathom_observe::trace::format::EventFormat;
use fathom_observe::trace::matcher::{Matcher, Patience, Watched};
use fathom_observe::trace::order::Merge;
use fathom_observe::trace::page::PageLayout;
use fathom_observe::trace::slices::Slices;
use fathom_testkit::peer::Peer;
use libfuzzer_sys::fuzz_target;

const CPUS: usize = 3;
/// More requests than this are not held, so that giving up is seen too.
const HELD: usize = 16;

/// The layout of pages, the formats of events, and the pages.
fn split(data: &[u8]) -> Option<(PageLayout, Vec<EventFormat>, &[u8])> {
    let (&choice, rest) = data.split_first()?;
    let (texts, pages) = if choice == 0 {
        let (&seed, pages) = rest.split_first()?;
        let peer = Peer::new(seed.into(), CPUS);
        let mut texts = vec![peer.header_page()];
        texts.extend(peer.formats());
        (texts, pages)
    } else {
        let end = rest.iter().position(|&byte| byte == 0)?;
        let text = String::from_utf8_lossy(&rest[..end]);
        (
            text.split("\n---\n").map(str::to_owned).collect(),
            &rest[end + 1..],
        )
    };
    let layout = PageLayout::parse(texts.first()?).ok()?;
    let formats = texts[1..].iter().filter_map(|text| EventFormat::parse(text).ok());
    Some((layout, formats.collect(), pages))
}

fuzz_target!(|data: &[u8]| {
    let Some((layout, formats, mut bytes)) = split(data) else {
        return;
    };
    let device = TraceDevice {
        name: "vda".to_owned(),
        dev: 0x0101_0101,
        request_based: data.len() % 2 == 0,
        partition_devs: vec![0, 0x5A5A_5A5A],
    };
    let watched = Watched {
        device,
        fua: data.len() % 3 == 0,
    };
    let patience = Patience {
        age_ns: 1_000_000,
        requests: HELD,
    };
    let mut matcher = Matcher::new(&[watched], patience);
    let mut slices = Slices::new(&[0, 1, 2], &Load::default(), 0);
    let block = BlockDecoder::new(&formats).ok();
    let sched = SchedDecoder::new(&formats).ok();
    let mut requests = Merge::new(CPUS, 10);
    let mut switches = Merge::new(CPUS, 10);
    let mut rows = Vec::new();
    let mut events = 0;
    while let Some((&cpu, rest)) = bytes.split_first() {
        let cpu = usize::from(cpu) % CPUS;
        // Pages of an input are short: what is missing of one is torn off.
        let (page, rest) = rest.split_at(rest.len().min(layout.page_bytes().min(512)));
        bytes = rest;
        for record in layout.records(page) {
            events += 1;
            if let Some(event) = block.as_ref().and_then(|block| block.decode(&record)) {
                requests.push(cpu, event);
            }
            if let Some(event) = sched.as_ref().and_then(|sched| sched.decode(cpu as u32, &record)) {
                switches.push(cpu, event);
            }
        }
        requests.take(|event| matcher.apply(event, &mut rows));
        matcher.expire(requests.complete_to_ns(), &mut rows);
        switches.take(|event| slices.apply(event));
        assert!(matcher.in_flight() <= HELD + 3);
    }
    requests.take_all(|event| matcher.apply(event, &mut rows));
    matcher.finish(u64::MAX, &mut rows);
    switches.take_all(|event| slices.apply(event));
    assert!(events <= data.len() / 4 && rows.len() <= 2 * events);
    let mut stays = Vec::new();
    slices.consult(0, u64::MAX, &mut stays);
    assert!(stays.len() <= 3 * events + CPUS);
});
