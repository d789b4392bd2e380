//! `fathom plan`: what it finds runs on the model as it says, and what cannot be met is said.

use crate::harness::{Place, finish, start};
use serde_json::Value;

/// The plan as JSON, and the exit code.
fn planned(place: &Place, words: &str, code: i32) -> Value {
    let text = place.fathom(&format!("plan {words} --json")).expect(code).stdout;
    serde_json::from_str(&text).expect("JSON")
}

/// What `fathom run` with these words delivers: I/Os and bytes a second of reads and writes together.
fn delivered(place: &Place, command: &str) -> (f64, f64) {
    if command.starts_with("fathom fio ") {
        let words = command.split(' ').skip(1).chain(["--output-format=json"]);
        let text = finish(start(&mut place.command_of(words))).expect(0).stdout;
        let outcome: Value = serde_json::from_str(&text).expect("JSON");
        // The first section warms the cache.
        let jobs = outcome["jobs"].as_array().expect("jobs");
        let need = jobs.iter().find(|job| job["jobname"] == "need").expect("its job");
        let sum = |name: &str| {
            let of = |way: &str| need[way][name].as_f64().unwrap_or(0.0);
            of("read") + of("write")
        };
        return (sum("iops"), sum("bw_bytes"));
    }
    let words: Vec<&str> = command
        .split(' ')
        .skip(1)
        .chain(["-o", "none", "-q", "--json"])
        .collect();
    let text = finish(start(&mut place.command_of(&words))).expect(0).stdout;
    let run: Value = serde_json::from_str(&text).expect("JSON");
    let sum = |name: &str| {
        let of = |way: &str| run["groups"][0][way][name].as_f64().unwrap_or(0.0);
        of("read") + of("write")
    };
    (sum("iops"), sum("bytes_per_second"))
}

#[test]
fn what_is_found_delivers_by_its_own_command() {
    let place = Place::new();
    for (words, iops, mbps) in [
        ("--iops 4000 --mbps 60 --gib 300 --read 70 --top 3", 4_000.0, 60.0),
        (
            "--mbps 150 --gib 100 --read 0 --family premium --top 2",
            0.0,
            150.0,
        ),
        (
            "--iops 3000 --bs 8k --gib 64 --vm Standard_D8s_v3 --cache ro --read 100 --top 1",
            3_000.0,
            0.0,
        ),
    ] {
        let plan = planned(&place, words, 0);
        let layouts = plan["layouts"].as_array().expect("layouts");
        assert!(!layouts.is_empty());
        for layout in layouts {
            let command = layout["verify"].as_str().expect("a command");
            let (ios, bytes) = delivered(&place, command);
            assert!(
                ios >= 0.97 * iops && bytes >= 0.97e6 * mbps,
                "{command}: {ios} IOPS, {bytes} bytes/s"
            );
            for rate in ["iops", "bytes_per_second"] {
                let needed = plan["need"][rate].as_f64().expect("a number");
                let on_model = layout["model"][rate].as_f64().expect("a number");
                assert!(
                    (0.97..=1.03).contains(&(on_model / needed)),
                    "{command}: {rate} {on_model} of {needed}"
                );
            }
        }
    }
}

/// Each cloud by itself, and all at once: the cheapest of all is the cheapest of one.
#[test]
fn clouds_are_planned_side_by_side() {
    let place = Place::new();
    let need = "--iops 9000 --mbps 150 --gib 800 --read 70 --top 3 --no-burst";
    let price = |plan: &Value| plan["layouts"][0]["usd_month"].as_f64().expect("a price");
    let mut cheapest = f64::MAX;
    for cloud in ["azure", "aws", "gcp"] {
        let plan = planned(&place, &format!("{need} --cloud {cloud}"), 0);
        cheapest = cheapest.min(price(&plan));
        for layout in plan["layouts"].as_array().expect("layouts") {
            let target = layout["target"].as_str().expect("a target");
            assert!(target.starts_with(&format!("{cloud}/")), "{target}");
            let command = layout["verify"].as_str().expect("a command");
            let (ios, bytes) = delivered(&place, command);
            assert!(
                ios >= 0.97 * 9_000.0 && bytes >= 0.97 * 150e6,
                "{command}: {ios} IOPS, {bytes} bytes/s"
            );
        }
    }
    let all = planned(&place, &format!("{need} --cloud azure,aws,gcp"), 0);
    assert!((price(&all) - cheapest).abs() < 1e-9);
    let without_limit = all["left_out"]["families_without_limit"]
        .as_array()
        .expect("a list");
    for family in ["standard", "pd-extreme"] {
        assert!(
            without_limit.iter().any(|name| name == family),
            "{without_limit:?}"
        );
    }
    for (words, said) in [
        ("--vm m6i.large --gib 5", "add --cloud aws"),
        ("--family pd-ssd --gib 5", "add --cloud gcp"),
        ("--gib 5 --cloud moon", "azure, aws, gcp"),
        ("--gib 5 --cloud aws --emit az", "emit terraform"),
    ] {
        place.fathom(&format!("plan {words}")).expect(2).saying(said);
    }
}

#[test]
fn prices_add_up_and_the_cheapest_comes_first() {
    let place = Place::new();
    let plan = planned(&place, "--iops 12000 --mbps 180 --gib 1500 --read 70 --bs 16k", 0);
    let layouts = plan["layouts"].as_array().expect("layouts");
    assert_eq!(layouts.len(), 10);
    let number = |value: &Value| value.as_f64().expect("a number");
    let mut before = 0.0;
    for layout in layouts {
        let whole = number(&layout["usd_month"]);
        let parts = number(&layout["disks_usd_month"]) + number(&layout["vm_usd_month"]);
        assert!((whole - parts).abs() < 1e-6 && whole >= before, "{layout:#}");
        before = whole;
        assert!(number(&layout["iops"]) >= 12_000.0 && number(&layout["bytes_per_second"]) >= 180e6);
        assert!(number(&layout["gib"]) >= 1500.0);
        assert!(number(&layout["headroom"]) >= 0.0 && layout["binding"]["limit"].is_string());
        let target = layout["target"].as_str().expect("a target");
        place
            .fathom(&format!(
                "run --on model:{target} --rw randread --bs 4k --direct 1 --size 1g --io_size 1m -o none -q"
            ))
            .expect(0);
    }
}

#[test]
fn the_two_questions_of_2019_are_answered() {
    let place = Place::new();
    let text = place
        .fathom("plan --explain azure/P40,vm=Standard_DS3_v2")
        .expect(0)
        .stdout;
    for said in [
        "192 MB/s without end: machine uncached MB/s binds",
        "paid for and never used: disk MB/s, 58 MB/s of 250 MB/s",
    ] {
        assert!(text.contains(said), "`{said}` is missing:\n{text}");
    }
    let compared = "plan --compare azure/P30,vm=Standard_DS3_v2 azure/2xP15,vm=Standard_DS3_v2 --json";
    let text = place.fathom(compared).expect(0).stdout;
    let pair: Value = serde_json::from_str(&text).expect("JSON");
    let disks = |index: usize| {
        pair["layouts"][index]["disks_usd_month"]
            .as_f64()
            .expect("a price")
    };
    let saved = 1.0 - disks(1) / disks(0);
    assert!((0.40..0.50).contains(&saved), "{saved}");
    assert_eq!(pair["layouts"][1]["bytes_per_second"], 192_000_000);
}

#[test]
fn what_cannot_be_met_is_said_and_exits_2() {
    let place = Place::new();
    for (words, said) in [
        ("--iops 99000000", "up to"),
        (
            "--mbps 500 --vm Standard_DS3_v2 --no-cache",
            "500 MB/s is too much: up to 192 MB/s can be had",
        ),
        (
            "--gib 100 --budget 1",
            "a budget of USD 1.00 is too little: the cheapest costs USD",
        ),
        ("--iops 2000 --gib 10 --latency p99:10us", "none is as fast"),
        ("--iops -5", "not negative"),
        ("--iops 5000 --mbps 1", "contradict each other"),
        ("", "nothing is asked for"),
        ("--gib 10 --region mars", "no prices of it, but of eastus"),
        ("--gib 10 --commit 1y", "price_usd_hour_1y"),
        ("--gib 10 --vm D4s_v9", "near: Standard_D4s_v"),
        ("--gib 10 --top 0", "1 to 1000"),
        ("--explain azure/P16", "did you mean"),
        ("--compare azure/P15", "Give a second layout"),
        ("--explain azure/P15,seed=7", "seed=7 is not planned"),
        ("--explain azure/P15 --vcpus 4", "cannot be used with"),
        ("--gib 10 -o plan.txt", "what kind of file"),
        ("--gib 10 -o plan.md -o plan.html -o plan.md", "given twice"),
        ("--gib 10 --vcpus 0", "more than nothing"),
        ("--gib 10 --memory 0", "more than nothing"),
        ("--gib 10 --working-set 0", "more than nothing"),
        ("--gib 10 --working-set 11", "than there is room for"),
        ("--gib 10 --for 1ns", "whole seconds"),
        ("--gib 10 --for 1500ms", "whole seconds"),
        ("--iops 100 --for 1000000h", "up to a year"),
        ("--explain azure/P15,vm=m6i.xlarge", "is a virtual machine of aws"),
        ("--explain gcp/pd-extreme,size=500g", "iops=5000"),
        ("--gib 10 --cloud azure,,aws", "a name is empty"),
        ("--gib 10 --catalog nowhere", "no directory"),
        ("--gib 10 --percentile 99", "--percentile is about a recording"),
    ] {
        let outcome = place.fathom(&format!("plan {words}")).expect(2);
        assert!(
            outcome.stderr.contains(said),
            "plan {words}: `{said}` is missing:\n{}",
            outcome.stderr
        );
        assert!(outcome.stdout.is_empty(), "plan {words}: {}", outcome.stdout);
    }
    let plan = planned(&place, "--iops 99000000", 2);
    assert!(plan["why_none"].as_str().is_some_and(|why| why.contains("up to")));
}

/// A layout that is too small is not a cheap one.
#[test]
fn what_stands_now_and_is_short_of_the_need_is_told() {
    let place = Place::new();
    let text = place
        .fathom("plan --iops 5000 --gib 800 --current azure/P15,vm=Standard_D2s_v3 --top 1")
        .expect(0)
        .stdout;
    assert!(text.contains("short"), "{text}");
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in [
        "has not what is needed",
        "size, 256 GiB of 800 GiB",
        "disk IOPS, 1,100 of 5,000",
    ] {
        assert!(flat.contains(said), "`{said}` is missing:\n{text}");
    }
}

#[test]
fn it_fits_80_columns_but_for_commands() {
    let place = Place::new();
    for words in [
        "--iops 12000 --mbps 180 --gib 1500 --vcpus 4 --memory 16GiB",
        // Their machines' names are long, and what binds is the machine's.
        "--iops 40000 --gib 4000 --vcpus 16 --family premium --no-cache",
        "--iops 12000 --gib 1500 --vcpus 4 --cloud azure,aws,gcp",
    ] {
        let text = place.fathom(&format!("plan {words}")).expect(0).stdout;
        for line in text.lines() {
            let command = line.trim_start().starts_with("model:") || line.ends_with('\\');
            assert!(line.chars().count() <= 80 || command, "{line}");
        }
        assert!(text.contains("Cheapest: "), "{text}");
        // Names of machines are told whole; families of other clouds are longer.
        let (_, table) = text.split_once(" #  ").expect("a table");
        let rows = table.lines().skip(1).take_while(|line| !line.starts_with("1. "));
        let cut = rows.filter(|line| line.contains('…')).count();
        assert!(cut == 0 || words.contains("gcp"), "{text}");
    }
}

/// What more or less would cost is in JSON what it is in the text.
#[test]
fn the_front_is_in_json_too() {
    let place = Place::new();
    let plan = planned(&place, "--iops 3000 --gib 100 --family premium-v2 --vcpus 4", 0);
    let front = plan["front"].as_array().expect("a front");
    assert!(front.len() > 1, "{}", front.len());
}

/// Layouts that are named are told for the I/Os that are asked for, with a load or without.
#[test]
fn an_explanation_is_of_the_kind_of_load_that_is_asked_for() {
    let place = Place::new();
    let told = |words: &str| -> Value {
        let text = place
            .fathom(&format!(
                "plan --explain gcp/pd-ssd:750GiB,vm=n2-standard-8 {words} --json"
            ))
            .expect(0)
            .stdout;
        serde_json::from_str(&text).expect("JSON")
    };
    let rate = |words: &str| told(words)["layouts"][0]["bytes_per_second"].as_u64();
    let (mixed, reads) = (rate(""), rate("--read 100"));
    assert_eq!(reads, Some(600 << 20));
    assert_eq!(mixed, reads.map(|reads| 2 * reads));
    assert_eq!(rate("--read 100 --mbps 500"), reads);
    assert_eq!(told("--bs 64k")["need"]["block_bytes"], 64 << 10);
    let text = place
        .fathom("plan --explain gcp/pd-ssd:750GiB,vm=n2-standard-8")
        .expect(0)
        .stdout;
    for said in ["Random I/Os of 16 KiB, 50 % of them reads", "limits of their own"] {
        assert!(text.contains(said), "{said}: {text}");
    }
    place
        .fathom("plan --explain gcp/pd-ssd:750GiB,vm=n2-standard-8 --read 101")
        .expect(2)
        .saying("0 to 100 percent");
}

#[test]
fn a_page_markdown_and_a_table_are_written_once() {
    let place = Place::new();
    place
        .fathom("plan --iops 3000 --gib 100 -o plan.html -o plan.md -o plan.csv -q")
        .expect(0);
    let read = |name: &str| std::fs::read_to_string(place.path(name)).expect(name);
    assert!(read("plan.html").contains("Price by IOPS"));
    assert!(read("plan.md").contains("fathom run --on model:azure/"));
    assert_eq!(read("plan.csv").lines().count(), 11);
    place.fathom("plan --iops 3000 --gib 100 -o plan.md").expect(3);
    place
        .fathom("plan --iops 3000 --gib 100 -o plan.md --force -q")
        .expect(0);
}

#[test]
fn contract_prices_commitments_and_currencies_are_taken() {
    let place = Place::new();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../model/data/azure");
    let dir = place.path("mine");
    std::fs::create_dir(&dir).expect("a directory");
    for name in ["disks.csv", "flex-disks.csv"] {
        std::fs::copy(format!("{source}/{name}"), dir.join(name)).expect(name);
    }
    let vms = std::fs::read_to_string(format!("{source}/vms.csv")).expect("machines");
    let mut lines = vms.lines();
    let heading = lines.next().expect("a heading");
    let d4 = lines
        .find(|line| line.starts_with("Standard_D4s_v5,"))
        .expect("a machine");
    let text = format!("{heading},price_usd_hour_1y\n{d4},0.1\n");
    std::fs::write(dir.join("vms.csv"), text).expect("machines");
    let plan = planned(
        &place,
        "--iops 100 --gib 10 --catalog mine --commit 1y --hours 100 --top 1",
        0,
    );
    assert_eq!(plan["layouts"][0]["vm_usd_month"], 10.0);
    let text = place
        .fathom("plan --iops 100 --gib 10 --catalog mine --currency eur=2 --top 1")
        .expect(0)
        .stdout;
    assert!(
        text.contains("EUR/month") && text.contains("USD 1 is taken for EUR 2"),
        "{text}"
    );
}

#[test]
fn what_creates_a_layout_is_printed_alone() {
    let place = Place::new();
    let need = "plan --iops 8000 --mbps 200 --gib 900 --family premium-v2";
    let az = place.fathom(&format!("{need} --emit az")).expect(0).stdout;
    let script = place.write("create.sh", &az);
    // A shell reads it; whether the cloud takes it only the cloud can say.
    let parsed = std::process::Command::new("bash")
        .arg("-n")
        .arg(&script)
        .output()
        .expect("bash");
    assert!(
        parsed.status.success(),
        "{}",
        String::from_utf8_lossy(&parsed.stderr)
    );
    assert!(az.contains("--sku PremiumV2_LRS"), "{az}");
    let terraform = place
        .fathom(&format!("{need} --emit terraform --pick 2"))
        .expect(0)
        .stdout;
    assert!(
        terraform.contains("resource \"azurerm_managed_disk\" \"data\""),
        "{terraform}"
    );
    let mdadm = "plan --explain azure/2xP15,vm=Standard_DS3_v2 --emit mdadm";
    let mdadm = place.fathom(mdadm).expect(0).stdout;
    assert!(mdadm.contains("--raid-devices=2 --chunk=512K"), "{mdadm}");
    let class = format!("{need} --raid0-max 1 --emit storageclass");
    let class = place.fathom(&class).expect(0).stdout;
    assert!(class.contains("skuName: PremiumV2_LRS"), "{class}");
    place
        .fathom("plan --explain azure/2xP15 --emit storageclass")
        .expect(2)
        .saying("--raid0-max 1");
    place
        .fathom(&format!("{need} --emit az --pick 11"))
        .expect(2)
        .saying("1 to 10 can be picked");
}

/// Prices of another region: of the disks that have one there, on a machine that is named and has none.
#[test]
fn another_region_is_planned_at_its_prices() {
    let place = Place::new();
    let need = "--iops 6000 --mbps 200 --gib 500 --raid0-max 1 --top 1 --cloud aws --vm m6i.4xlarge";
    let there = planned(&place, &format!("{need} --region ap-northeast-1"), 0);
    let first = &there["layouts"][0];
    assert!(
        first["target"]
            .as_str()
            .is_some_and(|target| target.starts_with("aws/gp3,")),
        "{first}"
    );
    // 500 GiB at 0.096, 3,000 IOPS at 0.006 and 66 MiB/s at 0.048 (200 MB/s are 191 MiB/s).
    let usd = first["usd_month"].as_f64().expect("a price");
    assert!((usd - (48.0 + 18.0 + 66.0 * 0.048)).abs() < 0.01, "{usd}");
    let prices = there["prices"].as_str().expect("words");
    assert!(
        prices.contains("disks in ap-northeast-1 of 2026-09-13") && !prices.contains("machines"),
        "{prices}"
    );
    let home = planned(&place, need, 0);
    let prices = home["prices"].as_str().expect("words");
    assert!(prices.contains("disks in us-east-1"), "{prices}");
    for (words, said) in [
        (
            "--iops 6000 --cloud aws --region ap-northeast-1",
            "name one with --vm",
        ),
        (
            "--iops 6000 --cloud aws --region mars",
            "ap-northeast-1, ap-northeast-2, us-east-1",
        ),
    ] {
        place.fathom(&format!("plan {words}")).expect(2).saying(said);
    }
    let explained = "plan --explain aws/gp3:500GiB,vm=m6i.4xlarge --cloud aws --region ap-northeast-2";
    let explained = place.fathom(explained).expect(0).stdout;
    assert!(explained.contains("disks in ap-northeast-2"), "{explained}");
}
