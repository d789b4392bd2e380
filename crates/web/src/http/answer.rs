//! What a site is asked and what it answers, and the headers that go with it.

use super::events::EventBody;
use super::pieces::{Pieces, Room};
use crate::hub::feed::Feed;
use http_body_util::BodyExt as _;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};
use std::convert::Infallible;

/// A body of any kind.
pub(super) type Body = UnsyncBoxBody<Bytes, Infallible>;

/// What is served.
pub(crate) trait Site: Send + Sync + 'static {
    /// Answers a request that may be answered.
    fn answer(&self, asked: &Asked<'_>) -> Reply;

    /// What those who watch are told; `None`: nothing is under way.
    fn feed(&self) -> Option<&Feed>;

    /// Whether answers may take long: they are then made beside the others.
    fn is_slow(&self) -> bool {
        false
    }

    /// Whether a form may be sent to that path.
    fn takes_form(&self, path: &str) -> bool {
        let _ = path;
        false
    }
}

/// A request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// As sent, percent-encoded.
    pub path: &'a str,
    /// What follows the question mark.
    pub query: &'a str,
    /// The `Accept` header.
    pub accept: &'a str,
    /// The form that was sent; `None`: it only asks.
    pub form: Option<&'a [u8]>,
    /// Of this answer alone: what may run and what styles it have it.
    pub nonce: &'a str,
}

/// What a page may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Policy {
    /// No page.
    Nothing,
    /// Run and style what has the answer's nonce, ask this server alone, send it forms.
    Nonce,
    /// What the page says itself, in its own policy; not be in a frame, not send forms.
    OfItself,
}

/// An answer.
#[derive(Debug)]
pub(crate) enum Reply {
    /// A whole body of a type.
    Whole {
        status: StatusCode,
        content_type: &'static str,
        policy: Policy,
        body: Vec<u8>,
    },
    /// What does not change while the program runs, is there once for all, and may be kept by who asked.
    Lasting {
        content_type: &'static str,
        body: Bytes,
    },
    /// The events after that number.
    Events {
        had: u64,
    },
    /// Look there.
    SeeOther(String),
    Refused(Refusal),
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// No request of HTTP/1.1.
    Malformed,
    /// For another host.
    OtherHost,
    /// From a page of another site.
    CrossSite,
    /// Without the token.
    Unknown,
    /// Neither GET nor HEAD.
    Method,
    /// There is no such thing here.
    NotFound,
    /// A form that is none, or too large.
    Form(String),
    /// As many watch as may.
    Full,
    /// As much is being sent as may be at a time.
    Busy,
    /// It failed; what is to be said of it.
    Failed(String),
}

impl Refusal {
    fn status(&self) -> StatusCode {
        match self {
            Self::Malformed | Self::Form(_) => StatusCode::BAD_REQUEST,
            Self::OtherHost => StatusCode::MISDIRECTED_REQUEST,
            Self::CrossSite => StatusCode::FORBIDDEN,
            Self::Unknown => StatusCode::UNAUTHORIZED,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Full | Self::Busy => StatusCode::SERVICE_UNAVAILABLE,
            Self::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn text(&self) -> &str {
        match self {
            Self::Malformed => "this is no request that can be answered: one Host header is needed",
            Self::OtherHost => {
                "this server is not called that: use localhost or its address, or name it with --serve-name"
            }
            Self::CrossSite => "pages of other sites are not answered",
            Self::Unknown => "a token is needed: as a bearer token, or as the password of any user",
            Self::Method => "nothing can be changed here: GET and HEAD only",
            Self::NotFound => "there is no such page",
            Self::Full => "as many watch already as may: close a page, and try again",
            Self::Busy => "others are being sent as much as may be at a time: try again in a moment",
            Self::Form(text) | Self::Failed(text) => text,
        }
    }
}

/// The response of a reply; `room`: for what is made for one who asks; `events`: what makes a body of events, where one is free.
pub(super) fn response(
    reply: Reply,
    nonce: &str,
    room: &Room,
    events: impl FnOnce(u64) -> Option<EventBody>,
) -> Response<Body> {
    match reply {
        Reply::Whole {
            status,
            content_type,
            policy,
            body,
        } => {
            let Some(body) = room.hold(body) else {
                return refused(&Refusal::Busy);
            };
            let mut response = whole(status, content_type, body);
            let policy = match policy {
                Policy::Nothing => String::from("default-src 'none'; frame-ancestors 'none'"),
                Policy::Nonce => format!(
                    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src data: blob:; connect-src \
                     'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
                ),
                Policy::OfItself => {
                    String::from("form-action 'none'; base-uri 'none'; frame-ancestors 'none'")
                }
            };
            set(&mut response, header::CONTENT_SECURITY_POLICY, &policy);
            response
        }
        Reply::Lasting { content_type, body } => {
            let mut response = whole(StatusCode::OK, content_type, Pieces::from(body));
            set(&mut response, header::CACHE_CONTROL, "private, max-age=600");
            response
        }
        Reply::Events { had } => match events(had) {
            Some(body) => secured(Response::new(body.boxed_unsync()), "text/event-stream"),
            None => refused(&Refusal::Full),
        },
        Reply::SeeOther(place) => {
            let mut response = whole(
                StatusCode::SEE_OTHER,
                "text/plain; charset=utf-8",
                Pieces::default(),
            );
            set(&mut response, header::LOCATION, &place);
            response
        }
        Reply::Refused(refusal) => refused(&refusal),
    }
}

pub(super) fn refused(refusal: &Refusal) -> Response<Body> {
    let body = Pieces::from(Bytes::from(format!("{}\n", refusal.text())));
    let mut response = whole(refusal.status(), "text/plain; charset=utf-8", body);
    match refusal {
        Refusal::Unknown => set(
            &mut response,
            header::WWW_AUTHENTICATE,
            "Basic realm=\"fathom: any user, the token as password\", charset=\"UTF-8\"",
        ),
        Refusal::Method => set(&mut response, header::ALLOW, "GET, HEAD"),
        _ => {}
    }
    response
}

fn whole(status: StatusCode, content_type: &'static str, body: Pieces) -> Response<Body> {
    let mut response = Response::new(body.boxed_unsync());
    *response.status_mut() = status;
    secured(response, content_type)
}

/// With the headers that all responses have.
fn secured(mut response: Response<Body>, content_type: &'static str) -> Response<Body> {
    set(&mut response, header::CONTENT_TYPE, content_type);
    set(&mut response, header::CACHE_CONTROL, "no-store");
    set(&mut response, header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(&mut response, header::X_FRAME_OPTIONS, "DENY");
    set(&mut response, header::REFERRER_POLICY, "no-referrer");
    let own = header::HeaderName::from_static("cross-origin-resource-policy");
    set(&mut response, own, "same-origin");
    let opener = header::HeaderName::from_static("cross-origin-opener-policy");
    set(&mut response, opener, "same-origin");
    response
}

fn set(response: &mut Response<Body>, name: header::HeaderName, value: &str) {
    // What is not fit for a header is none of ours: it is left out.
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}
