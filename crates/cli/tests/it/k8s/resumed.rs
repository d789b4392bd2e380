//! What goes on with a run goes to the cluster that it was begun on: two stand-ins for API servers, which refuse all but their version.

use super::JOB;
use crate::harness::{Outcome, Place, finish, start};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

const VERSION: &str = r#"{"major":"1","minor":"34","gitVersion":"v1.34.4","gitCommit":"","gitTreeState":"","buildDate":"","goVersion":"","compiler":"","platform":""}"#;
const REFUSAL: &str = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"not here","reason":"Forbidden","code":403}"#;

/// Counts what it is asked.
struct Server {
    port: u16,
    asked: Arc<AtomicU32>,
}

impl Server {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("a port").port();
        let asked = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let counted = Arc::clone(&counted);
                std::thread::spawn(move || while answer(&stream, &counted).is_some() {});
            }
        });
        Self { port, asked }
    }

    /// What it was asked since the last time.
    fn asked(&self) -> u32 {
        self.asked.swap(0, Ordering::SeqCst)
    }
}

/// One request; `None`: there are no more.
fn answer(stream: &TcpStream, asked: &AtomicU32) -> Option<()> {
    let mut from = BufReader::new(stream);
    let mut first = String::new();
    from.read_line(&mut first).ok().filter(|&read| read > 0)?;
    let mut length = 0;
    loop {
        let mut header = String::new();
        from.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim().split_once(':') else {
            break;
        };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).ok()?;
    asked.fetch_add(1, Ordering::SeqCst);
    let (status, body) = if first.starts_with("GET /version ") {
        ("200 OK", VERSION)
    } else {
        ("403 Forbidden", REFUSAL)
    };
    let mut to = stream;
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    to.write_all(head.as_bytes()).ok()
}

/// A place with a kubeconfig of two clusters, of which `one` is the current one.
fn with_two_clusters() -> (Place, Server, Server) {
    let (place, one, other) = (Place::new(), Server::new(), Server::new());
    place.write(
        "kubeconfig",
        format!(
            "apiVersion: v1\nkind: Config\nclusters:\n- {{name: one, cluster: {{server: \"http://127.0.0.1:{}\"}}}}\n\
             - {{name: other, cluster: {{server: \"http://127.0.0.1:{}\"}}}}\nusers: [{{name: me, user: {{}}}}]\n\
             contexts:\n- {{name: one, context: {{cluster: one, user: me, namespace: first}}}}\n\
             - {{name: other, context: {{cluster: other, user: me, namespace: bench}}}}\ncurrent-context: one\n",
            one.port, other.port
        ),
    );
    place.write("a.fio", JOB);
    (place, one, other)
}

fn fathom(place: &Place, line: &str) -> Outcome {
    let mut command = place.command_of(line.split(' '));
    command
        .env("KUBECONFIG", place.path("kubeconfig"))
        .env_remove("KUBERNETES_SERVICE_HOST");
    finish(start(&mut command))
}

#[test]
fn a_run_goes_on_where_it_was_begun_whichever_context_is_the_current_one() {
    let (place, one, other) = with_two_clusters();
    let begun = fathom(
        &place,
        "k8s run a.fio --class fast --repeat 1 --context other -o d",
    );
    assert_eq!(begun.code, Some(1), "{}", begun.stderr);
    assert!(begun.stderr.contains("not here"), "{}", begun.stderr);
    assert_eq!(one.asked(), 0, "{}", begun.stderr);
    assert!(other.asked() > 0, "{}", begun.stderr);
    let plan = std::fs::read_to_string(place.path("d/plan.json")).expect("kept");
    assert!(
        plan.contains("\"context\": \"other\"") && plan.contains("\"namespace\": \"bench\""),
        "{plan}"
    );
    let resumed = fathom(&place, "k8s run --resume d");
    assert_eq!(resumed.code, Some(1), "{}", resumed.stderr);
    assert_eq!(one.asked(), 0, "{}", resumed.stderr);
    assert!(other.asked() > 0, "{}", resumed.stderr);
    // What was the current context when it was begun is kept as well; one that is called otherwise by now can be said.
    let begun = fathom(&place, "k8s run a.fio --class fast --repeat 1 -o e");
    assert!(one.asked() > 0, "{}", begun.stderr);
    let text = std::fs::read_to_string(place.path("kubeconfig")).expect("written");
    place.write(
        "kubeconfig",
        text.replace("current-context: one", "current-context: other"),
    );
    let resumed = fathom(&place, "k8s run --resume e");
    assert!(one.asked() > 0 && other.asked() == 0, "{}", resumed.stderr);
    let resumed = fathom(&place, "k8s run --resume e --context other");
    assert!(one.asked() == 0 && other.asked() > 0, "{}", resumed.stderr);
}

#[test]
fn an_experiment_that_goes_on_is_the_one_that_was_begun_and_passes_no_flag_over() {
    let (place, one, other) = with_two_clusters();
    place.write(
        "e.toml",
        "class = \"fast\"\nrepeat = 1\n[[run]]\nname = \"one\"\njobs = [\"a.fio\"]\n",
    );
    let begun = fathom(&place, "k8s run e.toml --context other -o d");
    assert_eq!(begun.code, Some(1), "{}", begun.stderr);
    assert!(other.asked() > 0 && one.asked() == 0, "{}", begun.stderr);
    let again = fathom(&place, "k8s run e.toml -o d --json -q");
    assert!(other.asked() > 0 && one.asked() == 0, "{}", again.stderr);
    assert!(!again.stderr.contains("tests are done"), "{}", again.stderr);
    for (more, expected) in [
        ("--size 1Gi", "claim.size: \"8Gi\" then, \"1Gi\" now"),
        ("--repeat 2", "repeat: 1 then, 2 now"),
        ("-n elsewhere", "namespace: \"bench\" then, \"elsewhere\" now"),
    ] {
        let found = fathom(&place, &format!("k8s run e.toml -o d {more}"));
        assert_eq!(found.code, Some(2), "{more}: {}", found.stderr);
        assert!(
            found.stderr.contains("was begun otherwise") && found.stderr.contains(expected),
            "{more}: {}",
            found.stderr
        );
    }
    let shown = fathom(&place, "k8s run e.toml -o d --dry-run --size 1Gi").expect(0);
    assert!(shown.stdout.contains("storage: 1Gi"), "{}", shown.stdout);
    assert!(other.asked() == 0 && one.asked() == 0, "nobody is asked");
}
