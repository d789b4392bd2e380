use super::*;
use crate::trace::real::{skipped, started};
use fathom_core::record::Comm;
use fathom_testkit::{Needs, telling};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A thread that does nothing but use CPU, under a name of its own, while `meanwhile` runs.
fn beside_a_hog<T>(meanwhile: impl FnOnce(u32) -> T) -> T {
    let (stop, tid) = (AtomicBool::new(false), AtomicU32::new(0));
    std::thread::scope(|scope| {
        let hog = || {
            tid.store(fathom_sys::process::thread_id(), Ordering::Relaxed);
            while !stop.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        };
        let builder = std::thread::Builder::new().name("fathom-test-hog".to_owned());
        builder.spawn_scoped(scope, hog).expect("a thread");
        while tid.load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
        let outcome = meanwhile(tid.load(Ordering::Relaxed));
        stop.store(true, Ordering::Relaxed);
        outcome
    })
}

#[test]
fn who_ran_in_a_window_is_given_once() {
    telling(
        "who_ran_in_a_window_is_given_once",
        &Needs::cpus(),
        who_ran_in_a_window,
    );
}

fn who_ran_in_a_window() {
    let test = "who_ran_in_a_window_is_given_once";
    let nobody = Load {
        comm_prefixes: vec![String::from("nobody-at-all")],
        tids: vec![],
    };
    let Some((mut tracer, remarks)) =
        started(test, SchedTracer::start(&SystemRoot::default(), &nobody, 4096))
    else {
        return;
    };
    assert_eq!(remarks, Vec::<String>::new());
    let (mut slices, mut again) = (Vec::new(), Vec::new());
    let (tid, from_ns) = beside_a_hog(|tid| {
        let from_ns = monotonic_ns();
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_millis(300) {
            std::thread::sleep(Duration::from_millis(50));
            tracer.poll().expect("polled");
            tracer.consult(from_ns, tracer.complete_to_ns(), &mut slices);
            tracer.consult(from_ns, tracer.complete_to_ns(), &mut again);
        }
        (tid, from_ns)
    });
    assert_eq!(again, []);
    assert!(slices.iter().all(|slice| slice.tid != 0));
    let mut hog: Vec<_> = slices.iter().filter(|slice| slice.tid == tid).copied().collect();
    hog.sort_by_key(|slice| slice.start_ns);
    let whole = tracer.complete_to_ns() - from_ns;
    assert!(
        hog.windows(2).all(|pair| pair[0].end_ns <= pair[1].start_ns),
        "{hog:?}"
    );
    assert!(
        hog.iter()
            .all(|slice| slice.comm == Comm::from("fathom-test-hog"))
    );
    let dir = tracer.instance.dir().to_path_buf();
    tracer.stop().expect("stopped");
    let audit = tracer.finish(&mut Vec::new(), &mut Vec::new());
    assert_eq!(audit.lost, 0, "{audit:?}");
    assert!(audit.remarks.is_empty() && !dir.exists());
    if audit.late > 0 {
        return skipped(
            test,
            "a host that does not take its CPUs away for longer than events are held back",
        );
    }
    // While it had no CPU, it waited for one: both together are the whole time, without overlap.
    let ran: u64 = hog
        .iter()
        .map(|slice| slice.end_ns - slice.start_ns.max(from_ns))
        .sum();
    let waited: u64 = hog
        .iter()
        .filter_map(|slice| Some(slice.start_ns.saturating_sub(slice.ready_ns?.max(from_ns))))
        .sum();
    assert!(ran + waited <= whole, "{ran} + {waited} of {whole}");
    assert!(
        (ran + waited) * 10 >= whole * 9,
        "{ran} + {waited} of {whole}: {hog:?}"
    );
}

#[test]
fn stacks_are_asked_for_by_name_and_number() {
    let load = Load {
        comm_prefixes: vec!["fathom".to_owned(), "a\"b".to_owned(), "x*".to_owned()],
        tids: vec![1, 22],
    };
    assert_eq!(
        stacks::condition(&load, &[1, 22]),
        "(prev_comm~\"fathom*\"||prev_pid==1||prev_pid==22)&&(prev_state&263)"
    );
    assert_eq!(stacks::condition(&Load::default(), &[]), "prev_state&258");
    assert_eq!(
        stacks::condition(&Load::default(), &[7]),
        "prev_state&258||(prev_pid==7)&&(prev_state&263)"
    );
    let many: Vec<u32> = (1..100).collect();
    assert_eq!(stacks::condition(&load, &many), "prev_state&263");
    assert!(many.len() > 24 && !stacks::condition(&load, &many[..24]).is_empty());
}

mod running;
