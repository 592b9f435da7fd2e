//! Time stamps of receipts (RFC 3161): an authority states that a file existed at a time.

use rustls_pki_types::{CertificateDer, pem::PemObject};
use sigstore_tsa::{Error, TsaAuthority, verify_timestamp_for_authority};
use sigstore_types::{DerCertificate, SignatureBytes, TimestampToken};

use crate::verify::{Check, Failed};

/// The largest time stamp and the largest file of certificates, in bytes.
pub const MAX_TIME_STAMP: usize = 1024 * 1024;

/// The name of the check.
const NAME: &str = "time_stamp";

/// An authority whose time stamps are trusted.
#[derive(Debug)]
pub struct Authority(TsaAuthority);

/// The reason why a file does not describe an authority.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotAnAuthority {
    /// The file cannot be parsed.
    #[error("it has no certificates in PEM: {0}")]
    Pem(String),
    /// A certificate is missing.
    #[error("it has {0} of the two or more certificates: the authority's own first, and its root certificate last")]
    TooFew(usize),
}

impl Authority {
    /// Reads the certificates of an authority in PEM: its own first, and its root certificate last.
    ///
    /// # Errors
    ///
    /// The text is not PEM, or has fewer than two certificates.
    pub fn read(pem: &[u8]) -> Result<Self, NotAnAuthority> {
        let all = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>();
        let all = all.map_err(|error| NotAnAuthority::Pem(error.to_string()))?;
        let mut all: Vec<_> = all.iter().map(|one| DerCertificate::new(one.as_ref().to_vec())).collect();
        if all.len() < 2 {
            return Err(NotAnAuthority::TooFew(all.len()));
        }
        let leaf = all.remove(0);
        let root = all.remove(all.len() - 1);
        Ok(Authority(TsaAuthority::new(leaf, all, root, None)))
    }
}

/// Checks that `stamp` is a time stamp of the whole file by this authority. `stamp` is a response of RFC 3161, or the
/// token in it. The authority must sign with ECDSA on P-256 or P-384. Its certificates must be valid at the time in the
/// stamp, and they are not checked for revocation.
///
/// The process must have installed a cryptography provider for Sigstore's library.
pub fn check_time_stamp(file: &[u8], stamp: &[u8], authority: &Authority) -> Check {
    let token = TimestampToken::from_bytes(stamp);
    match verify_timestamp_for_authority(&token, &SignatureBytes::from_bytes(file), &authority.0) {
        Ok(time) => Check::passed(NAME, &format!("the file existed at {time}, as the authority states")),
        Err(Error::HashMismatch { .. }) => Failed::of(NAME, "it is the stamp of another file").check(),
        Err(error) => Failed::of(NAME, format!("it cannot be verified: {error}")).check(),
    }
}
