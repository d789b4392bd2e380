//! What each processor did.
//!
//! Data in: the counters of `/proc/stat` before and after, as the caller read them. Data out: shares of time. It must not
//! know where they were read.

/// The counters of one processor: its line in `/proc/stat`, in any unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CpuTimes {
    /// Its number.
    pub cpu: u32,
    /// In programs, niced ones and guests included.
    pub user: u64,
    /// In the kernel, interrupts included.
    pub kernel: u64,
    /// Doing nothing, waiting for I/O included.
    pub idle: u64,
    /// Taken by the hypervisor.
    pub steal: u64,
}

/// What one processor did, in percent of the time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CpuUse {
    /// Its number.
    pub cpu: u32,
    /// In programs.
    pub user_percent: f64,
    /// In the kernel; time that a hypervisor took counts here, since it was not idle.
    pub kernel_percent: f64,
    /// Doing nothing.
    pub idle_percent: f64,
}

impl CpuTimes {
    /// Each processor of the text of `/proc/stat`. Lines that are no processor's are passed over.
    pub fn of_proc_stat(text: &str) -> Vec<Self> {
        let line = |line: &str| {
            let mut words = line.strip_prefix("cpu")?.split_ascii_whitespace();
            let cpu = words.next()?.parse().ok()?;
            // user nice system idle iowait irq softirq steal; guests are part of user.
            let columns: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
            let column = |index: usize| columns.get(index).copied().unwrap_or(0);
            columns.get(3)?;
            Some(Self {
                cpu,
                user: column(0).saturating_add(column(1)),
                kernel: column(2).saturating_add(column(5)).saturating_add(column(6)),
                idle: column(3).saturating_add(column(4)),
                steal: column(7),
            })
        };
        // "cpu  …", the sum of all, has no number right behind its name.
        let own = |line: &&str| line.as_bytes().get(3).is_some_and(u8::is_ascii_digit);
        text.lines().filter(own).filter_map(line).collect()
    }
}

impl CpuUse {
    /// What processors did between two readings; those that are not in both are left out, and so are those that the
    /// readings say nothing of.
    pub fn between(before: &[CpuTimes], after: &[CpuTimes]) -> Vec<Self> {
        let one = |now: &CpuTimes| {
            let then = before.iter().find(|then| then.cpu == now.cpu)?;
            let grown = |of: fn(&CpuTimes) -> u64| of(now).saturating_sub(of(then)) as f64;
            let (user, idle) = (grown(|t| t.user), grown(|t| t.idle));
            let kernel = grown(|t| t.kernel) + grown(|t| t.steal);
            let all = user + kernel + idle;
            (all > 0.0).then(|| Self {
                cpu: now.cpu,
                user_percent: 100.0 * user / all,
                kernel_percent: 100.0 * kernel / all,
                idle_percent: 100.0 * idle / all,
            })
        };
        after.iter().filter_map(one).collect()
    }

    /// The mean of all; `None`: of none.
    pub fn mean(all: &[Self]) -> Option<Self> {
        let n = all.len() as f64;
        let mean = |of: fn(&Self) -> f64| all.iter().map(of).sum::<f64>() / n;
        (!all.is_empty()).then(|| Self {
            cpu: 0,
            user_percent: mean(|c| c.user_percent),
            kernel_percent: mean(|c| c.kernel_percent),
            idle_percent: mean(|c| c.idle_percent),
        })
    }

    /// Programs and kernel together.
    pub fn usage_percent(&self) -> f64 {
        self.user_percent + self.kernel_percent
    }
}
