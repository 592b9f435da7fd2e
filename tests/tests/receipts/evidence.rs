//! Third-party evidence about a receipt: time stamps and witness statements.

use seamgate_receipt::{Authority, Log, Trusted, Witness, check_time_stamp, check_witness};
use seamgate_tests::Random;

use crate::recorded::KEY;

/// A file, its time stamp from OpenSSL 3.0, and the certificates of the authority.
const FILE: &[u8] = include_bytes!("../../receipts/time-stamp/file.txt");
const STAMP: &[u8] = include_bytes!("../../receipts/time-stamp/file.tsr");
const AUTHORITY: &[u8] = include_bytes!("../../receipts/time-stamp/authority.pem");

const NOW: u64 = 1_790_000_000;

fn authority() -> Authority {
    seamgate_release::install_cryptography();
    Authority::read(AUTHORITY).expect("certificates")
}

/// Adds files to a log, and returns the statement about one of them.
fn witness(files: &[Vec<u8>], about: usize) -> Vec<u8> {
    let mut log = Log::default();
    let text: String = files.iter().filter_map(|file| log.add(file)).collect();
    assert_eq!(Log::read(&text).expect("a log"), log);
    let signed = log.witness(&files[about], KEY.public(), NOW, |text| KEY.sign_bytes(text));
    signed.expect("a signature").expect("an entry").encode()
}

#[test]
fn a_time_stamp_of_openssl_is_of_one_file_at_one_time() {
    let authority = authority();
    let stamped = check_time_stamp(FILE, STAMP, &authority);
    assert!(stamped.ok, "{}", stamped.detail);
    assert_eq!(stamped.detail, "the file existed at 2026-11-29T06:54:59Z, as the authority states");
    // The token alone also verifies. In the response, it follows the status, a sequence that begins with its length.
    let status = 4 + 2 + usize::from(STAMP[5]);
    assert!(check_time_stamp(FILE, &STAMP[status..], &authority).ok);

    let mut random = Random(11);
    for _ in 0..400 {
        let mut file = FILE.to_vec();
        let at = random.below(file.len());
        file[at] ^= 1 << random.below(8);
        assert!(!check_time_stamp(&file, STAMP, &authority).ok);
    }
    // Some bytes of a stamp are not signed, such as its certificates. No change results in another time.
    let mut refused = 0;
    for at in 0..STAMP.len() {
        let mut stamp = STAMP.to_vec();
        stamp[at] ^= 1 << random.below(8);
        let check = check_time_stamp(FILE, &stamp, &authority);
        assert!(!check.ok || check.detail == stamped.detail, "byte {at}: {}", check.detail);
        refused += usize::from(!check.ok);
    }
    assert!(refused > 300, "{refused} of {} changed stamps are refused", STAMP.len());
    for length in 0..STAMP.len() {
        assert!(!check_time_stamp(FILE, &STAMP[..length], &authority).ok, "{length} bytes");
    }
}

#[test]
fn a_time_stamp_of_another_authority_is_refused() {
    let text = str::from_utf8(AUTHORITY).expect("PEM");
    let certificates: Vec<&str> = text.split_inclusive("-----END CERTIFICATE-----\n").collect();
    let [own, root] = certificates[..] else { panic!("two certificates") };
    for pem in [String::new(), own.to_owned(), root.to_owned(), "no PEM".to_owned(), own.replace("MII", "")] {
        assert!(Authority::read(pem.as_bytes()).is_err(), "{pem}");
    }
    seamgate_release::install_cryptography();
    for pem in [format!("{root}{own}"), format!("{own}{own}"), format!("{root}{root}")] {
        let authority = Authority::read(pem.as_bytes()).expect("certificates");
        assert!(!check_time_stamp(FILE, STAMP, &authority).ok);
    }
}

#[test]
fn a_witness_states_one_entry_of_one_log() {
    let keys = Trusted::Keys(vec![KEY.public()]);
    for size in 1..40_usize {
        let files: Vec<Vec<u8>> = (0..size).map(|file| format!("file {file}").into_bytes()).collect();
        for about in 0..size {
            let signed = witness(&files, about);
            let check = check_witness(&files[about], &signed, &keys);
            assert!(check.ok, "{about} of {size}: {}", check.detail);
            let entry = format!("entry {} of {size} in its log at 2026-09-21T14:13:20Z, by its clock", about + 1);
            assert_eq!(check.detail, entry);
            assert!(!check_witness(b"another file", &signed, &keys).ok);
            assert!(!check_witness(&files[(about + 1) % size], &signed, &keys).ok || size == 1);
            assert!(!check_witness(&files[about], &signed, &Trusted::Keys(vec![[1; 32]])).ok);
        }
    }
}

#[test]
fn no_changed_statement_of_a_witness_verifies() {
    let files: Vec<Vec<u8>> = (0..21_u8).map(|file| vec![file]).collect();
    let signed = witness(&files, 13);
    for at in 0..signed.len() {
        for bit in 0..8 {
            let mut changed = signed.clone();
            changed[at] ^= 1 << bit;
            assert!(!check_witness(&files[13], &changed, &Trusted::Any).ok, "bit {bit} of byte {at}");
        }
        assert!(!check_witness(&files[13], &signed[..at], &Trusted::Any).ok, "{at} bytes");
    }
    // Another index, size, time or key.
    let read = Witness::read(&signed).expect("a statement");
    for changed in [
        Witness { index: 12, ..read.clone() },
        Witness { size: 22, ..read.clone() },
        Witness { issued_at: NOW - 1, ..read.clone() },
        Witness { key: [2; 32], ..read.clone() },
        Witness { path: read.path[1..].to_vec(), ..read.clone() },
        Witness { index: u64::MAX, size: u64::MAX, ..read },
    ] {
        assert!(!check_witness(&files[13], &changed.encode(), &Trusted::Any).ok, "{changed:?}");
    }
}

#[test]
fn a_log_has_whole_lines_of_digests() {
    let mut log = Log::default();
    let line = log.add(b"a").expect("a new entry");
    assert_eq!(log.add(b"a"), None, "a file is one entry");
    assert_eq!(Log::read(&format!("{line}sha256:ab")).expect("a log"), log, "a line without its end is no entry");
    for text in ["\n", "sha256:ab\n", &line.to_uppercase(), &line.replace("sha256:", ""), &format!("{line}x\n")] {
        assert!(Log::read(text).is_err(), "{text}");
    }
}
