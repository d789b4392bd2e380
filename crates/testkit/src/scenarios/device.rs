//! The device: channels that serve in parallel, an optional limit, outages, flushes that stop all else.

use super::Window;
use super::block::Request;
use super::draws::{exponential, log_normal};
use super::machine::{Event, Machine, inside};
use fathom_core::record::BlockOp;
use fathom_core::rng::{Rng, split_mix};
use std::collections::VecDeque;

#[derive(Debug, Clone)]
pub(super) struct Device {
    /// What each channel serves.
    channels: Vec<Option<Request>>,
    /// Requests that it holds, served and waiting, at most.
    depth: usize,
    queue: VecDeque<Request>,
    busy: usize,
    /// Service time: median, spread, and nanoseconds a byte.
    pub service_ns: f64,
    pub sigma: f64,
    pub ns_a_byte: f64,
    /// Requests a second that it starts at most; 0: no limit.
    pub iops: f64,
    next_start_ns: u64,
    /// The kick that is under way for it.
    kick_ns: u64,
    /// Times in which nothing completes.
    pub outages: Vec<Window>,
    /// Times in which all takes so many times as long: at their begins and at their ends.
    pub slower: Vec<(Window, f64, f64)>,
    /// How long a flush takes.
    pub flush_ns: f64,
    /// Times in which a flush takes that long instead.
    pub slow_flushes: Vec<(Window, f64)>,
    flushing: bool,
}

impl Device {
    pub(super) fn new(channels: usize, depth: usize, service_ns: f64, sigma: f64) -> Self {
        Self {
            channels: vec![None; channels],
            depth,
            queue: VecDeque::new(),
            busy: 0,
            service_ns,
            sigma,
            ns_a_byte: 1.0,
            iops: 0.0,
            next_start_ns: 0,
            kick_ns: 0,
            outages: Vec::new(),
            slower: Vec::new(),
            flush_ns: 800_000.0,
            slow_flushes: Vec::new(),
            flushing: false,
        }
    }

    pub(super) fn has_room(&self) -> bool {
        self.busy + self.queue.len() < self.depth
    }

    pub(super) fn queue(&mut self, request: Request) {
        self.queue.push_back(request);
    }
}

impl Machine {
    /// Starts what may be started.
    pub(super) fn device_start(&mut self) {
        if let Some(end) = inside(&self.device.outages, self.now) {
            self.at(end, Event::Kick);
            return;
        }
        while !self.device.flushing {
            let Some(next) = self.device.queue.front() else {
                return;
            };
            let flush = next.op == BlockOp::Flush;
            // A flush waits until all before it is done.
            if flush && self.device.busy > 0 || self.device.busy == self.device.channels.len() {
                return;
            }
            let Some(channel) = self.device.channels.iter().position(Option::is_none) else {
                return;
            };
            if self.device.iops > 0.0 && !flush {
                if self.device.next_start_ns > self.now {
                    let at = self.device.next_start_ns;
                    if self.device.kick_ns != at {
                        self.device.kick_ns = at;
                        self.at(at, Event::Kick);
                    }
                    return;
                }
                let gap = (1e9 / self.device.iops) as u64;
                self.device.next_start_ns = self.device.next_start_ns.max(self.now.saturating_sub(gap)) + gap;
            }
            let Some(request) = self.device.queue.pop_front() else {
                return;
            };
            let service = self.service_ns(&request);
            self.device.flushing = flush;
            self.device.channels[channel] = Some(request);
            self.device.busy += 1;
            self.at(self.now + service as u64 + 500, Event::Done(channel));
        }
    }

    fn service_ns(&self, request: &Request) -> f64 {
        let mut rng = Rng::new(request.luck);
        if request.op == BlockOp::Flush {
            let slow = self
                .device
                .slow_flushes
                .iter()
                .find(|(window, _)| inside(&[*window], self.now).is_some())
                .map(|(_, ns)| *ns);
            return slow.unwrap_or_else(|| log_normal(&mut rng, self.device.flush_ns, 0.3));
        }
        let (median, sigma) = (self.device.service_ns, self.device.sigma);
        let moved = f64::from(request.len) * self.device.ns_a_byte;
        (log_normal(&mut rng, median, sigma) + moved) * self.slower()
    }

    fn slower(&self) -> f64 {
        let mut slower = self.device.slower.iter();
        let there = slower.find(|(window, _, _)| inside(&[*window], self.now).is_some());
        there.map_or(1.0, |(window, first, last)| {
            let passed = (self.now - window.start_ns) as f64 / (window.end_ns - window.start_ns) as f64;
            first + (last - first) * passed
        })
    }

    pub(super) fn device_done(&mut self, channel: usize) {
        // What would end in an outage ends after it.
        if let Some(end) = inside(&self.device.outages, self.now) {
            let luck = self.device.channels[channel].map_or(0, |request| request.luck);
            let late = exponential(&mut Rng::new(split_mix(luck)), 100_000.0) as u64;
            self.at(end + late, Event::Done(channel));
            return;
        }
        let Some(request) = self.device.channels[channel].take() else {
            return;
        };
        self.device.busy -= 1;
        if request.op == BlockOp::Flush {
            self.device.flushing = false;
        }
        self.complete(request);
        self.device_start();
    }
}
