//! A release for tests: its files and the statements about them.

use std::{collections::BTreeMap, fs, path::Path};

use data_encoding::{BASE64, HEXLOWER};
use seamgate_tests::Random;
use serde_json::{Value, json};
use wit_parser::Resolve;

use super::authority::{Authority, Signer, sha256};

/// The files of a folder, by name.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
pub(crate) const REPOSITORY: &str = "example/seamgate";
pub(crate) const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// Returns the platforms whose command line has a bill of materials. Each entry contains the names of the program, of
/// the bill and of its statement.
pub(crate) fn platforms() -> [[String; 3]; 2] {
    [
        [
            format!("seamgate-{VERSION}-x86_64-linux"),
            "seamgate.cdx.json".to_owned(),
            format!("seamgate-{VERSION}-x86_64-linux.sbom.sigstore.json"),
        ],
        [
            format!("seamgate-{VERSION}-aarch64-macos.zip"),
            format!("seamgate-{VERSION}-aarch64-macos.cdx.json"),
            format!("seamgate-{VERSION}-aarch64-macos.sbom.sigstore.json"),
        ],
    ]
}

pub(crate) fn provenance_name() -> String {
    format!("seamgate-{VERSION}.provenance.sigstore.json")
}

pub(crate) fn wasm(name: &str) -> String {
    format!("seamgate-{name}-{VERSION}.wasm")
}

/// Returns the files of a release: the component and the interfaces of this build, and small placeholders for the
/// others.
pub(crate) fn content() -> Files {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut random = Random(49);
    let mut small = |length: usize| (0..length).map(|_| random.below(256) as u8).collect::<Vec<u8>>();
    let mut files = Files::new();
    for [program, bill, _] in platforms() {
        files.insert(program, small(4096));
        files.insert(bill, bill_of_materials(&lock(&root)).to_string().into_bytes());
    }
    files.insert(format!("seamgate-{VERSION}.crate"), small(1000));
    files.insert(format!("seamgate-{VERSION}-py3-none-any.whl"), small(1000));
    files.insert("THIRD-PARTY-NOTICES.txt".to_owned(), b"Licences.\n".to_vec());
    files.insert("Cargo.lock".to_owned(), fs::read(root.join("Cargo.lock")).expect("it"));
    files.insert(wasm("edge"), small(100));
    files.insert(
        wasm("harness"),
        fs::read(root.join("host/component/harness.wasm")).expect("the component of this build"),
    );
    files.insert(wasm("module"), wat::parse_str("(module (func (export \"f\")))").expect("a module"));
    files.insert(wasm("wit-harness"), wit(|_, text| text));
    files
}

/// Returns the WIT package of the harness in binary form. `change` receives the name and the text of each file, and
/// returns the changed text.
pub(crate) fn wit(change: impl Fn(&str, String) -> String) -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit");
    let mut resolve = Resolve::default();
    let mut package = None;
    for folder in [root.clone(), root.join("harness")] {
        let mut group: Vec<_> =
            fs::read_dir(&folder).expect("wit").map(|entry| entry.expect("an entry").path()).collect();
        group.retain(|path| path.is_file());
        group.sort();
        // All files of the folder become one text with one package declaration, because the other packages are also
        // declared in this text.
        let mut all = String::new();
        for (index, path) in group.iter().enumerate() {
            let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
            let text = change(name, fs::read_to_string(path).expect("text"));
            let body = text.split_once(";\n").map(|(_, body)| body).expect("a package");
            if index == 0 {
                all.push_str(text.split_once(";\n").map(|(package, _)| package).expect("a package"));
                all.push_str(";\n");
            }
            all.push_str(body);
        }
        package = Some(resolve.push_str(&folder, &all).expect("WIT"));
    }
    wit_component::encode(&resolve, package.expect("a package")).expect("encoded")
}

fn lock(root: &Path) -> Vec<[String; 3]> {
    let text = fs::read_to_string(root.join("Cargo.lock")).expect("it");
    let lock: toml::Table = text.parse().expect("TOML");
    let packages = lock["package"].as_array().expect("packages").iter();
    let text = |package: &toml::Value, member: &str| package.get(member)?.as_str().map(str::to_owned);
    let pinned = packages
        .filter_map(|package| Some([text(package, "name")?, text(package, "version")?, text(package, "checksum")?]));
    pinned.step_by(9).collect()
}

fn bill_of_materials(packages: &[[String; 3]]) -> Value {
    let components = packages.iter().map(|[name, version, digest]| {
        let purl = format!("pkg:cargo/{name}@{version}");
        json!({
            "type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl,
            "hashes": [{ "alg": "SHA-256", "content": digest }], "licenses": [{ "expression": "MIT" }],
        })
    });
    json!({
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
        "metadata": {
            "component": { "type": "application", "bom-ref": "seamgate", "name": "seamgate", "version": VERSION },
        },
        "components": components.collect::<Vec<_>>(),
    })
}

/// Returns the `SHA256SUMS` of the files.
pub(crate) fn sums(content: &Files) -> Vec<u8> {
    let line = |(name, bytes): (&String, &Vec<u8>)| format!("{}  {name}\n", HEXLOWER.encode(&sha256(bytes)));
    content.iter().map(line).collect::<String>().into_bytes()
}

pub(crate) fn signer() -> Signer {
    Signer::new(REPOSITORY, VERSION, COMMIT)
}

/// Returns the provenance of files, in the format of GitHub's workflows.
pub(crate) fn provenance(content: &Files, signer: &Signer) -> Value {
    let subjects = content.iter().map(|(name, bytes)| subject(name, bytes));
    json!({
        "_type": "https://in-toto.io/Statement/v1", "subject": subjects.collect::<Vec<_>>(),
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "https://actions.github.io/buildtypes/workflow/v1",
                "externalParameters": {
                    "workflow": {
                        "ref": signer.tag, "repository": signer.repository, "path": ".github/workflows/release.yml",
                    },
                },
                "internalParameters": { "github": { "event_name": "push", "runner_environment": "github-hosted" } },
                "resolvedDependencies": [{
                    "uri": format!("git+{}@{}", signer.repository, signer.tag),
                    "digest": { "gitCommit": signer.commit },
                }],
            },
            "runDetails": {
                "builder": { "id": signer.identity },
                "metadata": { "invocationId": format!("{}/actions/runs/1/attempts/1", signer.repository) },
            },
        },
    })
}

/// Returns the statement about the contents of a command line.
pub(crate) fn materials(program: &str, content: &Files, bill: &str) -> Value {
    let bill: Value = serde_json::from_slice(&content[bill]).expect("JSON");
    json!({
        "_type": "https://in-toto.io/Statement/v1", "subject": [subject(program, &content[program])],
        "predicateType": "https://cyclonedx.org/bom", "predicate": bill,
    })
}

fn subject(name: &str, bytes: &[u8]) -> Value {
    json!({ "name": name, "digest": { "sha256": HEXLOWER.encode(&sha256(bytes)) } })
}

/// Returns the files of a release with their digests and statements.
pub(crate) fn sign(content: &Files, authority: &Authority) -> Files {
    let mut files = content.clone();
    files.insert("SHA256SUMS".to_owned(), sums(content));
    files.insert(provenance_name(), authority.bundle(&provenance(content, &signer()), &signer()));
    for [program, bill, statement] in platforms() {
        if content.contains_key(&program) {
            files.insert(statement, authority.bundle(&materials(&program, content, &bill), &signer()));
        }
    }
    files
}

/// Returns whether two folders have the same meaning: they differ only in the encoding of their statements, or in
/// members that do not describe the files. The signed bytes, the certificate, and the log entry are the originals.
pub(crate) fn say_the_same(one: &Files, other: &Files) -> bool {
    let say = |files: &Files| -> Option<BTreeMap<String, Vec<Vec<u8>>>> {
        let say = |(name, bytes): (&String, &Vec<u8>)| Some((name.clone(), said(name, bytes)?));
        files.iter().map(say).collect()
    };
    say(one).is_some_and(|said| Some(said) == say(other))
}

fn said(name: &str, bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    if name == "SHA256SUMS" {
        let mut lines: Vec<Vec<u8>> = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        lines.sort();
        return Some(lines);
    }
    if !name.ends_with(".sigstore.json") {
        return Some(vec![bytes.to_vec()]);
    }
    let bundle: Value = serde_json::from_slice(bytes).ok()?;
    let entry = "/verificationMaterial/tlogEntries/0";
    let binary =
        ["/dsseEnvelope/payload", "/dsseEnvelope/signatures/0/sig", "/verificationMaterial/certificate/rawBytes"];
    let of_entry = [
        "/canonicalizedBody",
        "/inclusionPromise/signedEntryTimestamp",
        "/inclusionProof/rootHash",
        "/inclusionProof/hashes/0",
        "/logId/keyId",
    ];
    let binary = binary.map(str::to_owned).into_iter().chain(of_entry.map(|place| format!("{entry}{place}")));
    let plain = ["/integratedTime", "/logIndex", "/inclusionProof/treeSize", "/inclusionProof/logIndex"];
    let plain = plain.map(|place| format!("{entry}{place}"));
    let text = |place: &str| bundle.pointer(place).and_then(Value::as_str).map(str::to_owned);
    // Base64 with other trailing bits decodes to the same bytes.
    let decoded = |text: String| {
        let mut lenient = data_encoding::Specification::new();
        lenient.symbols.push_str("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
        lenient.padding = Some('=');
        lenient.check_trailing_bits = false;
        lenient.encoding().ok()?.decode(text.as_bytes()).ok().or_else(|| BASE64.decode(text.as_bytes()).ok())
    };
    let mut said: Vec<Vec<u8>> = binary.map(|place| decoded(text(&place)?)).collect::<Option<_>>()?;
    said.extend(plain.iter().map(|place| text(place).map(String::into_bytes)).collect::<Option<Vec<_>>>()?);
    // The signed part of the checkpoint.
    let note = text(&format!("{entry}/inclusionProof/checkpoint/envelope"))?;
    said.push(note.split_once("\n\n")?.0.as_bytes().to_vec());
    Some(said)
}
