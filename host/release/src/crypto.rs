//! The cryptography that Sigstore's library requires, implemented with `ring`, which the command line already uses for
//! TLS. It only verifies.

use ring::{
    digest::{self, Context},
    signature::{
        ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA384_ASN1, ECDSA_P384_SHA256_ASN1, ECDSA_P384_SHA384_ASN1, ED25519,
        UnparsedPublicKey, VerificationAlgorithm,
    },
};
use sigstore_verify::{
    crypto::{self, CryptoProvider, Error, HashContext, SigningScheme},
    types::HashAlgorithm,
};

/// Installs the provider for this process. Does nothing if one is already installed.
pub fn install() {
    let _ = crypto::install_default_provider(&Ring);
}

#[derive(Debug)]
struct Ring;

struct Hash(Context);

impl HashContext for Hash {
    fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    fn finalize(self: Box<Self>) -> Vec<u8> {
        self.0.finish().as_ref().to_vec()
    }
}

impl CryptoProvider for Ring {
    fn hash(&self, algorithm: HashAlgorithm) -> crypto::Result<Box<dyn HashContext>> {
        let algorithm = match algorithm {
            HashAlgorithm::Sha2256 => &digest::SHA256,
            HashAlgorithm::Sha2384 => &digest::SHA384,
            HashAlgorithm::Sha2512 => &digest::SHA512,
            other => return Err(Error::UnsupportedAlgorithm(other.to_string())),
        };
        Ok(Box::new(Hash(Context::new(algorithm))))
    }

    fn verify_raw(&self, scheme: SigningScheme, key: &[u8], data: &[u8], signature: &[u8]) -> crypto::Result<()> {
        // The algorithms of Sigstore's certificate authority, logs and timestamps. Sigstore uses neither RSA nor ML-DSA
        // today.
        let algorithm: &dyn VerificationAlgorithm = match scheme {
            SigningScheme::EcdsaP256Sha256 => &ECDSA_P256_SHA256_ASN1,
            SigningScheme::EcdsaP256Sha384 => &ECDSA_P256_SHA384_ASN1,
            SigningScheme::EcdsaP384Sha256 => &ECDSA_P384_SHA256_ASN1,
            SigningScheme::EcdsaP384Sha384 => &ECDSA_P384_SHA384_ASN1,
            SigningScheme::Ed25519 => &ED25519,
            other => return Err(Error::UnsupportedAlgorithm(other.name().to_owned())),
        };
        let key = UnparsedPublicKey::new(algorithm, key);
        key.verify(data, signature).map_err(|_| Error::Verification(format!("{} signature invalid", scheme.name())))
    }

    /// Returns an error, because `ring` can only verify complete messages. Statements are verified as messages.
    fn verify_prehashed(&self, scheme: SigningScheme, _: &[u8], _: &[u8], _: &[u8]) -> crypto::Result<()> {
        Err(Error::UnsupportedAlgorithm(format!("{} of a digest", scheme.name())))
    }
}
