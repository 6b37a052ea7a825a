//! The table of rules: one row feeds every format and `tflock explain`.

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// Worth knowing.
    Note,
    /// Worth doing something about.
    Warn,
    /// Refused.
    Deny,
}

/// What a rule is about; decides the exit code of a finding at level deny.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// Who vouches for what: exit code 3.
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
            pub fn help(self) -> &'static str {
                match self { $(Rule::$variant => $help,)* }
            }
        }
    };
}

rules! {
    LockSyntax, "lock-syntax", Deny, Other, "The lock file is not valid HCL, or holds what cannot stand in one.", "Restore the file from version control, or resolve its conflict markers.";
    LockSchema, "lock-schema", Deny, Other, "The lock file has a block or argument that does not belong there, or lacks one.", "Remove the part, or restore the file from version control.";
    LockAddress, "lock-address", Deny, Other, "The label of a block is not the canonical address of a provider that can be locked.", "Write the full address, host/namespace/type, in lower case.";
    LockVersion, "lock-version", Deny, Other, "The version of an entry is not one exact version in canonical form.", "Write all three numbers, without a prefix.";
    LockConstraints, "lock-constraints", Deny, Other, "The constraints of an entry are not in canonical form.", "Write them in the form the message names; `tflock lock` does.";
    LockHashes, "lock-hashes", Deny, Other, "The hashes of an entry are not a list of hash strings.", "Remove the attribute and run `tflock lock`.";
    DuplicateProvider, "duplicate-provider", Deny, Other, "A provider has two entries, as after a bad merge.", "Remove one of the blocks and run `tflock lock`.";
    LockModules, "lock-modules", Warn, Other, "The lock file has a block for a module, which this version of the tools ignores.", "Remove the block, or use the newer tool that wrote it.";
    DuplicateHash, "duplicate-hash", Warn, Other, "An entry records one hash twice.", "Run `tflock fmt`.";
    NotCanonical, "not-canonical", Warn, Other, "The lock file is not written as the tools write it.", "Run `tflock fmt`.";
    PinsNothing, "pins-nothing", Deny, Trust, "An entry records no hash of a known scheme, so that any package is accepted.", "Run `tflock lock` and review the hashes it adds.";
    Republished, "republished", Deny, Trust, "The release on offer is not the one that was recorded.", "Ask its publisher why; then `tflock lock --accept-republished ADDR@VERSION --reason TEXT`.";
    ReleaseGrew, "release-grew", Warn, Trust, "The release has more packages than when it was recorded; those recorded still stand.", "Review the new packages as you would a new release.";
    FirstUse, "first-use", Note, Trust, "A release is locked for the first time; its signer is taken on trust.", "Compare the fingerprint with what the publisher announces.";
    UnexplainedHash, "unexplained-hash", Warn, Trust, "A recorded hash is none of the hashes that the release is known to have.", "Run `tflock verify`; if the hash stays unexplained, remove it.";
    UnboundSignature, "unbound-signature", Deny, Trust, "The signed list names the package for another provider, version or platform.", "Ask the registry; the package may have been swapped.";
    UnusualPackageName, "unusual-package-name", Warn, Trust, "The signed list names the package in no known way, so that the signature binds it to nothing.", "Ask the registry to name its packages terraform-provider-TYPE_VERSION_OS_ARCH.zip.";
    BadSignature, "bad-signature", Deny, Trust, "The signature over the checksums of a release does not verify.", "Tell the publisher; nothing of this release should be used before it is mended.";
    RevokedKey, "revoked-key", Deny, Trust, "The signing key of a release is revoked.", "Wait for a release by another key.";
    ExpiredKey, "expired-key", Warn, Trust, "The signing key of a release had expired when it signed.", "Ask the publisher to extend the key's expiry.";
    Unsigned, "unsigned", Warn, Trust, "A release is not signed; its checksums are the registry's word only.", "Ask the publisher to sign its releases.";
    WrongChecksum, "wrong-checksum", Deny, Trust, "A package is not the one that its checksum announces.", "Make sure that no proxy or login page answers in place of the registry; then tell the registry.";
    UnusualArchive, "unusual-archive", Deny, Trust, "A package is an archive that the tools may read otherwise than it says.", "Tell the publisher.";
    PackagesDiffer, "packages-differ", Deny, Trust, "What the registry reports about a package contradicts its signed checksums.", "Tell the registry.";
    TwoHashForms, "two-hash-forms", Warn, Other, "A package has directory entries, so that its h1 differs between archive and directory.", "Mirrors that hold the packed archive may refuse it; prefer unpacked mirrors.";
    ProtocolUnsupported, "protocol-unsupported", Warn, Other, "A release speaks no protocol that the tools support.", "Choose another version.";
    PlatformMissing, "platform-missing", Warn, Other, "A release has no package for a platform that is optional for it.", "Nothing to do, unless the platform is needed.";
    PossiblyFromState, "possibly-from-state", Note, Other, "An entry is not required by the configuration; a resource in the state may need it.", "Run `tflock lock --prune --state FILE` to settle it.";
    AmbiguousVersion, "ambiguous-version", Warn, Other, "Versions that differ in build metadata only have no defined order.", "Ask for one exactly.";
    UnknownPlatformHash, "unknown-platform-hash", Note, Other, "A recorded h1 belongs to a platform that nobody named.", "Set `platforms` in `.tflock.hcl`.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_kebab_case_and_unique() {
        let mut ids: Vec<&str> = Rule::ALL.iter().map(|rule| rule.id()).collect();
        assert!(ids.iter().all(|id| id.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')));
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), Rule::ALL.len());
    }
}
