//! A text -> a profile that can be used.

use seamgate_core::{
    Fault, FaultCode,
    kernel_api::{CONTRACT_CAPS, Json},
};

use crate::{
    definition, examples,
    profile::{self, Profile},
};

impl Profile {
    /// Read, check and compile a profile, and try its examples.
    ///
    /// `text` is one JSON document as `schemas/profile.schema.json` describes it, whole: nothing in it is a path.
    ///
    /// # Errors
    ///
    /// `bad_profile`: with the member, what is wrong, and what would be right.
    pub fn compile(text: &str) -> Result<Self, Fault> {
        let wrong = |violations| Fault::wrong(FaultCode::BadProfile, "profile", violations);
        let readable;
        let document = match Json::read(text, &CONTRACT_CAPS) {
            Ok(document) => document,
            Err(found) => match definition::readable(text, &definition::PINNED, &CONTRACT_CAPS) {
                Some(other) => {
                    readable = other;
                    Json::read(&readable, &CONTRACT_CAPS).map_err(wrong)?
                }
                None => return Err(wrong(found)),
            },
        };
        let violations = profile::FORMAT.schema().violations(&document);
        if !violations.is_empty() {
            return Err(wrong(violations));
        }
        let profile = profile::read(&document).map_err(wrong)?;
        examples::check(&profile, &document).map_err(wrong)?;
        Ok(profile)
    }
}
