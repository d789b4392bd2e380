//! A dashboard as Grafana imports it: its JSON model, of schema version 39 (Grafana 10 and later).

use super::expr::Expr;
use serde_json::{Value, json};

const SCHEMA_VERSION: u32 = 39;
/// Grafana's grid is so wide.
const GRID: u32 = 24;

/// A dashboard.
pub(super) struct Dashboard {
    pub uid: &'static str,
    pub title: &'static str,
    pub about: &'static str,
    pub rows: Vec<Row>,
}

/// A row: its title and the panels below it.
pub(super) struct Row {
    pub title: &'static str,
    pub panels: Vec<Panel>,
}

/// A panel.
pub(super) struct Panel {
    title: &'static str,
    about: &'static str,
    look: Look,
    unit: &'static str,
    width: u32,
    height: u32,
    targets: Vec<(Expr, &'static str)>,
}

/// How a panel shows its numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    Lines,
    Number,
    Heat,
}

/// Lines over time.
pub(super) fn lines(title: &'static str, unit: &'static str) -> Panel {
    Panel {
        title,
        about: "",
        look: Look::Lines,
        unit,
        width: 12,
        height: 8,
        targets: Vec::new(),
    }
}

/// One number.
pub(super) fn number(title: &'static str, unit: &'static str) -> Panel {
    Panel {
        look: Look::Number,
        width: 4,
        height: 4,
        ..lines(title, unit)
    }
}

/// A heat map of buckets.
pub(super) fn heat(title: &'static str) -> Panel {
    Panel {
        look: Look::Heat,
        ..lines(title, "s")
    }
}

impl Panel {
    /// How to read it.
    pub(super) fn about(mut self, about: &'static str) -> Self {
        self.about = about;
        self
    }

    pub(super) fn third(mut self) -> Self {
        self.width = GRID / 3;
        self
    }

    /// With an expression more; `legend`: its name, with labels in double braces.
    pub(super) fn of(mut self, expr: Expr, legend: &'static str) -> Self {
        self.targets.push((expr, legend));
        self
    }

    fn json(&self, id: u32, x: u32, y: u32) -> Value {
        let source = json!({"type": "prometheus", "uid": "${datasource}"});
        let targets = self.targets.iter().zip('A'..='Z').map(|((expr, legend), letter)| {
            json!({
                "datasource": source, "expr": expr.to_string(), "legendFormat": legend, "refId": letter.to_string(),
                "range": self.look != Look::Number, "instant": self.look == Look::Number,
                "format": if self.look == Look::Heat { "heatmap" } else { "time_series" },
            })
        });
        let targets: Vec<Value> = targets.collect();
        let (kind, options) = match self.look {
            Look::Lines => (
                "timeseries",
                json!({
                    "legend": {"displayMode": "list", "placement": "bottom", "showLegend": true, "calcs": []},
                    "tooltip": {"mode": "multi", "sort": "desc"},
                }),
            ),
            Look::Number => (
                "stat",
                json!({
                    "colorMode": "none", "graphMode": "area", "justifyMode": "auto", "orientation": "auto", "textMode": "auto",
                    "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": false},
                }),
            ),
            Look::Heat => (
                "heatmap",
                json!({
                    "calculate": false, "cellGap": 0, "yAxis": {"unit": self.unit, "axisPlacement": "left"},
                    "color": {
                        "mode": "scheme", "scheme": "Viridis", "steps": 64, "scale": "exponential", "exponent": 0.5,
                        "fill": "dark-orange", "reverse": false,
                    },
                    "tooltip": {"mode": "single", "yHistogram": false}, "legend": {"show": false},
                }),
            ),
        };
        json!({
            "id": id, "type": kind, "title": self.title, "description": self.about, "datasource": source,
            "gridPos": {"h": self.height, "w": self.width, "x": x, "y": y},
            "targets": targets, "options": options,
            "fieldConfig": {"defaults": {"unit": self.unit, "min": 0}, "overrides": []},
        })
    }
}

impl Dashboard {
    /// Its file.
    pub(super) fn json(&self) -> String {
        let source = json!({"type": "prometheus", "uid": "${datasource}"});
        let model = json!({
            "uid": self.uid, "title": self.title, "description": self.about, "tags": ["fathom"],
            "schemaVersion": SCHEMA_VERSION, "version": 1, "editable": true, "graphTooltip": 1,
            "refresh": "5s", "time": {"from": "now-30m", "to": "now"}, "timezone": "",
            "annotations": {"list": []}, "links": [],
            "templating": {"list": [
                {"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus", "hide": 0},
                {
                    "name": "instance", "label": "Instance", "type": "query", "datasource": source, "hide": 0,
                    "query": {"query": format!("label_values({}, instance)", self.known_by()), "refId": "instance"},
                    "definition": format!("label_values({}, instance)", self.known_by()),
                    "refresh": 2, "multi": true, "includeAll": true, "allValue": ".*", "sort": 1,
                    "current": {"text": ["All"], "value": ["$__all"]},
                },
            ]},
            "panels": self.panels(),
        });
        // Plain values have only strings for keys.
        let mut text = serde_json::to_string_pretty(&model).unwrap_or_default();
        text.push('\n');
        text
    }

    /// What every instance has: of a machine, its CPUs, which a node exporter has too.
    fn known_by(&self) -> &'static str {
        match self.uid {
            "fathom-node" => crate::metric::CPU.name,
            _ => crate::metric::RUNNING.name,
        }
    }

    /// Rows one below the other, panels from left to right as far as there is room.
    fn panels(&self) -> Vec<Value> {
        let mut panels = Vec::new();
        let mut y = 0;
        for row in &self.rows {
            let id = panels.len() as u32 + 1;
            panels.push(json!({
                "id": id, "type": "row", "title": row.title, "collapsed": false, "panels": [],
                "gridPos": {"h": 1, "w": GRID, "x": 0, "y": y},
            }));
            y += 1;
            let (mut x, mut tallest) = (0, 0);
            for panel in &row.panels {
                if x + panel.width > GRID {
                    (x, y, tallest) = (0, y + tallest, 0);
                }
                panels.push(panel.json(panels.len() as u32 + 1, x, y));
                x += panel.width;
                tallest = tallest.max(panel.height);
            }
            y += tallest;
        }
        panels
    }

    pub(super) fn queries(&self) -> Vec<String> {
        let targets = self
            .rows
            .iter()
            .flat_map(|row| &row.panels)
            .flat_map(|panel| &panel.targets);
        let plain = targets.map(|(expr, _)| {
            let text = expr.to_string();
            text.replace("$__rate_interval", "15s").replace("$instance", ".*")
        });
        plain.collect()
    }
}
