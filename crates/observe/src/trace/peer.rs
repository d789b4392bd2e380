//! A simulated kernel, for tests: it describes and writes events as a real one does.
//!
//! Duty: turn requests and stays on a CPU into the pages that `trace_pipe_raw` would give. Data in: rows, a seed. Data
//! out: descriptions and pages, or what the real reader makes of them. It must not know how they are read: nothing here
//! is shared with the decoder but the kernel's own words. The seed chooses what differs between kernels: numbers of
//! events, places of fields, sizes of pages, which CPU writes what, padding, times in full or in part.

mod encode;
mod formats;
mod scenario;

use super::decode::{BlockDecoder, BlockEvent, BlockKind, SchedDecoder, SchedEvent, SchedKind};
use super::format::EventFormat;
use super::matcher::{MatchCounts, Matcher, Patience, Watched};
use super::order::{Merge, Timed};
use super::page::{PageLayout, Record};
use super::slices::Slices;
use fathom_core::record::BlockRequest;
use fathom_core::rng::Rng;
use formats::{EventText, Kernel};

/// One event to be written.
#[derive(Debug, Clone, Copy)]
enum Event {
    Block(BlockEvent),
    Sched(SchedEvent),
}

impl Event {
    fn time_ns(&self) -> u64 {
        match self {
            Self::Block(event) => event.time_ns,
            Self::Sched(event) => event.time_ns,
        }
    }
}

/// The simulated kernel.
#[derive(Debug)]
pub struct Peer {
    seed: u64,
    rng: Rng,
    kernel: Kernel,
    /// What each CPU writes, in the order in which it was asked for.
    cpus: Vec<Vec<Event>>,
}

impl Peer {
    /// A kernel with so many CPUs; the same seed gives the same pages.
    pub fn new(seed: u64, cpus: usize) -> Self {
        let mut rng = Rng::stream(seed, 1);
        Self {
            seed,
            kernel: Kernel::new(&mut rng),
            rng,
            cpus: vec![Vec::new(); cpus.max(1)],
        }
    }

    /// Has a CPU write an event of the block layer. Events may come in any order.
    pub fn block(&mut self, cpu: usize, event: BlockEvent) {
        let cpu = cpu % self.cpus.len();
        self.cpus[cpu].push(Event::Block(event));
    }

    /// Has the event's CPU write it. A gap is no event: nothing is written.
    pub fn sched(&mut self, event: SchedEvent) {
        if event.kind == SchedKind::Gap {
            return;
        }
        let cpu = event.cpu as usize % self.cpus.len();
        self.cpus[cpu].push(Event::Sched(event));
    }

    /// Has a request happen: all the events that a kernel writes of it, sent on one CPU and completed on another one,
    /// which the seed chooses. It can be read back as the same row where its times are in order, and some nanoseconds
    /// apart for a request that was given back or has a flush before it. The device takes FUA itself.
    pub fn request(&mut self, row: &BlockRequest) {
        let cpus = self.cpus.len() as u64;
        let (sender, receiver) = (self.rng.below(cpus), self.rng.below(cpus));
        for event in scenario::events(row) {
            let completed = matches!(event.kind, BlockKind::Complete | BlockKind::CompleteBio);
            let cpu = if completed { receiver } else { sender };
            self.block(cpu as usize, event);
        }
    }

    /// The text of `events/header_page`.
    pub fn header_page(&self) -> String {
        self.kernel.header_page()
    }

    /// The texts of the events' `format` files.
    pub fn formats(&self) -> Vec<String> {
        self.kernel.formats().iter().map(EventText::text).collect()
    }

    /// The pages that a CPU's `trace_pipe_raw` gives.
    pub fn pages(&self, cpu: usize) -> Vec<Vec<u8>> {
        let mut events = self.cpus[cpu].clone();
        events.sort_by_key(Event::time_ns);
        let mut rng = Rng::stream(self.seed, 100 + cpu as u64);
        encode::pages(&self.kernel, &events, &mut rng)
    }

    /// What the real reader makes of all pages: the requests, and what did not fit.
    ///
    /// # Panics
    /// It does not understand the descriptions: a failure of the test.
    pub fn requests(&self, watched: &[Watched]) -> (Vec<BlockRequest>, MatchCounts) {
        let formats = self.parsed();
        let decoder = BlockDecoder::new(&formats).expect("formats of the block layer");
        let mut matcher = Matcher::new(watched, Patience::default());
        let mut rows = Vec::new();
        let mut end_ns = 0;
        self.replay(
            |_, record| decoder.decode(record),
            |event: &BlockEvent| {
                end_ns = event.time_ns;
                matcher.apply(event, &mut rows);
            },
        );
        matcher.finish(end_ns, &mut rows);
        (rows, matcher.counts())
    }

    /// What the real reader makes of all pages: who had the CPUs.
    ///
    /// # Panics
    /// It does not understand the descriptions: a failure of the test.
    pub fn slices(&self, begun_ns: u64) -> Slices {
        let formats = self.parsed();
        let decoder = SchedDecoder::new(&formats).expect("formats of the scheduler");
        let cpus: Vec<u32> = (0..self.cpus.len() as u32).collect();
        let mut slices = Slices::new(&cpus, begun_ns);
        self.replay(
            |cpu, record| decoder.decode(cpu, record),
            |event: &SchedEvent| slices.apply(event),
        );
        slices
    }

    fn parsed(&self) -> Vec<EventFormat> {
        let parse = |text: &String| EventFormat::parse(text).expect("a format");
        self.formats().iter().map(parse).collect()
    }

    fn replay<E: Timed>(&self, decode: impl Fn(u32, &Record<'_>) -> Option<E>, mut take: impl FnMut(&E)) {
        let layout = PageLayout::parse(&self.header_page()).expect("a layout");
        let mut merge = Merge::new(self.cpus.len(), 0);
        for cpu in 0..self.cpus.len() {
            for page in self.pages(cpu) {
                for record in layout.records(&page) {
                    if let Some(event) = decode(cpu as u32, &record) {
                        merge.push(cpu, event);
                    }
                }
            }
        }
        merge.take_all(&mut take);
    }
}

#[cfg(test)]
mod tests;
