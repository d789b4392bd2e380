//! What a kernel stack says of why a task waits.
//!
//! Duty: find the functions of the kernel that tell it, and look a stack through for them. Data in: the text of
//! `/proc/kallsyms`, addresses, both untrusted. Data out: [`BlockedOn`]. It must not know whose stack it is.
//!
//! Of the 100,000 functions of a kernel only those that tell something are kept.

use fathom_core::record::BlockedOn;

/// What a function in a stack says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    /// How every wait ends: nothing.
    Scheduling,
    /// The task's own errands on the way back to user mode: right below the scheduler it is the CPU quota's.
    Errand,
    /// What the task waits for.
    On(BlockedOn),
}

/// The functions that tell something, by their addresses.
#[derive(Debug, Clone, Default)]
pub struct Symbols {
    /// First address, the first one after it, what it says; sorted.
    functions: Vec<(u64, u64, Says)>,
}

impl Symbols {
    /// Reads `/proc/kallsyms`. `None` where it hides the addresses (`kernel.kptr_restrict`).
    pub fn parse(text: &[u8]) -> Option<Self> {
        let mut starts = Vec::with_capacity(text.len() / 40);
        let mut found = Vec::new();
        for line in text.split(|&byte| byte == b'\n') {
            let Some((address, kind, name)) = symbol(line) else {
                continue;
            };
            starts.push(address);
            if matches!(kind, b't' | b'T' | b'w' | b'W')
                && let Some(says) = says(name)
            {
                found.push((address, says));
            }
        }
        starts.sort_unstable();
        if starts.last().is_none_or(|&last| last == 0) {
            return None;
        }
        let function = |(start, says)| {
            let next = starts.partition_point(|&other| other <= start);
            Some((start, *starts.get(next)?, says))
        };
        let mut functions: Vec<_> = found.into_iter().filter_map(function).collect();
        functions.sort_unstable_by_key(|&(start, ..)| start);
        Some(Self { functions })
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    fn at(&self, address: u64) -> Option<Says> {
        // A frame is where a call returns to: after the call, which may be a function's last instruction.
        let address = address.wrapping_sub(1);
        let after = self.functions.partition_point(|&(start, ..)| start <= address);
        let &(_, end, says) = self.functions.get(after.checked_sub(1)?)?;
        (address < end).then_some(says)
    }

    /// What a stack says, innermost function first: the first that tells anything.
    pub fn blocked_on(&self, frames: impl Iterator<Item = u64>) -> BlockedOn {
        let mut in_scheduler = true;
        for frame in frames {
            match self.at(frame) {
                Some(Says::On(on)) => return on,
                Some(Says::Errand) if in_scheduler => return BlockedOn::Quota,
                // Before it come the functions that write the stack.
                Some(Says::Scheduling) => in_scheduler = true,
                Some(Says::Errand) | None => in_scheduler = false,
            }
        }
        BlockedOn::Unknown
    }
}

/// `ffffffff81000000 T name` with perhaps a module after it.
fn symbol(line: &[u8]) -> Option<(u64, u8, &[u8])> {
    let mut words = line.split(u8::is_ascii_whitespace);
    let address = std::str::from_utf8(words.next()?).ok()?;
    let address = u64::from_str_radix(address, 16).ok()?;
    let kind = *words.next()?.first()?;
    Some((address, kind, words.next()?))
}

/// What a function says, whatever the compiler added to its name (`.constprop.0`, `.isra.0`, `.part.0`).
fn says(name: &[u8]) -> Option<Says> {
    let end = name.iter().position(|&byte| byte == b'.').unwrap_or(name.len());
    let on = match &name[..end] {
        b"schedule"
        | b"__schedule"
        | b"schedule_timeout"
        | b"io_schedule"
        | b"io_schedule_timeout"
        | b"schedule_preempt_disabled"
        | b"preempt_schedule"
        | b"preempt_schedule_common"
        | b"preempt_schedule_irq"
        | b"preempt_schedule_notrace"
        | b"__cond_resched"
        | b"schedule_hrtimeout_range"
        | b"schedule_hrtimeout_range_clock"
        | b"_cond_resched" => {
            return Some(Says::Scheduling);
        }
        b"task_work_run" => return Some(Says::Errand),
        b"throttle_cfs_rq_work" => BlockedOn::Quota,
        b"do_nanosleep" | b"hrtimer_nanosleep" | b"read_events" | b"do_io_getevents" | b"io_cqring_wait"
        | b"ep_poll" | b"do_epoll_wait" | b"do_sys_poll" | b"do_poll" | b"do_select" | b"core_sys_select"
        | b"worker_thread" | b"io_wq_worker" | b"kjournald2" | b"smpboot_thread_fn" | b"rcu_gp_kthread"
        | b"do_sigtimedwait" | b"__do_sys_pause" | b"sigsuspend" => BlockedOn::Itself,
        b"submit_bio_wait"
        | b"__iomap_dio_rw"
        | b"__blockdev_direct_IO"
        | b"__blkdev_direct_IO"
        | b"__blkdev_direct_IO_simple"
        | b"filemap_get_pages"
        | b"__wait_on_buffer"
        | b"blk_execute_rq"
        | b"wait_for_completion_io"
        | b"request_wait_answer"
        | b"rpc_wait_bit_killable"
        | b"nfs_wait_on_request"
        | b"read_cache_folio"
        | b"do_read_cache_folio"
        | b"page_cache_ra_unbounded"
        | b"blkdev_issue_flush"
        | b"swap_read_folio" => BlockedOn::Io,
        b"blk_mq_get_tag" => BlockedOn::Tag,
        b"wbt_wait" => BlockedOn::WritebackThrottle,
        b"jbd2_log_wait_commit"
        | b"do_get_write_access"
        | b"add_transaction_credits"
        | b"wait_transaction_locked"
        | b"wait_transaction_switching"
        | b"start_this_handle"
        | b"jbd2_journal_lock_updates"
        | b"xlog_wait_on_iclog"
        | b"xlog_grant_head_wait"
        | b"btrfs_commit_transaction"
        | b"wait_current_trans" => BlockedOn::Journal,
        b"balance_dirty_pages" => BlockedOn::DirtyLimit,
        b"folio_wait_writeback"
        | b"folio_wait_writeback_killable"
        | b"folio_wait_stable"
        | b"mpage_prepare_extent_to_map"
        | b"write_cache_pages"
        | b"inode_wait_for_writeback"
        | b"wb_wait_for_completion"
        | b"__filemap_fdatawait_range" => BlockedOn::Writeback,
        b"rwsem_down_read_slowpath"
        | b"rwsem_down_write_slowpath"
        | b"futex_do_wait"
        | b"futex_wait_queue"
        | b"futex_wait_queue_me"
        | b"futex_wait_multiple"
        | b"__mutex_lock"
        | b"__mutex_lock_slowpath"
        | b"__rt_mutex_slowlock"
        | b"rt_mutex_slowlock"
        | b"rt_mutex_wait_proxy_lock"
        | b"__ww_mutex_lock"
        | b"percpu_rwsem_wait"
        | b"__percpu_down_read"
        | b"percpu_down_write"
        | b"__down"
        | b"__down_common"
        | b"xfs_buf_lock"
        | b"__lock_buffer"
        | b"flock_lock_inode_wait"
        | b"posix_lock_inode_wait" => BlockedOn::Lock,
        b"reclaim_throttle"
        | b"try_to_free_mem_cgroup_pages"
        | b"try_to_free_pages"
        | b"shrink_node"
        | b"mem_cgroup_handle_over_high"
        | b"__mem_cgroup_handle_over_high"
        | b"throttle_direct_reclaim"
        | b"mem_cgroup_oom_synchronize" => BlockedOn::Reclaim,
        b"filemap_fault" | b"do_swap_page" => BlockedOn::Fault,
        b"__refrigerator" | b"do_freezer_trap" | b"get_signal" => BlockedOn::Frozen,
        b"do_signal_stop" | b"ptrace_stop" | b"do_jobctl_trap" => BlockedOn::Stopped,
        _ => return None,
    };
    Some(Says::On(on))
}

#[cfg(test)]
mod tests;
