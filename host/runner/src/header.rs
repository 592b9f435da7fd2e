//! Headers of requests, as files and options specify them.

use ureq::http::{HeaderName, HeaderValue};

use crate::variables::expand;

/// Returns a header with the variables in its value replaced. Its value is omitted from logs.
///
/// # Errors
///
/// The name or the value is invalid in a header, or a variable is not set.
pub(crate) fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), String> {
    let mut value = HeaderValue::from_str(&expand(value)?).map_err(|_| "its value cannot be that of a header")?;
    value.set_sensitive(true);
    let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| "it cannot be the name of a header")?;
    Ok((name, value))
}
