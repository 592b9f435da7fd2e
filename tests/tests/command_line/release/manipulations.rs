//! The manipulations. Each consists of the manipulated folder and the check that must reject it.

use seamgate_release::CheckKind;
use seamgate_tests::Random;
use serde_json::{Value, json};

use super::{
    authority::{Authority, Flaw, Signer},
    papers::{self, Files, REPOSITORY, VERSION, platforms, provenance_name, sums, wasm},
};

pub(crate) struct Manipulation {
    pub(crate) name: String,
    pub(crate) files: Files,
    pub(crate) check: CheckKind,
}

/// A version with the same length as this one, for the statements and components of an older release.
const OLDER: &str = "0.0.9";

/// Visits all manipulations of a release. They are the same in each run, except for the keys.
pub(crate) fn visit(content: &Files, files: &Files, authority: &Authority, visitor: &mut dyn FnMut(Manipulation)) {
    let mut list = List { content, files, authority, random: Random(2049), visitor };
    list.bytes();
    list.digests();
    list.swapped_statements();
    list.signers();
    list.provenance();
    list.materials();
    list.components();
    list.older();
}

struct List<'l> {
    content: &'l Files,
    files: &'l Files,
    authority: &'l Authority,
    random: Random,
    visitor: &'l mut dyn FnMut(Manipulation),
}

impl List<'_> {
    fn add(&mut self, name: impl Into<String>, check: CheckKind, change: impl FnOnce(&mut Files)) {
        let mut files = self.files.clone();
        change(&mut files);
        (self.visitor)(Manipulation { name: name.into(), files, check });
    }

    /// Adds a release whose content was changed before it was correctly signed.
    fn add_signed(&mut self, name: impl Into<String>, check: CheckKind, change: impl FnOnce(&mut Files)) {
        let mut content = self.content.clone();
        change(&mut content);
        let files = papers::sign(&content, self.authority);
        (self.visitor)(Manipulation { name: name.into(), files, check });
    }

    fn statements(&self) -> Vec<(String, Value)> {
        let mut statements = vec![(provenance_name(), papers::provenance(self.content, &papers::signer()))];
        for [program, bill, statement] in platforms() {
            statements.push((statement, papers::materials(&program, self.content, &bill)));
        }
        statements
    }

    /// Changes a byte in each file, at random places.
    fn bytes(&mut self) {
        let names: Vec<String> = self.files.keys().cloned().collect();
        for name in names {
            let is_statement = name.ends_with(".sigstore.json");
            let check = if is_statement { CheckKind::Signature } else { CheckKind::Digests };
            let times = if is_statement || name == "SHA256SUMS" { 20 } else { 6 };
            for _ in 0..times {
                let at = self.random.below(self.files[&name].len());
                let bits = 1 + self.random.below(255) as u8;
                self.add(format!("byte {at} of {name} by {bits:#x}"), check, |files| {
                    files.get_mut(&name).expect("it")[at] ^= bits;
                });
            }
            if !is_statement && name != "SHA256SUMS" {
                self.add(format!("a byte more in {name}"), CheckKind::Digests, |files| {
                    files.get_mut(&name).expect("it").push(b'\n');
                });
            }
        }
    }

    /// Changes lines of `SHA256SUMS`, and files that the lines name.
    fn digests(&mut self) {
        let text = String::from_utf8(self.files["SHA256SUMS"].clone()).expect("text");
        let lines: Vec<&str> = text.lines().collect();
        let joined = |lines: &[&str]| lines.iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes();
        for (index, line) in lines.iter().enumerate() {
            let name = line.split_once("  ").expect("a line").1.to_owned();
            let without: Vec<&str> = lines.iter().copied().filter(|other| other != line).collect();
            let without = joined(&without);
            let doubled = joined(&[&lines[..=index], &lines[index..]].concat());
            let next = (index + 1) % lines.len();
            let mut swapped: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
            swapped[index].replace_range(..64, &lines[next][..64]);
            swapped[next].replace_range(..64, &lines[index][..64]);
            let swapped: Vec<&str> = swapped.iter().map(String::as_str).collect();
            let swapped = joined(&swapped);
            let sums = "SHA256SUMS".to_owned();
            self.add(format!("no line of {name}"), CheckKind::Digests, |files| {
                files.insert(sums.clone(), without.clone());
            });
            self.add(format!("neither a line nor the file of {name}"), CheckKind::Provenance, |files| {
                files.insert(sums.clone(), without);
                files.remove(&name);
            });
            self.add(format!("two lines of {name}"), CheckKind::Digests, |files| {
                files.insert(sums.clone(), doubled);
            });
            self.add(format!("digest of {name} and the next one swapped"), CheckKind::Digests, |files| {
                files.insert(sums.clone(), swapped);
            });
            self.add(format!("{name} replaced, with its digest"), CheckKind::Provenance, |files| {
                files.get_mut(&name).expect("it").extend(b"more");
                renew_sums(files);
            });
        }
        let mut reversed = lines.clone();
        reversed.reverse();
        let reversed = joined(&reversed);
        self.add("lines in another order", CheckKind::Digests, |files| {
            files.insert("SHA256SUMS".to_owned(), reversed);
        });
        for (name, line) in [
            ("outside", "  ../seamgate"),
            ("absolute", "  /etc/passwd"),
            ("hidden", "  .profile"),
            ("option", "  -rf"),
            ("binary mode", " *seamgate"),
        ] {
            let more = format!("{text}{}{line}\n", "0".repeat(64)).into_bytes();
            self.add(format!("a line with a name that is {name}"), CheckKind::Digests, |files| {
                files.insert("SHA256SUMS".to_owned(), more);
            });
        }
        self.add("no SHA256SUMS", CheckKind::Digests, |files| drop(files.remove("SHA256SUMS")));
        self.add("a file that nobody names", CheckKind::Digests, |files| {
            files.insert("install.sh".to_owned(), b"#!/bin/sh\n".to_vec());
        });
        self.add("a file more, with its digest", CheckKind::Provenance, |files| {
            files.insert(format!("seamgate-{VERSION}.deb"), b"new".to_vec());
            renew_sums(files);
        });
    }

    /// Swaps, duplicates and removes statements.
    fn swapped_statements(&mut self) {
        let names: Vec<String> = self.statements().into_iter().map(|(name, _)| name).collect();
        for (index, name) in names.iter().enumerate() {
            for other in names.iter().filter(|other| *other != name) {
                let check = if index == 0 { CheckKind::Provenance } else { CheckKind::Materials };
                self.add(format!("{other} in the place of {name}"), check, |files| {
                    let bytes = files[other].clone();
                    files.insert(name.clone(), bytes);
                });
                let check = if index == 0 || *other == names[0] { CheckKind::Provenance } else { CheckKind::Materials };
                self.add(format!("{name} and {other} swapped"), check, |files| {
                    let [one, two] = [name, other].map(|name| files[name].clone());
                    files.insert(name.clone(), two);
                    files.insert(other.clone(), one);
                });
            }
            self.add(format!("no {name}"), CheckKind::Signature, |files| drop(files.remove(name)));
            self.add(format!("{name} of another version beside it"), CheckKind::Signature, |files| {
                let bytes = files[name].clone();
                files.insert(name.replace(VERSION, OLDER), bytes);
            });
        }
    }

    /// Adds statements of other signers, and statements that are incorrectly signed or logged.
    fn signers(&mut self) {
        let signer = papers::signer;
        let of = |change: &dyn Fn(&mut Signer)| {
            let mut signer = signer();
            change(&mut signer);
            signer
        };
        let branch = "refs/heads/main";
        let mut signers: Vec<(&str, Signer)> = vec![
            ("a fork", Signer::new("fork/seamgate", VERSION, papers::COMMIT)),
            ("another repository of the owner", Signer::new("example/other", VERSION, papers::COMMIT)),
            ("another tag", Signer::new(REPOSITORY, OLDER, papers::COMMIT)),
            (
                "a branch",
                of(&|signer| {
                    signer.identity = signer.identity.replace(&signer.tag, branch);
                    signer.tag = branch.to_owned();
                }),
            ),
            ("another workflow", of(&|signer| signer.identity = signer.identity.replace("release.yml", "ci.yml"))),
            (
                "the workflow for a fork",
                of(&|signer| {
                    signer.repository = "https://github.com/fork/seamgate".to_owned();
                }),
            ),
            ("the workflow at a branch of the source", of(&|signer| signer.tag = branch.to_owned())),
            ("another issuer", of(&|signer| signer.issuer = "https://accounts.google.com".to_owned())),
            ("a pull request", of(&|signer| signer.trigger = "pull_request_target".to_owned())),
            ("a self-hosted runner", of(&|signer| signer.runner = "self-hosted".to_owned())),
            ("no commit", of(&|signer| signer.commit = "main".to_owned())),
            ("a certificate after its end", of(&|signer| signer.logged_after = 601)),
            ("a certificate before its start", of(&|signer| signer.logged_after = -1)),
            ("a time that has not come", of(&|signer| signer.logged_after = 1 << 33)),
        ];
        for (name, flaw) in [
            ("a certificate without its log", Flaw::NoSct),
            ("the log's timestamp of another certificate", Flaw::OtherSct),
            ("a certificate that is not for code", Flaw::NoCodeSigning),
            ("the signature of another statement", Flaw::OtherStatement),
            ("the entry of another statement", Flaw::OtherEntry),
            ("no entry in the log", Flaw::NoEntry),
            ("no promise of the log", Flaw::NoPromise),
            ("another promise of the log", Flaw::OtherPromise),
            ("no proof of the log", Flaw::NoProof),
            ("another root of the log", Flaw::OtherRoot),
            ("another note of the log", Flaw::OtherCheckpoint),
        ] {
            signers.push((name, of(&|signer| signer.flaw = flaw)));
        }
        let others = self.authority.with_other_keys();
        for (name, statement) in self.statements() {
            for (by, signer) in &signers {
                let bundle = self.authority.bundle(&statement, signer);
                self.add(format!("{name} by {by}"), CheckKind::Signature, |files| {
                    drop(files.insert(name.clone(), bundle))
                });
            }
            for (by, authority) in &others {
                let bundle = authority.bundle(&statement, &papers::signer());
                self.add(format!("{name} by another {by}"), CheckKind::Signature, |files| {
                    files.insert(name.clone(), bundle);
                });
            }
        }
    }

    /// Adds provenance with a valid signature but with other content.
    fn provenance(&mut self) {
        let build = "/predicate/buildDefinition";
        let workflow = format!("{build}/externalParameters/workflow");
        let source = format!("{build}/resolvedDependencies/0");
        for (place, value) in [
            ("/predicateType".to_owned(), json!("https://slsa.dev/provenance/v0.2")),
            (format!("{build}/buildType"), json!("https://example.com/build")),
            (format!("{workflow}/ref"), json!("refs/heads/main")),
            (format!("{workflow}/repository"), json!("https://github.com/fork/seamgate")),
            (format!("{workflow}/path"), json!(".github/workflows/ci.yml")),
            ("/predicate/runDetails/builder/id".to_owned(), json!("https://example.com/builder")),
            (format!("{source}/uri"), json!("git+https://github.com/fork/seamgate@refs/tags/v0.1.0")),
            (format!("{source}/digest/gitCommit"), json!("f".repeat(40))),
            ("/predicate".to_owned(), json!({})),
            ("/subject/0/name".to_owned(), json!("another")),
            ("/subject/1/digest/sha256".to_owned(), json!("0".repeat(64))),
        ] {
            let mut statement = papers::provenance(self.content, &papers::signer());
            *statement.pointer_mut(&place).expect("a member") = value;
            self.provenance_of(&format!("provenance with another {place}"), &statement);
        }
        let subjects = |change: &dyn Fn(&mut Vec<Value>)| {
            let mut statement = papers::provenance(self.content, &papers::signer());
            change(statement["subject"].as_array_mut().expect("a list"));
            statement
        };
        let changed = [
            ("one subject fewer", subjects(&|subjects| drop(subjects.pop()))),
            ("one subject twice", subjects(&|subjects| subjects.push(subjects[0].clone()))),
            (
                "one subject more",
                subjects(&|subjects| {
                    let mut more = subjects[0].clone();
                    more["name"] = json!("more");
                    subjects.push(more);
                }),
            ),
        ];
        for (name, statement) in changed {
            self.provenance_of(name, &statement);
        }
        self.add_signed("a file of another version", CheckKind::Provenance, |content| {
            let bytes = content.remove(&format!("seamgate-{VERSION}.crate")).expect("it");
            content.insert(format!("seamgate-{OLDER}.crate"), bytes);
        });
    }

    fn provenance_of(&mut self, name: &str, statement: &Value) {
        let bundle = self.authority.bundle(statement, &papers::signer());
        self.add(name, CheckKind::Provenance, |files| drop(files.insert(provenance_name(), bundle)));
    }

    /// Adds correctly signed bills of materials that do not match `Cargo.lock`, the command line or their statement.
    fn materials(&mut self) {
        for [program, bill, statement] in platforms() {
            for (place, value) in [
                ("/bomFormat", json!("SPDX")),
                ("/metadata/component/name", json!("other")),
                ("/metadata/component/version", json!(OLDER)),
                ("/components", json!([])),
                ("/components/3/name", json!("left-pad")),
                ("/components/3/version", json!("99.0.0")),
                ("/components/3/purl", json!("pkg:cargo/other@1.0.0")),
                ("/components/3/hashes/0/content", json!("0".repeat(64))),
                ("/components/3/hashes/0/alg", json!("SHA-1")),
                ("/components/3/hashes", json!([])),
            ] {
                self.add_signed(format!("{bill} with another {place}"), CheckKind::Materials, |content| {
                    let mut changed: Value = serde_json::from_slice(&content[&bill]).expect("JSON");
                    *changed.pointer_mut(place).expect("a member") = value;
                    content.insert(bill.clone(), changed.to_string().into_bytes());
                });
            }
            self.add_signed(format!("{bill} with a package twice"), CheckKind::Materials, |content| {
                let mut changed: Value = serde_json::from_slice(&content[&bill]).expect("JSON");
                let components = changed["components"].as_array_mut().expect("a list");
                components.push(components[0].clone());
                content.insert(bill.clone(), changed.to_string().into_bytes());
            });
            let mut shorter = papers::materials(&program, self.content, &bill);
            shorter["predicate"]["components"].as_array_mut().expect("a list").pop();
            let mut other = self.content.clone();
            other.insert(program.clone(), b"an older command line".to_vec());
            let older = papers::materials(&program, &other, &bill);
            let kind = {
                let mut changed = papers::materials(&program, self.content, &bill);
                changed["predicateType"] = json!("https://spdx.dev/Document");
                changed
            };
            for (name, changed) in
                [("with another bill", shorter), ("about an older command line", older), ("of another type", kind)]
            {
                let bundle = self.authority.bundle(&changed, &papers::signer());
                self.add(format!("{statement} {name}"), CheckKind::Materials, |files| {
                    files.insert(statement.clone(), bundle);
                });
            }
            // The same tag, moved to another commit.
            let moved = Signer::new(REPOSITORY, VERSION, &"a".repeat(40));
            let bundle = self.authority.bundle(&papers::materials(&program, self.content, &bill), &moved);
            self.add(format!("{statement} of another commit"), CheckKind::Materials, |files| {
                files.insert(statement.clone(), bundle);
            });
        }
        let lock = String::from_utf8(self.content["Cargo.lock"].clone()).expect("text");
        let own = format!("name = \"seamgate\"\nversion = \"{VERSION}\"");
        assert!(lock.contains(&own));
        for (name, changed) in [
            ("of an older release", lock.replace(&own, &own.replace(VERSION, OLDER))),
            ("without the package", lock.replace(&own, &own.replace("\"seamgate\"", "\"other\""))),
            ("with other checksums", lock.replace("checksum = \"", "checksum = \"0")),
            ("from another source", lock.replace("registry+", "git+")),
            ("that is no TOML", format!("{lock}[[")),
        ] {
            self.add_signed(format!("Cargo.lock {name}"), CheckKind::Materials, |content| {
                content.insert("Cargo.lock".to_owned(), changed.into_bytes());
            });
        }
    }

    /// Adds correctly signed components that do not match the WIT package.
    fn components(&mut self) {
        let harness = self.content[&wasm("harness")].clone();
        let text = |bytes: &[u8]| bytes.windows(VERSION.len()).filter(|part| *part == VERSION.as_bytes()).count();
        assert!(text(&harness) > 0, "the component names its version");
        let section = |id: u8, content: &[u8]| {
            let length = u8::try_from(content.len()).expect("a short one");
            [harness.as_slice(), &[id, length], content].concat()
        };
        let named = |name: &str| [&[1, 0, u8::try_from(name.len()).expect("short")][..], name.as_bytes()].concat();
        // An import section with a resource type, and an export section with the first instance.
        let importing = section(10, &[named("clock").as_slice(), &[3, 1]].concat());
        let exporting = section(11, &[named("seamgate:harness/more@0.1.0").as_slice(), &[5, 0, 0]].concat());
        let files = [
            ("harness", "with an import", importing),
            ("harness", "with one export more", exporting),
            ("harness", "of an older release", renamed(&harness)),
            ("harness", "that ends early", harness[..harness.len() / 2].to_vec()),
            ("harness", "that is a WIT package", self.content[&wasm("wit-harness")].clone()),
            ("harness", "that is a core module", self.content[&wasm("module")].clone()),
            ("harness", "that exports nothing", wat::parse_str("(component)").expect("a component")),
            ("module", "that is a component", harness.clone()),
            (
                "module",
                "with an import",
                wat::parse_str("(module (import \"wasi_snapshot_preview1\" \"fd_write\" (func)))").expect("a module"),
            ),
            ("wit-harness", "that is a component", harness.clone()),
            ("wit-harness", "of an older release", papers::wit(|_, text| text.replace(VERSION, OLDER))),
            (
                "wit-harness",
                "with one function more",
                papers::wit(|_, text| text.replace("    has: func(agent", "    more: func();\n    has: func(agent")),
            ),
            (
                "wit-harness",
                "with one function fewer",
                papers::wit(|name, text| match name {
                    "harness.wit" => text.replace("    names: func() -> list<string>;\n", ""),
                    _ => text,
                }),
            ),
            (
                "wit-harness",
                "with another parameter",
                papers::wit(|_, text| text.replace("describe: func(agent: string)", "describe: func(agent: u32)")),
            ),
            (
                "wit-harness",
                "with one interface fewer",
                papers::wit(|_, text| text.replace("    export profiles;\n", "")),
            ),
            (
                "wit-harness",
                "with another resource",
                papers::wit(|_, text| {
                    text.replace("resource run {", "resource turn {")
                        .replace("result<run, fault>", "result<turn, fault>")
                }),
            ),
        ];
        for (name, what, bytes) in files {
            self.add_signed(format!("{name} {what}"), CheckKind::Component, |content| {
                content.insert(wasm(name), bytes);
            });
        }
    }

    /// Combines files of an older release with newer statements, and newer files with older statements.
    fn older(&mut self) {
        let older = renamed(&self.content[&wasm("harness")]);
        self.add("an older component", CheckKind::Digests, |files| drop(files.insert(wasm("harness"), older.clone())));
        self.add("an older component, with its digest", CheckKind::Provenance, |files| {
            files.insert(wasm("harness"), older.clone());
            renew_sums(files);
        });
        let signer = Signer::new(REPOSITORY, OLDER, papers::COMMIT);
        let mut content = self.content.clone();
        content.insert(wasm("harness"), older);
        let papers = self.authority.bundle(&papers::provenance(&content, &signer), &signer);
        self.add("older papers under the name of newer ones", CheckKind::Signature, |files| {
            files.insert(provenance_name(), papers.clone());
        });
        self.add("an older component and its older papers", CheckKind::Signature, |files| {
            files.insert(wasm("harness"), content[&wasm("harness")].clone());
            files.insert("SHA256SUMS".to_owned(), sums(&content));
            files.insert(provenance_name(), papers.clone());
        });
        // The signature of these statements is valid for the older tag.
        self.add("older papers under their own name", CheckKind::Provenance, |files| {
            files.remove(&provenance_name());
            files.insert(provenance_name().replace(VERSION, OLDER), papers);
        });
    }
}

/// Recomputes the digests of all files.
fn renew_sums(files: &mut Files) {
    let is_named = |name: &str| name != "SHA256SUMS" && !name.ends_with(".sigstore.json");
    let named: Files = files.iter().filter(|(name, _)| is_named(name)).map(|(k, v)| (k.clone(), v.clone())).collect();
    files.insert("SHA256SUMS".to_owned(), sums(&named));
}

/// Returns a component whose interfaces have the version of an older release.
fn renamed(component: &[u8]) -> Vec<u8> {
    let (from, to) = (format!("@{VERSION}"), format!("@{OLDER}"));
    let mut bytes = component.to_vec();
    let places: Vec<usize> =
        bytes.windows(from.len()).enumerate().filter(|(_, part)| *part == from.as_bytes()).map(|(at, _)| at).collect();
    assert!(!places.is_empty() && from.len() == to.len(), "a version of five characters");
    for at in places {
        bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
    }
    bytes
}
