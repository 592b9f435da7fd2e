//! The tools of one server, page by page.

use std::collections::HashSet;

use seamgate_runner::mcp::{MAX_PAGES, MAX_TOOLS};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::message::Raw;

/// The tools of one server, as it lists them.
#[derive(Default)]
pub(super) struct Listed {
    tools: Vec<Raw>,
    freshness: Freshness,
    /// The list that is being read.
    coming: Coming,
}

/// A list that is being read.
#[derive(Default)]
struct Coming {
    pages: usize,
    tools: Vec<Raw>,
    cursors: HashSet<String>,
    freshness: Option<Freshness>,
}

/// How long a client may cache a list, in milliseconds, and which clients may share it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Freshness {
    pub(super) ttl_ms: u64,
    pub(super) is_public: bool,
}

/// The step after a page.
pub(super) enum Next {
    /// Request the page at this cursor.
    Ask(String),
    /// The list is complete. If it ended early, contains the reason.
    Done(Option<String>),
}

#[derive(Deserialize)]
struct Page {
    tools: Vec<Raw>,
    #[serde(default, rename = "nextCursor")]
    next: Option<Value>,
    #[serde(default, rename = "ttlMs")]
    ttl_ms: Option<Value>,
    #[serde(default, rename = "cacheScope")]
    scope: Option<Value>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

/// Returns the name of a tool.
pub(crate) fn name_of(definition: &str) -> Option<String> {
    serde_json::from_str(definition).map(|Named { name }| name).ok()
}

impl Listed {
    /// Begins a new list.
    pub(super) fn begin(&mut self) {
        self.coming = Coming::default();
    }

    /// Removes all tools.
    pub(super) fn clear(&mut self) {
        *self = Listed::default();
    }

    /// Takes the next page. The gate reads only these members of the page, and passes on no others.
    ///
    /// The list ends early, with the tools so far, at an empty or repeated cursor, at too many pages or tools, and at a
    /// later page that is invalid.
    ///
    /// # Errors
    ///
    /// The first page is not a list of tools.
    pub(super) fn take(&mut self, result: &RawValue) -> Result<Next, String> {
        let page: Page = match serde_json::from_str(result.get()) {
            Ok(page) => page,
            Err(error) if self.coming.pages > 0 => return Ok(self.done(Some(format!("a page is no list: {error}")))),
            Err(error) => return Err(error.to_string()),
        };
        let coming = &mut self.coming;
        coming.pages += 1;
        coming.tools.extend(page.tools);
        let own = Freshness {
            ttl_ms: page.ttl_ms.and_then(|ttl| ttl.as_u64()).unwrap_or_default(),
            is_public: page.scope.is_some_and(|scope| scope == "public"),
        };
        let least = |other: Freshness| Freshness {
            ttl_ms: own.ttl_ms.min(other.ttl_ms),
            is_public: own.is_public && other.is_public,
        };
        coming.freshness = Some(coming.freshness.map_or(own, least));
        if coming.tools.len() > MAX_TOOLS {
            coming.tools.truncate(MAX_TOOLS);
            return Ok(self.done(Some(format!("it has more than {MAX_TOOLS} tools"))));
        }
        match page.next {
            None | Some(Value::Null) => Ok(self.done(None)),
            Some(Value::String(next)) if !next.is_empty() => {
                if !coming.cursors.insert(next.clone()) {
                    return Ok(self.done(Some("its cursor repeats".to_owned())));
                }
                match coming.pages == MAX_PAGES {
                    true => Ok(self.done(Some(format!("it has more than {MAX_PAGES} pages")))),
                    false => Ok(Next::Ask(next)),
                }
            }
            Some(Value::String(_)) => Ok(self.done(None)),
            Some(_) => Ok(self.done(Some("its cursor is no string".to_owned()))),
        }
    }

    /// Ends the list early. Returns whether it has any page.
    pub(super) fn stop(&mut self) -> bool {
        let has_page = self.coming.pages > 0;
        if has_page {
            self.done(None);
        }
        has_page
    }

    fn done(&mut self, early: Option<String>) -> Next {
        let coming = std::mem::take(&mut self.coming);
        self.tools = coming.tools;
        self.freshness = coming.freshness.unwrap_or_default();
        Next::Done(early)
    }

    /// Returns how long the list may be cached.
    pub(super) fn freshness(&self) -> Freshness {
        self.freshness
    }

    /// Returns the definitions of the tools.
    pub(super) fn tools(&self) -> impl Iterator<Item = &RawValue> {
        self.tools.iter().map(|tool| &**tool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> Raw {
        super::super::message::raw(text.to_owned())
    }

    fn names(listed: &Listed) -> Vec<String> {
        listed.tools().filter_map(|tool| name_of(tool.get())).collect()
    }

    #[test]
    fn cursor_that_leads_nowhere_ends_the_list_with_what_there_is() {
        for (next, reason) in [
            (r#""""#, None),
            ("null", None),
            (r#""1""#, Some("its cursor repeats")),
            ("7", Some("its cursor is no string")),
        ] {
            let mut listed = Listed::default();
            listed.begin();
            let first = listed.take(&page(r#"{"tools":[{"name":"a"}],"nextCursor":"1"}"#));
            assert!(matches!(first, Ok(Next::Ask(cursor)) if cursor == "1"));
            let last = listed.take(&page(&format!(r#"{{"tools":[{{"name":"b"}}],"nextCursor":{next}}}"#)));
            assert!(matches!(last, Ok(Next::Done(told)) if told.as_deref() == reason), "{next}");
            assert_eq!(names(&listed), ["a", "b"]);
        }
    }

    #[test]
    fn invalid_later_page_costs_no_earlier_one() {
        let mut listed = Listed::default();
        listed.begin();
        listed.take(&page(r#"{"tools":[{"name":"a"}],"nextCursor":"1"}"#)).expect("a page");
        assert!(matches!(listed.take(&page(r#"{"tools":1}"#)), Ok(Next::Done(Some(_)))));
        assert_eq!(names(&listed), ["a"]);
        listed.begin();
        assert!(listed.take(&page("[]")).is_err());
    }
}
