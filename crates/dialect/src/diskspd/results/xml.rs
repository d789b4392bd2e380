//! The results as XML.
//!
//! Data in: a [`DiskspdResult`]. Data out: text, two spaces a level, elements in diskspd's order. It must not know the text
//! tables. What is not known is left out: where readers expect a number, no word may stand.

mod parts;

use super::input::{DiskspdResult, Row, SpanResult};
use crate::diskspd::xml::writer::{Writer, quoted};

/// The results as diskspd writes them with `-Rxml`; no line end behind the last tag.
pub fn xml(result: &DiskspdResult) -> String {
    let mut writer = Writer::default();
    writer.within("Results", |w| {
        parts::system(w, &result.system);
        for line in result.profile_xml.lines() {
            w.line(line);
        }
        for span in &result.spans {
            w.within("TimeSpan", |w| time_span(w, result, span));
        }
    });
    let mut text = writer.into_text();
    text.truncate(text.trim_end().len());
    text
}

fn time_span(w: &mut Writer, result: &DiskspdResult, span: &SpanResult) {
    if span.test_time_ns == 0 {
        w.value(
            "Error",
            "The test was interrupted before the measurements began. No results are displayed.",
        );
        return;
    }
    w.value("TestTimeSeconds", format_args!("{:.2}", span.seconds()));
    w.value("ThreadCount", span.thread_count);
    w.value("RequestCount", span.request_count);
    w.value("ProcCount", result.system.processors);
    parts::cpus(w, &result.system, &span.cpus);
    if span.measure_latency {
        parts::percentiles(w, &span.totals.read, &span.totals.write);
    }
    if let Some(bucket_ms) = span.io_bucket_ms {
        parts::iops(
            w,
            &span.totals.read_buckets,
            &span.totals.write_buckets,
            bucket_ms,
        );
    }
    for rows in span.rows.chunk_by(|one, next| one.thread == next.thread) {
        w.within("Thread", |w| {
            w.value("Id", rows[0].thread);
            for row in rows {
                w.within("Target", |w| target(w, span, row));
            }
        });
    }
}

fn target(w: &mut Writer, span: &SpanResult, row: &Row) {
    w.line(&format!("<Path>{}</Path>", quoted(&row.path)));
    w.value("BytesCount", row.read.bytes + row.write.bytes);
    w.if_any("FileSize", row.file_size_bytes);
    w.value("IOCount", row.read.ios + row.write.ios);
    w.value("ReadBytes", row.read.bytes);
    w.value("ReadCount", row.read.ios);
    w.value("WriteBytes", row.write.bytes);
    w.value("WriteCount", row.write.ios);
    parts::ranges(w, &row.ranges);
    if span.measure_latency {
        let total = row.read.latency.and(&row.write.latency);
        for (mean, deviation, latency) in [
            (
                "AverageReadLatencyMilliseconds",
                "ReadLatencyStdev",
                &row.read.latency,
            ),
            (
                "AverageWriteLatencyMilliseconds",
                "WriteLatencyStdev",
                &row.write.latency,
            ),
            ("AverageLatencyMilliseconds", "LatencyStdev", &total),
        ] {
            parts::moments(w, mean, deviation, latency);
        }
    }
    if let (Some(bucket_ms), Some(read), Some(write)) =
        (span.io_bucket_ms, &row.read.buckets, &row.write.buckets)
    {
        parts::iops(w, read, write, bucket_ms);
    }
}
