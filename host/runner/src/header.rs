//! Headers of requests, as files and options give them.

use ureq::http::{HeaderName, HeaderValue};

use crate::variables::expand;

/// Returns a header with the values of the variables in it. Its value is left out of logs.
///
/// # Errors
///
/// The name or the value cannot be that of a header, or a variable is not set.
pub(crate) fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), String> {
    let mut value = HeaderValue::from_str(&expand(value)?).map_err(|_| "its value cannot be that of a header")?;
    value.set_sensitive(true);
    let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| "it cannot be the name of a header")?;
    Ok((name, value))
}
