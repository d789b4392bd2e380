//! The client of HTTP that object storage is spoken to with: the one that Kubernetes is, so that there is one TLS.
//!
//! Data in: requests. Data out: responses, or what kind of failure it was. It must not know what is asked for.

use super::objects::allows_http;
use async_trait::async_trait;
use http_body_util::BodyExt as _;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector as Tcp;
use hyper_util::rt::TokioExecutor;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody, HttpResponse,
    HttpResponseBody, HttpService,
};
use std::time::Duration;
use tokio::time::timeout;

const CONNECT: Duration = Duration::from_secs(10);
/// For an answer to begin.
const ANSWER: Duration = Duration::from_mins(2);

/// Makes it.
#[derive(Debug, Default)]
pub(super) struct Connector;

#[derive(Debug)]
struct Service(Client<HttpsConnector<Tcp>, HttpRequestBody>);

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let provider = rustls::crypto::ring::default_provider();
        let begun = HttpsConnectorBuilder::new()
            .with_provider_and_native_roots(provider)
            .map_err(|error| object_store::Error::Generic {
                store: "TLS",
                source: format!("the certificates of this machine's authorities: {error}").into(),
            })?;
        let schemes = if allows_http(options) {
            begun.https_or_http()
        } else {
            begun.https_only()
        };
        let mut tcp = Tcp::new();
        tcp.enforce_http(false);
        tcp.set_connect_timeout(Some(CONNECT));
        let connector = schemes.enable_http1().wrap_connector(tcp);
        Ok(HttpClient::new(Service(
            Client::builder(TokioExecutor::new()).build(connector),
        )))
    }
}

#[async_trait]
impl HttpService for Service {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let answered = timeout(ANSWER, self.0.request(request)).await;
        let response = answered
            .map_err(|late| HttpError::new(HttpErrorKind::Timeout, late))?
            .map_err(|error| {
                let kind = if error.is_connect() {
                    HttpErrorKind::Connect
                } else {
                    HttpErrorKind::Interrupted
                };
                HttpError::new(kind, error)
            })?;
        let (parts, body) = response.into_parts();
        let body = body.map_err(|error| HttpError::new(HttpErrorKind::Interrupted, error));
        Ok(HttpResponse::from_parts(parts, HttpResponseBody::new(body)))
    }
}
