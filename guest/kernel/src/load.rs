//! Compiles a text into a profile.

use seamgate_core::{
    Fault, FaultCode,
    kernel_api::{CONTRACT_CAPS, Json},
};

use crate::{
    definition, examples,
    profile::{self, Profile},
};

impl Profile {
    /// Parses, checks and compiles a profile, and checks its examples.
    ///
    /// `text` is one complete JSON document as `schemas/profile.schema.json` describes it. It contains no file paths.
    ///
    /// # Errors
    ///
    /// Returns `bad_profile`, which names the member, and says what is wrong and what would be right.
    pub fn compile(text: &str) -> Result<Self, Fault> {
        let wrong = |violations| Fault::wrong(FaultCode::BadProfile, "profile", violations);
        let (mut replaced, mut also) = (None, None);
        let read = |text| Json::read(text, &CONTRACT_CAPS);
        let [one, several] = [&definition::PINNED[..], &definition::PINNED_BY_PATTERN].map(|way| (way, &CONTRACT_CAPS));
        let text = definition::readable_text(text, &mut also, several);
        let document = definition::read_each(text, &mut replaced, one, read).map_err(wrong)?;
        let violations = profile::FORMAT.schema().violations(&document);
        if !violations.is_empty() {
            return Err(wrong(violations));
        }
        let profile = profile::read(&document).map_err(wrong)?;
        examples::check(&profile, &document).map_err(wrong)?;
        Ok(profile)
    }
}
