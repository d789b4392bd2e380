//! Certificates for a test, made by openssl, under the names that NBD's clients look for.

use crate::harness::{Place, tool};
use std::path::PathBuf;

/// A folder with `ca-cert.pem`, `server-cert.pem`, `server-key.pem`, `client-cert.pem`, `client-key.pem`.
pub(crate) struct Certificates(PathBuf);

impl Certificates {
    /// Of an authority of its own, for this machine; why not.
    pub(crate) fn make(place: &Place, name: &str) -> Result<Self, String> {
        let dir = place.path(name);
        std::fs::create_dir_all(&dir).expect("a folder");
        std::fs::write(
            dir.join("names"),
            "subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n",
        )
        .expect("a file");
        let at = |file: &str| dir.join(file).display().to_string();
        let key = |file: &str| {
            format!(
                "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout {}",
                at(file)
            )
        };
        tool(&format!(
            "openssl req -x509 -days 2 -subj /CN={name} -addext basicConstraints=critical,CA:TRUE -addext \
             keyUsage=critical,keyCertSign {} -out {}",
            key("ca-key.pem"),
            at("ca-cert.pem")
        ))?;
        for who in ["server", "client"] {
            tool(&format!(
                "openssl req -subj /CN={who} {} -out {}",
                key(&format!("{who}-key.pem")),
                at("request")
            ))?;
            tool(&format!(
                "openssl x509 -req -days 2 -in {} -CA {} -CAkey {} -CAcreateserial -extfile {} -out {}",
                at("request"),
                at("ca-cert.pem"),
                at("ca-key.pem"),
                at("names"),
                at(&format!("{who}-cert.pem"))
            ))?;
        }
        Ok(Self(dir))
    }

    pub(crate) fn path(&self, file: &str) -> String {
        self.0.join(file).display().to_string()
    }

    pub(crate) fn dir(&self) -> String {
        self.0.display().to_string()
    }

    /// Of the program: who serves; `and` whose clients are let in.
    pub(crate) fn flags(&self, and: Option<&Self>) -> String {
        let own = format!(
            "--tls-cert {} --tls-key {}",
            self.path("server-cert.pem"),
            self.path("server-key.pem")
        );
        match and {
            None => own,
            Some(other) => format!("{own} --tls-ca {}", other.path("ca-cert.pem")),
        }
    }
}
