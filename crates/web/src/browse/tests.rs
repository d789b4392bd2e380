use super::form::Fields;
use super::listing::{Filter, Kind};
use super::{Browse, Listing, Reports};
use crate::http::{Asked, Refusal, Reply, Site};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Keeps which paths were asked for.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<PathBuf>>>);

impl Reports for Seen {
    fn report(&self, dir: &Path) -> Result<String, String> {
        self.0.lock().expect("seen").push(dir.to_owned());
        Ok(String::from("a report"))
    }

    fn compare(&self, a: &[PathBuf], b: &[PathBuf]) -> Result<String, String> {
        self.0.lock().expect("seen").extend(a.iter().chain(b).cloned());
        Err(String::from("<script>no</script>"))
    }
}

/// A folder with directories that look like runs; what is in them is not.
fn folder(names: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for name in names {
        let dir = folder.path().join("runs").join(name);
        std::fs::create_dir_all(&dir).expect("a directory");
        std::fs::write(dir.join(fathom_store::RUN_FILE), "{}").expect("a file");
    }
    folder
}

fn site(folder: &tempfile::TempDir) -> (Browse, Seen) {
    let seen = Seen::default();
    let runs = folder.path().join("runs");
    let site = Browse::new(
        runs,
        Box::new(seen.clone()),
        String::from("secret"),
        String::from("0"),
    );
    (site, seen)
}

fn asked<'a>(path: &'a str, query: &'a str, form: Option<&'a [u8]>) -> Asked<'a> {
    Asked {
        path,
        query,
        accept: "",
        form,
        nonce: "n",
    }
}

fn text(reply: Reply) -> String {
    match reply {
        Reply::Whole { body, .. } => String::from_utf8(body).expect("text"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn no_name_from_outside_becomes_a_path() {
    let folder = folder(&["a", "deep/er/b"]);
    std::fs::create_dir_all(folder.path().join("outside")).expect("a directory");
    std::fs::write(folder.path().join("outside/run.json"), "{}").expect("a file");
    std::os::unix::fs::symlink(folder.path().join("outside"), folder.path().join("runs/link"))
        .expect("a link");
    let (site, seen) = site(&folder);
    for path in [
        "/report/..",
        "/report/../outside",
        "/report/%2e%2e%2foutside",
        "/report/%2E%2E%2Foutside",
        "/report/..%2Foutside",
        "/report/a/../../outside",
        "/report/a%2F..%2F..%2Foutside",
        "/report//etc/passwd",
        "/report/%2Fetc%2Fpasswd",
        "/report/link",
        "/report/a%00",
        "/report/",
        "/report/a/",
        "/report",
        "/a",
        "/note/..",
        "/etc/passwd",
    ] {
        let reply = site.answer(&asked(path, "", None));
        assert!(
            matches!(reply, Reply::Refused(Refusal::NotFound)),
            "{path}: {reply:?}"
        );
    }
    let reply = site.answer(&asked("/compare", "a=..%2Foutside&b=a", None));
    assert!(matches!(reply, Reply::Refused(Refusal::NotFound)));
    assert_eq!(
        *seen.0.lock().expect("seen"),
        Vec::<PathBuf>::new(),
        "nothing was opened"
    );
    assert_eq!(text(site.answer(&asked("/report/a", "", None))), "a report");
    assert_eq!(
        text(site.answer(&asked("/report/deep%2Fer%2Fb", "", None))),
        "a report"
    );
    let runs = folder.path().join("runs");
    assert_eq!(
        *seen.0.lock().expect("seen"),
        [runs.join("a"), runs.join("deep/er/b")]
    );
}

#[test]
fn names_of_directories_are_text() {
    let hostile = "<img src=x onerror=alert(1)>\"'&amp;";
    let folder = folder(&[hostile]);
    let (site, _) = site(&folder);
    let page = text(site.answer(&asked("/", "q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E", None)));
    assert!(
        !page.contains("<script") && page.contains("&#62;&#60;script&#62;"),
        "{page}"
    );
    let page = text(site.answer(&asked("/", "", None)));
    assert!(!page.contains("<img"), "{page}");
    let listed = Listing::new(folder.path().join("runs")).read().expect("a list");
    let id = &listed.entries[0].id;
    assert!(
        id.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.~%".contains(&byte)),
        "{id}"
    );
    assert_eq!(listed.entries[0].kind, Kind::Damaged);
    assert_eq!(
        text(site.answer(&asked(&format!("/report/{id}"), "", None))),
        "a report"
    );
    let page = text(site.answer(&asked(
        "/compare",
        &format!("a={}&b={}", twice(id), twice(id)),
        None,
    )));
    assert!(!page.contains("<script>no"), "{page}");
}

/// As a form sends what is encoded already.
fn twice(id: &str) -> String {
    id.replace('%', "%25")
}

#[test]
fn a_note_is_kept_only_from_its_own_form() {
    let folder = folder(&["a"]);
    let (site, _) = site(&folder);
    let send = |form: &str| site.answer(&asked("/note/a", "", Some(form.as_bytes())));
    for form in ["name=x", "secret=other&name=x", "secret=&name=x"] {
        assert!(matches!(send(form), Reply::Refused(Refusal::Form(_))), "{form}");
    }
    assert!(
        matches!(send("secret=secret&name=my+disk&text=a%0D%0Ab"), Reply::SeeOther(place) if place == "/")
    );
    let note = fathom_store::read_note(&folder.path().join("runs/a")).expect("a note");
    assert_eq!((note.name.as_str(), note.text.as_str()), ("my disk", "a\nb"));
    let page = text(site.answer(&asked("/", "q=disk", None)));
    assert!(page.contains("my disk"), "{page}");
    let long = format!("secret=secret&name={}", "x".repeat(300));
    assert!(text(send(&long)).contains("at most 200"));
    assert!(site.takes_form("/note/a") && !site.takes_form("/") && !site.takes_form("/report/a"));
}

#[test]
fn a_filter_finds_by_words_kind_and_day() {
    let folder = folder(&["alpha", "beta"]);
    let listed = Listing::new(folder.path().join("runs")).read().expect("a list");
    let fits = |query: &str| -> Vec<&str> {
        let filter = Filter::of(&Fields::of(query.as_bytes()));
        let fitting = listed.entries.iter().filter(|entry| filter.fits(entry));
        fitting.map(|entry| entry.shown.as_str()).collect()
    };
    assert_eq!(fits(""), ["alpha", "beta"]);
    assert_eq!(fits("q=ALPH"), ["alpha"]);
    assert_eq!(fits("q=alpha+beta"), Vec::<&str>::new());
    assert_eq!(fits("kind=damaged&q=a"), ["alpha", "beta"]);
    assert_eq!(fits("kind=run"), Vec::<&str>::new());
    // What has no date lies before all of them.
    assert_eq!(fits("to=2026-01-01"), ["alpha", "beta"]);
    assert_eq!(fits("from=2026-01-01"), Vec::<&str>::new());
}

/// Programs that ask see that it failed, people are told why.
#[test]
fn what_fails_has_a_status_that_says_so() {
    struct Nothing;
    impl Reports for Nothing {
        fn report(&self, _: &Path) -> Result<String, String> {
            Err(String::from("it is damaged"))
        }
        fn compare(&self, _: &[PathBuf], _: &[PathBuf]) -> Result<String, String> {
            Err(String::from("they are of two kinds"))
        }
    }
    let folder = folder(&["a", "b"]);
    let runs = folder.path().join("runs");
    let site = Browse::new(
        runs.clone(),
        Box::new(Nothing),
        String::from("secret"),
        String::from("0"),
    );
    let of = |path: &str, query: &str, form: Option<&[u8]>| match site.answer(&asked(path, query, form)) {
        Reply::Whole { status, body, .. } => (status.as_u16(), String::from_utf8(body).expect("text")),
        other => panic!("{other:?}"),
    };
    assert_eq!(of("/", "", None).0, 200);
    let (status, page) = of("/report/a", "", None);
    assert!(
        status == 500 && page.contains("it is damaged"),
        "{status}: {page}"
    );
    let (status, page) = of("/compare", "a=a&b=b", None);
    assert!(status == 422 && page.contains("of two kinds"), "{status}: {page}");
    assert_eq!(of("/compare", "", None).0, 400);
    assert_eq!(of("/compare", "a=a", None).0, 400);
    let long = format!("secret=secret&name={}", "x".repeat(300));
    assert_eq!(of("/note/a", "", Some(long.as_bytes())).0, 400);
    std::fs::write(runs.join("a/note.json"), "somebody's").expect("a file");
    assert_eq!(of("/note/a", "", Some(b"secret=secret&name=x")).0, 500);
    std::fs::remove_dir_all(&runs).expect("removed");
    assert_eq!(of("/", "", None).0, 500);
}

/// Nothing that only has a run's names is waited for, followed or taken for one.
#[test]
fn pipes_links_and_cut_files_are_damaged() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::os::unix::fs::symlink;
    let folder = folder(&["empty"]);
    let runs = folder.path().join("runs");
    let pipe = |path: PathBuf| {
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
    };
    let run = fathom_testkit::make::run(Vec::new(), Vec::new());
    let make = |dir: &Path| {
        std::fs::create_dir_all(dir).expect("a directory");
        let writer = fathom_store::RunWriter::create(dir, &run).expect("a run");
        writer.finish(&run, std::iter::empty()).expect("finished");
    };
    make(&folder.path().join("outside"));
    pipe(runs.join("fifo/run.json"));
    pipe(runs.join("note/note.json"));
    make(&runs.join("whole"));
    std::fs::create_dir_all(runs.join("link")).expect("a directory");
    symlink(folder.path().join("outside/run.json"), runs.join("link/run.json")).expect("a link");
    std::fs::write(runs.join("note/run.json"), "{}").expect("a file");
    let listing = Listing::new(runs.clone());
    let read = || listing.read().expect("a list");
    let kind_of = |listed: &super::listing::Listed, id: &str| {
        let entry = listed.named(id).expect("it is listed");
        (entry.kind, entry.state.clone())
    };
    let listed = read();
    let (kind, state) = kind_of(&listed, "fifo");
    assert!(
        kind == Kind::Damaged && state.contains("no regular file"),
        "{state}"
    );
    let (kind, state) = kind_of(&listed, "link");
    assert!(
        kind == Kind::Damaged && state.contains("links are not followed"),
        "{state}"
    );
    let note = &listed.named("note").expect("it is listed").note.text;
    assert!(note.contains("no regular file"), "{note}");
    assert_eq!(kind_of(&listed, "whole").0, Kind::Recording);
    let series = runs.join("whole").join(fathom_store::SERIES_FILE);
    std::fs::write(&series, "PAR1").expect("cut off");
    let (kind, state) = kind_of(&read(), "whole");
    assert!(kind == Kind::Damaged && state.contains("4 bytes"), "{state}");
}
