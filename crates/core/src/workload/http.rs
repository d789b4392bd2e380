//! Objects of a web server or of S3, in place of blocks (`ioengine=http`).

use serde::{Deserialize, Serialize};
use std::fmt;

/// A server, and how it is spoken to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Http {
    /// A host, with its port where that is another than its protocol's.
    pub host: String,
    /// Over TLS.
    pub tls: bool,
    pub mode: HttpMode,
    /// Whose name is given to a web server; empty: nobody's.
    pub user: String,
    /// Not kept in records.
    #[serde(skip)]
    pub pass: Secret,
    pub s3_region: String,
    pub s3_key_id: String,
    /// Not kept in records.
    #[serde(skip)]
    pub s3_key: Secret,
    /// Of new objects.
    pub s3_storage_class: String,
}

impl Default for Http {
    /// A web server on this machine.
    fn default() -> Self {
        Self {
            host: String::from("localhost"),
            tls: false,
            mode: HttpMode::Webdav,
            user: String::new(),
            pass: Secret::default(),
            s3_region: String::from("us-east-1"),
            s3_key_id: String::new(),
            s3_key: Secret::default(),
            s3_storage_class: String::from("STANDARD"),
        }
    }
}

impl Http {
    /// The address of an object, or of what the names of several begin with.
    pub fn url(&self, name: &str) -> String {
        let scheme = if self.tls { "https" } else { "http" };
        format!("{scheme}://{}/{}", self.host, name.trim_start_matches('/'))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HttpMode {
    /// Whatever takes GET, PUT and DELETE.
    Webdav,
    /// Each request is signed as Amazon's S3 asks for.
    S3,
}

/// What is neither printed nor kept.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "none" } else { "…" })
    }
}
