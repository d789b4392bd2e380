//! Options: of interfaces that are about no file of this machine.

use super::not_carried_out::{number, text};
use super::row::{OptionRow as Row, Support};
use super::rule::{Choice, Field, Rule, field};
use crate::draft::Draft;
use fathom_core::units::Nanos;
use fathom_core::workload::HttpMode;

const EXEC: &[&str] = &["exec"];
const NBD: &[&str] = &["nbd"];
const HTTP: &[&str] = &["http"];
const ENCRYPTED: Support =
    Support::NotYet("leave it out: objects are not encrypted by a key of the client's");

/// A text, as long as there is one.
fn given(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn program(draft: &Draft) -> Option<String> {
    given(&draft.job.program.path)
}

pub(super) static ROWS: &[&[Row]] = &[EXEC_AND_NBD_ROWS, HTTP_ROWS];

static EXEC_AND_NBD_ROWS: &[Row] = &[
    Row::new(
        "program",
        Rule::Text(
            "path",
            |d, text| {
                text.trim().clone_into(&mut d.job.program.path);
                Ok(())
            },
            program,
        ),
        "Program that the job runs in place of I/O; only with --allow-exec",
    )
    .example("/usr/bin/vmstat")
    .only_for(EXEC),
    Row::new(
        "arguments",
        Rule::Text(
            "text",
            |d, text| {
                text.trim().clone_into(&mut d.job.program.arguments);
                Ok(())
            },
            |d| given(&d.job.program.arguments),
        ),
        "What it is given, divided at spaces; %r is the runtime in seconds, %n the job's name",
    )
    .example("-n 1")
    .only_for(EXEC),
    Row::new(
        "grace_time",
        Rule::Number(
            0,
            86_400,
            Field {
                set: |d, seconds| d.job.program.grace = Nanos::from_secs(seconds as u64),
                get: |d| Some((d.job.program.grace.0 / 1_000_000_000) as i64),
            },
        ),
        "How many seconds it may take to end when the job is over, before it is killed",
    )
    .example("5")
    .only_for(EXEC),
    Row::new(
        "std_redirect",
        Rule::Bool(field!(job.program.keeps_output)),
        "What it prints goes to NAME.stdout and NAME.stderr, after the job's name",
    )
    .only_for(EXEC),
    Row::new(
        "uri",
        Rule::Text(
            "uri",
            |d, text| {
                text.trim().clone_into(&mut d.job.uri);
                Ok(())
            },
            |d| given(&d.job.uri),
        ),
        "The export of an NBD server: nbd://host:port/export, or nbd+unix:///export?socket=path",
    )
    .example("nbd://localhost:10809/disk")
    .only_for(NBD),
];

/// A text of a server's.
macro_rules! words {
    ($name:literal, $($path:tt).+, $example:literal, $help:literal) => {
        Row::new(
            $name,
            Rule::Text(
                "text",
                |d, text| {
                    text.trim().clone_into(&mut d.$($path).+);
                    Ok(())
                },
                |d| given(&d.$($path).+),
            ),
            $help,
        )
        .example($example)
        .only_for(HTTP)
    };
}

static HTTP_ROWS: &[Row] = &[
    words!(
        "http_host",
        job.http.host,
        "s3.example.com:9000",
        "The server, with its port where that is not 80 or 443"
    )
    .default("localhost"),
    words!("http_user", job.http.user, "me", "User of a web server"),
    words!(
        "http_pass",
        job.http.pass.0,
        "secret",
        "The user's password; it is not kept in records"
    )
    .shown(|_| None),
    Row::new(
        "https",
        Rule::Choice(&[
            Choice::new("off", |d| d.job.http.tls = false),
            Choice::new("on", |d| d.job.http.tls = true),
            Choice::nothing(
                "insecure",
                Support::Never(
                    "use https=on, with the server's certificate in the file that SSL_CERT_FILE names",
                ),
            ),
        ]),
        "Whether it is spoken to over TLS",
    )
    .example("on")
    .only_for(HTTP),
    Row::new(
        "http_mode",
        Rule::Choice(&[
            Choice::new("webdav", |d| d.job.http.mode = HttpMode::Webdav),
            Choice::new("s3", |d| d.job.http.mode = HttpMode::S3),
            Choice::nothing(
                "swift",
                Support::NotYet("use s3, which Swift's own servers speak too (the s3api middleware)"),
            ),
        ]),
        "What kind of server it is: webdav is any that takes GET, PUT and DELETE",
    )
    .example("s3")
    .only_for(HTTP),
    words!(
        "http_s3_key",
        job.http.s3_key.0,
        "wJalrX",
        "The secret key of S3; it is not kept in records"
    )
    .shown(|_| None),
    words!(
        "http_s3_keyid",
        job.http.s3_key_id,
        "AKIA0",
        "The name of that key"
    ),
    words!(
        "http_s3_region",
        job.http.s3_region,
        "eu-central-1",
        "The region of S3"
    )
    .default("us-east-1"),
    words!(
        "http_s3_storage_class",
        job.http.s3_storage_class,
        "STANDARD_IA",
        "The storage class of new objects"
    )
    .default("STANDARD"),
    Row::new(
        "http_s3_sse_customer_key",
        text("key"),
        "Key that S3 encrypts objects with",
    )
    .example("MDEyMw==")
    .only_for(HTTP)
    .support(ENCRYPTED),
    Row::new(
        "http_s3_sse_customer_algorithm",
        text("name"),
        "How S3 encrypts objects with it",
    )
    .default("AES256")
    .example("AES128")
    .only_for(HTTP)
    .support(ENCRYPTED),
    Row::new("http_swift_auth_token", text("token"), "What Swift lets in")
        .example("AUTH_tk0")
        .only_for(HTTP)
        .support(Support::NotYet("use http_mode=s3")),
    Row::new("http_verbose", number(0, 2), "How much is told of each request")
        .default("0")
        .example("1")
        .only_for(HTTP)
        .support(Support::NoEffect(
            "what fails is told in any case, with what the server said",
        )),
];
