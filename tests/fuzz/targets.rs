//! What is fuzzed: each target reads any bytes, and says what must hold of them.
//!
//! The fuzzer calls them with bytes of its own; a test of the suite calls them with the corpora.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use tflock::internals::CliConfig;
use tflock_core::config::{Inputs, Module, ModuleScope, Purpose, SourceFile, Surroundings, Text, VariableFile};
use tflock_core::dialect::Dialect;
use tflock_core::goinfo::{GoInfo, Scan, Unknown};
use tflock_core::hash::archive::{ArchiveHasher, Limits};
use tflock_core::hash::{Sha256Digest, Sums};
use tflock_core::lockfile::{self, LockFile};
use tflock_core::merge::{Decisions, Document, MergeOptions, Three, is_readable, merge_texts, split, textconv};
use tflock_core::provenance::{self, TrustedRoot};
use tflock_core::settings::{self, Variables};
use tflock_core::trust::{openpgp, pins};
use tflock_core::version::Version;

/// A name, and what is called with any bytes.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 12] = [
    ("archive", archive),
    ("bundle", bundle),
    ("config", config),
    ("git", git),
    ("lock", lock),
    ("merge", merge),
    ("package", package),
    ("program", program),
    ("registry", registry),
    ("settings", settings),
    ("signature", signature),
    ("sums", sums),
];

const DIALECTS: [Dialect; 2] = [Dialect::Terraform, Dialect::OpenTofu];

/// An archive, read in pieces of any size alike.
pub fn archive(bytes: &[u8]) {
    let limits = Limits { entries: 64, name: 256, directory: 1 << 16, unpacked: 1 << 20 };
    let in_pieces = |size: usize| {
        let mut reading = ArchiveHasher::new(limits);
        for piece in bytes.chunks(size) {
            if reading.update(piece).is_err() {
                break;
            }
        }
        reading.finish().map_err(|refusal| refusal.error)
    };
    assert_eq!(in_pieces(7), in_pieces(bytes.len().max(1)));
}

/// Configuration: the first byte says in which syntax.
pub fn config(bytes: &[u8]) {
    let Some((first, text)) = bytes.split_first() else { return };
    let text = String::from_utf8_lossy(text).into_owned();
    let name = ["main.tf", "main.tf.json", "main_override.tf", "x.tfvars", "x.tfvars.json"][usize::from(*first) % 5];
    if name.contains("tfvars") {
        drop(VariableFile::decode(Path::new(name), &text));
        return;
    }
    let file = [SourceFile { path: PathBuf::from(name), text }];
    for dialect in DIALECTS {
        let primary = Module::decode(&file, &[], dialect);
        let with_itself = Module::decode(&file, &file, dialect);
        // A text that cannot be read alone cannot be read with more text.
        assert!(primary.is_ok() || with_itself.is_err());
        evaluate_sources(primary.unwrap_or_default(), dialect);
    }
}

/// Evaluates the sources of all calls and providers, which ends whatever they refer to.
fn evaluate_sources(module: Module, dialect: Dialect) {
    let scope = ModuleScope::new(Rc::new(module), None, Inputs::Root);
    drop(scope.with_providers(&Surroundings::new(dialect)));
    for source in scope.module.calls.values().filter_map(|call| call.source.as_ref()) {
        if let Text::Expression(expression) = &source.text {
            drop(scope.evaluate(expression, Purpose::Source, &Surroundings::new(dialect)));
        }
    }
}

/// What git answers about objects and trees.
pub fn git(bytes: &[u8]) {
    tflock::internals::read_git_answers(bytes);
}

/// A lock file: what can be read can be written, and is read again as what it was.
pub fn lock(bytes: &[u8]) {
    for dialect in DIALECTS {
        lockfile::salvage(bytes, dialect);
        textconv(bytes);
        let Ok(decoded) = lockfile::decode(bytes, dialect) else { continue };
        let text = decoded.lock.encode(dialect);
        let again = lockfile::decode(text.as_bytes(), dialect).expect("what is written can be read");
        assert_eq!((again.lock, again.canonical), (decoded.lock, true));
        assert!(!decoded.canonical || text.as_bytes() == bytes || decoded.header != Some(dialect));
    }
}

/// An attestation. One that verifies lists the artifact that it was asked about.
pub fn bundle(bytes: &[u8]) {
    let artifact = "f146e594bdba65fdc499c43c86d6d07c0e0733257152067c4f9fe2acee4f4629";
    let artifact = Sha256Digest::from_hex(artifact).expect("a digest");
    if let Ok(Some(attestation)) = provenance::verify(TrustedRoot::public(), bytes, &artifact) {
        assert!(attestation.subjects.iter().any(|subject| subject.digest == artifact));
    }
}

/// Three texts, between zero bytes.
pub fn merge(bytes: &[u8]) {
    let mut texts = bytes.splitn(3, |byte| *byte == 0);
    let (base, ours) = (texts.next().unwrap_or_default(), texts.next().unwrap_or_default());
    let theirs = texts.next().unwrap_or_default();
    let three = Three { base, ours, theirs };
    for document in [Document::LockFile, Document::TrustFile] {
        for from_markers in [false, true] {
            let options = MergeOptions { from_markers, ..MergeOptions::default() };
            let merged = merge_texts(document, three, Decisions::default(), options);
            merge_texts(document, three, Decisions { sides: Some([ours, theirs]), configured: None }, options);
            let readable = [ours, theirs].iter().all(|text| is_readable(document, text, options.dialect));
            if readable && !merged.conflicts {
                assert!(is_readable(document, &merged.text, options.dialect));
            }
            if readable && document == Document::LockFile {
                let sides = split(&merged.text).expect("markers in order");
                let sides = sides.map_or([merged.text.clone(), merged.text], |sides| [sides.ours, sides.theirs]);
                for side in &sides {
                    of_one_release(side, [ours, theirs]);
                }
            }
        }
    }
    let _ = split(base);
}

/// Each hash of a merged text is in one of the others, under the same version.
fn of_one_release(merged: &[u8], sides: [&[u8]; 2]) {
    let read = |text: &[u8]| -> LockFile {
        let dialect = lockfile::detect_dialect(text).unwrap_or(Dialect::Terraform);
        lockfile::decode(text, dialect).expect("a side can be read").lock
    };
    let sides = sides.map(read);
    for (addr, entry) in read(merged).iter() {
        let has = |hash| {
            let of = sides.iter().filter_map(|side| side.get(addr)).filter(|side| side.version == entry.version);
            of.into_iter().any(|side| side.hashes.contains(hash))
        };
        assert!(entry.hashes.iter().all(has));
    }
}

/// A package of modules: a tar archive, or behind an odd first byte a zip archive.
pub fn package(bytes: &[u8]) {
    tflock::internals::read_package(bytes);
}

/// A program with its Go build information, or several: the result is the same however it is read.
pub fn program(bytes: &[u8]) {
    let in_pieces = |size: usize| {
        let mut scan = Scan::new();
        bytes.chunks(size).for_each(|piece| scan.update(piece));
        scan
    };
    let in_file = |at: u64, count: usize| {
        let at = usize::try_from(at).ok()?;
        bytes.get(at..at.checked_add(count)?).map(<[u8]>::to_vec)
    };
    let read = in_pieces(bytes.len().max(1)).finish_with(in_file);
    for size in [7, bytes.len().max(1)] {
        let streamed = in_pieces(size).finish();
        assert_eq!(streamed.len(), read.len());
        assert!(streamed.iter().zip(&read).all(|(one, other)| one == other || *one == Err(Unknown::OldLayout)));
    }
    for info in read.into_iter().flatten() {
        assert_eq!(GoInfo::new(&info.go, info.text()).as_ref(), Ok(&info));
        assert_eq!(info.dependencies().count(), info.text().lines().filter(|line| line.starts_with("dep\t")).count());
    }
}

/// The answers of registries and mirrors.
pub fn registry(bytes: &[u8]) {
    tflock::internals::read_registry_answers(bytes);
}

/// Settings, trust files, and users' CLI configuration.
pub fn settings(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let file = Path::new("x.hcl");
    let _ = settings::decode(&text, file);
    for dialect in DIALECTS {
        let _ = CliConfig::decode(&text, dialect, &Variables::default());
    }
    if let Ok(read) = pins::decode(&text, file) {
        let written = pins::decode(&read.encode(), file).expect("what is written can be read");
        assert_eq!(written.pins, read.pins);
    }
}

/// A signature, with its length before it, and the key blocks that may have made it.
pub fn signature(bytes: &[u8]) {
    let Some((length, rest)) = bytes.split_first_chunk::<2>() else { return };
    let (signature, keys) = rest.split_at(usize::from(u16::from_be_bytes(*length)).min(rest.len()));
    let keys = String::from_utf8_lossy(keys);
    let keys: Vec<&str> = keys.split('\0').collect();
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_750_000_000);
    let _ = openpgp::verify(b"checksums\n", signature, &keys, now);
}

/// A list of checksums.
pub fn sums(bytes: &[u8]) {
    let sums = Sums::decode(bytes);
    for (name, digest) in sums.lines() {
        assert!(sums.digest_of(name).is_err() || sums.lines().any(|line| line == (name, digest)));
    }
    let version = Version::new(1, 2, 3);
    assert!(sums.archives("x", &version).count() <= sums.lines().count());
    assert!(sums.lock_file_digests().len() <= bytes.split(|byte| *byte == b'\n').count());
}
