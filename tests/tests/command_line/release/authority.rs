//! An instance of Sigstore for tests: a certificate authority, a certificate transparency log and a signature log.

use std::sync::Arc;

use data_encoding::{BASE64, HEXLOWER};
use ring::{
    digest::{SHA256, digest},
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair},
};
use serde_json::{Value, json};

/// 2025-01-02T10:00:00Z. Every certificate is valid from this time, for ten minutes.
const ISSUED: u64 = 1_735_812_000;

pub(crate) struct Key {
    pair: EcdsaKeyPair,
    /// The public key, encoded as SubjectPublicKeyInfo.
    public: Vec<u8>,
}

impl Key {
    fn new() -> Self {
        let random = SystemRandom::new();
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &random).expect("a key");
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, pkcs8.as_ref(), &random).expect("it");
        let algorithm = sequence(&[&oid(&[1, 2, 840, 10045, 2, 1]), &oid(&[1, 2, 840, 10045, 3, 1, 7])]);
        let public = sequence(&[&algorithm, &bits(pair.public_key().as_ref())]);
        Key { pair, public }
    }

    fn sign(&self, bytes: &[u8]) -> Vec<u8> {
        self.pair.sign(&SystemRandom::new(), bytes).expect("a signature").as_ref().to_vec()
    }

    fn id(&self) -> Vec<u8> {
        sha256(&self.public)
    }
}

/// The keys and the root certificate of an instance.
#[derive(Clone)]
pub(crate) struct Authority {
    ca: Arc<Key>,
    ct_log: Arc<Key>,
    log: Arc<Key>,
    root: Vec<u8>,
}

/// The workflow that a certificate names, and the flaw of its signature.
#[derive(Clone)]
pub(crate) struct Signer {
    pub(crate) identity: String,
    pub(crate) issuer: String,
    pub(crate) repository: String,
    pub(crate) tag: String,
    pub(crate) commit: String,
    pub(crate) trigger: String,
    pub(crate) runner: String,
    /// The seconds from the start of the certificate's validity to the log entry.
    pub(crate) logged_after: i64,
    pub(crate) flaw: Flaw,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    None,
    /// The timestamp of the certificate transparency log is missing.
    NoSct,
    /// The timestamp of the certificate transparency log belongs to another certificate.
    OtherSct,
    /// The certificate does not permit code signing.
    NoCodeSigning,
    /// The signature belongs to another statement.
    OtherStatement,
    /// The log entry belongs to another statement.
    OtherEntry,
    NoEntry,
    NoPromise,
    OtherPromise,
    NoProof,
    OtherRoot,
    OtherCheckpoint,
}

impl Signer {
    /// Returns the release workflow of a repository at the tag of a version.
    pub(crate) fn new(repository: &str, version: &str, commit: &str) -> Self {
        let address = format!("https://github.com/{repository}");
        let tag = format!("refs/tags/v{version}");
        Signer {
            identity: format!("{address}/.github/workflows/release.yml@{tag}"),
            issuer: "https://token.actions.githubusercontent.com".to_owned(),
            repository: address,
            tag,
            commit: commit.to_owned(),
            trigger: "push".to_owned(),
            runner: "github-hosted".to_owned(),
            logged_after: 60,
            flaw: Flaw::None,
        }
    }
}

impl Authority {
    pub(crate) fn new() -> Self {
        let [ca, ct_log, log] = [(); 3].map(|()| Arc::new(Key::new()));
        let extensions = sequence(&[
            &extension(&[2, 5, 29, 19], true, &sequence(&[&der(0x01, &[0xff])])),
            &extension(&[2, 5, 29, 15], true, &der(0x03, &[1, 0x06])),
        ]);
        let validity = sequence(&[&der(0x17, b"200101000000Z"), &der(0x17, b"400101000000Z")]);
        let tbs = certificate(1, &name(), &validity, &name(), &ca.public, &extensions);
        let root = signed(&tbs, &ca);
        Authority { ca, ct_log, log, root }
    }

    /// Returns a trust root that makes a verifier trust this authority.
    pub(crate) fn trust_root(&self) -> String {
        let log = |key: &Key, url: &str| {
            json!({
                "baseUrl": url, "hashAlgorithm": "SHA2_256", "logId": { "keyId": BASE64.encode(&key.id()) },
                "publicKey": {
                    "rawBytes": BASE64.encode(&key.public), "keyDetails": "PKIX_ECDSA_P256_SHA_256",
                    "validFor": { "start": "2020-01-01T00:00:00Z" },
                },
            })
        };
        let root = json!({
            "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
            "tlogs": [log(&self.log, "https://log.test")],
            "ctlogs": [log(&self.ct_log, "https://ct.test")],
            "certificateAuthorities": [{
                "subject": { "organization": "test", "commonName": "test" }, "uri": "https://ca.test",
                "certChain": { "certificates": [{ "rawBytes": BASE64.encode(&self.root) }] },
                "validFor": { "start": "2020-01-01T00:00:00Z" },
            }],
            "timestampAuthorities": [],
        });
        root.to_string()
    }

    /// Returns variants of this authority: with another key for certificates, for the certificate transparency log, and
    /// for the signature log.
    pub(crate) fn with_other_keys(&self) -> [(&'static str, Self); 3] {
        let other = Authority::new();
        [
            ("authority", Authority { ca: other.ca, root: other.root, ..self.clone() }),
            ("log of certificates", Authority { ct_log: other.ct_log, ..self.clone() }),
            ("log of signatures", Authority { log: other.log, ..self.clone() }),
        ]
    }

    /// Returns a bundle with a statement, as a signer creates it with a fresh key.
    pub(crate) fn bundle(&self, statement: &Value, signer: &Signer) -> Vec<u8> {
        let key = Key::new();
        let leaf = self.leaf(&key, signer);
        let payload = statement.to_string();
        let kind = "application/vnd.in-toto+json";
        let to_sign = |payload: &str| format!("DSSEv1 {} {kind} {} {payload}", kind.len(), payload.len());
        let other = format!("{payload} ");
        let of = if signer.flaw == Flaw::OtherStatement { &other } else { &payload };
        let signature = key.sign(to_sign(of).as_bytes());
        let of = if signer.flaw == Flaw::OtherEntry { &other } else { &payload };
        let entry = self.entry(of, &signature, &leaf, signer);
        let entries = if signer.flaw == Flaw::NoEntry { json!([]) } else { json!([entry]) };
        let bundle = json!({
            "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
            "verificationMaterial": {
                "certificate": { "rawBytes": BASE64.encode(&leaf) },
                "tlogEntries": entries,
                "timestampVerificationData": {},
            },
            "dsseEnvelope": {
                "payload": BASE64.encode(payload.as_bytes()), "payloadType": kind,
                "signatures": [{ "sig": BASE64.encode(&signature) }],
            },
        });
        bundle.to_string().into_bytes()
    }

    fn leaf(&self, key: &Key, signer: &Signer) -> Vec<u8> {
        let claim = |number: u64, value: &str| {
            extension(&[1, 3, 6, 1, 4, 1, 57264, 1, number], false, &der(0x0c, value.as_bytes()))
        };
        let usage = if signer.flaw == Flaw::NoCodeSigning { 1 } else { 3 };
        let uri = sequence(&[&der(0x86, signer.identity.as_bytes())]);
        let mut extensions = vec![
            extension(&[2, 5, 29, 15], true, &der(0x03, &[7, 0x80])),
            extension(&[2, 5, 29, 37], false, &sequence(&[&oid(&[1, 3, 6, 1, 5, 5, 7, 3, usage])])),
            extension(&[2, 5, 29, 17], true, &uri),
            claim(8, &signer.issuer),
            claim(11, &signer.runner),
            claim(12, &signer.repository),
            claim(13, &signer.commit),
            claim(14, &signer.tag),
            claim(18, &signer.identity),
            claim(20, &signer.trigger),
        ];
        let validity = sequence(&[&der(0x17, b"250102100000Z"), &der(0x17, b"250102101000Z")]);
        let tbs = |extensions: &[Vec<u8>]| {
            let extensions: Vec<&[u8]> = extensions.iter().map(Vec::as_slice).collect();
            certificate(2, &name(), &validity, &sequence(&[]), &key.public, &sequence(&extensions))
        };
        let before = tbs(&extensions);
        if signer.flaw != Flaw::NoSct {
            let of = if signer.flaw == Flaw::OtherSct { tbs(&extensions[1..]) } else { before };
            let list = self.sct(&of);
            extensions.push(extension(&[1, 3, 6, 1, 4, 1, 11129, 2, 4, 2], false, &der(0x04, &list)));
        }
        signed(&tbs(&extensions), &self.ca)
    }

    /// Returns the extension list with a timestamp of the certificate transparency log (RFC 6962).
    fn sct(&self, tbs: &[u8]) -> Vec<u8> {
        let time = (ISSUED * 1000).to_be_bytes();
        let length = u32::try_from(tbs.len()).expect("a short one").to_be_bytes();
        let issuer = sha256(&self.ca.public);
        let data = [&[0, 0][..], &time, &[0, 1], &issuer, &length[1..], tbs, &[0, 0]].concat();
        let signature = self.ct_log.sign(&data);
        let sct = [&[0][..], &self.ct_log.id(), &time, &[0, 0], &[4, 3], &short(&signature)].concat();
        short(&short(&sct))
    }

    /// Returns the entry of the signature log, in the format of Rekor 1.
    fn entry(&self, payload: &str, signature: &[u8], leaf: &[u8], signer: &Signer) -> Value {
        let lines: Vec<String> = BASE64.encode(leaf).as_bytes().chunks(64).map(text).collect();
        let pem = format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"));
        let hash = |value: &[u8]| json!({ "algorithm": "sha256", "value": HEXLOWER.encode(&sha256(value)) });
        let body = json!({
            "apiVersion": "0.0.1", "kind": "dsse",
            "spec": {
                "envelopeHash": hash(b"the envelope"), "payloadHash": hash(payload.as_bytes()),
                "signatures": [{ "signature": BASE64.encode(signature), "verifier": BASE64.encode(pem.as_bytes()) }],
            },
        });
        let body = body.to_string();
        let time = i64::try_from(ISSUED).expect("a time") + signer.logged_after;
        let id = self.log.id();
        let promised = if signer.flaw == Flaw::OtherPromise { time + 1 } else { time };
        // The members are in the order of canonical JSON.
        let promise = format!(
            "{{\"body\":\"{}\",\"integratedTime\":{promised},\"logID\":\"{}\",\"logIndex\":7}}",
            BASE64.encode(body.as_bytes()),
            HEXLOWER.encode(&id)
        );
        let promise = self.log.sign(promise.as_bytes());
        let beside = sha256(b"another entry");
        let leaf = sha256(&[&[0][..], body.as_bytes()].concat());
        let mut root = sha256(&[&[1][..], &leaf, &beside].concat());
        if signer.flaw == Flaw::OtherRoot {
            root = sha256(&root);
        }
        let note = format!("log.test - 1\n2\n{}\n", BASE64.encode(&root));
        let of = if signer.flaw == Flaw::OtherCheckpoint { "another note" } else { &note };
        let hinted = [&id[..4], &self.log.sign(of.as_bytes())].concat();
        let checkpoint = format!("{note}\n\u{2014} log.test {}\n", BASE64.encode(&hinted));
        let mut entry = json!({
            "logIndex": "7", "logId": { "keyId": BASE64.encode(&id) },
            "kindVersion": { "kind": "dsse", "version": "0.0.1" }, "integratedTime": time.to_string(),
            "inclusionPromise": { "signedEntryTimestamp": BASE64.encode(&promise) },
            "inclusionProof": {
                "logIndex": "0", "rootHash": BASE64.encode(&root), "treeSize": "2", "hashes": [BASE64.encode(&beside)],
                "checkpoint": { "envelope": checkpoint },
            },
            "canonicalizedBody": BASE64.encode(body.as_bytes()),
        });
        let members = entry.as_object_mut().expect("an object");
        match signer.flaw {
            Flaw::NoPromise => drop(members.remove("inclusionPromise")),
            Flaw::NoProof => drop(members.remove("inclusionProof")),
            _ => {}
        }
        entry
    }
}

pub(crate) fn sha256(bytes: &[u8]) -> Vec<u8> {
    digest(&SHA256, bytes).as_ref().to_vec()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("ASCII")
}

/// Returns the bytes, preceded by their length in two bytes.
fn short(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).expect("a short one").to_be_bytes();
    [&length[..], bytes].concat()
}

/// Returns a DER-encoded value.
fn der(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len().to_be_bytes();
    let length: Vec<u8> = length.into_iter().skip_while(|byte| *byte == 0).collect();
    let head = match content.len() {
        0 => vec![tag, 0],
        1..=127 => vec![tag, length[0]],
        _ => [&[tag, 0x80 | u8::try_from(length.len()).expect("at most 8")][..], &length].concat(),
    };
    [head.as_slice(), content].concat()
}

fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    der(0x30, &parts.concat())
}

fn bits(bytes: &[u8]) -> Vec<u8> {
    der(0x03, &[&[0][..], bytes].concat())
}

fn oid(numbers: &[u64]) -> Vec<u8> {
    let mut content = Vec::new();
    let first = numbers[0] * 40 + numbers[1];
    for number in [&[first][..], &numbers[2..]].concat() {
        let groups = (0..10).rev().map(|group| number >> (7 * group)).skip_while(|rest| *rest == 0);
        let mut bytes: Vec<u8> = groups.map(|rest| 0x80 | (rest & 0x7f) as u8).collect();
        match bytes.last_mut() {
            Some(last) => *last &= 0x7f,
            None => bytes.push(0),
        }
        content.extend(bytes);
    }
    der(0x06, &content)
}

fn name() -> Vec<u8> {
    sequence(&[&der(0x31, &sequence(&[&oid(&[2, 5, 4, 3]), &der(0x0c, b"test")]))])
}

fn extension(id: &[u64], is_critical: bool, value: &[u8]) -> Vec<u8> {
    let critical = if is_critical { der(0x01, &[0xff]) } else { Vec::new() };
    sequence(&[&oid(id), &critical, &der(0x04, value)])
}

/// Returns the algorithm of all signatures: ECDSA with SHA-256.
fn algorithm() -> Vec<u8> {
    sequence(&[&oid(&[1, 2, 840, 10045, 4, 3, 2])])
}

fn certificate(
    serial: u8,
    issuer: &[u8],
    validity: &[u8],
    subject: &[u8],
    public: &[u8],
    extensions: &[u8],
) -> Vec<u8> {
    let version = der(0xa0, &der(0x02, &[2]));
    let extensions = der(0xa3, extensions);
    let serial = der(0x02, &[serial]);
    sequence(&[&version, &serial, &algorithm(), issuer, validity, subject, public, &extensions])
}

fn signed(tbs: &[u8], key: &Key) -> Vec<u8> {
    sequence(&[tbs, &algorithm(), &bits(&key.sign(tbs))])
}
