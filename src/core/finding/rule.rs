//! The table of rules: one row feeds every format and `tflock explain`.

use crate::step::Template;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Worth knowing.
    Note,
    /// Worth doing something about.
    Warn,
    /// Refused.
    Deny,
}

/// What a rule is about; decides the exit code of a finding at level deny.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// What attests a hash, a key or a module: exit code 3.
    Trust,
    /// What the settings allow: exit code 3.
    Policy,
    /// Everything else: exit code 1.
    Other,
}

macro_rules! rules {
    ($($variant:ident, $id:literal, $level:ident, $class:ident, $summary:literal, $help:literal;)*) => {
        /// A rule, by its stable id.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Rule {
            $(#[doc = $summary] $variant,)*
        }

        impl Rule {
    /// True if packages are, or may be, other ones than those that were recorded: nothing is more dangerous.
    pub fn contradicts_record(self) -> bool {
        matches!(
            self,
            Rule::HashReplaced
                | Rule::LockFileAltered
                | Rule::Republished
                | Rule::UnattestedHash
                | Rule::ContradictedHash
                | Rule::WrongChecksum
                | Rule::ModuleChanged
        )
    }

            /// All rules, in the order of the table.
            pub const ALL: &'static [Rule] = &[$(Rule::$variant),*];

            /// The stable kebab-case id.
            pub fn id(self) -> &'static str {
                match self { $(Rule::$variant => $id,)* }
            }

            /// The level unless settings say otherwise.
            pub fn level(self) -> Level {
                match self { $(Rule::$variant => Level::$level,)* }
            }

            /// The class.
            pub fn class(self) -> Class {
                match self { $(Rule::$variant => Class::$class,)* }
            }

            /// The rule in one sentence.
            pub fn summary(self) -> &'static str {
                match self { $(Rule::$variant => $summary,)* }
            }

            /// What to do about it, best a command.
            pub fn help(self) -> Template {
                match self { $(Rule::$variant => template!($help),)* }
            }
        }
    };
}

impl Rule {
    /// What to do about it in many root modules at once, where it is not the same commands with `-r`.
    pub fn help_for_many(self) -> Option<Template> {
        // Without --create only those that have a lock file are worked on.
        (self == Rule::LockFileMissing).then_some(template!(
            "Run `tflock lock -r --create`, which writes one wherever there is configuration that no module calls, and \
             commit the files."
        ))
    }
}

rules! {
    LockSyntax, "lock-syntax", Deny, Other, "The lock file is not valid HCL, or contains something that a lock file cannot.", "Restore the file from version control, or resolve its conflict markers.";
    LockNotLiteral, "lock-not-literal", Deny, Trust, "A value of the lock file is not one plain quoted string: no tool writes such a value, and two tools may read it differently.", "Find out who wrote it (`git log --patch -- PATH`), and restore the file from an earlier revision: `git checkout REV -- PATH`.";
    LockSchema, "lock-schema", Deny, Other, "The lock file has a block or argument that does not belong there, or lacks one.", "Remove the part, or restore the file from version control.";
    LockAddress, "lock-address", Deny, Other, "The label of a block is not the canonical address of a provider that can be locked.", "Write the full address, host/namespace/type, in lower case.";
    LockVersion, "lock-version", Deny, Other, "The version of an entry is not one exact version in canonical form.", "Write all three numbers, without a prefix.";
    LockConstraints, "lock-constraints", Deny, Other, "The constraints of an entry are not in canonical form.", "Write them in the form that the message names.";
    LockHashes, "lock-hashes", Deny, Other, "The hashes of an entry are not a list of hash strings.", "Remove the attribute and run `tflock lock`.";
    DuplicateProvider, "duplicate-provider", Deny, Other, "A provider has two entries, as after a bad merge.", "Run `tflock merge --resolve PATH`, which keeps the entry that the configuration decides.";
    LockModules, "lock-modules", Warn, Other, "The lock file has a block for a module, which this version of the tools ignores.", "Remove the block, or use the newer tool that wrote it.";
    DuplicateHash, "duplicate-hash", Warn, Other, "An entry records one hash twice.", "Run `tflock fmt`.";
    NotCanonical, "not-canonical", Warn, Other, "The lock file is not written as the tools write it.", "Run `tflock fmt`.";
    PinsNothing, "pins-nothing", Deny, Trust, "An entry records no hash of a known scheme, so any package is accepted.", "Run `tflock lock` and review the hashes it adds.";
    Republished, "republished", Deny, Trust, "The source serves a different release than the recorded one.", "Ask its publisher why; then `tflock lock --accept-republished ADDR@VERSION --reason TEXT`.";
    LockFileAltered, "lock-file-altered", Deny, Trust, "An entry was changed: the source serves what the file's history or the index recorded for that version.", "Restore the entry as a commit has it: `tflock lock ADDR --restore-from REV`. Find out who changed it (`git log --patch -- PATH`).";
    ReleaseGrew, "release-grew", Warn, Trust, "The release has more packages than when it was recorded; those recorded are unchanged.", "Review the new packages as you would a new release.";
    FirstUse, "first-use", Note, Trust, "A release is locked for the first time; its signer is taken on trust.", "Compare the fingerprint with what the publisher announces.";
    MirrorOnly, "mirror-only", Warn, Trust, "Only a mirror attests packages that are new to the lock file, and a mirror signs nothing.", "If the origin registry is reachable, run `tflock verify --source origin` before you use the file.";
    MirrorDiffers, "mirror-differs", Deny, Trust, "A mirror has no recorded package of a recorded release, so it may serve a different release.", "Ask the operator of the mirror; if the origin registry is reachable, `tflock verify --source origin` says whether the lock file is right. If the packages were rebuilt on purpose: `tflock lock --accept-republished ADDR@VERSION --reason TEXT`.";
    MirrorIncomplete, "mirror-incomplete", Deny, Other, "A mirror lacks a package that lock files record, or a document about one.", "Run `tflock mirror DIR` where registries can be reached.";
    MirrorAltered, "mirror-altered", Deny, Trust, "A file in a mirror is not what its checksums, their signature or the lock file say.", "Find out who changed it; then remove the file and run `tflock mirror DIR`.";
    UnboundSignature, "unbound-signature", Deny, Trust, "The signed list names the package for another provider, version or platform.", "Ask the registry; the package may have been swapped.";
    UnusualPackageName, "unusual-package-name", Warn, Trust, "The package's name in the signed list follows no convention, so the signature does not cover it.", "Ask the registry to name its packages terraform-provider-TYPE_VERSION_OS_ARCH.zip.";
    BadSignature, "bad-signature", Deny, Trust, "The signature over the checksums of a release does not verify.", "Report it to the publisher, and do not use this release until it is fixed.";
    NoSigningKey, "no-signing-key", Deny, Trust, "A signature is required, but the registry lists no key that could have made one.", "If that registry signs nothing, write `host \"HOST\" { signature = \"never\" }` into `.tflock.hcl`, and run `tflock trust add ADDR unsigned`.";
    RevokedKey, "revoked-key", Deny, Trust, "The signing key of a release is revoked.", "Wait for a release by another key.";
    SignerChanged, "signer-changed", Deny, Trust, "A release is signed by a key that is not remembered for the provider.", "Ask its publisher whether the key is theirs (`tflock explain ADDR` shows it and those remembered); then `tflock trust rotate ADDR FINGERPRINT --reason TEXT`.";
    UnsignedAfterSigned, "unsigned-after-signed", Deny, Trust, "A release is not signed, although earlier ones were.", "Ask its publisher why; if that is meant, `tflock trust rotate ADDR unsigned --reason TEXT`.";
    SignerDenied, "signer-denied", Deny, Trust, "The signing key of a release is denied by the trust file.", "Wait for a release by another key.";
    FirstUseForbidden, "first-use-forbidden", Deny, Trust, "No signer is remembered for the provider, or the module is not locked yet, and --no-first-use does not allow a first use.", "Run the same command without --no-first-use, compare what it learns with what the publisher announces, and commit it.";
    ExpiredKey, "expired-key", Warn, Trust, "The signing key of a release, or its signature, has expired.", "Ask the publisher to extend the key's expiry, or to sign again.";
    Unsigned, "unsigned", Warn, Trust, "A release is not signed; only the registry attests its checksums.", "Ask the publisher to sign its releases.";
    IndexDiffers, "index-differs", Warn, Trust, "A shared index has an h1 for an archive that differs from the computed one.", "Find out who filled it. `tflock cache prune --imported` forgets what was imported.";
    WrongChecksum, "wrong-checksum", Deny, Trust, "A package is not the one that its checksum announces.", "Make sure that no proxy or login page answers in place of the registry; then report it to the registry.";
    UnusualArchive, "unusual-archive", Deny, Trust, "The archive of a package can be read in more than one way; no usual tool makes such archives.", "Find out who made it; the publisher can pack it again with any usual tool.";
    PackagesDiffer, "packages-differ", Deny, Trust, "The registry's report about a package contradicts the checksums of the release, or a known hash of it.", "Report it to the registry. If you do not need that platform, `tflock lock --h1 verified` works with the checksums alone.";
    PlatformMissing, "platform-missing", Warn, Other, "A release has no package for a platform that is optional for it.", "Nothing to do, unless the platform is needed.";
    PossiblyFromState, "possibly-from-state", Note, Other, "An entry is not required by the configuration; a resource in the state may need it.", "Run `tflock lock --prune --state FILE` to settle it.";
    InitChanges, "init-changes", Note, Other, "`init` will change what the lock file says.", "Run `init` where it can read the state, and review what it changes; `tflock lock --prune --state FILE` removes what is no longer needed.";
    AmbiguousVersion, "ambiguous-version", Warn, Other, "Versions that differ in build metadata only have no defined order.", "Require one of them exactly.";
    HeldBack, "held-back", Note, Other, "A newer release than the selected one is available, but a constraint or a setting keeps it from being selected.", "Change the constraint, or let `tflock upgrade --bump ADDR` do it.";
    LockedBefore, "locked-before", Note, Trust, "Git history shows that a provider which is new to the lock file was locked before.", "`tflock add ADDR@VERSION --replace` restores that version, checked against the hashes recorded then.";
    PlatformsDropped, "platforms-dropped", Warn, Other, "The new release is locked for fewer platforms than the old one was.", "Add the missing platforms to `platforms` in `.tflock.hcl`, and run `tflock lock`.";
    TooYoung, "too-young", Deny, Policy, "The locked release is younger than the policy allows.", "Wait, or select an older release.";
    VersionsDiffer, "versions-differ", Warn, Other, "No release suits all root modules, so each gets the newest that its constraints allow.", "Make their constraints agree; `tflock why -r ADDR` shows who requires what.";
    ExplicitHost, "explicit-host", Warn, Other, "The configuration names the registry of the other tool, so its provider stays there.", "Leave the host out of the source address, or run `tflock migrate --to TOOL --edit-config`.";
    ModuleNotInstalled, "module-not-installed", Warn, Other, "A module is not installed, so its requirements are unknown.", "Install the modules (`init` or `get` of the tool), then run `tflock lock`.";
    LockFileMissing, "lock-file-missing", Deny, Other, "A root module that needs providers has no dependency lock file.", "Run `tflock lock` and commit the file.";
    UnknownPlatformHash, "unknown-platform-hash", Note, Other, "A recorded h1 belongs to a platform that was not requested.", "Name all platforms in `platforms` of `.tflock.hcl`.";
    RequirementsUnread, "requirements-unread", Warn, Policy, "The configuration's requirements were not read, or not all of them, so the lock file was not compared with them.", "Compare what is required with the lock file by hand, and again after each change to the unread files.";
    EntryMissing, "entry-missing", Deny, Other, "The configuration requires a provider that has no entry in the lock file.", "Run `tflock lock` and review what it adds.";
    ProviderUndeclared, "provider-undeclared", Deny, Other, "A component of a stack needs a provider that the stack does not declare.", "`tflock add ADDR` adds it to the `required_providers` of the stack; pass its configuration to the component.";
    VersionNotAllowed, "version-not-allowed", Deny, Other, "The locked version is not one that the configuration allows.", "`tflock why ADDR` shows who requires it; `tflock upgrade ADDR` selects a different version.";
    ConstraintsStale, "constraints-stale", Warn, Other, "The recorded constraints differ from the configuration's.", "Run `tflock lock`.";
    PlatformUncovered, "platform-uncovered", Deny, Other, "A wanted platform has no h1 in an entry, so installing there changes or refuses the lock file.", "Run `tflock lock`, or name the platform under `optional_platforms` in `.tflock.hcl`.";
    MalformedHash, "malformed-hash", Deny, Trust, "A recorded hash is malformed for its scheme, so it matches no package.", "Restore the line from version control, or remove it and run `tflock lock`.";
    UnattestedHash, "unattested-hash", Deny, Trust, "A recorded hash belongs to no package of the locked release.", "Find out who added it (`git log -S HASH`). `tflock lock ADDR --restore-from REV` restores the entry as a commit has it; `tflock lock ADDR --drop-unattested` removes each h1 that no archive of the release has.";
    ContradictedHash, "contradicted-hash", Deny, Trust, "A recorded hash belongs to another provider or version.", "Find out who added it (`git log -S HASH`). `tflock lock ADDR --restore-from REV` restores the entry as a commit has it; or remove the line and run `tflock lock`.";
    ZhMissing, "zh-missing", Warn, Trust, "The checksums of a release list packages that an entry does not record.", "Run `tflock lock` and review what it adds.";
    H1Missing, "h1-missing", Warn, Trust, "An entry records no h1, so only packed archives can be checked against it.", "Run `tflock lock`.";
    VersionWithdrawn, "version-withdrawn", Deny, Trust, "The registry no longer offers the locked version.", "Find out why its publisher withdrew it; `tflock upgrade ADDR` selects a different version.";
    SignerNotPinned, "signer-not-pinned", Deny, Trust, "No signer is remembered for a locked provider.", "Compare the fingerprint with what the publisher announces (`tflock explain ADDR` shows where); then `tflock trust add ADDR FINGERPRINT`, or `tflock trust init` for all.";
    HostNotAllowed, "host-not-allowed", Deny, Policy, "A provider or a module comes from a host that the policy does not allow.", "Use another source address, or add the host to `policy.hosts` in `.tflock.hcl`, for a module to `policy.module_hosts`.";
    LookAlike, "look-alike", Deny, Trust, "An address has letters of another script in place of Latin ones, so it looks like another address.", "Rewrite the address in plain letters; find out who wrote it (`git blame`).";
    SimilarName, "similar-name", Deny, Trust, "The address of a new provider is one or two letters off the address of another provider or registry.", "If the other provider is meant, correct the source address. If not, check who publishes this one (`tflock explain ADDR`); then add its signer to the trust file of the base (`tflock trust add ADDR FINGERPRINT`), or have the change approved and run `tflock verify` with --allow-trust-change.";
    UnexpectedPublisher, "unexpected-publisher", Warn, Trust, "A well-known provider is signed by a key that is not known to be its publisher's.", "Compare the fingerprint with what the publisher announces (`tflock explain ADDR` shows where): it may have a newer key than this program knows. If it is theirs: `tflock trust add ADDR FINGERPRINT --reason TEXT`.";
    WitnessDiffers, "witness-differs", Deny, Trust, "Another place has a different archive of a release that is used for the first time.", "Ask the publisher which archive is theirs, and lock nothing until then. If it is this one, an `exempt` block with the reason in the `.tflock.hcl` of the base lets it pass.";
    WitnessMissing, "witness-missing", Deny, Policy, "The settings demand a witness of a release that is used for the first time, and none has its archives.", "Wait until one of the `witnesses` in `.tflock.hcl` has the release, or take the provider out of `witnessed` there.";
    ProviderVulnerable, "provider-vulnerable", Warn, Other, "A provider contains a module with a known vulnerability.", "Read the advisory at https://pkg.go.dev/vuln/. `tflock upgrade ADDR` selects a newer release, which may have been built with newer modules.";
    RegistryWarning, "registry-warning", Warn, Other, "The registry warns about a provider, such as that it is deprecated or has moved.", "Read the warning. If the provider moved, change its source address, then run `tflock lock`; state that uses the old address needs `state replace-provider` of the tool.";
    Banned, "banned", Deny, Policy, "The settings ban the locked release.", "`tflock upgrade ADDR` selects another release; where its constraint allows no other, `tflock upgrade ADDR --bump` changes that too.";
    TrackedPackages, "tracked-packages", Deny, Trust, "Packages that the tools would install without contacting a registry are tracked by git.", "Remove them from version control: `git rm -r --cached PATH`.";
    AmbiguousName, "ambiguous-name", Deny, Trust, "On a case-insensitive file system, a tracked file collides with one that tflock reads.", "Rename it, or remove it from version control: `git rm -r --cached PATH`.";
    InstalledDiffers, "installed-differs", Deny, Trust, "An installed package, of a provider or a module, differs from the locked one.", "Run `tflock install`, or `tflock get` for modules, or remove it and run `init` again.";
    HashReplaced, "hash-replaced", Deny, Trust, "Hashes of a locked release were replaced by others under the same version.", "Restore the entry as the base has it: `tflock lock ADDR --restore-from REV`. If its publisher did publish it again: `tflock lock --accept-republished ADDR@VERSION --reason TEXT`, and have the record in the trust file approved.";
    HashesDropped, "hashes-dropped", Deny, Trust, "Hashes of a locked release were removed and not replaced.", "Restore the entry as the base has it: `tflock lock ADDR --restore-from REV`; or run `tflock lock`, which adds the hashes of all wanted platforms.";
    Downgraded, "downgraded", Note, Policy, "A provider is locked at an older version than at the base.", "Ask the author of the change why; `tflock upgrade ADDR` selects the newest version that the constraints allow.";
    LockFileRemoved, "lock-file-removed", Deny, Trust, "The dependency lock file was removed, though its root module is still there.", "Restore it from the base: `git checkout REV -- PATH`. Without it, `init` records whatever is served next.";
    LockFileMoved, "lock-file-moved", Deny, Trust, "Configuration moved to another directory without its dependency lock file.", "Move the lock file too (`git mv`). Without it, `init` records whatever is served next.";
    PolicyWeakened, "policy-weakened", Deny, Policy, "The settings allow what they refused before.", "Revert the change; or have the owner of the file approve it, and run `tflock verify` with --allow-trust-change.";
    PinChanged, "pin-changed", Deny, Trust, "The trust file accepts other signers of a provider than before.", "Ask the publisher whether the key is theirs; have the owner of the trust file approve it, and run `tflock verify` with --allow-trust-change.";
    PinRemoved, "pin-removed", Deny, Trust, "The trust file forgets the signer of a provider, or no longer denies a key.", "Revert the change; or have the owner of the file approve it, and run `tflock verify` with --allow-trust-change.";
    RepublicationAccepted, "republication-accepted", Deny, Trust, "The trust file accepts a release that is not the one that was recorded.", "Revert the change; or have the owner of the file approve it, and run `tflock verify` with --allow-trust-change.";
    LinkChanged, "link-changed", Deny, Trust, "A symbolic link or a submodule is new or changed at or above a root module or a file that is read for it.", "Put a file or a directory in its place; or have the change approved, and run `tflock verify` with --allow-trust-change.";
    RootModuleMovedOut, "root-module-moved-out", Deny, Trust, "A directory with root modules became a link or a submodule, so the gate no longer checks them.", "Revert the change; or have it approved, and run `tflock verify` with --allow-trust-change.";
    RootKindChanged, "root-kind-changed", Deny, Trust, "Different files than at the base decide what a root module requires: it became a stack, a unit or a module, or lost its configuration.", "Revert the change; or have it approved, and run `tflock verify` with --allow-trust-change.";
    CoverageLost, "coverage-lost", Deny, Trust, "A lock file of the base covered a unit, and Terragrunt now uses a different one, or none.", "Revert the change; or write a lock file for the unit with `tflock lock -r --create`, and let Terragrunt copy it.";
    InitOverridden, "init-overridden", Warn, Trust, "A unit has Terragrunt run `init` with arguments or variables that decide what is installed, whatever the lock file says.", "Take them out of the `extra_arguments` for `init`; or have the change approved, and run `tflock verify` with --allow-trust-change.";
    ProgramChanged, "program-changed", Warn, Trust, "A program that Terragrunt starts for a unit is new or changed since the base.", "Review the program: `tflock` does not start it, and what it changes is not read.";
    DialectChanged, "dialect-changed", Deny, Trust, "The lock file, the settings or the names of the configuration files are for a different tool than at the base.", "If the move is meant, set `tool` in `.tflock.hcl` at the base; or have it approved, and run `tflock verify` with --allow-trust-change.";
    ModuleChanged, "module-changed", Deny, Trust, "A locked module has different content under the same tag, commit, registry version or address.", "Ask its publisher why; `tflock get` still installs the locked content if its repository or this cache has it. If the change is intended: `tflock upgrade --modules SOURCE`.";
    ModuleAmbiguous, "module-ambiguous", Deny, Trust, "The tools could install different files for a module than the locked ones: its `ref` names two things, a checkout changes its files, or its registry lists two versions that compare as equal.", "Write the full commit or `ref=refs/tags/NAME` in the source, without `depth`; if its files or its versions are the reason, call another version of the module, or keep a copy of it in the repository.";
    ModuleMoved, "module-moved", Deny, Other, "The branch that a module comes from has moved on since it was locked, or `init` would install another version from its registry than the locked one (then a warning).", "Review what is new and run `tflock upgrade --modules SOURCE`, or name a tag, a commit or an exact version; `tflock get` before `init` installs what is locked.";
    ModuleUnlocked, "module-unlocked", Deny, Other, "A module call has no block in the module lock file that its constraint allows.", "Run `tflock lock` and review what it adds.";
    ModuleStale, "module-stale", Warn, Other, "The module lock file has a block or a call that the configuration no longer has.", "Run `tflock lock`.";
    PinAdded, "pin-added", Warn, Trust, "The trust file remembers a signer of a provider that had none.", "Compare the fingerprint with what the publisher announces.";
    ProvenanceChanged, "provenance-changed", Deny, Trust, "A release was not built where the releases of its provider are built.", "Ask its publisher whether the builds have moved; then `tflock trust rotate ADDR --provenance --reason TEXT`.";
    ProvenanceVersion, "provenance-version", Deny, Trust, "An archive of a release was built as something else: another version, provider or platform.", "Report it to the publisher, and do not use this release until it is explained.";
    ProvenanceInvalid, "provenance-invalid", Deny, Trust, "An attestation of a release does not verify.", "Report it to the publisher, and do not use this release until it is explained. If the attestation is younger than this program, a newer tflock may know its keys.";
    ProvenanceMissing, "provenance-missing", Deny, Trust, "Nothing attests where a release was built, though the trust file or the settings demand it.", "Ask its publisher why the release is not attested as others are, and use another release until then.";
    ProvenanceUnknown, "provenance-unknown", Note, Trust, "The attestation service did not respond about a release.", "Run the command again later. With a token in GITHUB_TOKEN the service answers more requests.";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::{Hole, Step};

    /// What accepts a key is never the first command: comparing comes first.
    #[test]
    fn a_key_is_compared_before_it_is_trusted() {
        let accepting = |rule: &&Rule| {
            let help = Step::from(rule.help()).filled(Hole::Address, "acme/widget").filled(Hole::Fingerprint, "F1");
            let help = help.filled(Hole::Release, "acme/widget@1.0.0");
            help.command().is_some_and(|next| next.contains("F1"))
        };
        assert_eq!(Rule::ALL.iter().filter(accepting).collect::<Vec<_>>(), [&Rule::FirstUse; 0]);
    }

    #[test]
    fn ids_are_kebab_case_and_unique() {
        let mut ids: Vec<&str> = Rule::ALL.iter().map(|rule| rule.id()).collect();
        assert!(ids.iter().all(|id| id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')));
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), Rule::ALL.len());
    }
}
