//! Reads the parts of a message that the transport needs.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

/// The member of `_meta` that names the version of a request without a session.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// A message of either side.
#[derive(Deserialize)]
pub(super) struct Message<'m> {
    #[serde(borrow)]
    id: Option<&'m RawValue>,
    pub(super) method: Option<String>,
    #[serde(borrow)]
    params: Option<&'m RawValue>,
    #[serde(borrow)]
    pub(super) result: Option<&'m RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'m RawValue>,
}

/// The kinds of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Request,
    Notification,
    Response,
}

impl<'m> Message<'m> {
    /// Reads a message. `None` if the text is not an object with members of these types.
    pub(super) fn read(text: &'m str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    pub(super) fn kind(&self) -> Kind {
        match (&self.method, self.id) {
            (Some(_), Some(_)) => Kind::Request,
            (Some(_), None) => Kind::Notification,
            (None, _) => Kind::Response,
        }
    }

    /// Returns the id as it is written in the message.
    pub(super) fn id(&self) -> Option<&'m str> {
        self.id.map(RawValue::get)
    }

    pub(super) fn is(&self, method: &str) -> bool {
        self.method.as_deref() == Some(method)
    }

    /// Returns the parameter with this name.
    pub(super) fn param(&self, name: &str) -> Option<&'m RawValue> {
        member(self.params?, name)
    }

    /// Returns the parameter with this name, if it is a string.
    pub(super) fn text_param(&self, name: &str) -> Option<String> {
        text(self.param(name)?)
    }

    /// Returns the version that a request without a session names.
    pub(super) fn version(&self) -> Option<String> {
        text(member(self.param("_meta")?, VERSION)?)
    }
}

/// Returns the member of an object with this name.
pub(super) fn member<'m>(object: &'m RawValue, name: &str) -> Option<&'m RawValue> {
    members(object)?.remove(name)
}

/// Returns all members of an object.
pub(super) fn members(object: &RawValue) -> Option<BTreeMap<String, &RawValue>> {
    serde_json::from_str(object.get()).ok()
}

/// Returns the content of a JSON string.
pub(super) fn text(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}
