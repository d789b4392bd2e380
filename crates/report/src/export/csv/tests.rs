use super::*;
use expect_test::expect;
use fathom_core::record::{BlockOp, BlockedOn, Comm, TaskState};
use proptest::prelude::*;

fn text<R: CsvRow>(some: &[R]) -> String {
    let mut out = Vec::new();
    header::<R>(&mut out).expect("written");
    rows(some, &mut out).expect("written");
    String::from_utf8(out).expect("text")
}

/// Reads RFC 4180 by its grammar: records end with CR LF, fields are quoted or hold none of `,`, `"`, CR, LF.
fn parse(text: &str) -> Vec<Vec<String>> {
    let mut records = Vec::new();
    let mut rest = text.chars().peekable();
    while rest.peek().is_some() {
        let mut record = Vec::new();
        loop {
            let mut field = String::new();
            if rest.next_if_eq(&'"').is_some() {
                loop {
                    match rest.next().expect("a closing quote") {
                        '"' if rest.next_if_eq(&'"').is_some() => field.push('"'),
                        '"' => break,
                        other => field.push(other),
                    }
                }
            } else {
                while let Some(plain) = rest.next_if(|c| !",\"\r\n".contains(*c)) {
                    field.push(plain);
                }
            }
            record.push(field);
            match rest.next() {
                Some(',') => {}
                Some('\r') => {
                    assert_eq!(rest.next(), Some('\n'));
                    break;
                }
                other => panic!("a field ends with {other:?}"),
            }
        }
        records.push(record);
    }
    records
}

fn io() -> IoRecord {
    IoRecord {
        intended_ns: 90,
        created_ns: 100,
        submitted_ns: 103,
        completed_ns: 1_103,
        offset_bytes: 8192,
        len_bytes: 4096,
        file: 1,
        job: 2,
        worker: 3,
        depth: 4,
        errno: 5,
        op: Op::DataSync,
        priority: 0,
    }
}

fn request() -> BlockRequest {
    BlockRequest {
        device: (254 << 20) + 3,
        queued_ns: Some(100),
        allocated_ns: None,
        inserted_ns: None,
        issued_ns: Some(180),
        completed_ns: 1_180,
        sector: u64::MAX,
        len_bytes: 0,
        op: BlockOp::Flush,
        flags: BlockFlags(BlockFlags::SYNC | BlockFlags::FUA),
        requeues: 1,
        merges: 2,
        errno: 5,
        pid: 77,
        comm: Comm::from("a,\"b\""),
        owner_pid: 0,
        owner_comm: Comm::default(),
    }
}

#[test]
fn lines() {
    let shown = |text: String| text.replace('\r', "");
    expect![[r#"
        intended_ns,created_ns,submitted_ns,completed_ns,slat_ns,clat_ns,lat_ns,response_ns,op,offset_bytes,len_bytes,job,worker,file,depth,errno
        90,100,103,1103,3,1000,1003,1013,datasync,8192,4096,2,3,1,4,5
    "#]].assert_eq(&shown(text(&[io()])));
    expect![[r#"
        device_major,device_minor,queued_ns,allocated_ns,inserted_ns,issued_ns,completed_ns,queue_ns,device_ns,op,sector,len_bytes,sync,meta,read_ahead,fua,preflush,unfinished,requeues,merges,errno,pid,comm,owner_pid,owner_comm
        254,3,100,,,180,1180,80,1000,flush,,0,1,0,0,1,0,0,1,2,5,77,"a,""b""",0,
    "#]].assert_eq(&shown(text(&[request()])));
    let counter = CounterRow {
        at_ns: 7,
        metric: "node_disk_io_time_seconds_total".into(),
        labels: "device=\"vda\"".into(),
        value: 0.25,
    };
    expect![[r#"
        at_ns,metric,labels,value
        7,node_disk_io_time_seconds_total,"device=""vda""",0.25
    "#]]
    .assert_eq(&shown(text(&[counter])));
    let process = ProcessRow {
        at_ns: 1,
        duration_ns: 2,
        pid: 3,
        comm: Comm::from("dd"),
        cpu_ns: 4,
        run_delay_ns: 5,
        read_bytes: 6,
        written_bytes: 7,
    };
    expect![[r#"
        at_ns,duration_ns,pid,comm,cpu_ns,run_delay_ns,read_bytes,written_bytes
        1,2,3,dd,4,5,6,7
    "#]]
    .assert_eq(&shown(text(&[process])));
    let slice = SchedSlice {
        cpu: 1,
        tid: 2,
        comm: Comm::from("sh"),
        ready_ns: Some(10),
        start_ns: 12,
        end_ns: 20,
        state: TaskState::Preempted,
        blocked_on: BlockedOn::Unknown,
        waker_tid: 0,
        waker_comm: Comm::default(),
    };
    expect![[r#"
        ready_ns,start_ns,end_ns,waited_ns,ran_ns,cpu,tid,comm,state,blocked_on,waker_tid,waker_comm
        10,12,20,2,8,1,2,sh,preempted,unknown,0,
    "#]]
    .assert_eq(&shown(text(&[slice])));
}

proptest! {
    /// The stamps of a line are those of the row, and its latencies their differences, whatever they are.
    #[test]
    fn ios_parse_back(stamps in any::<[u64; 4]>(), offset in any::<u64>()) {
        let row = IoRecord {
            intended_ns: stamps[0], created_ns: stamps[1], submitted_ns: stamps[2], completed_ns: stamps[3],
            offset_bytes: offset, ..io()
        };
        let parsed = parse(&text(&[row]));
        prop_assert_eq!(parsed.len(), 2);
        let field = |name: &str| -> i128 {
            let at = parsed[0].iter().position(|known| known == name).expect("a field");
            parsed[1][at].parse().expect("a number")
        };
        let names = ["intended_ns", "created_ns", "submitted_ns", "completed_ns"];
        prop_assert_eq!(names.map(&field), stamps.map(i128::from));
        prop_assert_eq!(field("slat_ns") + field("clat_ns"), field("lat_ns"));
        prop_assert_eq!(field("response_ns"), i128::from(stamps[3]) - i128::from(stamps[0]));
        prop_assert_eq!(field("offset_bytes"), i128::from(offset));
    }

    /// Any words come back through a reader of RFC 4180.
    #[test]
    fn words_parse_back(rows in prop::collection::vec(("\\PC*|[,\"\r\n]*", ".*", any::<f64>()), 0..20)) {
        let counters: Vec<CounterRow> = rows
            .iter()
            .map(|(metric, labels, value)| CounterRow {
                at_ns: 1, metric: metric.clone().into(), labels: labels.clone().into(), value: *value,
            })
            .collect();
        let parsed = parse(&text(&counters));
        prop_assert_eq!(parsed.len(), rows.len() + 1);
        for (record, (metric, labels, value)) in parsed[1..].iter().zip(&rows) {
            prop_assert_eq!(&record[1..3], &[metric.clone(), labels.clone()]);
            prop_assert_eq!(record[3].parse::<f64>().expect("a number").to_bits(), value.to_bits());
        }
    }
}

/// A large record is written as it comes.
#[test]
fn many_rows() {
    let rows = vec![io(); 5_000];
    assert_eq!(parse(&text(&rows)).len(), 5_001);
}
