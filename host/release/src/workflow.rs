//! The workflow that must have built and signed a release.

use sigstore_verify::crypto::FulcioCiClaims;

/// The release workflow of a repository, run for the tag of a version.
pub(crate) struct Workflow {
    /// The repository: `OWNER/NAME`.
    pub(crate) repository: String,
    pub(crate) version: String,
}

impl Workflow {
    /// The issuer of the identity of workflows on GitHub.
    pub(crate) const ISSUER: &str = "https://token.actions.githubusercontent.com";
    /// The path of the workflow in the repository.
    pub(crate) const PATH: &str = ".github/workflows/release.yml";

    /// Returns the address of the repository.
    pub(crate) fn address(&self) -> String {
        format!("https://github.com/{}", self.repository)
    }

    /// Returns the tag that the workflow ran for, as a Git ref.
    pub(crate) fn tag(&self) -> String {
        format!("refs/tags/v{}", self.version)
    }

    /// Returns the identity that the certificate must contain.
    pub(crate) fn identity(&self) -> String {
        format!("{}/{}@{}", self.address(), Self::PATH, self.tag())
    }

    /// Returns the commit that a certificate names, if the certificate belongs to this workflow.
    pub(crate) fn commit_of(&self, claims: &FulcioCiClaims) -> Result<String, String> {
        let expected = [
            ("source repository", &claims.source_repository_uri, self.address()),
            ("source ref", &claims.source_repository_ref, self.tag()),
            ("build configuration", &claims.build_config_uri, self.identity()),
            ("trigger", &claims.build_trigger, "push".to_owned()),
            ("runner", &claims.runner_environment, "github-hosted".to_owned()),
        ];
        for (what, found, expected) in expected {
            if found.as_ref() != Some(&expected) {
                let found = found.as_deref().unwrap_or("none");
                return Err(format!("the certificate has the {what} {found}; expected {expected}"));
            }
        }
        let commit = claims.source_repository_digest.as_deref().unwrap_or_default();
        match matches!(commit.len(), 40 | 64) && commit.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            true => Ok(commit.to_owned()),
            false => Err("the certificate names no commit".to_owned()),
        }
    }
}
