//! Prices of layouts against what they deliver.
//!
//! Data in: layouts. Data out: the figure: a point each. It must not know which of them are of interest.

use super::{Figure, colour};
use fathom_plan::layout::MB;
use fathom_plan::search::Answer;
use serde_json::{Value, json};

/// What the horizontal axis shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    Iops,
    Mbps,
}

impl By {
    fn of(self, answer: &Answer<'_>) -> Option<f64> {
        let sustained = &answer.judged.sustained;
        match self {
            Self::Iops => sustained.iops.map(|iops| iops as f64),
            Self::Mbps => sustained.bytes_per_second.map(|bytes| bytes as f64 / MB as f64),
        }
    }

    const fn other(self) -> Self {
        match self {
            Self::Iops => Self::Mbps,
            Self::Mbps => Self::Iops,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Iops => "IOPS without end",
            Self::Mbps => "MB/s without end",
        }
    }
}

/// Both axes are logarithmic; points are larger where there is more of the other rate.
pub(crate) fn figure(answers: &[Answer<'_>], by: By) -> Figure {
    let most = answers
        .iter()
        .filter_map(|answer| by.other().of(answer))
        .fold(1.0, f64::max);
    let size = |answer: &Answer<'_>| {
        by.other()
            .of(answer)
            .map_or(6.0, |value| 6.0 + 18.0 * (value / most).sqrt())
    };
    let each = |of: &dyn Fn(&Answer<'_>) -> Value| -> Value { answers.iter().map(of).collect() };
    let data = vec![json!({
        "type": "scatter", "mode": "markers", "name": "layouts",
        "x": each(&|answer| json!(by.of(answer))),
        "y": each(&|answer| json!(answer.cost.microusd_month() as f64 / 1e6)),
        "text": each(&|answer| json!(answer.layout.target())),
        "marker": {"size": each(&|answer| json!(size(answer))), "color": colour(0), "opacity": 0.7},
        "hovertemplate": format!("%{{text}}<br>%{{x:,.0f}} {}<br>USD %{{y:,.2f}} a month<extra></extra>", by.name()),
    })];
    let layout = json!({
        "xaxis": {"type": "log", "title": {"text": by.name()}},
        "yaxis": {"type": "log", "title": {"text": "USD a month"}},
        "hovermode": "closest", "showlegend": false,
    });
    Figure { data, layout }
}
