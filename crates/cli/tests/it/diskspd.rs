//! `fathom diskspd`: diskspd's command lines carried out, with its results.

use crate::harness::{Place, skipped};
use std::collections::BTreeMap;

/// The rows of a table of the text, by their first column.
fn rows(text: &str, heading: &str) -> Vec<Vec<String>> {
    let (_, rest) = text.split_once(&format!("\n{heading}\n")).expect("the table");
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect();
    let body = rest.lines().skip(2);
    body.take_while(|line| !line.starts_with("---"))
        .map(cells)
        .collect()
}

/// The percentiles of the text, by name.
fn percentiles(text: &str) -> BTreeMap<String, Vec<String>> {
    let (_, rest) = text
        .split_once("Total latency distribution:\n")
        .expect("the table");
    let body = rest.lines().skip(2).take_while(|line| line.contains('|'));
    body.map(|line| {
        let mut cells = line.split('|').map(|cell| cell.trim().to_owned());
        (cells.next().unwrap_or_default(), cells.collect())
    })
    .collect()
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn a_command_line_gives_diskspds_tables() {
    let place = Place::new();
    let outcome = place
        .fathom("diskspd -b8K -d2 -W0 -Sh -L -D500 -o4 -t2 -r -w25 -c16M data.bin")
        .expect(0);
    let text = outcome.stdout;
    assert!(text.contains("Command Line: diskspd -b8K -d2 -W0"), "{text}");
    let total = rows(&text, "Total IO");
    assert_eq!(total.len(), 2);
    let (mut bytes, mut ios) = (0.0, 0.0);
    for row in &total {
        assert_eq!(row.len(), 9, "{row:?}");
        assert!(
            (number(&row[1]) - number(&row[2]) * 8192.0).abs() < 0.5,
            "{row:?}"
        );
        bytes += number(&row[1]);
        ios += number(&row[2]);
    }
    let written: f64 = rows(&text, "Write IO").iter().map(|row| number(&row[2])).sum();
    assert!(
        (0.2..0.3).contains(&(written / ios)),
        "{written} of {ios} are writes"
    );
    let line = text
        .lines()
        .find(|line| line.starts_with("total:"))
        .expect("a total");
    assert!(line.contains(&format!("{bytes:.0}")), "{line}");
    let percentiles = percentiles(&text);
    assert_eq!(percentiles.len(), 15);
    assert!(number(&percentiles["50th"][2]) <= number(&percentiles["99th"][2]));
    assert!(number(&percentiles["9-nines"][2]) <= number(&percentiles["max"][2]));
    assert_eq!(
        std::fs::metadata(place.path("data.bin")).expect("made").len(),
        16 << 20
    );
    assert_eq!(
        place.names(),
        ["data.bin"],
        "nothing is kept that was not asked for"
    );
}

#[test]
fn intervals_are_as_long_as_asked_for_and_xml_has_them() {
    let place = Place::new();
    let line = "diskspd --on model:azure/P15 -b8K -d4 -W1 -C1 -D250 -L -o8 -t1 -r -Sh -c10G -Rxml data.bin";
    let xml = place.fathom(line).expect(0).stdout;
    // First those of all targets, then of each thread's.
    let (_, rest) = xml.split_once("<Iops>").expect("intervals");
    let (intervals, _) = rest.split_once("</Iops>").expect("their end");
    assert_eq!(
        intervals.matches("<Bucket SampleMillisecond=").count(),
        16,
        "{xml}"
    );
    assert!(intervals.contains("SampleMillisecond=\"250\""), "{xml}");
    let rates = intervals.split("Total=\"").skip(1);
    let ios: f64 = rates
        .filter_map(|rest| rest.split('"').next()?.parse::<f64>().ok())
        .sum::<f64>()
        / 4.0;
    let (_, rest) = xml.split_once("<IOCount>").expect("a count");
    let count = number(rest.split('<').next().unwrap_or_default());
    assert!(
        (ios / count - 1.0).abs() < 0.01,
        "{ios} in intervals, {count} in all"
    );
    assert!(xml.contains("<FileSize>10737418240</FileSize>"), "{xml}");
    assert_eq!(
        place.fathom(line).expect(0).stdout.len(),
        xml.len(),
        "equal seeds"
    );
}

#[test]
fn the_published_day_runs_as_printed_on_a_modelled_disk() {
    let place = Place::new();
    // A day, of which the model needs seconds: here its first ten minutes.
    let line =
        "diskspd --on model:azure/P15 diskspd.exe -b256K -d600 -o32 -h -L -t1 -W -g31457 -w0 -c50G data2.dat";
    let text = place.fathom(line).expect(0).stdout;
    let total = rows(&text, "Total IO");
    let iops = number(&total[0][4]);
    // 31457 bytes a millisecond are 120 blocks of 256 KiB a second.
    assert!((iops / 120.0 - 1.0).abs() < 0.005, "{iops} IOPS");
}

#[test]
fn a_profile_is_printed_read_and_run() {
    let place = Place::new();
    let line = "-b4K -d1 -W0 -o2 -t1 -r -Su -L -c4M";
    let xml = place
        .fathom(&format!("diskspd {line} -Rpxml data.bin"))
        .expect(0)
        .stdout;
    assert!(place.names().is_empty(), "a profile only is printed");
    place.write("p.xml", &xml);
    let text = place.fathom("diskspd -Xp.xml -d2 -Rtext").expect(0).stdout;
    assert!(text.contains("duration: 2s"), "{text}");
    assert!(number(&rows(&text, "Read IO")[0][2]) > 0.0);
}

#[test]
fn a_shared_pointer_reads_a_file_once_and_pools_count_by_file() {
    let place = Place::new();
    let text = place
        .fathom("diskspd -b64K -d1 -W0 -si -t2 -o2 -Su -c8M data.bin")
        .expect(0)
        .stdout;
    assert!(text.contains("interlocked"), "{text}");
    let total = rows(&text, "Total IO");
    assert_eq!(total.len(), 2, "a row for each thread: {total:?}");
    let text = place
        .fathom("diskspd -b4K -d1 -W0 -r -F2 -O4 -Su -L -c4M a.bin b.bin")
        .expect(0)
        .stdout;
    let total = rows(&text, "Total IO");
    assert_eq!(total.len(), 4, "two threads on two targets: {total:?}");
    let ios: Vec<f64> = total.iter().map(|row| number(&row[2])).collect();
    assert!(ios.iter().all(|&n| n > 0.0), "{ios:?}");
}

/// The system's pool of large pages, as it was before.
struct Pool(String);

impl Pool {
    const PLACE: &str = "/proc/sys/vm/nr_hugepages";

    fn of(pages: u32) -> std::io::Result<Self> {
        let before = std::fs::read_to_string(Self::PLACE)?;
        std::fs::write(Self::PLACE, pages.to_string())?;
        let pool = Self(before);
        if std::fs::read_to_string(Self::PLACE)?.trim() != pages.to_string() {
            return Err(std::io::Error::other("the kernel gives another number"));
        }
        Ok(pool)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if let Err(error) = std::fs::write(Self::PLACE, self.0.trim()) {
            eprintln!("{}: {error}", Self::PLACE);
        }
    }
}

#[test]
fn buffers_lie_in_large_pages_or_it_is_said_that_there_are_none() {
    let test = "buffers_lie_in_large_pages_or_it_is_said_that_there_are_none";
    let place = Place::new();
    let line = "diskspd -l -b64K -d1 -W0 -o4 -Su -r -w50 -c8M data.bin";
    match Pool::of(0) {
        Ok(_pool) => {
            // The file was laid out by then, and stays.
            place.fathom(line).expect(1).saying("vm.nr_hugepages");
        }
        Err(error) => return skipped(test, format!("setting the pool of large pages: {error}")),
    }
    match Pool::of(2) {
        Ok(_pool) => {
            let text = place.fathom(line).expect(0).stdout;
            assert!(number(&rows(&text, "Total IO")[0][2]) > 0.0, "{text}");
        }
        Err(error) => skipped(test, format!("free memory for large pages: {error}")),
    }
}

#[test]
fn what_cannot_be_done_is_refused_before_anything_is_touched() {
    let place = Place::new();
    let refused = |line: &str, saying: &str| {
        let outcome = place.fathom(&format!("diskspd {line}")).saying(saying);
        // 3, as diskspd's own, where the line is none.
        assert!(matches!(outcome.code, Some(2 | 3)), "{line}: {:?}", outcome.code);
    };
    refused("-eDISK_IO data.bin", "event tracing");
    refused("-b4K", "target");
    refused("-q4 data.bin", "-q4");
    refused("-i10 -c1M data.bin", "-j");
    refused("-b4K -d1 missing.bin", "missing.bin");
    refused("--on /dev/sdz -b4K data.bin", "/dev/sdz does not exist");
    assert!(place.names().is_empty());
    place.write("precious", vec![7u8; 1 << 20]);
    place.fathom("diskspd -b4K -d1 -w100 precious").expect(3);
    assert_eq!(
        std::fs::read(place.path("precious")).expect("there"),
        vec![7u8; 1 << 20]
    );
}

#[test]
fn help_lists_every_flag() {
    let place = Place::new();
    let help = place.fathom("diskspd -?").expect(0).stdout;
    for flag in ["-ag", "-b", "-Z", "-rd", "-si", "--allow-overwrite"] {
        assert!(help.contains(flag), "{flag}: {help}");
    }
}

#[test]
fn a_kept_run_is_a_run_directory() {
    let place = Place::new();
    place
        .fathom("diskspd --keep d -b4K -d1 -W0 -r -Su -c4M data.bin")
        .expect(0)
        .saying("fathom show d");
    place.fathom("show d").expect(0);
    place.fathom("report d -o d.html").expect(0);
}
