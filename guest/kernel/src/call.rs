//! Calls as the model requests them, before any decision.

use seamgate_core::{
    Fault, Violation,
    kernel_api::{Caps, Document, Json, Kind},
};

use crate::{
    document::{Format, source, text},
    tool::full_name,
};

pub(crate) static FORMAT: Format = Format::new("call", include_str!("formats/call.json"));

/// The maximum length of arguments, in bytes, unless the profile sets a limit.
pub(crate) const DEFAULT_ARGUMENTS_BYTES: usize = 64 * 1024;

/// One call that the model requests.
pub(crate) struct Call {
    pub(crate) key: String,
    pub(crate) server: Option<String>,
    pub(crate) tool: String,
    /// The arguments as they would be sent.
    pub(crate) arguments: String,
}

/// The reason why arguments are invalid.
pub(crate) enum NotArguments {
    TooLarge(usize),
    Malformed(Vec<Violation>),
    NoObject,
}

impl Call {
    /// # Errors
    ///
    /// Returns `bad_request` if the text is not a call.
    pub(crate) fn read(json: &str) -> Result<Self, Fault> {
        let document = FORMAT.read(json)?;
        let arguments = document.member(Document::ROOT, "arguments").unwrap_or(Document::ROOT);
        Ok(Call {
            key: text(&document, "key").unwrap_or_default().to_owned(),
            server: text(&document, "server").map(str::to_owned),
            tool: text(&document, "tool").unwrap_or_default().to_owned(),
            arguments: match document.kind(arguments) {
                Kind::String => document.string(arguments).to_owned(),
                _ => source(&document, arguments),
            },
        })
    }

    /// Reads the arguments as a document of at most `max` bytes.
    pub(crate) fn document(&self, max: usize) -> Result<Json<'_>, NotArguments> {
        if self.arguments.len() > max {
            return Err(NotArguments::TooLarge(self.arguments.len()));
        }
        let caps = Caps { bytes: max, depth: 64, string_bytes: max, array_items: 10_000, object_members: 1_000 };
        let document = Json::read(&self.arguments, &caps).map_err(NotArguments::Malformed)?;
        if document.kind(Document::ROOT) == Kind::Object { Ok(document) } else { Err(NotArguments::NoObject) }
    }

    /// Returns the tool's name as the model wrote it, for display.
    pub(crate) fn name(&self) -> String {
        full_name(self.server.as_deref().unwrap_or_default(), &self.tool)
    }
}
