//! How this kernel describes its events.

use fathom_core::rng::Rng;
use std::fmt::Write;

/// One field of a record.
#[derive(Debug, Clone)]
pub(super) struct FieldText {
    pub(super) name: &'static str,
    declaration: String,
    pub(super) offset: usize,
    pub(super) size: usize,
    signed: bool,
}

#[derive(Debug, Clone)]
pub(super) struct EventText {
    pub(super) name: &'static str,
    pub(super) id: u16,
    pub(super) fields: Vec<FieldText>,
    /// How long a record is, without the text that `__data_loc` fields point to.
    pub(super) size: usize,
}

/// What differs between kernels.
#[derive(Debug)]
pub(super) struct Kernel {
    events: Vec<EventText>,
    pub(super) page_bytes: usize,
}

/// Lays out a record.
struct Layout(EventText);

impl Layout {
    fn new(name: &'static str, id: u16) -> Self {
        let event = EventText {
            name,
            id,
            fields: Vec::new(),
            size: 0,
        };
        Self(event)
            .number("common_type", "unsigned short", 2)
            .number("common_flags", "unsigned char", 1)
            .number("common_preempt_count", "unsigned char", 1)
            .number("common_pid", "int", 4)
    }

    fn number(self, name: &'static str, kind: &str, size: usize) -> Self {
        self.field(name, format!("{kind} {name}"), size, size)
    }

    fn text(self, name: &'static str, size: usize) -> Self {
        self.field(name, format!("char {name}[{size}]"), size, 1)
    }

    /// A field that only says where its bytes are.
    fn located(self, name: &'static str) -> Self {
        self.field(name, format!("__data_loc char[] {name}"), 4, 4)
    }

    fn field(mut self, name: &'static str, declaration: String, size: usize, align: usize) -> Self {
        let offset = self.0.size.next_multiple_of(align);
        self.0.size = offset + size;
        let signed = declaration.starts_with("int") || declaration.starts_with("long");
        self.0.fields.push(FieldText {
            name,
            declaration,
            offset,
            size,
            signed,
        });
        self
    }

    /// What the events of the block layer begin with.
    fn place(self) -> Self {
        self.number("dev", "dev_t", 4).number("sector", "sector_t", 8)
    }

    fn place_and_length(self) -> Self {
        self.place().number("nr_sector", "unsigned int", 4)
    }

    fn when(self, condition: bool, more: impl FnOnce(Self) -> Self) -> Self {
        if condition { more(self) } else { self }
    }

    fn done(mut self) -> EventText {
        self.0.size = self.0.size.next_multiple_of(4);
        self.0
    }
}

impl Kernel {
    /// One of the kernels that there are.
    pub(super) fn new(rng: &mut Rng) -> Self {
        let mut id = 300 + rng.below(2000) as u16;
        let mut next = |name| {
            id += 1 + rng.below(4) as u16;
            Layout::new(name, id)
        };
        let bios = ["block_bio_queue", "block_bio_backmerge", "block_bio_frontmerge"].map(&mut next);
        let allocated = next("block_getrq");
        let requests = [
            "block_rq_insert",
            "block_rq_issue",
            "block_rq_merge",
            "block_rq_requeue",
            "block_rq_complete",
        ];
        let requests = requests.map(&mut next);
        let (split, end) = (next("block_split"), next("block_bio_complete"));
        let (switch, waking) = (next("sched_switch"), next("sched_waking"));
        let (migrate, fork) = (next("sched_migrate_task"), next("sched_process_fork"));
        let stack = next("kernel_stack");
        // 8 letters, 10 since Linux 6.17; a priority since 6.10.
        let letters = if rng.percent(50) { 8 } else { 10 };
        let with_priority = rng.percent(50);
        let mut events = Vec::new();
        for bio in bios.into_iter().chain([allocated]) {
            let event = bio.place_and_length().text("rwbs", letters).text("comm", 16);
            events.push(event.done());
        }
        for request in requests {
            let name = request.0.name;
            let in_context = matches!(name, "block_rq_insert" | "block_rq_issue" | "block_rq_merge");
            let event = request
                .place_and_length()
                .when(in_context, |event| event.number("bytes", "unsigned int", 4))
                .when(name == "block_rq_complete", |event| {
                    event.number("error", "int", 4)
                })
                .when(with_priority, |event| event.number("ioprio", "unsigned short", 2))
                .text("rwbs", letters)
                .when(in_context, |event| event.text("comm", 16))
                .located("cmd");
            events.push(event.done());
        }
        let split = split.place().number("new_sector", "sector_t", 8);
        events.push(split.text("rwbs", letters).text("comm", 16).done());
        let end = end.place_and_length().number("error", "int", 4);
        events.push(end.text("rwbs", letters).done());
        let switch = switch.text("prev_comm", 16).number("prev_pid", "pid_t", 4);
        let switch = switch
            .number("prev_prio", "int", 4)
            .number("prev_state", "long", 8);
        let switch = switch.text("next_comm", 16).number("next_pid", "pid_t", 4);
        events.push(switch.number("next_prio", "int", 4).done());
        let waking = waking
            .text("comm", 16)
            .number("pid", "pid_t", 4)
            .number("prio", "int", 4);
        events.push(waking.number("target_cpu", "int", 4).done());
        let migrate = migrate.text("comm", 16).number("pid", "pid_t", 4);
        let migrate = migrate.number("prio", "int", 4).number("orig_cpu", "int", 4);
        events.push(migrate.number("dest_cpu", "int", 4).done());
        let fork = fork.text("parent_comm", 16).number("parent_pid", "pid_t", 4);
        let fork = fork.text("child_comm", 16).number("child_pid", "pid_t", 4);
        events.push(fork.done());
        let stack = stack.number("size", "int", 4);
        let callers = String::from("unsigned long caller[8]");
        events.push(stack.field("caller", callers, 64, 8).done());
        Self {
            events,
            page_bytes: [4096, 8192, 65_536][rng.below(3) as usize],
        }
    }

    pub(super) fn event(&self, name: &str) -> &EventText {
        let mut found = self.events.iter().filter(|event| event.name == name);
        found.next().expect("an event of this kernel")
    }

    pub(super) fn formats(&self) -> &[EventText] {
        &self.events
    }

    pub(super) fn header_page(&self) -> String {
        format!(
            "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
             \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
             \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
             \tfield: char data;\toffset:16;\tsize:{};\tsigned:0;\n",
            self.page_bytes - 16
        )
    }
}

impl EventText {
    pub(super) fn text(&self) -> String {
        let mut text = format!("name: {}\nID: {}\nformat:\n", self.name, self.id);
        for (index, field) in self.fields.iter().enumerate() {
            // The kernel leaves a line after the fields that all events have.
            let gap = if index == 4 { "\n" } else { "" };
            let _ = writeln!(
                text,
                "{gap}\tfield:{};\toffset:{};\tsize:{};\tsigned:{};",
                field.declaration,
                field.offset,
                field.size,
                u8::from(field.signed)
            );
        }
        text + "\nprint fmt: \"%d,%d\", ((unsigned int) ((REC->dev) >> 20)), 0\n"
    }
}
