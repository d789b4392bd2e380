//! A figure of a sweep's points over block size × depth, as a heat map with its values written in.
//!
//! Data in: cells. Data out: a figure. It must not know which figure of a point it shows.

use super::{Figure, number};
use serde_json::{Value, json};

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Cell {
    /// The value; `None` where nothing is known.
    pub(crate) value: Option<f64>,
    /// What is written into it.
    pub(crate) label: String,
    /// What is told of it when it is pointed at.
    pub(crate) hover: String,
}

/// Which values the colours stand for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    /// A colour-blind-safe scale of plotly.js.
    pub(crate) name: &'static str,
    /// Whether colours go by the logarithm.
    pub(crate) logarithmic: bool,
    /// The smallest and the largest value of all panels.
    pub(crate) range: (f64, f64),
}

/// Rows of cells: a row a block size, a column a depth.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Panel {
    /// The depths, as they are written.
    pub(crate) depths: Vec<String>,
    /// The block sizes, as they are written.
    pub(crate) sizes: Vec<String>,
    /// For each block size, for each depth.
    pub(crate) cells: Vec<Vec<Cell>>,
}

/// The heat map.
pub(crate) fn figure(panel: &Panel, scale: Scale, depth_title: &str) -> Figure {
    let shade = |value: f64| {
        if scale.logarithmic {
            value.max(f64::MIN_POSITIVE).log10()
        } else {
            value
        }
    };
    let each = |of: &dyn Fn(&Cell) -> Value| -> Value {
        panel
            .cells
            .iter()
            .map(|row| row.iter().map(of).collect::<Value>())
            .collect()
    };
    let (low, high) = (shade(scale.range.0), shade(scale.range.1));
    let data = json!({
        "type": "heatmap",
        "x": panel.depths, "y": panel.sizes,
        "z": each(&|cell| cell.value.map_or(Value::Null, |value| number(shade(value)))),
        "text": each(&|cell| json!(cell.label)),
        "customdata": each(&|cell| json!(cell.hover)),
        "texttemplate": "%{text}", "textfont": {"weight": 600},
        "hovertemplate": "%{customdata}<extra></extra>",
        "colorscale": scale.name,
        "zmin": number(low), "zmax": number(if high > low { high } else { low + 1.0 }),
        "showscale": false, "xgap": 2, "ygap": 2,
    });
    let layout = json!({
        "xaxis": {"type": "category", "title": {"text": depth_title}, "showgrid": false},
        "yaxis": {"type": "category", "title": {"text": "block size"}, "showgrid": false},
        "hovermode": "closest", "showlegend": false,
    });
    Figure {
        data: vec![data],
        layout,
    }
}
