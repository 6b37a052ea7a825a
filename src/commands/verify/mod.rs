//! `verify`: the gate. It receives the answers of registries; it sends no request and changes no trust file.

mod ambiguous;
mod args;
pub mod base;
mod gate;
mod installed;
mod installed_modules;
mod modules;
pub mod online;
pub mod opening;
mod other_tool;
mod proposed;
mod recall;
mod root;

use std::path::PathBuf;
use std::sync::Arc;

use super::witnesses::Witnesses;
use crate::addr::ProviderAddr;
use crate::disk::cache::Cache;
use crate::error::Error;
use crate::finding::{Finding, Rule};
use crate::lockfile::LockEntry;
use crate::outcome::{Body, RootOutcome};
use crate::release::republished::{self, Witness};
use crate::release::{Lookup, Release, Releases};
use crate::requirements::Requirements;
use crate::trust::pins::Signer;
use crate::verify::{self as judgment, Facts};
use crate::verify::{Unanswered, Verified};

pub(crate) use args::VerifyArgs;
pub use gate::verify;
pub use recall::recalled;
pub use root::{Change, Root, tracked_packages};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VerifyOptions {
    /// Also hash installed packages.
    pub installed: bool,
    /// Missing answers are notes instead of failures.
    pub tolerate_inconclusive: bool,
}

/// Root modules by their shown paths, each as it was read or with the error.
pub type Roots = Vec<(PathBuf, Result<Root, Error>)>;

/// Judges each root module; a failure does not stop the others. The second value has notes for users. `cache` has the
/// keys that explain a change of signers.
pub fn judged(
    roots: Roots,
    known: &Releases,
    cache: &Cache,
    options: VerifyOptions,
) -> (Vec<RootOutcome>, Vec<String>) {
    let releases: Vec<Arc<Release>> = known.values().filter_map(Lookup::release).cloned().collect();
    let mut notes = Vec::new();
    let by = Judging { known, others: &releases, cache, options };
    let mut judgments: Vec<Option<Arc<Judgment>>> = Vec::with_capacity(roots.len());
    for (at, first) in root::firsts(&roots).into_iter().enumerate() {
        let known = judgments.get(first).cloned().flatten().filter(|judgment| judgment.of_files_alone);
        judgments.push(known.or_else(|| Some(Arc::new(judge(roots[at].1.as_ref().ok()?, &by)))));
    }
    let roots = roots.into_iter().zip(judgments).map(|((path, root), judgment)| match root {
        Ok(root) => {
            let judgment = judgment.map(Arc::unwrap_or_clone).unwrap_or_default();
            let required_by = root.requirements().map(Requirements::modules).unwrap_or_default();
            let mut verified = Verified { base: root.compared().cloned(), required_by, ..judgment.verified };
            let mut findings = root.placed(judgment.findings);
            findings.sort_by(|one, other| (&one.file, one.position).cmp(&(&other.file, other.position)));
            if options.tolerate_inconclusive {
                let tolerable = |it: &mut Unanswered| it.error.kind.is_inconclusive() && !it.changed;
                let tolerated = verified.inconclusive.extract_if(.., tolerable);
                notes.extend(tolerated.map(|it| format!("inconclusive: {}", it.error)));
            }
            let body = match root.unread().cloned() {
                None => Ok(Body::Verified(verified)),
                not_checked if root.was_unreadable => Ok(Body::Verified(Verified { not_checked, ..verified })),
                Some(error) => {
                    let unanswered = verified.inconclusive.into_iter().map(|it| it.error);
                    Err(Error::all(std::iter::once(error.clone()).chain(unanswered)).unwrap_or(error))
                }
            };
            RootOutcome { path, body, findings }
        }
        Err(error) => RootOutcome::failed(path, error),
    });
    let roots = roots.collect();
    (roots, notes)
}

/// The signer of the locked release that a finding is about.
fn signer<'a>(finding: &Finding, root: &Root, known: &'a Releases) -> Option<&'a Signer> {
    let addr = finding.address.as_ref()?;
    let knowledge = known.get(&(addr.clone(), root.lock().get(addr)?.version.clone()))?;
    knowledge.release()?.signer.as_ref()
}

/// The result for a root module, before its file names are changed for reports.
#[derive(Debug, Clone, Default)]
struct Judgment {
    verified: Verified,
    findings: Vec<Finding>,
    /// True if the result depends on nothing but these files, wherever they are.
    of_files_alone: bool,
}

struct Judging<'a> {
    known: &'a Releases,
    others: &'a [Arc<Release>],
    cache: &'a Cache,
    options: VerifyOptions,
}

impl Judging<'_> {
    /// The served release of an entry, if it seems to differ from the locked one.
    fn doubtful(&self, addr: &ProviderAddr, entry: &LockEntry) -> Option<&Arc<Release>> {
        let release = self.known.get(&(addr.clone(), entry.version.clone())).and_then(Lookup::release);
        release.filter(|release| release.current && republished::is_doubtful(&entry.hashes, release))
    }

    /// Other records of a locked release, if the served one seems to differ.
    fn witnesses(&self, root: &Root, addr: &ProviderAddr) -> Vec<Witness> {
        let Some(entry) = root.lock().get(addr) else { return Vec::new() };
        let Some(release) = self.doubtful(addr, entry) else { return Vec::new() };
        let settings = root.settings();
        let witnesses =
            Witnesses { root: &settings.root, dialect: settings.dialect, lock: root.lock(), cache: self.cache };
        let at_base = root.base().and_then(|(compared, before)| {
            let commit = compared.short();
            let place = format!("the merge base with {}", compared.revision);
            witnesses.revision(addr, before, (&place, commit))
        });
        at_base.into_iter().chain(witnesses.of(release)).collect()
    }
}

fn judge(root: &Root, by: &Judging<'_>) -> Judgment {
    let (verified, findings) = of_root(root, by);
    let findings = proposed::approvable(findings, root, by.known);
    // For a doubtful release the history of each lock file matters.
    let in_doubt = root.lock().iter().any(|(addr, entry)| by.doubtful(addr, entry).is_some());
    Judgment { verified, findings, of_files_alone: !by.options.installed && !in_doubt }
}

fn of_root(root: &Root, by: &Judging<'_>) -> (Verified, Vec<Finding>) {
    let subject = root.subject();
    let Some(spans) = root.spans() else {
        // An unreadable file is no lock file, so it has no hashes.
        return (root.unknown_tree(), judgment::of_text(root.text_findings(), &subject));
    };
    let of = |(addr, entry): (&ProviderAddr, &LockEntry)| {
        let knowledge = by.known.get(&(addr.clone(), entry.version.clone())).cloned().unwrap_or_default();
        (addr.clone(), knowledge)
    };
    let witnesses = root.lock().iter().map(|(addr, _)| (addr.clone(), by.witnesses(root, addr)));
    let witnesses = witnesses.filter(|(_, witnesses)| !witnesses.is_empty()).collect();
    let releases = root.lock().iter().map(of).collect();
    let facts = Facts { releases, others: by.others, witnesses, served_within: Some(&root.served_within) };
    let (mut verified, findings) = judgment::verify(&judgment::Subject { spans, ..subject }, &facts);
    let named = |finding: Finding| match root.compared() {
        Some(base) if finding.rule == Rule::LockFileRemoved => finding.filled("REV", base.short()),
        _ => finding,
    };
    let mut findings: Vec<Finding> = findings.into_iter().map(named).collect();
    verified.inconclusive.extend(root.unknown_tree().inconclusive);
    let mut extra = root.text_findings();
    if by.options.installed {
        let (more, errors) = installed::findings(root);
        extra.extend(more);
        verified.inconclusive.extend(errors.into_iter().map(|error| Unanswered { error, changed: false }));
    }
    let (more, errors) = installed_modules::findings(root, by.options.installed);
    extra.extend(more);
    verified.inconclusive.extend(errors.into_iter().map(|error| Unanswered { error, changed: false }));
    findings.extend(judgment::of_text(extra, &subject));
    (verified, findings)
}
