//! What is said: nothing that was not measured as zero, help wherever it is asked for, totals, exit codes.

use crate::harness::{Place, at, count, finish, number, signal, skipped, start};
use std::os::unix::process::CommandExt;

const LOAD: &str = "run --name load --rw randread --bs 4k --size 4m --direct 1 --time_based";

#[test]
fn a_run_without_a_record_is_not_explained() {
    let place = Place::new();
    place
        .fathom(&format!("{LOAD} --runtime 1s --on model:azure/P15 -q -o d"))
        .expect(0);
    let text = place.fathom("explain d").expect(1).stdout;
    assert!(
        text.contains("There is no evidence to explain this run by"),
        "{text}"
    );
    for zero in ["0 IOPS", "0 ns", "None:"] {
        assert!(!text.contains(zero), "{zero}:\n{text}");
    }
    let json = place.fathom("explain d --json").expect(1).json();
    assert!(json["spikes"].is_null(), "{json}");
    let ours = ["d.md", "d.html", "d.csv"];
    place
        .fathom(&format!("report d -q -o {}", ours.join(" -o ")))
        .expect(0);
    let page = std::fs::read_to_string(place.path("d.md")).expect("a page");
    assert!(!page.contains("None: no I/O"), "{page}");
}

/// The load's I/Os alone are recorded: of the device nothing is known.
#[test]
fn a_device_that_nobody_watched_has_no_figures() {
    let place = Place::new();
    place
        .fathom(&format!("{LOAD} --runtime 4s --record=io F -q -o d"))
        .expect(0);
    let text = place.fathom("explain d --evidence all").expect(0).stdout;
    for figure in [
        "requests of the device 0",
        "time at the device",
        "at the device meanwhile",
        "iowait",
        " 0 ns",
    ] {
        assert!(!text.contains(figure), "{figure}:\n{text}");
    }
}

#[test]
fn a_killed_run_says_what_is_not_known() {
    let place = Place::new();
    let line = "run --name load --rw randread --bs 4k --size 4m --direct 1 --time_based --runtime 50s --rate_iops 300 \
                --ioengine libaio --iodepth 4 --record F -q -o d";
    let child = start(&mut place.command(line));
    // Before the first histograms are kept.
    place.has_run("d", 1.0);
    signal(&child, "KILL");
    finish(child);
    for _ in 0..2 {
        let shown = place.fathom("show d").expect(0).stdout;
        assert!(!shown.contains(" 0 ns") && !shown.contains("0.00 ns"), "{shown}");
        assert!(shown.contains("IOPS"), "{shown}");
        let json = place.fathom("show d --json").expect(0).json();
        assert!(json.get("cpu").is_none(), "nobody measured it: {json}");
        let job = &json["jobs"][0];
        assert!(job.get("cpu").is_none());
        let write = &job["write"]["lat_ns"];
        assert_eq!(write.as_object().map(serde_json::Map::len), Some(1), "{write}");
        for latency in ["slat_ns", "clat_ns"] {
            let latency = &job["read"][latency];
            assert!(latency["n"] != 0 || latency.get("mean").is_none(), "{latency}");
        }
        place.fathom("recover d").expect(0);
    }
}

#[test]
fn a_recording_of_nothing_is_refused_at_the_start() {
    let test = "a_recording_of_nothing_is_refused_at_the_start";
    let place = Place::new();
    // Nobody may look into the kernel's trace.
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(place.path(""), mode).expect("open to all");
    let mut command = place.command("record --device . --record=block --duration 1s -o d");
    command.uid(65_534).gid(65_534);
    let Ok(child) = command.spawn() else {
        return skipped(test, "a program that nobody may start");
    };
    let outcome = finish(child);
    if outcome.stderr.contains("no block device is known") {
        return skipped(test, "a directory on a block device");
    }
    outcome
        .expect(2)
        .saying("nothing of what was asked for can be recorded");
    assert!(!place.path("d").exists());
}

#[test]
fn help_is_there_however_it_is_asked_for() {
    let place = Place::new();
    let all = place.fathom("--help").expect(0).stdout;
    assert_eq!(place.fathom("help").expect(0).stdout, all);
    let run = place.fathom("run --help").expect(0).stdout;
    assert_eq!(place.fathom("help run").expect(0).stdout, run);
    let diskspd = place.fathom("diskspd -?").expect(0).stdout;
    assert!(diskspd.contains("-b<size>"), "{diskspd}");
    for line in ["diskspd --help", "help diskspd"] {
        assert_eq!(place.fathom(line).expect(0).stdout, diskspd, "{line}");
    }
    assert!(
        place
            .fathom("help fio")
            .expect(0)
            .stdout
            .contains("fio's own command line")
    );
    place.fathom("help rum").expect(2).saying("run");
}

#[test]
fn the_exit_codes_of_help_are_those_of_the_readme() {
    let place = Place::new();
    let readme = include_str!("../../../../README.md");
    let (_, section) = readme.split_once("## Exit codes\n").expect("a section");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for line in ["--help", "run --help", "sweep --help"] {
        let help = words(&place.fathom(line).expect(0).stdout);
        let rows = section
            .lines()
            .filter(|line| line.starts_with("| ") && !line.starts_with("| code"));
        let mut seen = 0;
        for row in rows.take_while(|row| row.ends_with('|')) {
            let (code, meaning) = row.trim_matches(['|', ' ']).split_once(" | ").expect("two cells");
            assert!(
                help.contains(&words(&format!("{code} {meaning}"))),
                "{line}: {row}"
            );
            seen += 1;
        }
        assert_eq!(seen, 5);
    }
}

#[test]
fn two_means_that_nothing_was_touched() {
    let place = Place::new();
    // More files than the process may open: seen before the file is made.
    let mut shell = std::process::Command::new("sh");
    let program = env!("CARGO_BIN_EXE_fathom");
    let line = format!("ulimit -n 70; exec {program} {LOAD} --numjobs 80 --runtime 1s F -q -o none");
    shell
        .args(["-c", &line])
        .current_dir(place.path(""))
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let outcome = finish(start(&mut shell)).expect(2);
    outcome.saying("ulimit -n").saying("use fewer files or workers");
    assert!(place.names().is_empty(), "{:?}", place.names());
    // A soft limit is raised as far as it may be.
    let line = format!("ulimit -S -n 70; exec {program} {LOAD} --numjobs 80 --runtime 1s F -q -o none");
    let mut shell = std::process::Command::new("sh");
    shell
        .args(["-c", &line])
        .current_dir(place.path(""))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped());
    finish(start(&mut shell)).expect(0);
}

#[test]
fn what_cannot_be_told_after_a_run_is_no_wrong_request() {
    let place = Place::new();
    let mut command = place.command(&format!("{LOAD} --runtime 1s --on model:azure/P15 -q -o d"));
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .expect("open");
    command.stdout(full);
    let outcome = finish(start(&mut command)).expect(1);
    outcome.saying("cannot write to stdout").saying("the run in d");
    assert!(place.path("d/run.json").exists());
}

#[test]
fn fios_command_line_runs_on_a_modelled_disk() {
    let place = Place::new();
    let jobs = "--name=a --rw=randread --bs=4k --size=1g --direct=1 --ioengine=libaio --iodepth=32 --time_based --runtime=5";
    for line in [
        format!("fio --on model:azure/P15 {jobs}"),
        format!("fio {jobs} --on=model:azure/P15 --eta=never"),
    ] {
        let text = place.fathom(&line).expect(0).stdout;
        assert!(
            text.contains("ioengine=libaio, iodepth=32")
                && text.contains("  read: IOPS=")
                && !text.contains("IOPS=0,"),
            "{text}"
        );
    }
    let text = place.fathom(&format!("fio --on null: {jobs}")).expect(0).stdout;
    assert!(text.contains("null"), "{text}");
    let outcome = place.fathom(&format!("fio --on sub/ {jobs}"));
    outcome.expect(1).saying("does not exist");
    assert!(place.names().is_empty(), "{:?}", place.names());
}

#[test]
fn diskspds_targets_go_where_on_says() {
    let place = Place::new();
    std::fs::create_dir(place.path("disk")).expect("a directory");
    place
        .fathom("diskspd -b4K -d1 -W0 -c1M a.bin --on disk --quiet")
        .expect(0);
    assert!(place.path("disk/a.bin").exists() && !place.path("a.bin").exists());
    place
        .fathom("diskspd --on b.bin -b4K -d1 -W0 -c1M a.bin")
        .expect(0);
    assert!(place.path("b.bin").exists());
    place
        .fathom("diskspd --on b.bin -b4K -d1 -W0 -c1M a.bin c.bin")
        .expect(2)
        .saying("one file or device for 2 targets");
    place
        .fathom("diskspd -b4K -d2 -W0 -Sh -c1M a.bin --on model:azure/P15")
        .expect(0);
}

#[test]
fn groups_and_runs_have_totals() {
    let place = Place::new();
    place.write(
        "j.fio",
        "[global]\nsize=1g\ndirect=1\nioengine=libaio\niodepth=8\ntime_based\nruntime=4\nbs=4k\n[a]\nrw=randread\n[b]\nrw=randrw\n\
         [c]\nstonewall\nrw=randread\n",
    );
    let line = "run j.fio --on model:azure/P15 -q -o d";
    let text = place.fathom(line).expect(0).stdout;
    let json = place.fathom("show d --json").expect(0).json();
    let sum = count(&json, "jobs.0.read.ios") + count(&json, "jobs.1.read.ios");
    assert_eq!(count(&json, "groups.0.read.ios"), sum);
    let all = sum + count(&json, "jobs.2.read.ios");
    assert_eq!(count(&json, "total.read.ios"), all);
    assert_eq!(
        count(&json, "total.write.bytes"),
        count(&json, "jobs.1.write.bytes")
    );
    let seconds = number(&json, "total.runtime_ns") / 1e9;
    assert!((7.9..8.2).contains(&seconds), "{seconds} s");
    assert!((number(&json, "total.read.iops") * seconds / all as f64 - 1.0).abs() < 1e-6);
    assert!(text.contains("total of group 0 (2 jobs: a, b)"), "{text}");
    assert!(text.contains("total of all 3 jobs"), "{text}");
    place.fathom("report d -q -o d.md -o d.html").expect(0);
    let page = std::fs::read_to_string(place.path("d.md")).expect("a page");
    assert!(page.contains("| total of all 3 jobs"), "{page}");
    // One group: its total is that of the run.
    let text = place
        .fathom("run j.fio --section a --section b --on model:azure/P15 -q -o one")
        .expect(0)
        .stdout;
    assert_eq!(text.matches("total of ").count(), 1, "{text}");
    let json = place.fathom("show one --json").expect(0).json();
    assert!(json.get("total").is_none());
}

#[test]
fn a_credit_that_ran_out_says_when_and_both_rates() {
    let place = Place::new();
    let line = "run --name a --rw randread --bs 4k --size 1g --direct 1 --ioengine libaio --iodepth 32 --time_based \
                --runtime 35m --on model:azure/P15 -q -o d";
    let text = place.fathom(line).expect(0).stdout;
    let told = text
        .lines()
        .skip_while(|line| !line.contains("burst credit"))
        .take(2)
        .map(str::trim)
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        told.contains("3,570 IOPS for 30 min") && told.contains("then 1,122"),
        "{text}"
    );
    let json = place.fathom("show d --json").expect(0).json();
    let credit = at(&json, "model.credits.0");
    assert_eq!(at(credit, "limit"), "disk IOPS");
    let seconds = number(credit, "lasted_ns") / 1e9;
    assert!((1795.0..1815.0).contains(&seconds), "{seconds}");
    assert!((number(credit, "rate_before") - 3570.0).abs() < 2.0, "{credit}");
    assert!((number(credit, "rate_after") - 1122.0).abs() < 2.0, "{credit}");
    place.fathom("report d -q -o d.md").expect(0);
    let page = std::fs::read_to_string(place.path("d.md")).expect("a page");
    assert!(page.contains("3,570 IOPS for 30 min"), "{page}");
}

#[test]
fn a_size_that_is_not_sold_is_questioned() {
    let place = Place::new();
    let line =
        "run --name a --rw randread --bs 4k --size 1g --runtime 5s --time_based -q -o none --on model:azure/";
    let text = place.fathom(&format!("{line}P15,size=100g")).expect(0).stdout;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains(
            "P15 has 100 GiB, the P15 of the catalogue 256 GiB: 100 GiB are sold as P10 (128 GiB, 500 IOPS"
        ),
        "{text}"
    );
    for sold in ["P15", "P15,size=200g", "PremiumV2,size=100g"] {
        let text = place.fathom(&format!("{line}{sold}")).expect(0).stdout;
        assert!(!text.contains("of the catalogue"), "{sold}:\n{text}");
    }
}

#[test]
fn the_catalogue_finds_names() {
    let place = Place::new();
    let names = |line: &str| -> Vec<String> {
        let text = place.fathom(&format!("catalog {line} --csv")).expect(0).stdout;
        let rows = text.lines().skip(1);
        rows.map(|row| row.split(',').next().unwrap_or_default().to_owned())
            .collect()
    };
    assert_eq!(names("disks P15"), ["P15"]);
    assert_eq!(names("disks p15 E10"), ["P15", "E10"]);
    assert_eq!(names("vms D8s_v5"), ["Standard_D8s_v5"]);
    let found = names("disks premium");
    assert!(
        found.contains(&String::from("P1")) && !found.contains(&String::from("E1")),
        "{found:?}"
    );
    place
        .fathom("catalog disks P155")
        .expect(2)
        .saying("did you mean `P15`?");
    place
        .fathom("catalog disks zzzzzzz")
        .expect(2)
        .saying("nothing in the catalogue");
}

#[test]
fn a_line_that_is_none_of_diskspds_ends_with_its_code() {
    let place = Place::new();
    for line in [
        "diskspd -q data",
        "diskspd",
        "diskspd -b4K -Xmissing.xml",
        "diskspd -w data",
    ] {
        place.fathom(line).expect(3);
    }
    // What is readable and cannot be done is another matter; and it is said in diskspd's flags.
    let outcome = place.fathom("diskspd -b4K -d1 missing.bin").expect(2);
    assert!(!outcome.stderr.contains("size="), "{}", outcome.stderr);
    let outcome = place
        .fathom("diskspd --on model:azure/P4 -b4K -d1 -W0 -c900G data.bin")
        .expect(0)
        .saying("Give a smaller -c");
    assert!(!outcome.stderr.contains("size="), "{}", outcome.stderr);
    assert!(place.names().is_empty());
}

#[test]
fn flags_of_the_linux_port_may_follow_the_target() {
    let place = Place::new();
    place.write("data.bin", vec![7; 1 << 20]);
    place.fathom("diskspd -d1 -Sh data.bin -xk --quiet").expect(0);
    place
        .fathom("diskspd -d1 -Sh data.bin -L")
        .expect(3)
        .saying("a flag behind the targets");
}

#[test]
fn targets_of_a_pool_have_their_percentiles_and_intervals() {
    let place = Place::new();
    let line = "diskspd --on model:azure/P15 -b8K -d6 -W1 -r -F2 -O4 -w30 -Sh -L -D500 -c1G a.bin b.bin";
    let text = place.fathom(line).expect(0).stdout;
    for target in ["a.bin", "b.bin"] {
        let (_, table) = text
            .split_once(&format!("\nLatency distribution: {target}\n"))
            .expect("a table of each target");
        assert!(
            table
                .lines()
                .any(|line| line.contains("99th") && !line.contains("N/A")),
            "{text}"
        );
    }
    let (_, total) = text.split_once("Total IO\n").expect("a table");
    let rows = total.lines().filter(|line| line.contains(".bin ("));
    for row in rows.take(4) {
        assert!(!row.contains("N/A"), "{row}");
    }
    let xml = place.fathom(&line.replace("-c1G", "-c1G -Rxml")).expect(0).stdout;
    // One of all, and one each of two threads on two targets.
    assert_eq!(xml.matches("<IopsStdDev>").count(), 5, "{xml}");
    for target in xml
        .split("<Target>")
        .skip(1)
        .filter(|target| target.contains("<IOCount>"))
    {
        let value = |name: &str| -> f64 {
            let (_, rest) = target.split_once(&format!("<{name}>")).expect(name);
            rest.split('<').next().unwrap_or_default().parse().expect(name)
        };
        let rates = target.split("Total=\"").skip(1);
        let ios: f64 = rates
            .filter_map(|rest| rest.split('"').next()?.parse::<f64>().ok())
            .sum();
        assert!((ios / 2.0 / value("IOCount") - 1.0).abs() < 0.02, "{target}");
        assert_eq!(target.matches("SampleMillisecond").count(), 12, "{target}");
    }
}

#[test]
fn xml_results_have_a_version_in_numbers_and_the_size_of_the_flag() {
    let place = Place::new();
    place.fathom("diskspd -b4K -d1 -W0 -Su -c2M data.bin").expect(0);
    let xml = place
        .fathom("diskspd -b4K -d1 -W0 -Su -c1M -Rxml data.bin")
        .expect(0)
        .stdout;
    let value = |name: &str| {
        let (_, rest) = xml.split_once(&format!("<{name}>")).expect(name);
        rest.split_once('<').expect("its end").0.to_owned()
    };
    assert!(
        value("Version")
            .split('.')
            .all(|part| part.parse::<u32>().is_ok()),
        "{xml}"
    );
    assert_eq!(value("VersionDate").split('/').count(), 3);
    assert!(xml.contains("<!-- made by fathom"), "{xml}");
    // The file is longer already; the results say what was asked for, as the profile does.
    let result = xml.rsplit_once("<FileSize>").expect("a size").1;
    assert!(result.starts_with("1048576<"), "{result}");
}
