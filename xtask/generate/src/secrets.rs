//! The forms of secrets: the rules of gitleaks, and those of our own, as a table of beginnings and alphabets.
//!
//! A regular expression becomes what the kernel looks for in linear time: how a token begins, what follows, and how much of it
//! at least. What has no such shape is left out. `secrets/gitleaks.json` says which commit its rules are of.

use std::{collections::BTreeMap, fmt::Write, fs};

use anyhow::{Context, Result};
use regex_syntax::{
    ParserBuilder,
    hir::{Class, Hir, HirKind, literal::Extractor},
};
use serde::Deserialize;

const GITLEAKS: &str = "xtask/generate/src/secrets/gitleaks.json";
const OWN: &str = "xtask/generate/src/secrets/own.json";

/// Rules that are about names of anything, not about the form of a secret.
const LEFT_OUT: [&str; 4] = ["generic-api-key", "kubernetes-secret-yaml", "jwt", "private-key"];

/// The number of bytes after a beginning that are enough to recognize a token.
const MOST_LEAST: usize = 64;

#[derive(Deserialize)]
struct Source {
    commit: String,
    rules: Vec<Rule>,
}

#[derive(Deserialize)]
struct Rule {
    id: String,
    regex: String,
    keywords: Vec<String>,
}

/// A predicate for the bytes of an alphabet.
type Has = fn(u8) -> bool;

/// The alphabets of the kernel, from the smallest on.
const ALPHABETS: [(&str, Has); 7] = [
    ("Hex", |byte| byte.is_ascii_hexdigit()),
    ("Capitals", |byte| byte.is_ascii_digit() || byte.is_ascii_uppercase()),
    ("Letters", |byte| byte.is_ascii_alphanumeric()),
    ("Url", |byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)),
    ("Dotted", |byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)),
    ("Base64", |byte| byte.is_ascii_alphanumeric() || b"_-.+/=~".contains(&byte)),
    ("Encoded", |byte| byte.is_ascii_alphanumeric() || b"_-.+/=~%".contains(&byte)),
];

struct Form {
    kind: String,
    begin: String,
    of: &'static str,
    least: usize,
    most: Option<usize>,
}

/// Returns the table, as a file of the kernel.
pub(super) fn forms() -> Result<[String; 2]> {
    let source: Source = serde_json::from_str(&fs::read_to_string(GITLEAKS).context(GITLEAKS)?).context(GITLEAKS)?;
    let own: Vec<(String, String, String, usize, Option<usize>)> =
        serde_json::from_str(&fs::read_to_string(OWN).context(OWN)?).context(OWN)?;
    let mut forms = BTreeMap::new();
    for (kind, begin, of, least, most) in own {
        let of =
            ALPHABETS.iter().map(|(name, _)| *name).find(|name| *name == of).with_context(|| format!("{OWN}: {of}"))?;
        forms.insert(begin.clone(), Form { kind, begin, of, least, most });
    }
    let mut named: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for rule in source.rules.iter().filter(|rule| !LEFT_OUT.contains(&rule.id.as_str())) {
        let hir = ParserBuilder::new().utf8(false).unicode(false).build().parse(&rule.regex);
        let hir = hir.with_context(|| format!("{GITLEAKS}: {}", rule.id))?;
        let alternatives = match hir.kind() {
            HirKind::Alternation(all) => all.clone(),
            _ => vec![hir],
        };
        for hir in alternatives {
            let has_name = !is_bounded_start(&hir);
            let secret = capture(&hir).unwrap_or(&hir);
            if has_name {
                let length = (secret.properties().minimum_len(), secret.properties().maximum_len());
                if let (Some(least @ 16..), Some(most)) = length {
                    for word in rule.keywords.iter().filter(|word| is_word(word)) {
                        let range = named.entry(word.clone()).or_insert((least, most));
                        *range = (range.0.min(least), range.1.max(most));
                    }
                }
            }
            // What needs a name to be known has no beginning of its own.
            for form in beginnings(secret, rule).into_iter().filter(|_| !has_name) {
                // Those of our own, and the shorter of two, hold.
                forms.entry(form.begin.clone()).or_insert(form);
            }
        }
    }
    write(&source.commit, forms.into_values().collect(), &named)
}

/// Returns whether a rule begins with the token itself.
fn is_bounded_start(hir: &Hir) -> bool {
    let first = match hir.kind() {
        HirKind::Concat(parts) => parts.iter().find(|part| !matches!(part.kind(), HirKind::Look(_))),
        _ => Some(hir),
    };
    !first.is_some_and(|first| matches!(first.kind(), HirKind::Repetition(repetition) if repetition.min == 0))
}

/// Only letters and digits: what the kernel looks words up by.
fn is_word(word: &str) -> bool {
    word.len() > 3 && word.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Returns the first group that is captured.
fn capture(hir: &Hir) -> Option<&Hir> {
    match hir.kind() {
        HirKind::Capture(capture) => Some(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().find_map(capture),
        _ => None,
    }
}

/// Returns the forms of a token: each way in which it begins, with what follows.
fn beginnings(secret: &Hir, rule: &Rule) -> Vec<Form> {
    let mut extractor = Extractor::new();
    extractor.limit_class(4).limit_total(64);
    let found = extractor.extract(secret);
    let mut begins: Vec<String> = found
        .literals()
        .into_iter()
        .flatten()
        .filter_map(|literal| String::from_utf8(literal.as_bytes().to_vec()).ok())
        .collect();
    if begins.is_empty() || begins.iter().any(|begin| begin.len() < 3) {
        // Of what has no case, the usual ones.
        begins = rule.keywords.iter().flat_map(|word| [word.clone(), word.to_uppercase()]).collect();
        begins.retain(|begin| {
            rule.regex.to_lowercase().replace('\\', "").contains(&format!("{}[", begin.to_lowercase()))
        });
    }
    // Of many ways to write one in capitals and small letters, two are used.
    let is_variant = |begin: &str| {
        begins.iter().filter(|other| other.eq_ignore_ascii_case(begin)).count() > 2
            && begin != begin.to_lowercase()
            && begin != begin.to_uppercase()
    };
    let variants: Vec<String> = begins.iter().filter(|begin| is_variant(begin)).cloned().collect();
    begins.retain(|begin| !variants.contains(begin));
    let of = |begin: String| {
        let least = secret.properties().minimum_len()?.checked_sub(begin.len())?;
        let letters = begin.bytes().filter(u8::is_ascii_alphanumeric).count();
        let mut bytes = Vec::new();
        add_bytes(secret, begin.len(), &mut 0, &mut bytes);
        let of = ALPHABETS.iter().find(|(_, has)| bytes.iter().all(|byte| has(*byte)))?.0;
        let is_precise =
            letters >= 3 && least >= 16 && begin.len() <= 32 && begin.bytes().all(|byte| byte.is_ascii_graphic());
        is_precise.then(|| Form {
            kind: kind(&rule.id).to_owned(),
            begin,
            of,
            least: least.min(MOST_LEAST),
            most: None,
        })
    };
    begins.into_iter().filter_map(of).collect()
}

/// Adds the bytes that an expression has after its first ones.
fn add_bytes(hir: &Hir, skip: usize, at: &mut usize, bytes: &mut Vec<u8>) {
    match hir.kind() {
        HirKind::Literal(literal) => {
            for byte in literal.0.iter() {
                if *at >= skip {
                    bytes.push(*byte);
                }
                *at += 1;
            }
        }
        HirKind::Class(class) => {
            if *at >= skip {
                match class {
                    Class::Bytes(class) => class.iter().for_each(|range| bytes.extend(range.start()..=range.end())),
                    Class::Unicode(class) => class.iter().for_each(|range| {
                        bytes.extend((range.start()..=range.end()).map(|c| u8::try_from(c).unwrap_or(u8::MAX)));
                    }),
                }
            }
            *at += 1;
        }
        HirKind::Repetition(repetition) => {
            let begin = *at;
            for _ in 0..repetition.min.clamp(1, 128) {
                add_bytes(&repetition.sub, skip, at, bytes);
            }
            if repetition.min == 0 {
                *at = begin;
            }
        }
        HirKind::Capture(capture) => add_bytes(&capture.sub, skip, at, bytes),
        HirKind::Concat(parts) => parts.iter().for_each(|part| add_bytes(part, skip, at, bytes)),
        HirKind::Alternation(parts) => {
            let begin = *at;
            let mut least = usize::MAX;
            for part in parts {
                *at = begin;
                add_bytes(part, skip, at, bytes);
                least = least.min(*at);
            }
            *at = least;
        }
        HirKind::Empty | HirKind::Look(_) => {}
    }
    bytes.sort_unstable();
    bytes.dedup();
}

/// Returns the kernel's name for the secrets of a rule.
fn kind(id: &str) -> &'static str {
    let kinds = [
        ("aws-", "AwsKey"),
        ("gcp-", "GcpKey"),
        ("azure-", "AzureKey"),
        ("github-", "GithubToken"),
        ("gitlab-", "GitlabToken"),
        ("slack-", "SlackToken"),
        ("stripe-", "StripeKey"),
        ("openai-", "OpenaiKey"),
        ("anthropic-", "AnthropicKey"),
    ];
    kinds.iter().find(|(begin, _)| id.starts_with(begin)).map_or("ServiceToken", |(_, kind)| kind)
}

fn write(commit: &str, mut forms: Vec<Form>, named: &BTreeMap<String, (usize, usize)>) -> Result<[String; 2]> {
    // A longer beginning is tried before the one that it begins with.
    forms.sort_by(|a, b| {
        let first = |form: &Form| form.begin.as_bytes()[0];
        first(a).cmp(&first(b)).then(b.begin.len().cmp(&a.begin.len())).then(a.begin.cmp(&b.begin))
    });
    let mut words: Vec<String> = forms
        .iter()
        .filter_map(|form| form.begin.find(|c: char| !c.is_ascii_alphanumeric()).map(|end| &form.begin[..end]))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.sort_unstable();
    words.dedup();
    let mut out = format!(
        "//! The forms of secrets: those of gitleaks ({}, MIT), and some more.\n//!\n//! {}\n\nuse super::{{super::types::Secret, ANY, Form, Of, form}};\n\n",
        &commit[..12],
        super::HEAD
    );
    out.push_str("/// In the order of their first bytes.\n#[rustfmt::skip]\npub(super) static FORMS: &[Form] = &[\n");
    for Form { kind, begin, of, least, most } in &forms {
        let most = most.map_or("ANY".to_owned(), |most| most.to_string());
        writeln!(out, "    form(Secret::{kind}, {begin:?}, Of::{of}, {least}, {most}),")?;
    }
    let mut vocabulary = format!(
        "//! Words before secrets: those that forms of `secrets/forms.rs` begin with, and names of services.\n//!\n//! {}\n\n",
        super::HEAD
    );
    vocabulary.push_str("/// The words that some forms begin with.\npub(super) const WORDS: &str = \"\\\n");
    lines(&mut vocabulary, words.iter().map(String::as_str));
    // `adafruitToken` is one word.
    let services: Vec<String> =
        named.keys().flat_map(|name| ["", "token", "key", "secret"].map(|end| format!("{name}{end}"))).collect();
    out.push_str("];\n\n/// Names of services, and how long a value after one is that is a secret of theirs, at least and at most.\n");
    out.push_str("#[rustfmt::skip]\npub(super) static NAMED: &[(&str, u8, u8)] = &[\n");
    for (word, (least, most)) in named {
        writeln!(out, "    ({word:?}, {least}, {}),", (*most).min(250))?;
    }
    out.push_str("];\n");
    vocabulary.push_str(
        "\";\n\n/// The names of services, alone and with what ends the name of a secret.\npub(super) const SERVICES: &str = \"\\\n",
    );
    lines(&mut vocabulary, services.iter().map(String::as_str));
    vocabulary.push_str("\";\n");
    Ok([out, vocabulary])
}

/// Words in lines of a string.
fn lines<'w>(out: &mut String, words: impl Iterator<Item = &'w str>) {
    let mut line = String::new();
    let mut is_first = true;
    for word in words {
        if line.len() + word.len() > 100 {
            out.push_str(&format!("    {line} \\\n"));
            line.clear();
            is_first = true;
        }
        if !is_first {
            line.push(' ');
        }
        line.push_str(word);
        is_first = false;
    }
    out.push_str(&format!("    {line}"));
}
