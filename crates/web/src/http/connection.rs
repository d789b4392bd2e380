//! One connection: its requests, each checked, answered, and cut where it takes too long.

use super::access::Access;
use super::answer::{Asked, Body, Refusal, Reply, Site, refused, response};
use super::events::{self, EventBody};
use super::pieces::Room;
use super::timed::Timed;
use data_encoding::BASE64URL_NOPAD;
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName};
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, watch};
use tokio_rustls::TlsAcceptor;

/// From the beginning of a connection, or the end of a response, until a request's head is there.
const HEAD_WITHIN: Duration = Duration::from_secs(10);
/// How long a form may take to come.
const FORM_WITHIN: Duration = Duration::from_secs(10);
const FORM_BYTES: usize = 16 << 10;
/// The longest head of a request, and what is written at a time.
const BUFFER_BYTES: usize = 16 << 10;

/// What all connections share.
pub(super) struct Served {
    pub site: Arc<dyn Site>,
    pub access: Access,
    pub viewers: Arc<Semaphore>,
    pub room: Room,
    pub stopped: watch::Receiver<bool>,
}

/// Serves a connection until it ends.
pub(super) async fn serve(stream: TcpStream, served: Arc<Served>) {
    let Ok(local) = stream.local_addr() else { return };
    let Some(tls) = &served.access.tls else {
        return talk(stream, local, served).await;
    };
    let acceptor = TlsAcceptor::from(Arc::clone(&tls.config));
    // Who has no certificate where one is asked for, or takes too long, is gone.
    if let Ok(Ok(sealed)) = tokio::time::timeout(HEAD_WITHIN, acceptor.accept(stream)).await {
        talk(sealed, local, served).await;
    }
}

/// Answers what is asked on a connection, sealed or not.
async fn talk<S>(stream: S, local: SocketAddr, served: Arc<Served>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let stopped = served.stopped.clone();
    let service = service_fn(move |request| {
        let served = Arc::clone(&served);
        async move { Ok::<_, Infallible>(answer(request, served, local).await) }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_WITHIN)
        .max_buf_size(BUFFER_BYTES)
        .serve_connection(TokioIo::new(Timed::new(stream)), service);
    ends_with(connection, stopped).await;
}

/// Until it is done, or the server is stopped. What went wrong is who asked's affair.
async fn ends_with(connection: impl Future<Output = hyper::Result<()>>, mut stopped: watch::Receiver<bool>) {
    let stop = stopped.wait_for(|stopped| *stopped);
    tokio::select! {
        _ended = connection => {}
        _stopped = stop => {}
    }
}

async fn answer(request: Request<Incoming>, served: Arc<Served>, local: SocketAddr) -> Response<Body> {
    if let Err(refusal) = served.access.check(request.headers(), local) {
        return refused(&refusal);
    }
    let (head, body) = request.into_parts();
    let path = head.uri.path().to_owned();
    let form = match head.method {
        Method::GET | Method::HEAD => None,
        Method::POST if served.site.takes_form(&path) => match form(&head.headers, body).await {
            Ok(form) => Some(form),
            Err(refusal) => return refused(&refusal),
        },
        _ => return refused(&Refusal::Method),
    };
    let Some(nonce) = nonce() else {
        return refused(&Refusal::Failed(String::from(
            "the system gives no random numbers",
        )));
    };
    let query = head.uri.query().unwrap_or_default().to_owned();
    let accept = text(&head.headers, header::ACCEPT);
    let own = nonce.clone();
    let site = Arc::clone(&served.site);
    let ask = move || {
        site.answer(&Asked {
            path: &path,
            query: &query,
            accept: &accept,
            form: form.as_deref(),
            nonce: &own,
        })
    };
    let reply = if served.site.is_slow() {
        let failed = |_| Reply::Refused(Refusal::Failed(String::from("this page could not be made")));
        tokio::task::spawn_blocking(ask).await.unwrap_or_else(failed)
    } else {
        ask()
    };
    let last_had = text(&head.headers, HeaderName::from_static("last-event-id"));
    let last_had: u64 = last_had.parse().unwrap_or(0);
    let only_head = head.method == Method::HEAD;
    response(reply, &nonce, &served.room, |had| {
        if only_head {
            Some(EventBody::empty())
        } else {
            events::begin(&served, had.max(last_had))
        }
    })
}

/// The form that was sent.
async fn form(headers: &HeaderMap, body: Incoming) -> Result<Vec<u8>, Refusal> {
    let kind = text(headers, header::CONTENT_TYPE);
    if !kind.starts_with("application/x-www-form-urlencoded") {
        return Err(Refusal::Form(String::from("a form is needed")));
    }
    let whole = Limited::new(body, FORM_BYTES).collect();
    match tokio::time::timeout(FORM_WITHIN, whole).await {
        Ok(Ok(whole)) => Ok(whole.to_bytes().to_vec()),
        _ => Err(Refusal::Form(format!(
            "a form of at most {} KiB is needed, at once",
            FORM_BYTES >> 10
        ))),
    }
}

/// A header as text; empty where there is none.
fn text(headers: &HeaderMap, name: HeaderName) -> String {
    let value = headers.get(name).and_then(|value| value.to_str().ok());
    value.unwrap_or_default().to_owned()
}

/// What nobody can guess. `None`: the system has no random numbers.
pub(super) fn nonce() -> Option<String> {
    let mut bytes = [0; 18];
    let got = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty()).ok()?;
    (got == bytes.len()).then(|| BASE64URL_NOPAD.encode(&bytes))
}
