//! The processor's own counter, and whether it is one to keep time by.
//!
//! `x86_64`: the TSC. `aarch64`: the virtual counter of the generic timer, which every processor of that architecture has
//! and which ticks at one rate in all power states. Elsewhere there is none.

/// Where the kernel names the counter that it keeps time by.
const KERNELS_CHOICE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

/// Whether this architecture has a counter that is known here.
pub(super) const EXISTS: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// As the kernel calls it.
pub(super) const NAME: &str = if cfg!(target_arch = "aarch64") {
    "arch_sys_counter"
} else {
    "tsc"
};

#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[expect(clippy::inline_always, reason = "one instruction")]
pub(super) fn ticks() -> u64 {
    // SAFETY: every x86_64 processor has RDTSC; Linux lets user space execute it unless a process asks for a
    // fault itself (PR_SET_TSC), which this one does not.
    unsafe { std::arch::x86_64::_rdtsc() }
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
#[expect(clippy::inline_always, reason = "two instructions")]
pub(super) fn ticks() -> u64 {
    let ticks: u64;
    // Without the barrier two reads may be carried out in either order (Arm ARM, CNTVCT_EL0), and time would go back.
    // SAFETY: Linux lets user space read this register, or answers for it where a processor's own is faulty; neither
    // instruction touches memory, stack or flags.
    unsafe {
        std::arch::asm!(
            "isb",
            "mrs {ticks}, cntvct_el0",
            ticks = out(reg) ticks,
            options(nomem, nostack, preserves_flags)
        );
    }
    ticks
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline]
pub(super) fn ticks() -> u64 {
    super::monotonic_ns()
}

/// The rate that the processor states, in ns a tick (fixed point).
#[cfg(target_arch = "aarch64")]
pub(super) fn stated_rate() -> Option<u64> {
    let ticks_per_second: u64;
    // SAFETY: Linux lets user space read this register; the instruction touches neither memory, stack nor flags.
    unsafe {
        std::arch::asm!(
            "mrs {frequency}, cntfrq_el0",
            frequency = out(reg) ticks_per_second,
            options(nomem, nostack, preserves_flags)
        );
    }
    rate_of(ticks_per_second)
}

#[cfg(not(target_arch = "aarch64"))]
pub(super) fn stated_rate() -> Option<u64> {
    None
}

/// A frequency in Hz as ns a tick (fixed point); `None` where the firmware left the register empty.
#[cfg(any(test, target_arch = "aarch64"))]
pub(super) fn rate_of(ticks_per_second: u64) -> Option<u64> {
    let second = 1_000_000_000_u128 << super::FRACTION_BITS;
    let rate = second.checked_div(u128::from(ticks_per_second))?;
    u64::try_from(rate).ok()
}

/// Whether the counter ticks at one rate in all power states and the kernel trusts it.
pub(super) fn is_usable() -> bool {
    let choice = std::fs::read_to_string(KERNELS_CHOICE).ok();
    EXISTS && trusted(choice.as_deref().map(str::trim), is_invariant)
}

/// The kernel's own choice decides where it is this counter. A paravirtual source of `x86_64` (`kvm-clock`,
/// `hyperv_clocksource_tsc_page`) is itself the TSC, scaled by the hypervisor: there, and where nothing can be read, the
/// processor's word is asked. Anything else (`hpet`, `acpi_pm`, `jiffies`) means that the kernel found the counter wanting.
pub(super) fn trusted(choice: Option<&str>, invariant: impl FnOnce() -> bool) -> bool {
    match choice {
        Some(name) if name == NAME => true,
        Some("kvm-clock" | "hyperv_clocksource_tsc_page") => cfg!(target_arch = "x86_64") && invariant(),
        Some(_) => false,
        None => invariant(),
    }
}

/// CPUID `8000_0007h` EDX bit 8, on Intel and AMD alike: what the kernel prints as `constant_tsc nonstop_tsc`.
#[cfg(target_arch = "x86_64")]
fn is_invariant() -> bool {
    use std::arch::x86_64::__cpuid;
    const LEAF: u32 = 0x8000_0007;
    __cpuid(0x8000_0000).eax >= LEAF && __cpuid(LEAF).edx & (1 << 8) != 0
}

/// The architecture promises it (Arm ARM, "The Generic Timer").
#[cfg(not(target_arch = "x86_64"))]
fn is_invariant() -> bool {
    EXISTS
}

#[cfg(test)]
mod tests;
