//! Signs a person's decisions with the person's own key, from a file or held by an SSH agent.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::Path,
};

use data_encoding::{BASE64, BASE64URL_NOPAD};
use ring::signature::{Ed25519KeyPair, KeyPair};
use seamgate::read_named;
use serde::Serialize;

use super::{
    ssh_agent,
    ssh_wire::{push_string, string},
};
use crate::{
    error::{AddContext, Error, Result, bail},
    random::random_bytes,
};

/// The longest file of a private key, in bytes.
const MAX_KEY_FILE: usize = 16 * 1024;

/// The beginning of a private key in PKCS #8 (RFC 8410, section 7). The key's 32 bytes follow.
const PKCS8: [u8; 16] = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];

/// The type name of Ed25519 keys in SSH (RFC 8709).
const SSH_ED25519: &str = "ssh-ed25519";

const BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const END: &str = "-----END PRIVATE KEY-----";

/// The key with which a person signs decisions.
pub enum SigningKey {
    /// A key from a file.
    File(Box<Ed25519KeyPair>),
    /// A public key whose private key an SSH agent holds.
    Agent([u8; 32]),
}

/// A decision to sign. The members are those of [`Claims`](super::Claims).
#[derive(Serialize)]
pub struct Decision<'d> {
    /// The run's id.
    pub run: &'d str,
    /// The call's key.
    pub key: &'d str,
    /// The digest of the action.
    pub digest: &'d str,
    /// `approved` or `rejected`.
    pub decision: &'d str,
    /// The principal who decided.
    pub principal: &'d str,
    /// The time until which the decision is valid, in seconds since 1970.
    pub exp: u64,
}

/// Parses a public key of a profile: its 32 bytes as base64url, or a line of OpenSSH, such as `ssh-ed25519 AAAA… anna`.
pub fn public_key(text: &str) -> Option<[u8; 32]> {
    let Some(line) = text.trim().strip_prefix(SSH_ED25519) else {
        return BASE64URL_NOPAD.decode(text.as_bytes()).ok()?.try_into().ok();
    };
    let blob = BASE64.decode(line.split_whitespace().next()?.as_bytes()).ok()?;
    let mut rest = &blob[..];
    let kind = string(&mut rest).ok()?;
    let key = string(&mut rest).ok()?.try_into().ok()?;
    (kind == SSH_ED25519.as_bytes() && rest.is_empty()).then_some(key)
}

/// Returns a public key in the wire format of SSH (RFC 8709, section 4).
///
/// # Errors
///
/// The key is longer than 4 GiB.
fn ssh_key_blob(key: &[u8]) -> io::Result<Vec<u8>> {
    let mut blob = Vec::new();
    push_string(&mut blob, SSH_ED25519.as_bytes())?;
    push_string(&mut blob, key)?;
    Ok(blob)
}

impl SigningKey {
    /// Creates a key, writes it to a new file that only its owner can read, and returns the public key (base64url).
    ///
    /// # Errors
    ///
    /// The file exists, or cannot be written.
    pub fn create(file: &Path) -> Result<String> {
        let seed: [u8; 32] = random_bytes()?;
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed).map_err(|error| Error::NoVerdict(error.to_string()))?;
        let text = format!("{BEGIN}\n{}\n{END}\n", BASE64.encode(&[&PKCS8[..], &seed].concat()));
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let written = options.open(file).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        });
        if written.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists) {
            bail!("{}: the file exists: name a new one, because a key must not replace another", file.display());
        }
        written.with_context(|| format!("cannot write {}", file.display()))?;
        Ok(BASE64URL_NOPAD.encode(pair.public_key().as_ref()))
    }

    /// Reads a private key: PKCS #8 in PEM, as [`create`](Self::create) and OpenSSL write it.
    ///
    /// # Errors
    ///
    /// The file cannot be read, users other than its owner can read it, or it has no such key.
    pub fn read(file: &Path) -> Result<Self> {
        let context = || format!("--key-file {}", file.display());
        let bytes = read_named(file, MAX_KEY_FILE).with_context(context)?;
        check_mode(file).with_context(context)?;
        let text = String::from_utf8_lossy(&bytes);
        let body = text.split_once(BEGIN).and_then(|(_, rest)| rest.split_once(END));
        let body: Option<String> = body.map(|(body, _)| body.split_whitespace().collect());
        let der = body.and_then(|body| BASE64.decode(body.as_bytes()).ok());
        let pair = der.and_then(|der| Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der).ok());
        match pair {
            Some(pair) => Ok(SigningKey::File(Box::new(pair))),
            None => Err(Error::invalid(
                "it has no Ed25519 key that can be read: expected PKCS #8 in PEM without a passphrase, as \
                 'seamgate approve --new-key FILE' writes it",
            ))
            .with_context(context),
        }
    }

    /// Returns the first of these public keys whose private key the SSH agent of this session holds. `None` if there is
    /// no agent, or if it holds none of them.
    pub fn of_agent(keys: &[String]) -> Option<Self> {
        let held = ssh_agent::keys().ok()?;
        let wanted = keys.iter().filter_map(|key| public_key(key));
        { wanted }.find(|key| ssh_key_blob(key).is_ok_and(|blob| held.contains(&blob))).map(SigningKey::Agent)
    }

    /// Returns whether this is the private key of one of these public keys.
    pub fn is_one_of(&self, keys: &[String]) -> bool {
        let own = self.public();
        keys.iter().any(|key| public_key(key).is_some_and(|key| key == own))
    }

    /// Returns the public key.
    pub fn public(&self) -> [u8; 32] {
        match self {
            // The public key of Ed25519 always has 32 bytes.
            SigningKey::File(pair) => pair.public_key().as_ref().try_into().unwrap_or_default(),
            SigningKey::Agent(key) => *key,
        }
    }

    /// Signs bytes. Returns the 64 bytes of the signature (RFC 8032).
    ///
    /// # Errors
    ///
    /// The SSH agent does not sign.
    pub fn sign_bytes(&self, bytes: &[u8]) -> Result<Vec<u8>> {
        match self {
            SigningKey::File(pair) => Ok(pair.sign(bytes).as_ref().to_vec()),
            SigningKey::Agent(key) => match ssh_agent::sign(&ssh_key_blob(key)?, bytes) {
                Ok(signature) => Ok(signature),
                Err(error) => bail!("the SSH agent did not sign: {error}"),
            },
        }
    }

    /// Signs a decision as a JWS in its compact form.
    ///
    /// # Errors
    ///
    /// The SSH agent does not sign.
    pub fn sign(&self, decision: &Decision) -> Result<String> {
        let part = |text: &str| BASE64URL_NOPAD.encode(text.as_bytes());
        let signed = format!("{}.{}", part(r#"{"alg":"EdDSA"}"#), part(&serde_json::to_string(decision)?));
        let signature = self.sign_bytes(signed.as_bytes())?;
        Ok(format!("{signed}.{}", BASE64URL_NOPAD.encode(&signature)))
    }
}

/// Rejects a private key that other users can read.
#[cfg(unix)]
fn check_mode(file: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::metadata(file)?.permissions().mode();
    if mode & 0o077 != 0 {
        bail!("other users can read it: run chmod 600 on it");
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_mode(file: &Path) -> Result<()> {
    fs::metadata(file).map(drop).map_err(Error::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_keys_are_read_in_both_forms() {
        let key = [7; 32];
        let line = format!("{SSH_ED25519} {}", BASE64.encode(&ssh_key_blob(&key).expect("short")));
        for text in [BASE64URL_NOPAD.encode(&key), line.clone(), format!(" {line} anna@host\n")] {
            assert_eq!(public_key(&text), Some(key), "{text}");
        }
        let short = format!("{SSH_ED25519} {}", BASE64.encode(&ssh_key_blob(&key[1..]).expect("short")));
        for text in
            ["", "AAAA", "ssh-ed25519", "ssh-ed25519 =", "ssh-rsa AAAA", short.as_str(), &line[..line.len() - 4]]
        {
            assert_eq!(public_key(text), None, "{text}");
        }
    }
}
