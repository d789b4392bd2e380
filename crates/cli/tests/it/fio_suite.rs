//! What fio's own tests are for, in words of this project: jobs whose result fio and fathom must agree on.

use crate::harness::Place;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// The rows of a log: numbers, in the order of its columns.
fn rows(path: &Path) -> Vec<Vec<u64>> {
    let text = std::fs::read_to_string(path).expect("a log");
    let row = |line: &str| {
        line.split(',')
            .map(|field| field.trim().parse().expect("a number"))
            .collect()
    };
    text.lines().map(row).collect()
}

fn offsets(path: &Path) -> Vec<u64> {
    rows(path).iter().map(|row| row[4]).collect()
}

/// Runs a job file; the first job of its JSON.
fn job(place: &Place, text: &str) -> Value {
    place.write("job.fio", text);
    let outcome = place.fathom("fio --output-format=json job.fio").expect(0);
    let all: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    all["jobs"][0].clone()
}

const TWO_FILES: &str = "fio version 2 iolog\na.f add\nb.f add\na.f open\nb.f open\na.f read 10000 4096\n\
    b.f read 20480 8192\na.f write 40960 4096\na.f sync 0 0\na.f close\nb.f close\n";

#[test]
fn a_record_is_played_from_a_job_file_as_fio_plays_it() {
    // What fio 3.33 did with the same job files.
    for (options, expected) in [
        ("", vec![10_000, 20_480, 40_960]),
        ("replay_scale=2", vec![5_000, 10_240, 20_480]),
        ("replay_align=4k", vec![8_192, 20_480, 40_960]),
        ("replay_scale=2\nreplay_align=4k", vec![4_096, 8_192, 20_480]),
    ] {
        let place = Place::new();
        place.write("two.iolog", TWO_FILES);
        let text =
            format!("[j]\nioengine=null\nread_iolog=two.iolog\nwrite_iops_log=l\nlog_offset=1\n{options}\n");
        let job = job(&place, &text);
        assert_eq!(offsets(&place.path("l_iops.1.log")), expected, "{options}");
        assert_eq!(job["read"]["total_ios"], 2);
        assert_eq!(job["write"]["io_bytes"], 4_096);
        assert_eq!(job["sync"]["total_ios"], 1);
    }
}

#[test]
fn each_file_of_a_record_is_one_and_each_clone_plays_all_of_it() {
    let place = Place::new();
    place.write("two.iolog", TWO_FILES);
    let text = "[j]\nread_iolog=two.iolog\nnumjobs=2\ngroup_reporting\nwrite_iops_log=l\nlog_offset=1\n";
    let job = job(&place, text);
    assert_eq!(
        (&job["read"]["total_ios"], &job["write"]["total_ios"]),
        (&4.into(), &2.into())
    );
    for log in ["l_iops.1.log", "l_iops.2.log"] {
        assert_eq!(offsets(&place.path(log)), [10_000, 20_480, 40_960]);
    }
    let size = |name| std::fs::metadata(place.path(name)).expect("a file").len();
    assert_eq!((size("a.f"), size("b.f")), (45_056, 28_672));
}

#[test]
fn what_a_job_wrote_and_logged_is_played_again() {
    let place = Place::new();
    job(
        &place,
        "[j]\nrw=randwrite\nsize=1m\nfilename=f\nwrite_iolog=log\n",
    );
    let job = job(
        &place,
        "[j]\nread_iolog=log\nioengine=libaio\niodepth=32\nreplay_no_stall=1\n",
    );
    assert_eq!(job["write"]["io_bytes"], 1 << 20);
    place.write("short.iolog", "fio version 2 iolog\nf read x 4096\n");
    place.write("bad.fio", "[j]\nread_iolog=short.iolog\n");
    place.fathom("fio bad.fio").expect(1).saying("short.iolog:2");
    place.fathom("run bad.fio").expect(2).saying("short.iolog:2");
}

/// Trims move no data: their sizes ask for no memory.
#[test]
fn trims_of_gigabytes_are_played_without_buffers_of_that_size() {
    let place = Place::new();
    let mut log = String::from("fio version 3 iolog\n1 /dev/null add\n2 /dev/null open\n");
    for at in 0..10 {
        let (time, offset) = (10 + at, at * 4096);
        for io in ["trim {} 2147483648", "write {} 4096"] {
            log += &[
                &time.to_string(),
                " /dev/null ",
                &io.replace("{}", &offset.to_string()),
                "\n",
            ]
            .concat();
        }
    }
    place.write("trims.iolog", log);
    let job = job(
        &place,
        "[j]\nread_iolog=trims.iolog\nioengine=null\niodepth=128\n",
    );
    assert_eq!(
        (&job["trim"]["total_ios"], &job["write"]["io_bytes"]),
        (&10.into(), &40_960.into())
    );
}

#[test]
fn directories_are_made_looked_at_and_removed() {
    let place = Place::new();
    place.write(
        "job.fio",
        "[global]\nsize=4k\n[a]\nioengine=dircreate\nfilename=made\n[b]\nioengine=dirstat\nfilename=seen\n\
         [c]\nioengine=dirdelete\nfilename=gone\n",
    );
    place.fathom("fio job.fio").expect(0);
    assert!(place.path("made").is_dir() && place.path("seen").is_dir() && !place.path("gone").exists());
    // Made by an earlier run: fathom's. Made by somebody else: not.
    std::fs::create_dir(place.path("theirs")).expect("made");
    let line = "fio --name=x --size=4k --ioengine=dirdelete --filename=";
    place.fathom(&format!("{line}made")).expect(0);
    place.fathom(&format!("{line}theirs")).expect(1);
    assert!(!place.path("made").exists() && place.path("theirs").is_dir());
}

#[test]
fn a_sequence_of_blocks_is_kept_and_lfsr_visits_all_without_a_map() {
    let place = Place::new();
    let line = "fio --name=s --ioengine=null --rw=randread --bs=4k --size=48k --io_size=24k --write_iops_log=l \
                --log_offset=1 --random_distribution=sequence:2,0,1 --random_sequence_stride=1";
    place.fathom(line).expect(0);
    let blocks: Vec<u64> = offsets(&place.path("l_iops.1.log"))
        .iter()
        .map(|at| at / 4096)
        .collect();
    assert_eq!(blocks, [2, 0, 1, 5, 3, 4]);
    let line = "fio --name=s --ioengine=null --rw=randread --filesize=1m --norandommap --random_generator=lfsr \
                --write_bw_log=m --per_job_logs=0 --log_offset=1";
    place.fathom(line).expect(0);
    let seen: BTreeSet<u64> = offsets(&place.path("m_bw.log")).into_iter().collect();
    assert_eq!(seen.len(), 256);
}

/// More I/O than the region has goes round: all of it is written, and each place is verified as it was left.
#[test]
fn what_was_overwritten_in_turn_is_verified_once() {
    for files in ["f", "f1:f2"] {
        let place = Place::new();
        let text = format!("[j]\nfilename={files}\nrw=write\nbs=128k\nsize=1m\nio_size=2m\nverify=crc32c\n");
        let online = job(&place, &format!("{text}do_verify=1\n"));
        assert_eq!(
            (&online["write"]["io_bytes"], &online["read"]["io_bytes"]),
            (&(2 << 20).into(), &(1 << 20).into())
        );
        let offline = job(&place, &format!("{text}verify_only=1\n"));
        assert_eq!(
            (&offline["write"]["io_bytes"], &offline["read"]["io_bytes"]),
            (&(1 << 20).into(), &(1 << 20).into())
        );
        // Counted as fio counts it, and not sent.
        assert_eq!(offline["write"]["runtime"], 0);
        // It would be found, if something was wrong.
        let name = files.split(':').next_back().expect("a name");
        let mut bytes = std::fs::read(place.path(name)).expect("the file");
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        place.write(name, bytes);
        place.write("again.fio", format!("{text}verify_only=1\n"));
        place.fathom("fio again.fio").expect(1);
    }
}

#[test]
fn a_pattern_longer_than_a_sector_is_written_whole() {
    let place = Place::new();
    let pattern: Vec<u8> = (0..16_384u32).map(|at| (at * 7 + at / 251) as u8).collect();
    place.write("p.bin", &pattern);
    let text = "[global]\nfilename=f\nsize=16k\nbs=16k\n[w]\nrw=write\nbuffer_pattern='p.bin'\n\
                [r]\nstonewall\nrw=read\nverify=pattern\nverify_pattern='p.bin'\n";
    job(&place, text);
    assert_eq!(std::fs::read(place.path("f")).expect("the file"), pattern);
}

#[test]
fn seeds_and_limits_are_told_to_who_debugs() {
    let place = Place::new();
    let seeds = |options: &str| {
        let line =
            format!("fio --debug=random --name=r --ioengine=null --filesize=32k --rw=randread {options}");
        let stdout = place.fathom(&line).expect(0).stdout;
        let seeds = stdout
            .lines()
            .filter_map(|line| Some(line.split_once("rand_seeds[")?.1.to_owned()));
        let seeds: Vec<String> = seeds.collect();
        assert!(!seeds.is_empty(), "{stdout}");
        seeds
    };
    assert_eq!(seeds("--randrepeat=1"), seeds("--allrandrepeat=1"));
    assert_eq!(seeds("--randseed=7 --randrepeat=0"), seeds("--randseed=7"));
    assert_ne!(seeds("--randseed=7"), seeds("--randseed=8"));
    for repeat in ["--randrepeat=0", "--allrandrepeat=0"] {
        assert_ne!(seeds(repeat), seeds(repeat));
    }
    let line = "fio --parse-only --debug=parse --ss_dur=10s --ss=iops:10 --ss_ramp=5";
    let outcome = place.fathom(line).expect(0);
    assert!(
        outcome
            .stdout
            .contains("set steady state IOPS threshold to 10.000000")
    );
}

#[test]
fn io_by_priority_adds_up_and_is_logged() {
    let place = Place::new();
    let text = "[j]\nioengine=libaio\niodepth=4\nfilename=f\nsize=4m\nrw=randrw\ncmdprio_percentage=30,60\n\
                write_lat_log=l\nlog_prio=1\n";
    let job = job(&place, text);
    for direction in ["read", "write"] {
        let all = &job[direction];
        let prios = all["prios"].as_array().expect("by priority");
        assert_eq!(prios.len(), 2, "{all}");
        let ios = |prio: &Value| prio["clat_ns"]["N"].as_u64().expect("a count");
        assert_eq!(
            prios.iter().map(ios).sum::<u64>(),
            all["total_ios"].as_u64().expect("a count")
        );
        assert_eq!(
            (&prios[0]["prioclass"], &prios[1]["prioclass"]),
            (&0.into(), &1.into())
        );
    }
    let text = std::fs::read_to_string(place.path("l_clat.1.log")).expect("a log");
    let high = text.lines().filter(|line| line.ends_with(", 0x2000")).count();
    let ios = |direction: &str| {
        job[direction]["prios"][1]["clat_ns"]["N"]
            .as_u64()
            .expect("a count")
    };
    assert_eq!(high as u64, ios("read") + ios("write"));
    place
        .fathom("fio --name=x --ioengine=psync --size=4k --cmdprio_percentage=5")
        .expect(1);
}

/// Where Debian's examples are installed: what needs no special interface or device is read, and what fio accepts is
/// accepted.
#[test]
fn the_examples_of_fio_are_read() {
    let examples = Path::new("/usr/share/doc/fio/examples");
    let Ok(entries) = std::fs::read_dir(examples) else {
        println!("SKIPPED the_examples_of_fio_are_read: the package fio-examples is not installed");
        return;
    };
    // Interfaces to what is no disk of this machine, or needs hardware or libraries of its own; devices with zones.
    let special = [
        "cpp_null",
        "cpuio",
        "dev-dax",
        "dfs",
        "e4defrag",
        "exec",
        "gfapi",
        "gpudirect",
        "http-",
        "ime",
        "lib",
        "mtd",
        "nbd",
        "netio",
        "nfs",
        "pmemblk",
        "rados",
        "rbd",
        "rdmaio",
        "sg_",
        "uring-cmd",
        "xnvme",
        "zbd-",
    ];
    let place = Place::new();
    let mut read = 0;
    for entry in entries {
        let path = entry.expect("an entry").path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default()
            .to_owned();
        if path.extension().is_none_or(|ending| ending != "fio")
            || special.iter().any(|start| name.starts_with(start))
        {
            continue;
        }
        let mut command = place.command("fio --parse-only");
        command.arg(&path).env("FILENAME", "f").env("SIZE", "1m");
        let outcome = crate::harness::finish(crate::harness::start(&mut command));
        assert_eq!(outcome.code, Some(0), "{name}: {}", outcome.stderr);
        read += 1;
    }
    assert!(read > 35, "{read} of them");
}

#[test]
fn what_the_load_itself_makes_of_a_file_is_not_somebody_elses_doing() {
    let place = Place::new();
    place.write(
        "job.fio",
        "[global]\nfilename=f\nsize=1m\nbs=64k\nioengine=ftruncate\ndirect=1\n[a]\nrw=write\n[b]\nstonewall\nrw=randwrite\n\
         [c]\nstonewall\nioengine=falloc\nrw=write\n",
    );
    place.fathom("fio job.fio").expect(0);
}
