//! The command that carries a load out on the model of a layout.

use crate::words::shell_word;
use fathom_core::units::Bytes;
use fathom_plan::layout::{Cache, Layout, size_word};
use fathom_plan::need::{Load, MILLION};
use fathom_plan::setup::Lasts;

/// I/Os in flight: as many as come in a tenth of a second, two time slices of a limit, so that none is missed for lack of them.
const DEPTH: (u64, u64) = (256, 65_536);
/// The smallest amount that is written.
const SECTOR: u64 = 512;

/// The load at its rate, on the modelled layout, without credit where it has no end.
pub(crate) fn command(layout: &Layout<'_>, load: &Load) -> String {
    let reads = load.read_ppm;
    let rw = match reads {
        0 => String::from("--rw=randwrite"),
        MILLION => String::from("--rw=randread"),
        _ => format!("--rw=randrw --rwmixread={}", reads / 10_000),
    };
    let read_ios = (u128::from(load.ios) * u128::from(reads) / u128::from(MILLION)) as u64;
    let rate = match reads {
        0 | MILLION => load.ios.to_string(),
        _ => format!("{},{}", read_ios.max(1), (load.ios - read_ios).max(1)),
    };
    let depth = (load.ios / 10).clamp(DEPTH.0, DEPTH.1);
    let bursts = layout.disk.figures(layout.count).burst.is_some() || layout.machine.is_some_and(bursts);
    let credit = if bursts && load.lasts == Lasts::Always {
        ",burst=empty"
    } else {
        ""
    };
    let runtime = match load.lasts {
        Lasts::Always | Lasts::AsSeen(_) => 60,
        Lasts::Seconds(seconds) => seconds,
    };
    let on = format!(
        "--on {}",
        shell_word(&format!("model:{}{credit}", layout.target()))
    );
    let size = size_word(load.working_set_bytes.min(layout.size_bytes()));
    let how = "--direct=1 --ioengine=libaio";
    let load = format!(
        "{rw} {} --iodepth={depth} --rate_iops={rate} --size={size} --time_based --runtime={runtime}s",
        block(load)
    );
    match layout.cache {
        Cache::None => format!("fathom run {on} --name=need {how} {load}"),
        // A cache has to have read what it is to know.
        Cache::ReadOnly | Cache::ReadWrite => format!(
            "fathom fio {on} {how} --filename=set --name=warm --rw=read --bs=256k --iodepth=32 --size={size} --name=need --stonewall \
             {load}"
        ),
    }
}

fn bursts(vm: &fathom_plan::Vm) -> bool {
    vm.burst_uncached_iops > vm.uncached_iops
        || vm.burst_uncached_bytes_per_second > vm.uncached_bytes_per_second
}

/// The size of I/Os: one, or two beside each other that have the mean.
fn block(load: &Load) -> String {
    let ios = load.ios.max(1);
    let smaller = (load.bytes / ios / SECTOR * SECTOR).max(SECTOR);
    let rest = load.bytes.saturating_sub(smaller * ios);
    let larger_percent = (u128::from(rest) * 100 / u128::from(ios * SECTOR)) as u64;
    match larger_percent {
        0 => format!("--bs={}", flag(smaller)),
        percent => format!(
            "--bssplit={}/{}:{}/{percent}",
            flag(smaller),
            100 - percent.min(100),
            flag(smaller + SECTOR)
        ),
    }
}

/// A size as flags take it.
fn flag(bytes: u64) -> String {
    match bytes {
        _ if bytes.is_multiple_of(1 << 20) => format!("{}m", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{}k", bytes >> 10),
        _ => Bytes(bytes).get().to_string(),
    }
}
