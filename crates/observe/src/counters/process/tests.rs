use super::parse::*;
use super::*;
use crate::fixture::Tree;
use fathom_core::record::Comm;
use proptest::prelude::*;

/// A line of `/proc/PID/stat`.
fn stat(comm: &str, parent: u32, flags: u32, user: u64, system: u64, start: u64) -> String {
    format!(
        "77 ({comm}) S {parent} 1 1 0 -1 {flags} 5 6 7 8 {user} {system} 9 9 20 0 1 0 {start} 4096 100 0 0\n"
    )
}

struct Machine {
    tree: Tree,
    processes: Processes,
    remarks: Remarks,
    second: u64,
}

impl Machine {
    fn new() -> Self {
        let tree = Tree::new();
        tree.file("/proc/self/io", "");
        tree.file("/proc/self/schedstat", "");
        let mut remarks = Remarks::default();
        let processes = Processes::new(&tree.root, &mut remarks);
        Self {
            tree,
            processes,
            remarks,
            second: 0,
        }
    }

    fn process(&self, pid: u32, parent: u32, ticks: u64, read: u64, written: u64) {
        self.tree.file(
            &format!("/proc/{pid}/stat"),
            stat(&format!("p{pid}"), parent, 0, ticks, 0, 50),
        );
        self.tree.file(
            &format!("/proc/{pid}/io"),
            format!("rchar: 99\nread_bytes: {read}\nwrite_bytes: {written}\ncancelled_write_bytes: 0\n"),
        );
        self.tree.file(
            &format!("/proc/{pid}/schedstat"),
            format!("1 {} 3\n", ticks * 1_000),
        );
    }

    fn end(&self, pid: u32) {
        std::fs::remove_dir_all(self.tree.real(&format!("/proc/{pid}"))).expect("a process to end");
    }

    fn sample(&mut self) -> Vec<ProcessRow> {
        let mut out = Vec::new();
        self.second += 1;
        self.processes
            .sample(self.second * 1_000_000_000, &mut out, &mut self.remarks);
        out
    }

    /// Number, CPU in ticks of 10 ms, bytes read and written.
    fn used(&mut self) -> Vec<(u32, u64, u64, u64)> {
        let tick_ns = self.processes.tick_ns;
        let rows = self.sample();
        rows.iter()
            .map(|row| (row.pid, row.cpu_ns / tick_ns, row.read_bytes, row.written_bytes))
            .collect()
    }
}

#[test]
fn only_those_that_used_anything_since_have_a_row() {
    let mut machine = Machine::new();
    machine.process(10, 1, 500, 4096, 0);
    machine.process(11, 1, 7, 0, 0);
    assert_eq!(machine.used(), []);
    machine.process(10, 1, 520, 4096, 8192);
    let rows = machine.sample();
    let tick_ns = machine.processes.tick_ns;
    assert_eq!(
        rows,
        [ProcessRow {
            at_ns: 2_000_000_000,
            duration_ns: 1_000_000_000,
            pid: 10,
            comm: Comm::from("p10"),
            cpu_ns: 20 * tick_ns,
            run_delay_ns: 20_000,
            read_bytes: 0,
            written_bytes: 8192,
        }]
    );
    assert_eq!(machine.used(), []);
}

#[test]
fn a_process_that_came_meanwhile_is_counted_whole() {
    let mut machine = Machine::new();
    machine.process(10, 1, 500, 0, 0);
    machine.used();
    machine.process(12, 1, 30, 512, 0);
    assert_eq!(machine.used(), [(12, 30, 512, 0)]);
    // Another one of the same number.
    machine.process(12, 1, 4, 0, 0);
    machine.tree.file("/proc/12/stat", stat("again", 1, 0, 4, 0, 90));
    assert_eq!(machine.used(), [(12, 4, 0, 0)]);
}

#[test]
fn what_a_child_did_is_not_counted_again_as_its_parents() {
    let mut machine = Machine::new();
    machine.process(20, 1, 10, 1_000, 0);
    machine.process(21, 20, 1, 0, 0);
    machine.used();
    machine.process(21, 20, 1, 5_000, 0);
    assert_eq!(machine.used(), [(21, 0, 5_000, 0)]);
    // Waited for: the kernel adds what the child had used to its parent's.
    machine.end(21);
    machine.process(20, 1, 10, 6_000, 0);
    assert_eq!(machine.used(), []);
    machine.process(20, 1, 10, 6_400, 0);
    assert_eq!(machine.used(), [(20, 0, 400, 0)]);
    // A child that lived between two looks shows in its parent alone.
    machine.process(20, 1, 10, 9_400, 0);
    assert_eq!(machine.used(), [(20, 0, 3_000, 0)]);
}

#[test]
fn kernel_threads_are_read_only_when_they_ran() {
    let mut machine = Machine::new();
    machine.process(30, 2, 5, 0, 0);
    machine
        .tree
        .file("/proc/30/stat", stat("kworker/1:1", 2, 0x0020_8040, 5, 0, 50));
    machine.used();
    machine
        .tree
        .file("/proc/30/io", "read_bytes: 512\nwrite_bytes: 0\n");
    assert_eq!(machine.used(), []);
    machine
        .tree
        .file("/proc/30/stat", stat("kworker/1:1", 2, 0x0020_8040, 5, 1, 50));
    assert_eq!(machine.used(), [(30, 1, 512, 0)]);
}

#[test]
fn without_io_there_is_still_cpu() {
    let mut machine = Machine::new();
    machine.process(40, 1, 5, 0, 0);
    std::fs::remove_file(machine.tree.real("/proc/40/io")).expect("no io");
    std::fs::remove_file(machine.tree.real("/proc/40/schedstat")).expect("no schedstat");
    machine.used();
    machine.tree.file("/proc/40/stat", stat("p40", 1, 0, 9, 0, 50));
    assert_eq!(machine.used(), [(40, 4, 0, 0)]);
    assert_eq!(machine.remarks.0, Vec::<String>::new());
}

#[test]
fn of_many_quiet_processes_each_is_looked_at_in_turn() {
    let mut machine = Machine::new();
    let pids = 100..100 + 2 * QUIET_PER_ROUND as u32 + 10;
    for pid in pids.clone() {
        machine.process(pid, 1, 5, 0, 0);
    }
    for _ in 0..6 {
        assert_eq!(machine.used(), []);
    }
    // All wake at once: each is found within three rounds, once, and its row says how long it covers.
    for pid in pids.clone() {
        machine.process(pid, 1, 6, 0, 0);
    }
    let found: Vec<ProcessRow> = (0..3).flat_map(|_| machine.sample()).collect();
    let mut seen: Vec<u32> = found.iter().map(|row| row.pid).collect();
    seen.sort_unstable();
    assert_eq!(seen, pids.collect::<Vec<_>>());
    assert!(found.iter().any(|row| row.duration_ns > 1_000_000_000));
}

#[test]
fn a_name_may_hold_anything() {
    let parsed = parse_stat(stat(") S 1 (x", 3, 0, 4, 5, 6).as_bytes()).expect("a process");
    assert_eq!((parsed.comm, parsed.parent), (Comm::from(") S 1 (x"), 3));
    assert_eq!((parsed.ticks, parsed.start_ticks), (9, 6));
    assert_eq!(parse_stat(b"1 (x"), None);
    assert_eq!(parse_stat(b")x("), None);
    assert_eq!(parse_stat(b"1 (x) S 1"), None);
}

proptest! {
    #[test]
    fn any_text_is_taken_or_left(text in prop::collection::vec(any::<u8>(), 0..200)) {
        let _whatever = (parse_stat(&text), parse_io(&text), parse_run_delay(&text));
    }

    #[test]
    fn fields_come_back(
        comm in "[a-z() ]{1,15}",
        parent: u32,
        flags: u32,
        user in any::<u32>(),
        system in any::<u32>(),
        start: u64,
    ) {
        let line = stat(&comm, parent, flags, user.into(), system.into(), start);
        let parsed = parse_stat(line.as_bytes()).expect("a line");
        let kernel_thread = flags & 0x0020_0000 != 0;
        let ticks = u64::from(user) + u64::from(system);
        let expected = Stat { comm: Comm::from(comm.as_str()), parent, kernel_thread, ticks, start_ticks: start };
        prop_assert_eq!(parsed, expected);
    }
}
