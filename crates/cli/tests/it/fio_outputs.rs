//! Outputs of `fathom fio` against those of fio itself, field by field.
//!
//! The same job is given to both, each in a directory of its own. JSON must have the same keys in the same order with values of
//! the same types, and all that the size of a job decides must be equal; of a mix the sum must be.

use crate::harness::{Place, skipped, tool};
use serde_json::Value;
use std::collections::BTreeMap;

/// What fio's manual says of its JSON.
const SCHEMA: &str = include_str!("../../../../docs/fio-output.schema.json");

/// Jobs whose amounts do not depend on time. Of those with `~` reads and writes are drawn: only their sum is fixed. Of those
/// with `^` the amounts are not compared: fio sends no flush behind the last write, and counts some flushes as short trims.
const JOBS: [&str; 43] = [
    "--name=a --rw=read --bs=4k --size=256k",
    "--name=a --rw=write --bs=16k --size=256k --description=hello",
    "--name=a --rw=randread --bs=4k --size=256k --norandommap",
    "--name=a --rw=randwrite --bs=8k --size=256k --end_fsync=1",
    "~--name=a --rw=rw --bs=4k --size=256k",
    "~--name=a --rw=randrw --bs=4k --size=256k --rwmixread=70",
    "^--name=a --rw=write --bs=4k --size=128k --fsync=4",
    "^--name=a --rw=write --bs=4k --size=128k --fdatasync=8 --lat_percentiles=1",
    "--name=a --rw=read --bs=4k --size=256k --ioengine=libaio --iodepth=4 --direct=1",
    "--name=a --rw=randread --bs=4k --size=256k --ioengine=libaio --iodepth=8 --direct=1 --slat_percentiles=1",
    "--name=a --rw=read --bs=4k --size=256k --ioengine=io_uring --iodepth=4",
    "--name=a --rw=read --bs=64k --size=256k --ioengine=mmap",
    "--name=a --rw=read --bs=4k --size=256k --ioengine=sync",
    "--name=a --rw=write --bs=4k --size=256k --ioengine=pvsync2",
    "--name=a --rw=read --bs=4k --size=1m --ioengine=null",
    "--name=a --rw=trim --bs=4k --size=1m --ioengine=null",
    "--name=a --rw=randread --bs=4k --size=1m --ioengine=null --iodepth=16",
    "--name=a --rw=read --bs=4k --size=256k --numjobs=3",
    "--name=a --rw=read --bs=4k --size=256k --numjobs=3 --group_reporting",
    "--name=a --rw=read --size=64k --name=b --rw=write --size=128k --stonewall",
    "--name=a --rw=read --size=64k --name=b --rw=write --size=128k --new_group --group_reporting",
    "--bs=8k --size=64k --group_reporting --name=a --rw=read --name=b --rw=write --numjobs=2",
    "--name=a --rw=write --size=128k --unified_rw_reporting=mixed",
    "~--name=a --rw=rw --size=128k --unified_rw_reporting=mixed",
    "~--name=a --rw=rw --size=128k --unified_rw_reporting=both",
    "--name=a --rw=read --size=128k --clat_percentiles=0",
    "--name=a --rw=read --size=128k --clat_percentiles=0 --lat_percentiles=1",
    "--name=a --rw=read --size=128k --percentile_list=50:90:99.9:99.999",
    "--name=a --rw=read --size=128k --disable_lat=1",
    "--name=a --rw=read --size=128k --disable_clat=1 --disable_slat=1",
    "--name=a --rw=read --size=128k --gtod_reduce=1",
    "--name=a --rw=read --size=128k --disable_bw_measurement=1",
    "--name=a --rw=read --size=128k --continue_on_error=all",
    "--name=a --rw=read --size=128k --disk_util=0",
    "--name=a --rw=read --bs=4k --size=256k --number_ios=7",
    "--name=a --rw=read --bs=4k --size=64k --loops=3",
    "--name=a --rw=write --bs=4k --size=64k --io_size=256k",
    "--name=a --rw=write --bs=4k --size=256k --nrfiles=4",
    "--name=a --rw=write --bs=4k --size=64k --thread --kb_base=1000",
    "--name=a --blocksize=4k --readwrite=read --size=64k --filename=F --iodepth=16",
    "--name=a --rw=read --bs=4k --size=64k --write_bw_log=l --write_iops_log=l --write_lat_log=l",
    "--name=a --rw=write --bs=4k --size=64k --write_bw_log=l --log_avg_msec=100 --percentile_list=99.9999",
    "--name=a --rw=read --bs=4k,8k --size=64k --offset=16k --filename=F --stats=1 --time_based=0",
];

/// What the size of a job decides, of whatever direction.
const FIXED: [&str; 16] = [
    "jobname",
    "groupid",
    "error",
    "total_ios",
    "io_bytes",
    "io_kbytes",
    "short_ios",
    "drop_ios",
    "N",
    "bw_samples",
    "iops_samples",
    "latency_depth",
    "latency_target",
    "latency_percentile",
    "latency_window",
    "desc",
];

fn fio(place: &Place, flags: &str) -> String {
    let output = std::process::Command::new("fio")
        .args(flags.split_whitespace())
        .current_dir(place.path(""))
        .output()
        .expect("fio");
    assert!(
        output.status.success(),
        "fio {flags}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn fathom(place: &Place, flags: &str) -> String {
    let outcome = place.fathom(&format!("fio {flags}")).expect(0);
    assert_eq!(outcome.stderr, "", "{flags}");
    outcome.stdout
}

/// A line of JSON: its depth, its key, what kind of value it has.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    depth: usize,
    key: String,
    kind: &'static str,
    value: String,
}

/// Both print one item a line.
fn lines(document: &str) -> Vec<Line> {
    let mut result = Vec::new();
    let mut bins = None;
    let begin = document.find("{\n").expect("a document");
    for line in document[begin..].lines() {
        let depth = (line.len() - line.trim_start().len()) / 2;
        // Buckets that counted something are the latencies' own.
        if bins.is_some_and(|bins| depth > bins) {
            continue;
        }
        bins = None;
        let item = line.trim().trim_end_matches(',');
        let (key, value) = item.split_once(" : ").unwrap_or(("", item));
        if key == "\"bins\"" {
            bins = Some(depth);
        }
        let kind = match value.as_bytes().first() {
            None => continue,
            Some(b'"') => "string",
            Some(b'{' | b'[') => "begin",
            Some(b'}' | b']') => "end",
            Some(_) if value.contains('.') => "float",
            Some(_) => "integer",
        };
        result.push(Line {
            depth,
            key: key.trim_matches('"').to_owned(),
            kind,
            value: value.to_owned(),
        });
    }
    result
}

fn shape(lines: &[Line]) -> Vec<String> {
    let told = lines
        .iter()
        .map(|line| format!("{} {} {}", line.depth, line.key, line.kind));
    told.collect()
}

/// The values that the size decides, or only their sums.
fn fixed(lines: &[Line], mixed: bool) -> Vec<String> {
    let fixed = lines.iter().filter(|line| FIXED.contains(&line.key.as_str()));
    if !mixed {
        return fixed.map(|line| format!("{}={}", line.key, line.value)).collect();
    }
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for line in fixed.filter(|line| line.kind == "integer") {
        *sums.entry(&line.key).or_default() += line.value.parse::<u64>().expect("a number");
    }
    sums.iter().map(|(key, sum)| format!("{key}={sum}")).collect()
}

fn options(lines: &[Line]) -> Vec<String> {
    let mut within = None;
    let mut found = Vec::new();
    for line in lines {
        match within {
            Some(depth) if line.depth > depth => found.push(format!("{}={}", line.key, line.value)),
            _ => within = line.key.ends_with(" options").then_some(line.depth),
        }
    }
    found
}

/// Whether a document is as a schema says: what of JSON Schema the one in `docs` uses.
fn fits(root: &Value, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.strip_prefix("#/definitions/").expect("a definition");
        return fits(root, &root["definitions"][name], value, at);
    }
    let found = match value {
        Value::Object(_) => "object",
        Value::Array(_) => "array",
        Value::String(_) => "string",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::Bool(_) | Value::Null => "neither",
    };
    let wanted = schema["type"].as_str().expect("each has a type");
    if found != wanted {
        return Err(format!("{at} is {found}, not {wanted}"));
    }
    for key in schema["required"].as_array().into_iter().flatten() {
        let key = key.as_str().expect("a key");
        if value.get(key).is_none() {
            return Err(format!("{at} has no {key}"));
        }
    }
    for (key, inner) in value.as_object().into_iter().flatten() {
        let known = schema["properties"]
            .get(key)
            .unwrap_or(&schema["additionalProperties"]);
        match known {
            Value::Object(_) => fits(root, known, inner, &format!("{at}/{key}"))?,
            _ => return Err(format!("{at} has an unknown {key}")),
        }
    }
    for (number, inner) in value.as_array().into_iter().flatten().enumerate() {
        fits(root, &schema["items"], inner, &format!("{at}/{number}"))?;
    }
    Ok(())
}

#[test]
fn the_schema_refuses_what_is_wrong() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema");
    for (document, expected) in [
        ("[]", "not object"),
        ("{}", "has no fio version"),
        (r#"{"fio version": 3}"#, "has no"),
    ] {
        let document = serde_json::from_str(document).expect("JSON");
        let breach = fits(&schema, &schema, &document, "").expect_err("a breach");
        assert!(breach.contains(expected), "{breach}");
    }
}

fn first_difference(ours: &[String], theirs: &[String]) -> Option<String> {
    let at = (0..ours.len().max(theirs.len())).find(|&at| ours.get(at) != theirs.get(at))?;
    let near =
        |list: &[String]| list[at.saturating_sub(2).min(list.len())..(at + 3).min(list.len())].join(" | ");
    Some(format!("fathom {}\n    fio    {}", near(ours), near(theirs)))
}

#[test]
fn json_has_the_fields_of_fios() {
    let name = "json_has_the_fields_of_fios";
    if let Err(missing) = tool("fio --version") {
        return skipped(name, &missing);
    }
    let mut wrong = Vec::new();
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema");
    for job in JOBS {
        let (mixed, uncompared) = (job.starts_with('~'), job.starts_with('^'));
        let job = job.trim_start_matches(['~', '^']);
        let flags = format!("--output-format=json+ {job}");
        let (ours, theirs) = (Place::new(), Place::new());
        let (ours, theirs) = (fathom(&ours, &flags), fio(&theirs, &flags));
        for (who, document) in [("fathom", &ours), ("fio", &theirs)] {
            let document: Value =
                serde_json::from_str(&document[document.find("{\n").expect("JSON")..]).expect("JSON");
            if let Err(breach) = fits(&schema, &schema, &document, "") {
                wrong.push(format!("{job}\n  {who} against the schema: {breach}"));
            }
        }
        let (ours, theirs) = (lines(&ours), lines(&theirs));
        for (what, ours, theirs) in [
            ("shape", shape(&ours), shape(&theirs)),
            ("values", fixed(&ours, mixed), fixed(&theirs, mixed)),
            ("options", options(&ours), options(&theirs)),
        ] {
            if uncompared && what == "values" {
                continue;
            }
            if let Some(difference) = first_difference(&ours, &theirs) {
                wrong.push(format!("{job}\n  {what}:\n    {difference}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn terse_lines_have_the_columns_of_fios() {
    let name = "terse_lines_have_the_columns_of_fios";
    if let Err(missing) = tool("fio --version") {
        return skipped(name, &missing);
    }
    let mut wrong = Vec::new();
    for version in 2..=5 {
        for job in [
            "--name=a --rw=read --bs=4k --size=64k",
            "--name=a --rw=write --bs=4k --size=64k --description=dd",
            "--name=a --rw=read --size=64k --unified_rw_reporting=mixed",
            "--name=a --rw=write --size=64k --unified_rw_reporting=both --lat_percentiles=1",
            "--name=a --rw=read --size=64k --name=b --rw=write --size=32k",
            "--name=a --rw=read --size=64k --continue_on_error=all --percentile_list=50:99",
            "--name=a --rw=trim --bs=4k --size=64k --ioengine=null",
        ] {
            let flags = format!("--minimal --terse-version={version} {job}");
            let (ours, theirs) = (Place::new(), Place::new());
            let columns = |text: &str| -> Vec<String> {
                let columns = text.lines().flat_map(|line| line.split(';').chain(["end"]));
                columns.map(kind_of_column).collect()
            };
            let (ours, theirs) = (columns(&fathom(&ours, &flags)), columns(&fio(&theirs, &flags)));
            if let Some(difference) = first_difference(&ours, &theirs) {
                wrong.push(format!("{flags}\n    {difference}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a column looks like: its digits are the machine's.
fn kind_of_column(column: &str) -> String {
    // fio divides by nothing where no latency was taken.
    if column.contains("nan%") {
        return String::from("0.00%");
    }
    if let Some((percentile, _)) = column.split_once("%=") {
        return format!("{percentile}%=");
    }
    let Some((whole, decimals)) = column.trim_end_matches('%').split_once('.') else {
        return if column.parse::<u64>().is_ok() {
            String::from("0")
        } else {
            column.to_owned()
        };
    };
    if whole.parse::<u64>().is_err() {
        return column.to_owned();
    }
    format!(
        "0.{}{}",
        "0".repeat(decimals.len()),
        if column.ends_with('%') { "%" } else { "" }
    )
}

/// The lines of the text, each with its numbers blanked, less those that only a latency decides.
fn patterns(text: &str) -> Vec<String> {
    let kept = |line: &&str| {
        let line = line.trim_start();
        !line.starts_with("lat (") && !line.starts_with('|') && !line.is_empty()
    };
    let blank = |line: &str| {
        let mut result = String::new();
        for letter in line.chars() {
            match letter {
                '0'..='9' | '.' if result.ends_with('#') => {}
                '0'..='9' => result.push('#'),
                other => result.push(other),
            }
        }
        // Which unit, which weekday, and how wide a number is, is no matter of the format.
        for (from, to) in [
            ("nsec", "usec"),
            ("msec", "usec"),
            ("KiB", "B"),
            ("MiB", "B"),
            ("GiB", "B"),
            ("kB", "B"),
        ] {
            result = result.replace(from, to);
        }
        while result.contains("  #") {
            result = result.replace("  #", " #");
        }
        for (from, to) in [
            ("MB", "B"),
            ("GB", "B"),
            ("#k", "#"),
            ("#M", "#"),
            ("= #", "=#"),
            (" (usec): ", ": "),
        ] {
            result = result.replace(from, to);
        }
        match result.split_once(": pid=") {
            Some((before, _)) => before.to_owned(),
            None => result,
        }
    };
    text.lines().filter(kept).map(blank).collect()
}

#[test]
fn text_has_the_lines_of_fios() {
    let name = "text_has_the_lines_of_fios";
    if let Err(missing) = tool("fio --version") {
        return skipped(name, &missing);
    }
    let mut wrong = Vec::new();
    for job in JOBS.iter().map(|job| job.trim_start_matches(['~', '^'])) {
        // fio 3.33 forgets the unit where it tells directions both ways.
        if job.contains("=both") {
            continue;
        }
        let (ours, theirs) = (Place::new(), Place::new());
        let (ours, theirs) = (patterns(&fathom(&ours, job)), patterns(&fio(&theirs, job)));
        if let Some(difference) = first_difference(&ours, &theirs) {
            wrong.push(format!("{job}\n    {difference}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What Debian packs beside fio reads json+ of fathom's.
#[test]
fn fios_own_script_reads_json_plus() {
    let name = "fios_own_script_reads_json_plus";
    if !std::path::Path::new("/usr/bin/fio_jsonplus_clat2csv").exists() {
        return skipped(name, "fio_jsonplus_clat2csv");
    }
    let place = Place::new();
    let line = "--output-format=json+ --output=o.json --name=a --rw=randrw --bs=4k --size=256k --name=b --ioengine=null \
                --rw=read --size=1m";
    fathom(&place, line);
    let output = std::process::Command::new("/usr/bin/fio_jsonplus_clat2csv")
        .args(["o.json", "out.csv"])
        .current_dir(place.path(""))
        .output()
        .expect("the script");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let table = std::fs::read_to_string(place.path("out_job1.csv")).expect("a table of the second job");
    let (head, rows) = table.split_once('\n').expect("a heading");
    assert!(head.contains("read_clat_ns_cumulative"), "{head}");
    let last = rows.lines().last().expect("rows");
    // The cumulated count of all reads.
    assert!(last.split(',').any(|column| column.trim() == "256"), "{last}");
}
