//! What became of streams: what was kept of each, and why a part is not there.

use super::followed::CommandSeen;
use super::keeper::Ended;
use fathom_core::record::{StreamKind, StreamSummary};
use fathom_core::run::Warning;
use std::collections::BTreeMap;

/// Why a stream, or a part of one, is not there: sentences, each once.
#[derive(Debug, Default)]
pub(super) struct Missing(pub(super) BTreeMap<StreamKind, Vec<String>>);

impl Missing {
    pub(super) fn say(&mut self, kind: StreamKind, remarks: impl IntoIterator<Item = String>) {
        let said = self.0.entry(kind).or_default();
        for remark in remarks {
            if !said.contains(&remark) {
                said.push(remark);
            }
        }
    }

    /// What it means for a command that was followed.
    pub(super) fn of_a_command(&self) -> Vec<String> {
        let of = |kind: StreamKind| self.0.get(&kind).map_or(&[][..], Vec::as_slice);
        let (requests, stays) = (of(StreamKind::Block), of(StreamKind::Sched));
        let of_requests = requests.iter().map(|reason| {
            if stays.contains(reason) {
                format!("whose I/O was whose, and what it waited for: {reason}")
            } else {
                format!("of requests: {reason}")
            }
        });
        let of_stays = stays.iter().filter(|reason| !requests.contains(reason));
        let of_stays = of_stays.map(|reason| format!("of what it waited for: {reason}"));
        of_requests.chain(of_stays).collect()
    }
}

/// What is left of all streams.
#[derive(Default)]
pub(crate) struct EndedStreams {
    pub summaries: Vec<StreamSummary>,
    /// For the list of files.
    pub ends: Vec<fathom_store::StreamEnd>,
    /// What could not be kept.
    pub warnings: Vec<Warning>,
    /// What was seen of the command that was followed.
    pub command: Option<CommandSeen>,
}

impl EndedStreams {
    pub(super) fn add(&mut self, kind: StreamKind, ended: Ended, dropped: u64, missing: Vec<String>) {
        let dropped = dropped + ended.end.as_ref().map_or(0, |end| end.lost_rows);
        let name = kind.name();
        if dropped > 0 {
            let detail = format!("{dropped} rows of the stream {name} were dropped: it could not be kept up");
            self.warnings.push(Warning::RecordIncomplete { detail });
        }
        if let Some(error) = ended.error {
            let detail = format!("the stream {name} ends early: {error}");
            self.warnings.push(Warning::RecordIncomplete { detail });
        }
        self.summaries.push(StreamSummary {
            kind,
            rows: ended.end.as_ref().map_or(0, |end| end.rows),
            dropped,
            missing,
        });
        self.ends.extend(ended.end);
    }
}
