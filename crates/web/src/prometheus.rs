//! What a Prometheus server knows of a machine: its node exporter's counters over a while; of its pods, what cAdvisor counts of their
//! I/O, and how full the kubelet says their volumes are.
//!
//! Data in: the server's address, an instance, a span of time. Data out: rows of counters in the order of time, as a recording has them.
//! It reads only. What comes back is not to be trusted: it is bounded, and what is no number is left out.

use fathom_core::record::CounterRow;
use fathom_dialect::prometheus::{instances, numbers, range};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use ureq::tls::{RootCerts, TlsConfig, TlsProvider};

/// The longest answer to one question, and how long it may take.
const BYTES_MAX: u64 = 64 << 20;
const PATIENCE: Duration = Duration::from_mins(1);
/// How long all of them may take: some thirty questions, each of which a slow server may spin out.
const PATIENCE_IN_ALL: Duration = Duration::from_mins(10);
/// Prometheus gives no more points a series than 11,000.
const POINTS_MAX: u64 = 10_000;
/// Nobody scrapes more often than this for long.
const STEP_LEAST_S: u64 = 1;
/// Over which time it is looked how often is scraped.
const LOOK_BACK_S: u64 = 600;

/// What is asked for, and which of its labels are kept; all others are summed.
const ASKED: [(&str, &str); 24] = [
    ("node_cpu_seconds_total", "mode"),
    ("node_memory_MemTotal_bytes", ""),
    ("node_memory_MemAvailable_bytes", ""),
    ("node_vmstat_oom_kill", ""),
    ("node_pressure_cpu_waiting_seconds_total", ""),
    ("node_pressure_io_waiting_seconds_total", ""),
    ("node_pressure_io_stalled_seconds_total", ""),
    ("node_pressure_memory_waiting_seconds_total", ""),
    ("node_pressure_memory_stalled_seconds_total", ""),
    ("node_disk_reads_completed_total", "device"),
    ("node_disk_writes_completed_total", "device"),
    ("node_disk_read_bytes_total", "device"),
    ("node_disk_written_bytes_total", "device"),
    ("node_disk_read_time_seconds_total", "device"),
    ("node_disk_write_time_seconds_total", "device"),
    ("node_disk_io_time_seconds_total", "device"),
    ("node_disk_io_time_weighted_seconds_total", "device"),
    ("node_network_receive_bytes_total", "device"),
    ("node_network_transmit_bytes_total", "device"),
    ("node_network_receive_drop_total", "device"),
    ("node_network_transmit_drop_total", "device"),
    ("node_network_receive_errs_total", "device"),
    ("node_network_transmit_errs_total", "device"),
    ("node_network_speed_bytes", "device"),
];

/// Of these what is asked for where disks alone matter.
const DISKS: &str = "node_disk_";
/// What is asked for of pods and their volumes, where somebody exports it: labels that are kept, and which series alone.
const ASKED_OF_PODS: [(&str, &str, &str); 8] = [
    ("container_fs_reads_total", POD, OF_POD),
    ("container_fs_writes_total", POD, OF_POD),
    ("container_fs_reads_bytes_total", POD, OF_POD),
    ("container_fs_writes_bytes_total", POD, OF_POD),
    ("kubelet_volume_stats_used_bytes", VOLUME, ""),
    ("kubelet_volume_stats_capacity_bytes", VOLUME, ""),
    ("kubelet_volume_stats_inodes_used", VOLUME, ""),
    ("kubelet_volume_stats_inodes", VOLUME, ""),
];
const POD: &str = "namespace, pod, device";
const VOLUME: &str = "namespace, persistentvolumeclaim";
/// cAdvisor has a series of the pod beside those of its containers, and one of all above them: what is added up are containers.
const OF_POD: &str = ",pod!=\"\",container!=\"\",container!=\"POD\"";
/// There may be hundreds of pods: of each are no more readings than these.
const POD_POINTS_MAX: u64 = 1_000;

/// Why nothing can be had.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    #[error(
        "{url}: that is no address of a server: give one as http://localhost:9090 or https://prometheus.example.com"
    )]
    Scheme { url: String },
    #[error(
        "{url}: a token is not sent where others can read it: give an https:// address, or one of this machine (a forwarded port)"
    )]
    Exposed { url: String },
    #[error("{url}: {detail}")]
    Unreachable { url: String, detail: String },
    #[error("{url} answers with status {status}: {detail}")]
    Refused {
        url: String,
        status: u16,
        detail: String,
    },
    #[error(
        "{url} did not answer a question within {patience_s} s: ask for a shorter time, or of a server that is less busy"
    )]
    Slow { url: String, patience_s: u64 },
    #[error("{url}: that is no answer of Prometheus' API: {detail}")]
    NotUnderstood { url: String, detail: String },
    #[error("no counters of a node exporter's instance {instance} in that time{known}")]
    Nothing {
        instance: String,
        /// Which there are.
        known: String,
    },
}

/// A server.
pub struct Prometheus {
    url: String,
    token: Option<String>,
    agent: ureq::Agent,
    /// How long one answer may take, and when all must be there.
    patience: Duration,
    until: Instant,
}

/// A machine's counters over a while.
#[derive(Debug)]
pub struct History {
    /// In the order of time.
    pub rows: Vec<CounterRow>,
    /// The time between two readings, in seconds.
    pub step_s: u64,
}

/// Seconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub from_s: u64,
    pub to_s: u64,
}

impl Prometheus {
    /// The server at `http://HOST:PORT` or `https://HOST`, with a path where it is below one.
    ///
    /// `token`: what the server wants to hear (`Authorization: Bearer`).
    ///
    /// # Errors
    /// It is no such address, or one to which a token would go unprotected.
    pub fn new(url: &str, token: Option<String>) -> Result<Self, HistoryError> {
        let url = url.trim_end_matches('/');
        let scheme = url.to_ascii_lowercase();
        if !["http://", "https://"]
            .iter()
            .any(|known| scheme.starts_with(known))
        {
            return Err(HistoryError::Scheme { url: url.to_owned() });
        }
        if token.is_some() && !scheme.starts_with("https://") && !is_of_this_machine(url) {
            return Err(HistoryError::Exposed { url: url.to_owned() });
        }
        // Authorities are those that this machine trusts (`SSL_CERT_FILE` names others).
        let tls = TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .root_certs(RootCerts::PlatformVerifier)
            .build();
        let config = ureq::Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            .max_redirects(0)
            .build();
        Ok(Self {
            url: url.to_owned(),
            token,
            agent: config.into(),
            patience: PATIENCE,
            until: Instant::now() + PATIENCE_IN_ALL,
        })
    }

    /// The counters of an instance: as its label says, with or without a port.
    ///
    /// # Errors
    /// The server cannot be asked, or knows no such instance.
    pub fn history(&self, instance: &str, span: Span) -> Result<History, HistoryError> {
        let mut history = self.counters(instance, span, "")?;
        let step_s = history
            .step_s
            .max((span.to_s - span.from_s).div_ceil(POD_POINTS_MAX));
        for (metric, labels, alone) in ASKED_OF_PODS {
            // The kubelet is scraped under another port, and often under a name of its own, with the node's in a label.
            let pattern = pattern(without_port(instance));
            let own = |label: &str| format!("{metric}{{{label}=~\"{pattern}(:[0-9]+)?\"{alone}}}");
            let query = format!("sum by ({labels}) ({} or {})", own("instance"), own("node"));
            self.range(metric, &query, (span, step_s), &mut history.rows)?;
        }
        history.rows.sort_by_key(|row| row.at_ns);
        Ok(history)
    }

    /// The counters of an instance's disks alone.
    ///
    /// # Errors
    /// As of [`Prometheus::history`].
    pub fn disks(&self, instance: &str, span: Span) -> Result<History, HistoryError> {
        self.counters(instance, span, DISKS)
    }

    /// Those of the node exporter's counters whose names begin so.
    fn counters(&self, instance: &str, span: Span, prefix: &str) -> Result<History, HistoryError> {
        let selector = selector(instance);
        let step_s = self.step(instance, span)?;
        let mut rows = Vec::new();
        for (metric, label) in ASKED.into_iter().filter(|(name, _)| name.starts_with(prefix)) {
            let query = format!("sum by ({label}) ({metric}{selector})");
            self.range(metric, &query, (span, step_s), &mut rows)?;
        }
        rows.sort_by_key(|row| row.at_ns);
        Ok(History { rows, step_s })
    }

    /// Appends what a query gives over a while.
    fn range(
        &self,
        metric: &'static str,
        query: &str,
        (span, step_s): (Span, u64),
        rows: &mut Vec<CounterRow>,
    ) -> Result<(), HistoryError> {
        let text = self.ask(
            "query_range",
            &[
                ("query", query),
                ("start", &span.from_s.to_string()),
                ("end", &span.to_s.to_string()),
                ("step", &step_s.to_string()),
            ],
        )?;
        rows.extend(range(metric, &text).map_err(|detail| self.not_understood(detail))?);
        Ok(())
    }

    /// How far readings are apart: as often as is scraped, or less often where that would be too many.
    fn step(&self, instance: &str, span: Span) -> Result<u64, HistoryError> {
        let selector = selector(instance);
        let query = format!("max(count_over_time(node_cpu_seconds_total{selector}[{LOOK_BACK_S}s]))");
        // In the middle: what was so at the end may have been a machine that went away.
        let middle = u64::midpoint(span.from_s, span.to_s);
        let mut scrapes = None;
        for at in [middle, span.to_s] {
            let text = self.ask("query", &[("query", &query), ("time", &at.to_string())])?;
            let found = numbers(&text).map_err(|detail| self.not_understood(detail))?;
            scrapes = found.first().copied().filter(|&count| count >= 1.0);
            if scrapes.is_some() {
                break;
            }
        }
        let Some(scrapes) = scrapes else {
            return Err(self.nothing(instance));
        };
        let apart = (LOOK_BACK_S as f64 / scrapes).round() as u64;
        let least = span.to_s.saturating_sub(span.from_s).div_ceil(POINTS_MAX);
        Ok(apart.max(least).max(STEP_LEAST_S))
    }

    /// Says which instances there are.
    fn nothing(&self, instance: &str) -> HistoryError {
        let text = self.ask(
            "query",
            &[("query", "count by (instance) (node_cpu_seconds_total)")],
        );
        let known = text
            .ok()
            .and_then(|text| instances(&text).ok())
            .unwrap_or_default();
        let known = match known.len() {
            0 => String::from(": the server knows no node exporter now"),
            1..=8 => format!(": it knows {}", known.join(", ")),
            n => format!(": it knows {} and {} more", known[..8].join(", "), n - 8),
        };
        HistoryError::Nothing {
            instance: instance.to_owned(),
            known,
        }
    }

    fn not_understood(&self, detail: String) -> HistoryError {
        HistoryError::NotUnderstood {
            url: self.url.clone(),
            detail,
        }
    }

    fn ask(&self, what: &str, fields: &[(&str, &str)]) -> Result<String, HistoryError> {
        let patience = self
            .patience
            .min(self.until.saturating_duration_since(Instant::now()));
        let slow = || HistoryError::Slow {
            url: self.url.clone(),
            patience_s: patience.as_secs(),
        };
        if patience.is_zero() {
            return Err(slow());
        }
        let failed = |error: ureq::Error| match error {
            ureq::Error::Timeout(_) => slow(),
            error => HistoryError::Unreachable {
                url: self.url.clone(),
                detail: error.to_string(),
            },
        };
        let request = self.agent.get(format!("{}/api/v1/{what}", self.url));
        let mut request = request.config().timeout_global(Some(patience)).build();
        if let Some(token) = &self.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        for (name, value) in fields {
            request = request.query(name, value);
        }
        let mut answer = request.call().map_err(failed)?;
        let status = answer.status().as_u16();
        let place = answer.headers().get("Location");
        let place = place.map_or_else(String::new, |place| {
            String::from_utf8_lossy(place.as_bytes()).into_owned()
        });
        let text = answer.body_mut().with_config().limit(BYTES_MAX).read_to_string();
        let text = text.map_err(failed)?;
        if status == 200 {
            return Ok(text);
        }
        let detail = refusal(
            status,
            &in_a_line(&text),
            &in_a_line(&place),
            self.token.is_some(),
        );
        Err(HistoryError::Refused {
            url: self.url.clone(),
            status,
            detail,
        })
    }
}

/// The beginning of what a server says, in a line.
fn in_a_line(text: &str) -> String {
    let letters = text.chars().filter(|letter| !letter.is_control());
    letters.take(200).collect()
}

/// What a status that is no success means, and what to do; `place`: where the server says to look instead.
fn refusal(status: u16, said: &str, place: &str, has_token: bool) -> String {
    let said = if said.is_empty() { "it says no more" } else { said };
    match status {
        300..=399 if !place.is_empty() => {
            format!("it leads to {place}, which is not followed: give the address of Prometheus itself")
        }
        401 | 403 if has_token => {
            format!("{said}: the token of --prometheus-token is not the one that it asks for")
        }
        401 | 403 => format!("{said}: give the token that it asks for with --prometheus-token FILE"),
        _ => said.to_owned(),
    }
}

/// Whether an address leads nowhere else.
fn is_of_this_machine(url: &str) -> bool {
    let Ok(url) = url.parse::<ureq::http::Uri>() else {
        return false;
    };
    let host = url.host().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// An instance with or without its port.
fn selector(instance: &str) -> String {
    format!("{{instance=~\"{}(:[0-9]+)?\"}}", pattern(instance))
}

/// A host alone; an address of IPv6 has its colons in brackets.
fn without_port(instance: &str) -> &str {
    let port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    match instance.rsplit_once(':') {
        Some((host, last)) if port(last) && (!host.contains(':') || host.ends_with(']')) => host,
        _ => instance,
    }
}

/// A name as a regular expression in a string of `PromQL`'s.
fn pattern(instance: &str) -> String {
    let mut pattern = String::new();
    for letter in instance.chars() {
        if !(letter.is_alphanumeric() || letter == '-' || letter == '_') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    // In which a backslash is written twice.
    pattern.replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests;
