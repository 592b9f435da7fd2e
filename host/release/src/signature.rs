//! Statements, each in a Sigstore bundle: a signature, the certificate of the workflow that made it, and the entry of a
//! transparency log.

use serde::Deserialize;
use sigstore_verify::{
    IdentityMatcher, VerificationPolicy, VerificationResult, Verifier,
    trust_root::{SIGSTORE_PRODUCTION_TRUSTED_ROOT, TrustedRoot},
    types::{Bundle, Sha256Hash, SignatureContent},
};

use crate::{crypto, workflow::Workflow};

/// The largest bundle, in bytes. A bundle that contains a bill of materials has less than one MiB.
pub(crate) const MAX_BYTES: u64 = 16 << 20;
/// The largest trust root, in bytes.
pub const MAX_TRUST_ROOT: usize = 1 << 20;
/// The maximum number of subjects in a statement.
const MAX_SUBJECTS: usize = 4096;

const STATEMENT: &str = "https://in-toto.io/Statement/v1";

/// The certificate authorities and logs that signatures may be based on.
pub struct Trust {
    verifier: Verifier,
}

impl Trust {
    /// Returns the trust root of the public-good instance of Sigstore, which GitHub uses for public repositories.
    ///
    /// # Errors
    ///
    /// The built-in trust root cannot be used.
    pub fn public_good() -> Result<Self, String> {
        Self::from_json(SIGSTORE_PRODUCTION_TRUSTED_ROOT)
    }

    /// Parses a trust root, which is a `trusted_root.json` of Sigstore.
    ///
    /// # Errors
    ///
    /// The text is not a trust root, or contains an invalid key or certificate.
    pub fn from_json(text: &str) -> Result<Self, String> {
        crypto::install();
        let root = TrustedRoot::from_json(text).map_err(|error| error.to_string())?;
        Ok(Trust { verifier: Verifier::new(&root).map_err(|error| error.to_string())? })
    }

    /// Verifies a bundle against the workflow that must have signed it. Returns its statement.
    pub(crate) fn statement(&self, bundle: &[u8], workflow: &Workflow) -> Result<Signed, String> {
        let (statement, result) = self.verify(bundle, &workflow.identity())?;
        let certificate = result.certificate().ok_or("has no certificate")?;
        let commit = workflow.commit_of(&certificate.ci_claims)?;
        let logged = result.integrated_time().map(|time| time.to_string());
        Ok(Signed { statement, commit, logged })
    }

    /// Verifies a bundle against the identity that must have signed it.
    fn verify(&self, bundle: &[u8], identity: &str) -> Result<(Statement, VerificationResult), String> {
        let text = std::str::from_utf8(bundle).map_err(|_| "must be UTF-8".to_owned())?;
        let bundle = Bundle::from_json(text).map_err(|error| format!("is no bundle of Sigstore: {error}"))?;
        let SignatureContent::DsseEnvelope(envelope) = &bundle.content else {
            return Err("must hold a signed statement, not the signature of a file".to_owned());
        };
        // GitHub creates exactly one entry. The library would verify any number of entries, one by one.
        let entries = bundle.verification_material.tlog_entries.len();
        if entries != 1 {
            return Err(format!("has {entries} entries of a transparency log; expected one"));
        }
        let payload = envelope.payload.as_bytes();
        let statement: Statement =
            serde_json::from_slice(payload).map_err(|error| format!("its statement is invalid: {error}"))?;
        if statement.kind != STATEMENT {
            return Err(format!("its statement has the type {}; expected {STATEMENT}", statement.kind));
        }
        if statement.subject.len() > MAX_SUBJECTS {
            return Err(format!("its statement has more than {MAX_SUBJECTS} subjects"));
        }
        // The library looks for only one digest among the subjects. Later checks compare all of them.
        let first = statement.subject.first().ok_or("its statement has no subject")?;
        let first =
            Sha256Hash::from_hex(&first.digest.sha256).map_err(|error| format!("its first subject: {error}"))?;
        let policy = VerificationPolicy::new(IdentityMatcher::Uri(identity.to_owned()), Workflow::ISSUER);
        let result =
            self.verifier.verify(first, &bundle, &policy).map_err(|error| format!("{error}{}", hint(&error)))?;
        match result.certificate_verified() && result.sct_verified() && result.tlog_verified() {
            true => Ok((statement, result)),
            false => Err("the certificate or the entry of the log was not verified".to_owned()),
        }
    }
}

/// Returns advice for the user about an error.
fn hint(error: &sigstore_verify::Error) -> &'static str {
    match error {
        sigstore_verify::Error::IdentityMismatch { .. } => {
            "; name the repository of the release by --repo, and take all files from one release"
        }
        _ => "",
    }
}

/// A statement with a valid signature.
pub(crate) struct Signed {
    pub(crate) statement: Statement,
    /// The commit that the certificate names.
    pub(crate) commit: String,
    /// The time of the entry in the log.
    pub(crate) logged: Option<String>,
}

/// An in-toto statement.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Statement {
    #[serde(rename = "_type")]
    kind: String,
    pub(crate) subject: Vec<Subject>,
    pub(crate) predicate_type: String,
    pub(crate) predicate: serde_json::Value,
}

/// A file that a statement is about.
#[derive(Deserialize)]
pub(crate) struct Subject {
    pub(crate) name: String,
    pub(crate) digest: SubjectDigest,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SubjectDigest {
    pub(crate) sha256: String,
}

#[cfg(test)]
mod tests {
    use super::Trust;

    /// An attestation that a workflow on GitHub made on 2025-09-01. It is in the tests of the crate `sigstore-verify`
    /// 0.15.1: `test_data/bundles/conda-attestation.sigstore.json`, with the SHA-256 `3b68ceda7698...`.
    const BUNDLE: &str = include_str!("../data/conda-attestation.sigstore.json");
    const IDENTITY: &str =
        "https://github.com/prefix-dev/sigstore-example/.github/workflows/action.yaml@refs/heads/main";

    #[test]
    fn bundle_of_the_public_good_instance_is_verified_offline() {
        let trust = Trust::public_good().expect("a trust root");
        let (statement, result) = trust.verify(BUNDLE.as_bytes(), IDENTITY).expect("verified");
        assert_eq!(statement.subject[0].name, "signed-package-2.1.0-hb0f4dca_0.conda");
        assert_eq!(result.integrated_time().expect("a time").to_string(), "2025-09-01T12:13:59Z");
        let other = trust.verify(BUNDLE.as_bytes(), &IDENTITY.replace("main", "other")).map(drop);
        assert!(other.is_err_and(|reason| reason.contains("identity mismatch")));
    }

    #[test]
    fn changed_members_of_a_real_bundle_are_rejected() {
        let trust = Trust::public_good().expect("a trust root");
        for (member, to) in [
            ("\"logIndex\":\"456119071\"", "\"logIndex\":\"456119072\""),
            ("\"integratedTime\":\"1756728839\"", "\"integratedTime\":\"1756728840\""),
            ("\"treeSize\":\"334214816\"", "\"treeSize\":\"334214817\""),
            ("iq8lvZO7", "iq8lvZO8"),
            ("\"payload\":\"eyJf", "\"payload\":\"eyJg"),
            ("\"rawBytes\":\"MIIG6zCC", "\"rawBytes\":\"MIIG6zCD"),
        ] {
            assert_eq!(BUNDLE.matches(member).count(), 1, "{member}");
            assert!(trust.verify(BUNDLE.replace(member, to).as_bytes(), IDENTITY).is_err(), "{member}");
        }
    }
}
