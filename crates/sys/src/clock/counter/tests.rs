use super::super::FRACTION_BITS;
#[cfg(target_arch = "aarch64")]
use super::super::Pair;
use super::*;

#[test]
fn the_kernels_choice_decides() {
    assert!(trusted(Some(NAME), || false));
    for other in ["hpet", "acpi_pm", "jiffies", "refined-jiffies", ""] {
        assert!(!trusted(Some(other), || true), "{other}");
    }
    for paravirtual in ["kvm-clock", "hyperv_clocksource_tsc_page"] {
        assert!(!trusted(Some(paravirtual), || false));
        let is_the_tsc = cfg!(target_arch = "x86_64");
        assert_eq!(trusted(Some(paravirtual), || true), is_the_tsc);
    }
    assert!(trusted(None, || true) && !trusted(None, || false));
}

#[test]
fn another_architectures_counter_is_not_this_one() {
    let other = if NAME == "tsc" { "arch_sys_counter" } else { "tsc" };
    assert!(!trusted(Some(other), || true));
}

#[test]
fn a_stated_frequency_is_a_rate() {
    // 25 MHz, 1 GHz, 54 MHz: 40 ns, 1 ns, 18.5 ns a tick.
    assert_eq!(rate_of(25_000_000), Some(40 << FRACTION_BITS));
    assert_eq!(rate_of(1_000_000_000), Some(1 << FRACTION_BITS));
    let ticks = 54_000_000_u128;
    let second_ns = (ticks * u128::from(rate_of(54_000_000).expect("a rate"))) >> FRACTION_BITS;
    assert_eq!(second_ns, 999_999_999);
    assert_eq!(rate_of(0), None, "not set by the firmware");
    assert_eq!(rate_of(10_000), None, "too slow for the fixed point");
}

#[test]
fn the_counter_never_goes_back() {
    let mut last = ticks();
    for _ in 0..1_000_000 {
        let now = ticks();
        assert!(now >= last, "{now} after {last}");
        last = now;
    }
}

#[cfg(target_arch = "aarch64")]
#[test]
fn what_the_processor_states_is_what_is_seen() {
    let stated = stated_rate().expect("the register is set");
    let start = Pair::read();
    std::thread::sleep(std::time::Duration::from_millis(50));
    let seen = start.rate_to(Pair::read());
    assert!(
        seen.abs_diff(stated) < stated / 500,
        "{seen} is not the {stated} that is stated"
    );
}
