//! The site of what was measured: a folder of runs and sweeps, their reports, comparisons, names and notes.
//!
//! Data in: a folder, and who makes reports of what is in it ([`Reports`]). Data out: pages. Only what the folder's listing found is
//! opened, by the listing's own paths: no name from outside becomes a path. Nothing is removed through it, and nothing of what was
//! measured is changed: a note is a file of its own.

mod form;
mod listing;
mod pages;

use listing::{Entry, Filter, Listing};

use crate::http::{Asked, Policy, Refusal, Reply, Site};
use crate::hub::feed::Feed;
use crate::live::{page_of, page_with};
use fathom_store::{NOTE_NAME_MAX, NOTE_TEXT_MAX, Note};
use form::Fields;
use hyper::StatusCode;
use pages::{ListPage, NotePage, ProblemPage};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// At most so many directories are compared at once.
const COMPARED_MAX: usize = 64;
/// What is here cannot be read or written.
const FAILED: StatusCode = StatusCode::INTERNAL_SERVER_ERROR;

/// Who makes pages of what was measured.
pub trait Reports: Send + Sync + 'static {
    /// The report of a run or a sweep, as one page.
    ///
    /// # Errors
    /// Why there is none, in words.
    fn report(&self, dir: &Path) -> Result<String, String>;

    /// The comparison of two sides, as one page.
    ///
    /// # Errors
    /// Why there is none, in words.
    fn compare(&self, a: &[PathBuf], b: &[PathBuf]) -> Result<String, String>;
}

/// The site.
pub(crate) struct Browse {
    listing: Listing,
    reports: Box<dyn Reports>,
    /// What a form must carry, so that no other page can send it.
    secret: String,
    version: String,
}

impl Browse {
    pub(crate) fn new(folder: PathBuf, reports: Box<dyn Reports>, secret: String, version: String) -> Self {
        Self {
            listing: Listing::new(folder),
            reports,
            secret,
            version,
        }
    }

    fn list(&self, asked: &Asked<'_>) -> Reply {
        let filter = Filter::of(&Fields::of(asked.query.as_bytes()));
        let listed = match self.listing.read() {
            Ok(listed) => listed,
            Err(why) => return self.problem(asked, FAILED, "The folder cannot be read", &why),
        };
        page_of(&ListPage::new(
            &self.listing,
            &listed,
            &filter,
            asked.nonce,
            &self.version,
        ))
    }

    /// The entry that a path's last part names.
    fn named(&self, id: &str) -> Option<Arc<Entry>> {
        self.listing.read().ok()?.named(id)
    }

    fn report(&self, asked: &Asked<'_>, id: &str) -> Reply {
        let Some(entry) = self.named(id) else {
            return Reply::Refused(Refusal::NotFound);
        };
        match self.reports.report(&entry.path) {
            Ok(page) => of_itself(page),
            Err(why) => self.problem(asked, FAILED, "There is no report of this", &why),
        }
    }

    fn compare(&self, asked: &Asked<'_>) -> Reply {
        let fields = Fields::of(asked.query.as_bytes());
        let listed = match self.listing.read() {
            Ok(listed) => listed,
            Err(why) => return self.problem(asked, FAILED, "The folder cannot be read", &why),
        };
        let mut sides = [Vec::new(), Vec::new()];
        for (side, name) in sides.iter_mut().zip(["a", "b"]) {
            for id in fields.all(name).take(COMPARED_MAX) {
                match listed.named(id) {
                    Some(entry) => side.push(entry.path.clone()),
                    None => return Reply::Refused(Refusal::NotFound),
                }
            }
        }
        let [a, b] = &sides;
        if a.is_empty() || b.is_empty() {
            let why = "Choose at least one run or sweep for A and one for B.";
            return self.problem(asked, StatusCode::BAD_REQUEST, "Two sides are compared", why);
        }
        match self.reports.compare(a, b) {
            Ok(page) => of_itself(page),
            Err(why) => self.problem(
                asked,
                StatusCode::UNPROCESSABLE_ENTITY,
                "This is no comparison",
                &why,
            ),
        }
    }

    fn note(&self, asked: &Asked<'_>, id: &str) -> Reply {
        let Some(entry) = self.named(id) else {
            return Reply::Refused(Refusal::NotFound);
        };
        let Some(form) = asked.form else {
            return page_of(&NotePage {
                entry: &entry,
                secret: &self.secret,
                nonce: asked.nonce,
                version: &self.version,
            });
        };
        let fields = Fields::of(form);
        if fields.first("secret") != Some(self.secret.as_str()) {
            let why = "The form is not of this program: open it again.";
            return Reply::Refused(Refusal::Form(String::from(why)));
        }
        let field = |name| fields.first(name).unwrap_or_default().replace('\r', "");
        let note = Note {
            name: field("name").trim().replace('\n', " "),
            text: field("text").trim().to_owned(),
        };
        match fathom_store::write_note(&entry.path, &note) {
            Ok(()) => Reply::SeeOther(String::from("/")),
            Err(error) => {
                let status = if note.name.len() > NOTE_NAME_MAX || note.text.len() > NOTE_TEXT_MAX {
                    StatusCode::BAD_REQUEST
                } else {
                    FAILED
                };
                self.problem(asked, status, "The note could not be kept", &error.to_string())
            }
        }
    }

    fn problem(&self, asked: &Asked<'_>, status: StatusCode, title: &str, why: &str) -> Reply {
        let page = ProblemPage {
            title,
            why,
            nonce: asked.nonce,
            version: &self.version,
        };
        page_with(status, &page)
    }
}

/// A page that says itself what it may do.
fn of_itself(page: String) -> Reply {
    Reply::Whole {
        status: StatusCode::OK,
        content_type: "text/html; charset=utf-8",
        policy: Policy::OfItself,
        body: page.into_bytes(),
    }
}

impl Site for Browse {
    fn answer(&self, asked: &Asked<'_>) -> Reply {
        let after = |prefix| asked.path.strip_prefix(prefix);
        match asked.path {
            "/" => self.list(asked),
            "/compare" => self.compare(asked),
            path if path.starts_with("/report/") => self.report(asked, after("/report/").unwrap_or_default()),
            path if path.starts_with("/note/") => self.note(asked, after("/note/").unwrap_or_default()),
            _ => Reply::Refused(Refusal::NotFound),
        }
    }

    fn feed(&self) -> Option<&Feed> {
        None
    }

    fn is_slow(&self) -> bool {
        true
    }

    fn takes_form(&self, path: &str) -> bool {
        path.starts_with("/note/")
    }
}

#[cfg(test)]
mod tests;
