//! The clock against `CLOCK_MONOTONIC`, and its control loop against made-up clocks.

use super::*;
use fathom_core::rng::Rng;
use std::time::Duration;

#[test]
fn never_goes_back_and_keeps_time() {
    keeps_time(HostClock::new());
}

/// Also where the kernel that answers is another machine's (an emulator's host): Arm's counter is always invariant.
#[cfg(target_arch = "aarch64")]
#[test]
fn the_counter_keeps_time_whatever_the_kernel_chose() {
    let clock = HostClock::with_source(ClockSource::Counter);
    assert_eq!(clock.source(), ClockSource::Counter);
    keeps_time(clock);
}

fn keeps_time(mut clock: HostClock) {
    for round in 0..3 {
        let mut last = clock.now();
        for _ in 0..1_000_000 {
            let now = clock.now();
            assert!(now >= last, "round {round}: {now:?} after {last:?}");
            last = now;
        }
        std::thread::sleep(Duration::from_millis(300));
        clock.discipline();
        assert!(clock.now() >= last);
        assert!(
            clock.check() < Nanos::from_micros(50),
            "{:?} off by {}",
            clock.source(),
            clock.check()
        );
    }
}

#[test]
fn starts_on_the_scale_of_clock_monotonic() {
    let before = monotonic_ns();
    let clock = HostClock::new();
    let now = clock.now().0;
    let after = monotonic_ns();
    // The rate is uncertain, not the anchor.
    assert!(
        before.saturating_sub(1_000) <= now && now <= after + 1_000,
        "{before} {now} {after}"
    );
}

#[test]
fn a_second_clock_costs_no_wait() {
    let first = HostClock::new();
    let quickest = (0..10)
        .map(|_| {
            let start = monotonic_ns();
            let clock = HostClock::new();
            assert_eq!(clock.source(), first.source());
            monotonic_ns() - start
        })
        .min();
    assert!(quickest < Some(1_000_000), "{quickest:?} ns");
}

#[test]
fn the_monotonic_source_is_the_reference() {
    let mut clock = HostClock::with_source(ClockSource::Monotonic);
    let before = monotonic_ns();
    let now = clock.now().0;
    assert!(before <= now && now <= monotonic_ns());
    clock.discipline();
    assert_eq!(clock.check(), Nanos::ZERO);
}

#[test]
fn what_the_processor_states_is_believed_while_nothing_better_is_known() {
    let base = Pair { ticks: 0, mono_ns: 5 };
    let after = |ticks: u64, mono_ns: u64| Pair {
        ticks,
        mono_ns: base.mono_ns + mono_ns,
    };
    let stated = 40 << FRACTION_BITS;
    // 2 ms at 25 MHz, one tick off: 20 ppm.
    let seen = after(50_001, 2_000_000);
    assert_eq!(first_rate(base, seen, Some(stated)), stated);
    assert_eq!(first_rate(base, seen, None), base.rate_to(seen));
    // The firmware says 25 MHz, the counter runs at 24.
    let gainsaid = after(48_000, 2_000_000);
    assert_eq!(first_rate(base, gainsaid, Some(stated)), base.rate_to(gainsaid));
    // Seconds later it is seen better than anybody states it.
    let long = after(250_010_000, 10_000_000_000);
    assert_eq!(first_rate(base, long, Some(stated)), base.rate_to(long));
}

#[test]
fn each_source_has_its_own_name() {
    let counter = if cfg!(target_arch = "aarch64") {
        "arch_sys_counter"
    } else {
        "tsc"
    };
    assert_eq!(ClockSource::Counter.name(), counter);
    assert_eq!(ClockSource::Monotonic.name(), "clock_monotonic");
}

/// A machine whose reference runs at `ns_per_tick`, read with an error of up to ±`noise_ns`.
struct Machine {
    ticks: u64,
    mono_ns: f64,
    ns_per_tick: f64,
    noise_ns: u64,
    rng: Rng,
}

impl Machine {
    fn run(&mut self, ticks: u64) {
        self.ticks += ticks;
        self.mono_ns += ticks as f64 * self.ns_per_tick;
    }

    fn read(&mut self) -> Pair {
        let noise = self.rng.next_u64() % (2 * self.noise_ns + 1);
        Pair {
            ticks: self.ticks,
            mono_ns: self.mono_ns as u64 + noise - self.noise_ns.min(noise),
        }
    }

    fn clock(&mut self) -> HostClock {
        let base = self.read();
        self.run(5_000_000);
        let last = self.read();
        HostClock {
            source: ClockSource::Counter,
            anchor_ticks: last.ticks,
            anchor_ns: last.mono_ns,
            ns_per_tick: base.rate_to(last),
            rate: base.rate_to(last),
            suspect: None,
            base,
            next_base: last,
            last,
        }
    }
}

fn machine() -> Machine {
    let rng = Rng::new(fathom_testkit::seed());
    Machine {
        ticks: 7 << 40,
        mono_ns: 1e12,
        ns_per_tick: 0.4,
        noise_ns: 30,
        rng,
    }
}

#[test]
fn follows_a_reference_that_changes_its_rate() {
    let mut machine = machine();
    let mut clock = machine.clock();
    for second in 0..300_u64 {
        // NTP slews the reference by up to 100 ppm, one way and the other.
        machine.ns_per_tick = if second / 40 % 2 == 0 {
            0.4 * 1.0001
        } else {
            0.4 * 0.9999
        };
        for _ in 0..10 {
            let before = clock.at(machine.ticks);
            machine.run(250_000_000);
            assert!(clock.at(machine.ticks) > before);
        }
        let pair = machine.read();
        let before = clock.at(pair.ticks);
        clock.correct(pair);
        assert_eq!(clock.at(pair.ticks), before, "no step where the error is small");
        // 200 ppm of a second is 200 µs: no more than that ever builds up, and then it is slewed away.
        assert!(
            before.abs_diff(pair.mono_ns) < 450_000,
            "second {second}: {before} {}",
            pair.mono_ns
        );
    }
}

#[test]
fn is_exact_where_the_reference_is_steady() {
    let mut machine = machine();
    let mut clock = machine.clock();
    for second in 0..100 {
        machine.run(2_500_000_000);
        let pair = machine.read();
        let error_ns = clock.at(pair.ticks).abs_diff(pair.mono_ns);
        clock.correct(pair);
        // The first second has only the 2 ms baseline: 60 ns in 2 ms are 30 ppm.
        let allowed_ns = if second == 0 { 40_000 } else { 200 };
        assert!(error_ns < allowed_ns, "second {second}: {error_ns} ns");
    }
}

#[test]
fn steps_forward_after_a_suspension_but_never_back() {
    let mut machine = machine();
    let mut clock = machine.clock();
    machine.run(1_000);
    machine.mono_ns += 5e9;
    let pair = machine.read();
    clock.correct(pair);
    assert_eq!(clock.at(pair.ticks), pair.mono_ns);

    // The reference fell back by 3 s: the clock goes on at half speed until it has caught up.
    machine.mono_ns -= 3e9;
    let mut last = clock.at(machine.ticks);
    for _ in 0..200 {
        machine.run(250_000_000);
        let pair = machine.read();
        let now = clock.at(pair.ticks);
        assert!(now >= last);
        last = now;
        clock.correct(pair);
    }
    assert!(
        last.abs_diff(machine.mono_ns as u64) < 1_000_000,
        "{last} {}",
        machine.mono_ns
    );
}

#[test]
fn recovers_from_a_rate_measured_wrongly_at_the_start() {
    let mut machine = machine();
    let mut clock = machine.clock();
    clock.rate += clock.rate / 100;
    clock.ns_per_tick = clock.rate;
    let mut error_ns = 0;
    for _ in 0..10 {
        machine.run(2_500_000_000);
        let pair = machine.read();
        error_ns = clock.at(pair.ticks).abs_diff(pair.mono_ns);
        clock.correct(pair);
    }
    assert!(error_ns < 1_000, "{error_ns} ns");
}

#[test]
fn a_late_discipline_does_not_overshoot() {
    let mut machine = machine();
    let mut clock = machine.clock();
    machine.mono_ns += 900_000.0;
    let pair = machine.read();
    clock.correct(pair);
    machine.run(2_500_000_000);
    let pair = machine.read();
    assert!(clock.at(pair.ticks).abs_diff(pair.mono_ns) < 50_000);
    clock.correct(pair);
    // Ten seconds late: what is left of the error may have grown, but only in proportion.
    machine.run(25_000_000_000);
    let pair = machine.read();
    assert!(clock.at(pair.ticks).abs_diff(pair.mono_ns) < 500_000);
}
