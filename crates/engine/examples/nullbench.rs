use fathom_core::clock::Clock;
use fathom_core::units::*;
use fathom_core::workload::*;
use fathom_engine::{backends::*, content::Content, driver::Driver, interval::*, pattern::*, worker::*};
use std::sync::{Arc, atomic::AtomicBool};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let depth: u32 = a[1].parse().unwrap();
    let null = a.len() < 3;
    let mut job = Job::default();
    job.pattern.random = true;
    job.pattern.random_map = RandomMap::Independent;
    job.depth = Depth {
        iodepth: depth,
        batch_submit: 0,
        batch_complete_min: 1,
        batch_complete_max: 0,
        low: depth,
    };
    let spans = [Span {
        start: 0,
        bytes: 1 << 30,
    }];
    let plan = WorkerPlan {
        depth,
        generator: Generator::new(&job, &spans, u64::MAX, true, 1),
        loops: 1,
        number_ios: None,
        runtime: Some(Nanos::from_secs(2)),
        time_based: true,
        ramp: Nanos::ZERO,
        schedules: [None, None, None],
        mix: job.pattern.mix,
        think: None,
        sync: job.sync,
        on_error: job.on_error,
        metrics: Metrics {
            split: depth > 1,
            response: false,
        },
        read_back: false,
        verifies: false,
        verify_only: false,
        verify_fatal: false,
    };
    let ex = Arc::new(Exchange::new());
    let mut w = Worker::new(plan, ex.clone(), Arc::new(AtomicBool::new(false)));
    let mut clock = fathom_sys::clock::HostClock::new();
    let mut content = Content::new(&job, 1);
    let now = clock.now();
    w.start(now, now);
    let t = std::time::Instant::now();
    if null {
        let mut b = NullBackend::new(depth);
        Driver::new(&mut w, &mut b, &mut clock, &mut content, job.depth)
            .run()
            .unwrap();
    } else {
        let f = std::fs::File::open(&a[2]).unwrap();
        let arena = fathom_sys::arena::Arena::new(depth, 4096, fathom_sys::arena::PageKind::Normal).unwrap();
        let mut b = SyncBackend::new(
            EngineKind::Psync,
            fathom_sys::sync_io::ReadWriteFlags::empty(),
            vec![f],
            arena,
        );
        Driver::new(&mut w, &mut b, &mut clock, &mut content, job.depth)
            .run()
            .unwrap();
    }
    let e = t.elapsed();
    let end = w.finish(clock.now());
    println!(
        "{} ios, {:.1} M/s, {:.1} ns",
        end.issued,
        end.issued as f64 / e.as_secs_f64() / 1e6,
        e.as_nanos() as f64 / end.issued as f64
    );
}
