use super::*;

const TEXT: &str = "\
0000000000001000 T schedule
0000000000001100 t __cond_resched
0000000000001200 T task_work_run
0000000000001300 T folio_wait_bit_common
0000000000001400 T filemap_get_pages
0000000000001500 T filemap_fault.constprop.0
0000000000001600 t rq_qos_wait
0000000000001700 t wbt_wait
0000000000001800 T exit_to_user_mode_loop
0000000000001900 D schedule_data
0000000000005000 t do_get_write_access\t[jbd2]
0000000000005100 t __pfx_other\t[jbd2]
";

/// A stack of functions that begin at these addresses.
fn stack(frames: &[u64]) -> BlockedOn {
    let symbols = Symbols::parse(TEXT.as_bytes()).expect("addresses");
    symbols.blocked_on(frames.iter().map(|frame| frame + 0x20))
}

#[test]
fn the_first_function_that_tells_counts() {
    assert_eq!(stack(&[0x1000, 0x1300, 0x1400]), BlockedOn::Io);
    assert_eq!(stack(&[0x1000, 0x1300, 0x1500, 0x1400]), BlockedOn::Fault);
    assert_eq!(stack(&[0x1000, 0x1600, 0x1700]), BlockedOn::WritebackThrottle);
    assert_eq!(stack(&[0x1000, 0x5000]), BlockedOn::Journal);
    assert_eq!(stack(&[0x1000, 0x1300]), BlockedOn::Unknown);
    assert_eq!(stack(&[]), BlockedOn::Unknown);
}

#[test]
fn an_errand_is_the_quotas_only_right_below_the_scheduler() {
    assert_eq!(stack(&[0x1100, 0x1200, 0x1800]), BlockedOn::Quota);
    // The innermost are those that write the stack.
    assert_eq!(stack(&[0x1800, 0x1000, 0x1100, 0x1200]), BlockedOn::Quota);
    assert_eq!(stack(&[0x1100, 0x1600, 0x1200, 0x1800]), BlockedOn::Unknown);
}

#[test]
fn a_return_address_belongs_to_the_function_that_called() {
    let symbols = Symbols::parse(TEXT.as_bytes()).expect("addresses");
    // The call was the last instruction.
    assert_eq!(symbols.blocked_on([0x1500].into_iter()), BlockedOn::Io);
    assert_eq!(
        symbols.blocked_on([0, u64::MAX, 0x900].into_iter()),
        BlockedOn::Unknown
    );
}

#[test]
fn hidden_addresses_are_no_addresses() {
    let hidden = "0000000000000000 T schedule\n0000000000000000 T filemap_fault\n";
    assert!(Symbols::parse(hidden.as_bytes()).is_none());
    assert!(Symbols::parse(b"").is_none());
    assert!(Symbols::parse(b"no symbols\n\xff\xfe 1 2\n").is_none());
}
