//! A reader of diskspd's text results, as such readers are written: headings, then cells between bars.

/// A line of a table of bytes and I/Os; numbers as shown.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Line {
    /// The thread; `None`: the line of totals.
    pub(super) thread: Option<u32>,
    pub(super) bytes: u64,
    pub(super) ios: u64,
    pub(super) mib_per_s: String,
    pub(super) ios_per_s: String,
    pub(super) avg_lat: Option<String>,
    pub(super) iops_stddev: Option<String>,
    pub(super) lat_stddev: Option<String>,
    /// Path and size.
    pub(super) file: Option<(String, String)>,
}

#[derive(Debug, Default)]
pub(super) struct Span {
    pub(super) seconds: String,
    pub(super) threads: u32,
    /// Number, usage, user, kernel, idle; the last: the mean, without a number.
    pub(super) cpus: Vec<(Option<u32>, Vec<String>)>,
    /// `Total IO`, `Read IO`, `Write IO`.
    pub(super) tables: Vec<(String, Vec<Line>)>,
    /// Heading; then name, read, write, total of each share.
    pub(super) percentiles: Vec<(String, Vec<Vec<String>>)>,
}

/// The cells of a line, without the spaces around them.
fn cells(line: &str) -> Vec<String> {
    line.split('|').map(|cell| cell.trim().to_owned()).collect()
}

fn is_rule(line: &str) -> bool {
    line.len() > 20 && line.chars().all(|c| c == '-')
}

/// Everything below the heading of a time span, up to the next.
pub(super) fn spans(text: &str) -> Vec<Span> {
    let text = text.split("\n\nTotals:").next().unwrap_or_default();
    text.split("\nResults for timespan ").skip(1).map(span).collect()
}

fn span(text: &str) -> Span {
    let mut span = Span::default();
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[1].chars().all(|c| c == '*') && lines[1].len() == 79,
        "{}",
        lines[1]
    );
    for (index, line) in lines.iter().enumerate() {
        if let Some(seconds) = line.strip_prefix("actual test time:\t") {
            span.seconds = seconds.trim_end_matches('s').to_owned();
        } else if let Some(threads) = line.strip_prefix("thread count:\t\t") {
            span.threads = threads.parse().expect("threads");
        } else if line.ends_with("CPU |  Usage |  User  | Kernel |  Idle") {
            span.cpus = cpus(&lines[index + 1..]);
        } else if line.ends_with(" IO") && !line.contains('|') {
            span.tables.push(((*line).to_owned(), table(&lines[index + 1..])));
        } else if line.to_lowercase().contains("latency distribution:") {
            span.percentiles
                .push(((*line).to_owned(), percentiles(&lines[index + 1..])));
        }
    }
    span
}

fn cpus(lines: &[&str]) -> Vec<(Option<u32>, Vec<String>)> {
    assert!(is_rule(lines[0]));
    let mut list = Vec::new();
    for line in &lines[1..] {
        if is_rule(line) {
            continue;
        }
        let cells = cells(line);
        let shares = cells[cells.len() - 4..]
            .iter()
            .map(|cell| cell.trim_end_matches('%').to_owned());
        let number = &cells[cells.len() - 5];
        list.push((number.parse().ok(), shares.collect()));
        if number == "avg." {
            return list;
        }
    }
    panic!("no mean of the processors");
}

fn table(lines: &[&str]) -> Vec<Line> {
    let names = cells(lines[0]);
    assert_eq!(names[0], "thread");
    assert!(is_rule(lines[1]));
    // 78 wide, and wider by what -L and -D add.
    let wider = [("AvgLat", 11), ("IopsStdDev", 13), ("LatStdDev", 12)];
    let wider = wider
        .iter()
        .filter(|(name, _)| names.iter().any(|known| known == name));
    assert_eq!(lines[1].len(), 78 + wider.map(|(_, more)| more).sum::<usize>());
    let mut list = Vec::new();
    for line in &lines[2..] {
        if is_rule(line) {
            continue;
        }
        let total = line.strip_prefix("total:");
        let found = cells(
            total
                .map_or_else(|| (*line).to_owned(), |rest| format!("|{rest}"))
                .as_str(),
        );
        let at = |name: &str| {
            let index = names.iter().position(|known| known == name)?;
            found.get(index).cloned()
        };
        let number = |name: &str| at(name).and_then(|cell| cell.parse().ok()).expect("a number");
        list.push(Line {
            thread: found[0].parse().ok(),
            bytes: number("bytes"),
            ios: number("I/Os"),
            mib_per_s: at("MiB/s").expect("rate"),
            ios_per_s: at("I/O per s").expect("rate"),
            avg_lat: at("AvgLat"),
            iops_stddev: at("IopsStdDev"),
            lat_stddev: at("LatStdDev"),
            file: at("file").and_then(|file| {
                let (path, size) = file.rsplit_once(" (")?;
                Some((path.to_owned(), size.trim_end_matches(')').to_owned()))
            }),
        });
        if total.is_some() {
            return list;
        }
    }
    panic!("no totals");
}

fn percentiles(lines: &[&str]) -> Vec<Vec<String>> {
    assert_eq!(lines[0], "  %-ile |  Read (ms) | Write (ms) | Total (ms)");
    assert!(is_rule(lines[1]) && lines[1].len() == 46);
    let mut list = Vec::new();
    for line in &lines[2..] {
        list.push(cells(line));
        if line.trim_start().starts_with("max") {
            return list;
        }
    }
    panic!("no maximum");
}

/// The three lines of `Totals:`: name, bytes, I/Os.
pub(super) fn totals(text: &str) -> Vec<(String, u64, u64)> {
    let Some((_, text)) = text.split_once("\n\nTotals:\n") else {
        return Vec::new();
    };
    let names = ["write", "read", "total"];
    let line = |line: &str| {
        let cells = cells(line);
        let known = names.contains(&cells[0].as_str()) && cells.len() == 5;
        known.then(|| {
            (
                cells[0].clone(),
                cells[1].parse().expect("bytes"),
                cells[2].parse().expect("I/Os"),
            )
        })
    };
    text.lines().filter_map(line).collect()
}
