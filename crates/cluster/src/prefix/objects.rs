//! Object storage as this crate uses it: put, list, get.
//!
//! Data in: an address, credentials as the environment names them. Data out: objects. It must not know what they are.

use super::PIECE_BYTES;
use super::http::Connector;
use anyhow::{Context as _, anyhow, bail};
use futures_util::TryStreamExt as _;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::path::Path;
use object_store::{
    BackoffConfig, ClientConfigKey, ObjectStore, ObjectStoreExt as _, ObjectStoreScheme, PutPayload,
    RetryConfig,
};
use std::fs::File;
use std::io::Read as _;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// A store that is not there is named in seconds; one that is busy for a moment is asked again.
fn retries() -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig {
            max_backoff: Duration::from_secs(3),
            ..BackoffConfig::default()
        },
        max_retries: 6,
        retry_timeout: Duration::from_mins(1),
    }
}

/// Where it is.
#[derive(Debug)]
pub(super) struct Objects {
    store: Arc<dyn ObjectStore>,
    base: Path,
    text: String,
}

impl Objects {
    /// # Errors
    /// `text` is no address of a store, or something to get there is missing.
    pub(super) fn open(text: &str, vars: &[(String, String)]) -> anyhow::Result<Self> {
        const WORDS: &str = "give s3://BUCKET/PATH, az://CONTAINER/PATH, gs://BUCKET/PATH, or a directory";
        let url = Url::parse(text).map_err(|error| anyhow!("{text}: no address ({error}): {WORDS}"))?;
        let Ok((scheme, base)) = ObjectStoreScheme::parse(&url) else {
            bail!("{text}: {WORDS}");
        };
        refuse_plain_http(text, vars)?;
        let wrong = |error: object_store::Error| anyhow!("{text}: {}", with_causes(&error));
        let store: Arc<dyn ObjectStore> = match scheme {
            ObjectStoreScheme::AmazonS3 => {
                let begun = AmazonS3Builder::new()
                    .with_url(text)
                    .with_http_connector(Connector)
                    .with_retry(retries());
                let built = known(vars, &["AWS_"]).fold(begun, |builder, (key, value)| match key.parse() {
                    Ok(key) => builder.with_config(key, value),
                    Err(_) => builder,
                });
                Arc::new(built.build().map_err(wrong)?)
            }
            ObjectStoreScheme::GoogleCloudStorage => {
                let begun = GoogleCloudStorageBuilder::new()
                    .with_url(text)
                    .with_http_connector(Connector)
                    .with_retry(retries());
                let words = ["GOOGLE_", "SERVICE_ACCOUNT"];
                let built = known(vars, &words).fold(begun, |builder, (key, value)| match key.parse() {
                    Ok(key) => builder.with_config(key, value),
                    Err(_) => builder,
                });
                Arc::new(built.build().map_err(wrong)?)
            }
            ObjectStoreScheme::MicrosoftAzure => {
                let begun = MicrosoftAzureBuilder::new()
                    .with_url(text)
                    .with_http_connector(Connector)
                    .with_retry(retries());
                let words = ["AZURE_", "IDENTITY_", "MSI_"];
                let built = known(vars, &words).fold(begun, |builder, (key, value)| match key.parse() {
                    Ok(key) => builder.with_config(key, value),
                    Err(_) => builder,
                });
                Arc::new(built.build().map_err(wrong)?)
            }
            _ => bail!("{text}: {WORDS}"),
        };
        Ok(Self {
            store,
            base,
            text: text.to_owned(),
        })
    }

    fn at(&self, path: &str) -> Path {
        let below = path.split('/').map(object_store::path::PathPart::from);
        self.base.parts().chain(below).collect()
    }

    fn failed(&self, what: &str, error: &object_store::Error) -> anyhow::Error {
        anyhow!("{}: {what}: {}", self.text, with_causes(error))
    }

    /// Whether it can be listed.
    pub(super) async fn check(&self) -> anyhow::Result<()> {
        let mut listed = self.store.list(Some(&self.base));
        match listed.try_next().await {
            Ok(_) => Ok(()),
            Err(error) => Err(self.failed("it cannot be looked at", &error)),
        }
    }

    /// The objects below `folder` by their paths in it, with their sizes.
    pub(super) async fn list(&self, folder: &str) -> anyhow::Result<Vec<(String, u64)>> {
        let folder = self.at(folder);
        let found: Vec<_> = self
            .store
            .list(Some(&folder))
            .try_collect()
            .await
            .map_err(|error| self.failed("it cannot be listed", &error))?;
        let below = |path: &Path| -> Option<String> {
            let parts: Vec<String> = path
                .prefix_match(&folder)?
                .map(|part| part.as_ref().to_owned())
                .collect();
            Some(parts.join("/"))
        };
        let named = found
            .into_iter()
            .filter_map(|meta| Some((below(&meta.location)?, meta.size)));
        Ok(named.collect())
    }

    pub(super) async fn get(&self, path: &str) -> anyhow::Result<Vec<u8>> {
        let got = async { self.store.get(&self.at(path)).await?.bytes().await }.await;
        match got {
            Ok(bytes) => Ok(bytes.to_vec()),
            Err(error) => Err(self.failed(&format!("{path} cannot be read"), &error)),
        }
    }

    /// Puts a file there, piece by piece where it is a large one.
    pub(super) async fn put(&self, file: &mut File, to: &str) -> anyhow::Result<u64> {
        let to = self.at(to);
        let mut piece = next_piece(file)?;
        let mut bytes = piece.len() as u64;
        if piece.len() < PIECE_BYTES {
            self.store
                .put(&to, PutPayload::from(piece))
                .await
                .map_err(|error| self.failed("it does not take it", &error))?;
            return Ok(bytes);
        }
        let not_taken = |error: object_store::Error| self.failed("it does not take it", &error);
        let mut upload = self.store.put_multipart(&to).await.map_err(not_taken)?;
        let mut sent = Ok(());
        while !piece.is_empty() && sent.is_ok() {
            sent = upload.put_part(PutPayload::from(piece)).await;
            piece = next_piece(file)?;
            bytes += piece.len() as u64;
        }
        let ended = match sent {
            Ok(()) => upload.complete().await.map(drop),
            Err(error) => Err(error),
        };
        if let Err(error) = ended {
            // What was sent of it is not kept; if that fails as well, the first reason is the one to tell.
            let _removed = upload.abort().await;
            return Err(not_taken(error));
        }
        Ok(bytes)
    }
}

fn next_piece(file: &mut File) -> anyhow::Result<Vec<u8>> {
    let mut piece = Vec::new();
    file.take(PIECE_BYTES as u64)
        .read_to_end(&mut piece)
        .context("it cannot be read")?;
    Ok(piece)
}

/// The variables with one of these beginnings, as the builders read them.
fn known<'a>(
    vars: &'a [(String, String)],
    words: &'a [&'a str],
) -> impl Iterator<Item = (String, &'a String)> + 'a {
    let fits = move |key: &str| words.iter().any(|word| key.starts_with(word));
    vars.iter()
        .filter(move |(key, _)| fits(key))
        .map(|(key, value)| (key.to_ascii_lowercase(), value))
}

/// Whoever listens on the way would read what is put there, and could ask for more with the same signature.
fn refuse_plain_http(text: &str, vars: &[(String, String)]) -> anyhow::Result<()> {
    for (key, value) in vars {
        let is_endpoint = key.contains("ENDPOINT")
            && ["AWS_", "AZURE_", "GOOGLE_"]
                .iter()
                .any(|word| key.starts_with(word));
        if !is_endpoint || !value.to_ascii_lowercase().starts_with("http://") {
            continue;
        }
        let cloud = key.split('_').next().unwrap_or_default();
        let allow = format!("{cloud}_ALLOW_HTTP");
        let allowed = |(key, value): &(String, String)| *key == allow && value.eq_ignore_ascii_case("true");
        if !vars.iter().any(allowed) {
            bail!(
                "{text}: {key}={value} is plain HTTP: whoever is on the way reads all of it. Give an https:// endpoint, or allow it with \
                 {allow}=true"
            );
        }
    }
    Ok(())
}

/// Whether plain HTTP was allowed.
pub(super) fn allows_http(options: &object_store::ClientOptions) -> bool {
    options.get_config_value(&ClientConfigKey::AllowHttp).as_deref() == Some("true")
}

/// An error with what it came from, each reason once.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        next = cause.source();
    }
    text
}
