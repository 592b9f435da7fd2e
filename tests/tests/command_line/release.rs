//! `seamgate verify-release`: a release that is built and signed here passes. Each of several hundred manipulations is
//! rejected by the check that covers it.

mod authority;
mod manipulations;
mod papers;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use authority::Authority;
use manipulations::Manipulation;
use papers::{Files, REPOSITORY, VERSION};
use seamgate_release::{CheckKind, Expected, Report, Trust, verify};

/// A release folder on disk, which manipulations change.
struct Folder {
    path: PathBuf,
    files: Files,
}

impl Folder {
    fn new(name: &str, files: &Files) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        drop(fs::remove_dir_all(&path));
        fs::create_dir_all(&path).expect("a folder");
        for (name, bytes) in files {
            fs::write(path.join(name), bytes).expect("written");
        }
        Folder { path, files: files.clone() }
    }

    /// Changes the folder so that it contains exactly these files.
    fn hold(&mut self, files: &Files) {
        for name in self.files.keys().filter(|name| !files.contains_key(*name)) {
            fs::remove_file(self.path.join(name)).expect("removed");
        }
        for (name, bytes) in files {
            if self.files.get(name) != Some(bytes) {
                fs::write(self.path.join(name), bytes).expect("written");
            }
        }
        self.files = files.clone();
    }

    fn verify(&self, trust: &Trust, version: Option<&str>) -> Report {
        verify(&self.path, &Expected { repository: REPOSITORY, version }, trust).expect("a report")
    }
}

fn failed(report: &Report) -> Vec<(CheckKind, &str, &str)> {
    let failed = report.checks.iter().filter(|check| !check.ok);
    failed.map(|check| (check.check, check.file.as_str(), check.detail.as_str())).collect()
}

#[test]
fn manipulations_are_refused_by_the_check_that_they_concern() {
    let authority = Authority::new();
    let trust = Trust::from_json(&authority.trust_root()).expect("a trust root");
    let content = papers::content();
    let files = papers::sign(&content, &authority);
    let mut folder = Folder::new("manipulated-release", &files);
    let report = folder.verify(&trust, Some(VERSION));
    assert!(report.ok, "{:#?}", failed(&report));
    let passed = |kind| report.checks.iter().filter(|check| check.check == kind).count();
    assert_eq!(
        [CheckKind::Digests, CheckKind::Signature, CheckKind::Provenance, CheckKind::Materials, CheckKind::Component]
            .map(passed),
        [1, 3, 1, 4, 2]
    );
    let (mut refused, mut same, mut wrong) = (0, 0, Vec::new());
    manipulations::visit(&content, &files, &authority, &mut |Manipulation { name, files: changed, check }| {
        if changed == files {
            wrong.push(format!("{name}: changes nothing"));
            return;
        }
        folder.hold(&changed);
        let report = folder.verify(&trust, None);
        match (report.ok, failed(&report).first()) {
            (false, Some((found, _, _))) if *found == check => refused += 1,
            (true, _) if papers::say_the_same(&changed, &files) => same += 1,
            (_, found) => wrong.push(format!("{name}: expected {check}, found {found:?}")),
        }
    });
    println!("{refused} manipulations refused, {same} say the same as before and are not counted");
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), wrong.len() + refused + same);
    assert!(refused >= 200, "{refused}");
    // Of 80 changed bytes in bundles, some are in places that verification ignores, such as the name of a log.
    assert!(same <= 20, "{same}");
}

#[test]
fn other_kinds_of_files_and_other_versions_are_refused() {
    let authority = Authority::new();
    let trust = Trust::from_json(&authority.trust_root()).expect("a trust root");
    let files = papers::sign(&papers::content(), &authority);
    let mut folder = Folder::new("odd-release", &files);
    let first = |folder: &Folder, version| {
        let report = folder.verify(&trust, version);
        assert!(!report.ok);
        failed(&report).first().map(|(kind, file, _)| (*kind, (*file).to_owned())).expect("a failure")
    };
    assert_eq!(first(&folder, Some("0.0.9")).0, CheckKind::Signature);
    fs::create_dir(folder.path.join("more")).expect("a folder");
    assert_eq!(first(&folder, None), (CheckKind::Digests, "more".to_owned()));
    fs::remove_dir(folder.path.join("more")).expect("removed");
    #[cfg(unix)]
    {
        let name = format!("seamgate-{VERSION}.crate");
        let path = folder.path.join(&name);
        fs::rename(&path, folder.path.join("../moved.crate")).expect("moved");
        std::os::unix::fs::symlink("../moved.crate", &path).expect("a link");
        assert_eq!(first(&folder, None), (CheckKind::Digests, name));
        fs::remove_file(&path).expect("removed");
        fs::rename(folder.path.join("../moved.crate"), &path).expect("moved back");
    }
    assert!(folder.verify(&trust, None).ok);
    // A subset of the files is enough. The report lists the missing ones.
    let some: Files =
        files.iter().filter(|(name, _)| !name.ends_with(".wasm")).map(|(k, v)| (k.clone(), v.clone())).collect();
    folder.hold(&some);
    let report = folder.verify(&trust, None);
    assert!(report.ok, "{:#?}", failed(&report));
    let harness = format!("seamgate-harness-{VERSION}.wasm");
    assert!(report.unchecked.iter().any(|unchecked| unchecked.file == harness));
    // The trust root of another authority.
    let other = Trust::from_json(&Authority::new().trust_root()).expect("a trust root");
    assert_eq!(failed(&folder.verify(&other, None))[0].0, CheckKind::Signature);
}

#[test]
fn exit_statuses_of_verify_release_are_those_promised() {
    let authority = Authority::new();
    let files = papers::sign(&papers::content(), &authority);
    let folder = Folder::new("signed-release", &files);
    let dir = folder.path.display().to_string();
    let root = format!("{dir}.trusted_root.json");
    fs::write(&root, authority.trust_root()).expect("written");
    let run = |arguments: &[&str]| -> Output {
        let test = std::env::current_exe().expect("this test");
        let program = test.parent().and_then(Path::parent).expect("target/PROFILE").join("seamgate");
        Command::new(program).arg("verify-release").args(arguments).output().expect("seamgate")
    };
    let repo = ["--repo", REPOSITORY];
    let passed = run(&[&[dir.as_str()], &repo[..], &["--trust", &root]].concat());
    let text = String::from_utf8_lossy(&passed.stdout).into_owned();
    assert_eq!(passed.status.code(), Some(0), "{text}");
    assert!(text.ends_with(&format!("\nverified version {VERSION} of {REPOSITORY}\n")), "{text}");
    assert!(text.contains("unchecked component  seamgate-edge-"), "{text}");
    let json = run(&[&[dir.as_str(), "--json"], &repo[..], &["--trust", &root]].concat());
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!((&json["ok"], json["version"].as_str()), (&true.into(), Some(VERSION)));
    // The built-in trust root does not contain these keys.
    let failed = run(&[&[dir.as_str()], &repo[..]].concat());
    let text = String::from_utf8_lossy(&failed.stdout).into_owned();
    assert_eq!(failed.status.code(), Some(1), "{text}");
    assert!(text.starts_with("ok        digests    SHA256SUMS: "), "{text}");
    assert!(text.contains("\nfailed    signature  seamgate-"), "{text}");
    for usage in [
        &[dir.as_str()][..],
        &[&dir, "--repo", "seamgate"],
        &["missing", "--repo", REPOSITORY],
        &[&dir, "--repo", REPOSITORY, "--release", "latest"],
        &[&dir, "--repo", REPOSITORY, "--trust", "missing"],
        &[&dir, "--repo", REPOSITORY, "--trust", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")],
    ] {
        let output = run(usage);
        assert_eq!(output.status.code(), Some(2), "{usage:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{usage:?}");
    }
}
