//! The site of a measurement under way: a page that fills in, its events, its metrics.
//!
//! Data in: a [`Hub`]. Data out: answers. Nothing can be changed through it.

use crate::exposition::{Format, write};
use crate::http::{Asked, Policy, Refusal, Reply, Site};
use crate::hub::feed::Feed;
use crate::hub::{Hub, Measured};
use askama::Template;
use hyper::StatusCode;
use hyper::body::Bytes;
use std::sync::{Arc, OnceLock};

/// The live page. Its parts that are not escaped are the program's own.
#[derive(Template)]
#[template(path = "live.html")]
struct Page<'a> {
    title: &'a str,
    target: &'a str,
    version: &'a str,
    nonce: &'a str,
    modelled: bool,
    served: bool,
    style: &'static str,
    own_style: &'static str,
    charts: &'static str,
    script: &'static str,
}

/// The site.
#[derive(Debug, Clone)]
pub(crate) struct Live(Arc<Hub>);

impl Live {
    /// Of what a hub knows.
    pub(crate) fn new(hub: Arc<Hub>) -> Self {
        Self(hub)
    }

    fn page(&self, nonce: &str) -> Reply {
        let about = self.0.about();
        let page = Page {
            title: &about.title,
            target: &about.target,
            version: &about.version,
            nonce,
            modelled: about.measured == Measured::Modelled,
            served: about.measured == Measured::Served,
            style: fathom_report::page::STYLE,
            own_style: include_str!("../templates/live.css"),
            charts: fathom_report::page::CHARTS,
            script: include_str!("../templates/live.js"),
        };
        page_of(&page)
    }
}

/// A page with the answer's nonce.
pub(crate) fn page_of(page: &impl Template) -> Reply {
    page_with(StatusCode::OK, page)
}

/// The same, with a status.
pub(crate) fn page_with(status: StatusCode, page: &impl Template) -> Reply {
    match page.render() {
        Ok(text) => Reply::Whole {
            status,
            content_type: "text/html; charset=utf-8",
            policy: Policy::Nonce,
            body: text.into_bytes(),
        },
        Err(error) => Reply::Refused(Refusal::Failed(format!("the page could not be made: {error}"))),
    }
}

/// The script that draws charts, unpacked once for all who ask.
fn plotly() -> Reply {
    static SCRIPT: OnceLock<Bytes> = OnceLock::new();
    Reply::Lasting {
        content_type: "text/javascript; charset=utf-8",
        body: SCRIPT
            .get_or_init(|| Bytes::from(fathom_report::page::plotly()))
            .clone(),
    }
}

/// The event that who asks had last, as the page says it that begins a connection of its own; 0: none.
fn after(query: &str) -> u64 {
    let parts = query.split('&');
    let mut after = parts.filter_map(|part| part.strip_prefix("after="));
    after.find_map(|number| number.parse().ok()).unwrap_or(0)
}

impl Site for Live {
    fn answer(&self, asked: &Asked<'_>) -> Reply {
        match asked.path {
            "/" => self.page(asked.nonce),
            "/metrics" => {
                let format = Format::of(asked.accept);
                Reply::Whole {
                    status: StatusCode::OK,
                    content_type: format.content_type(),
                    policy: Policy::Nothing,
                    body: write(&self.0.families(), format),
                }
            }
            "/events" => Reply::Events {
                had: after(asked.query),
            },
            "/plotly.js" => plotly(),
            _ => Reply::Refused(Refusal::NotFound),
        }
    }

    fn feed(&self) -> Option<&Feed> {
        Some(self.0.feed())
    }
}

#[cfg(test)]
mod tests;
