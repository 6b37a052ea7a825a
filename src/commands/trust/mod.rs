//! `trust`: shows and changes the remembered signers.

mod args;
pub(super) mod init;
mod place;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::Services;
use super::shared::providers;
use super::shared::rules::RuleBook;
use super::shared::trust_store::{self, TrustStore};
use crate::addr::{AddrPattern, Hostname, ProviderAddr};
use crate::config::edit::suggest;
use crate::dialect::Dialect;
use crate::disk::cache::Cache;
use crate::error::{Error, ErrorKind};
use crate::lockfile::{self, LockFile};
use crate::outcome::{Body, Outcome, RootOutcome, TrustReport};
use crate::settings::SignatureRule;
use crate::step::Step;
use crate::trust::Fingerprint;
use crate::trust::openpgp::Identities;
use crate::trust::pins::{Pin, Pins, Signer, provider_pattern};
use crate::workspace::{Reading, Root, RunSettings};
use init::{SignatureLookup, Signed};
use place::PlaceQuery;

pub use args::trust;
pub(crate) use args::{SignerArgs, TrustArgs, TrustCommand};

/// Applies one action to the trust file of a working tree. `cache` has the keys that registries listed.
fn act(
    settings: &RunSettings,
    action: &TrustCommand,
    services: &Services<'_>,
    cache: &Arc<Cache>,
) -> Result<Outcome, Error> {
    let mut store = TrustStore::load(&settings.trust)?;
    let mut notes = Vec::new();
    let names = match action {
        TrustCommand::Add(SignerArgs { providers, .. }) | TrustCommand::Rotate(SignerArgs { providers, .. }) => {
            let pattern = named(providers, settings, store.pins())?;
            let providers = [(pattern, Pin::default())].into();
            trust_store::keys_of_pins(cache, &Pins { providers, ..Pins::default() }, settings.now)
        }
        TrustCommand::List { .. } => trust_store::keys_of_pins(cache, store.pins(), settings.now),
        TrustCommand::Init { .. } | TrustCommand::Deny { .. } | TrustCommand::Forget { .. } => Identities::new(),
    };
    let (changed, pins) = match action {
        TrustCommand::List { providers, .. } if !providers.is_empty() => {
            let patterns = providers.iter().map(|text| remembered(&named(text, settings, store.pins())?, store.pins()));
            (None, only(store.pins(), &patterns.collect::<Result<Vec<_>, _>>()?))
        }
        TrustCommand::Init { .. } | TrustCommand::List { .. } => (None, store.pins().clone()),
        TrustCommand::Add(SignerArgs { providers, provenance: Some(of), reason, .. })
        | TrustCommand::Rotate(SignerArgs { providers, provenance: Some(of), reason, .. }) => {
            let pattern = named(providers, settings, store.pins())?;
            let lookup = SignatureLookup { services, root: settings, cache };
            let rotates = matches!(action, TrustCommand::Rotate(_));
            let query = PlaceQuery { lookup, pattern: &pattern, version: of.version.as_ref(), rotates };
            let changed = query.pin(&mut store, reason.as_deref(), &mut notes)?;
            (Some(changed), only(store.pins(), &[pattern]))
        }
        // Without --provenance there is a signer.
        TrustCommand::Add(SignerArgs { signer: None, .. }) | TrustCommand::Rotate(SignerArgs { signer: None, .. }) => {
            (None, Pins::default())
        }
        TrustCommand::Add(SignerArgs { providers, signer: Some(signer), reason, .. }) => {
            let pattern = named(providers, settings, store.pins())?;
            undenied(store.pins(), signer)?;
            notes.extend(unlisted(&pattern, signer, &names));
            notes.extend(still_demanded(&pattern, signer, settings));
            let changed = store.change(&names, &services.interrupt, |pins| {
                let mut pin = pins.counting(&pattern).cloned().unwrap_or_default();
                pin.accept(signer.clone(), reason.as_deref());
                pins.providers.insert(pattern.clone(), pin);
                Ok(())
            })?;
            (Some(changed), only(store.pins(), &[pattern]))
        }
        TrustCommand::Rotate(SignerArgs { providers, signer: Some(signer), reason, .. }) => {
            let pattern = named(providers, settings, store.pins())?;
            undenied(store.pins(), signer)?;
            let replaces = rotated(store.pins(), &pattern, signer)?.signers.iter().any(|old| old != signer);
            let signatures = SignatureLookup { services, root: settings, cache };
            let earlier = if replaces { signatures.of(&pattern, store.pins(), &mut notes)? } else { Signed::default() };
            notes.extend(unlisted(&pattern, signer, &names));
            notes.extend(still_demanded(&pattern, signer, settings));
            let changed = store.change(&names, &services.interrupt, |pins| {
                let mut pin = rotated(pins, &pattern, signer)?;
                pin.rotate(signer.clone(), &earlier, reason.as_deref());
                pins.providers.insert(pattern.clone(), pin);
                Ok(())
            })?;
            (Some(changed), only(store.pins(), &[pattern]))
        }
        TrustCommand::Deny { key, reason, .. } => {
            let changed = store.change(&names, &services.interrupt, |pins| {
                pins.denied.insert(key.clone(), reason.clone());
                Ok(())
            })?;
            let denied = [(key.clone(), reason.clone())].into();
            (Some(changed), Pins { denied, ..Pins::default() })
        }
        TrustCommand::Forget { providers, .. } => {
            let (keys, texts): (Vec<_>, Vec<_>) =
                providers.iter().partition(|text| text.parse::<Fingerprint>().is_ok());
            let keys: Vec<Fingerprint> = keys.into_iter().filter_map(|text| text.parse().ok()).collect();
            let patterns = texts.into_iter().map(|text| named(text, settings, store.pins()));
            let patterns: Vec<AddrPattern> = patterns.collect::<Result<_, _>>()?;
            let mut before = only(store.pins(), &patterns);
            let denied = store.pins().denied.iter().filter(|(key, _)| keys.contains(key));
            before.denied = denied.map(|(key, reason)| (key.clone(), reason.clone())).collect();
            let changed = store.change(&names, &services.interrupt, |pins| {
                patterns.iter().try_for_each(|pattern| forget(pins, pattern))?;
                keys.iter().try_for_each(|key| allow(pins, key))
            })?;
            (Some(changed), before)
        }
    };
    let forgotten = matches!(action, TrustCommand::Forget { .. });
    let (path, looked_up) = (settings.trust.shown.clone(), false);
    let report = TrustReport { path, changed, forgotten, looked_up, pins, names };
    let root = RootOutcome::of(&settings.path, Body::Trust(report));
    Ok(Outcome { notes: notes.into(), ..Outcome::of_roots("trust", vec![root]) })
}

const BY_ADDRESS: &str = "name the provider by its address: namespace/type, or host/namespace/type";

/// Resolves a text: a pattern or an address, a local name of the root module, or a type that only one provider of the
/// root module, the trust file or its lock files has.
fn named(text: &str, settings: &RunSettings, pins: &Pins) -> Result<AddrPattern, Error> {
    if text.contains('/') || text.contains('*') {
        return pattern(text, settings.dialect);
    }
    // What cannot be read may give the name to a provider of any namespace.
    let root = Root::open(settings, Reading { required: false, ..Reading::LENIENT }).and_then(Root::whole);
    let root = root.map_err(|error| error.hint(BY_ADDRESS))?;
    if root.names().knows(text) {
        return root.names().resolve(text).map(AddrPattern::from);
    }
    let full = pattern(text, settings.dialect)?;
    if pins.providers.contains_key(&full) {
        return Ok(full);
    }
    if let [one] = &namesakes(&full, pins)[..] {
        return Ok(one.clone());
    }
    let locks = locks_below(&settings.boundary, |_| {})?;
    let locked: BTreeSet<&ProviderAddr> = locks.iter().flat_map(|lock| lock.iter().map(|(addr, _)| addr)).collect();
    let of_type = locked.into_iter().filter(|addr| addr.type_name() == text);
    let of_type: Vec<AddrPattern> = of_type.cloned().map(AddrPattern::from).collect();
    match &of_type[..] {
        _ if of_type.contains(&full) => Ok(full),
        [one] => Ok(one.clone()),
        [] => {
            let message = format!("nothing here requires, locks or remembers a provider {text}");
            let near = near(&full, pins).into_iter().map(Step::meant);
            let mut error = Error::new(ErrorKind::Usage, message).hints(near);
            if error.hints.is_empty() {
                error = error.hint(format!("if it is new, {BY_ADDRESS}"));
            }
            Err(match ProviderAddr::parse(text, settings.dialect) {
                Ok(addr) => error.about(addr),
                Err(_) => error,
            })
        }
        several => {
            let message = format!("several providers have the type {text}");
            let names = several.iter().map(Step::meant);
            Err(Error::new(ErrorKind::Usage, message).hints(names))
        }
    }
}

fn undenied(pins: &Pins, signer: &Signer) -> Result<(), Error> {
    let Some((key, reason)) = signer.key().and_then(|key| pins.denied.get_key_value(key)) else { return Ok(()) };
    let error = Error::new(ErrorKind::Usage, format!("the trust file denies the key {key}: {reason}"));
    Err(error.hint(step!("`tflock trust forget {}` takes that back", key)))
}

/// The remembered patterns of the same type as one that is not remembered.
fn namesakes(pattern: &AddrPattern, pins: &Pins) -> Vec<AddrPattern> {
    let last = |pattern: &AddrPattern| pattern.to_string().rsplit('/').next().map(str::to_owned);
    pins.providers.keys().filter(|known| *known != pattern && last(known) == last(pattern)).cloned().collect()
}

/// The remembered patterns that resemble one that is not remembered.
fn near(pattern: &AddrPattern, pins: &Pins) -> Vec<String> {
    let known: Vec<String> = pins.providers.keys().map(ToString::to_string).collect();
    suggest(&pattern.to_string(), known.iter().map(String::as_str)).into_iter().map(str::to_owned).collect()
}

/// Parses an address as in configuration, or a pattern of two or three parts.
fn pattern(text: &str, dialect: Dialect) -> Result<AddrPattern, Error> {
    let full = if text.contains('*') {
        AddrPattern::parse(text, dialect).map(|pattern| pattern.to_string()).map_err(|problem| problem.to_string())
    } else {
        ProviderAddr::parse(text, dialect).map(|addr| addr.to_string()).map_err(|problem| problem.to_string())
    };
    let usage = |problem: String| Error::new(ErrorKind::Usage, format!("invalid provider argument: {problem}"));
    provider_pattern(&full.map_err(usage)?).map_err(|problem| usage(problem.message))
}

fn only(pins: &Pins, patterns: &[AddrPattern]) -> Pins {
    let wanted = pins.providers.iter().filter(|(pattern, _)| patterns.contains(pattern));
    Pins { providers: wanted.map(|(pattern, pin)| (pattern.clone(), pin.clone())).collect(), ..Pins::default() }
}

/// The pin to begin with where a signer is to take the place of others.
fn rotated(pins: &Pins, pattern: &AddrPattern, to: &Signer) -> Result<Pin, Error> {
    // A provider that only a wider pattern covers gets its own pin, which starts as a copy.
    pins.counting(pattern).cloned().ok_or_else(|| {
        let message = format!("no signer of {pattern} is remembered, so there is nothing to rotate");
        let error = Error::new(ErrorKind::Usage, message);
        let near = near(pattern, pins);
        // A misspelt name must not lead to a command that trusts it.
        if near.is_empty() {
            error.hint(step!("to accept a signer for the first time: `tflock trust add {} {}`", pattern, to))
        } else {
            near.into_iter().fold(error, |error, near| error.hint(Step::meant(near)))
        }
    })
}

/// Notes that unsigned releases stay refused although the trust file accepts them now: the settings demand signatures.
fn still_demanded(pattern: &AddrPattern, signer: &Signer, settings: &RunSettings) -> Option<String> {
    let host = pattern.to_string().split('/').next().and_then(|host| Hostname::parse(host).ok())?;
    let rules = RuleBook::for_root(settings);
    let demands = *signer == Signer::Unsigned && rules.signature_of(&host) == SignatureRule::Always;
    demands.then(|| {
        format!(
            "unsigned releases of {pattern} are refused as before: the policy demands a signature from {host}, until \
             `host \"{host}\" {{ signature = \"never\" }}` in .tflock.hcl says that it signs nothing"
        )
    })
}

/// The pattern whose pin applies to a provider or pattern: the most specific one.
fn remembered(pattern: &AddrPattern, pins: &Pins) -> Result<AddrPattern, Error> {
    let wider = pattern.clone().widened().into_iter().find(|wider| pins.providers.contains_key(wider));
    wider.ok_or_else(|| {
        let error = Error::new(ErrorKind::NotFound, format!("no signer of {pattern} is remembered"));
        near(pattern, pins).into_iter().fold(error, |error, near| error.hint(Step::meant(near)))
    })
}

/// Notes that no registry has listed a key as a primary key: it may be a typing error or a subkey.
fn unlisted(pattern: &AddrPattern, signer: &Signer, listed: &Identities) -> Option<String> {
    let key = signer.key().filter(|key| !listed.contains_key(key))?;
    Some(format!(
        "no registry has listed the primary key {key} for {pattern} so far: compare each digit with what the publisher \
         announces"
    ))
}

fn forget(pins: &mut Pins, pattern: &AddrPattern) -> Result<(), Error> {
    if pins.providers.remove(pattern).is_some() {
        return Ok(());
    }
    let error = Error::new(ErrorKind::Usage, format!("no signer of {pattern} is remembered"));
    let near = near(pattern, pins).into_iter().map(Step::meant);
    Err(error.hints(near).hint(step!("`tflock trust list` shows what is")))
}

fn allow(pins: &mut Pins, key: &Fingerprint) -> Result<(), Error> {
    if pins.denied.remove(key).is_some() {
        return Ok(());
    }
    let error = Error::new(ErrorKind::Usage, format!("the key {key} is not denied"));
    Err(error.hint(step!("to forget a signer, name its provider; `tflock trust list` shows what is remembered")))
}

/// All readable lock files below a directory.
fn locks_below(top: &Path, mut unread: impl FnMut(&Path)) -> Result<Vec<LockFile>, Error> {
    let mut locks = Vec::new();
    for (directory, decoded) in providers::locks_below(top)? {
        match decoded {
            Ok(decoded) => locks.push(decoded.lock),
            Err(_) => unread(&top.join(directory).join(lockfile::FILE_NAME)),
        }
    }
    Ok(locks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::version::Version;

    fn key(digit: &str) -> Signer {
        Signer::Key(digit.repeat(40).parse().unwrap())
    }

    #[test]
    fn an_own_pin_starts_from_the_pattern() {
        let parse = |text| pattern(text, Dialect::OpenTofu).unwrap();
        let mut pins = Pins::default();
        pins.providers.entry(parse("acme/*")).or_default().signers.insert(key("A"));
        assert_eq!(pins.counting(&parse("acme/widget")).unwrap().signers, [key("A")].into());
        assert_eq!(pins.counting(&parse("other/widget")), None);
        let signed = [(key("A"), [Version::new(1, 0, 0)].into()), (key("B"), [Version::new(1, 1, 0)].into())].into();
        let mut own = rotated(&pins, &parse("acme/widget"), &key("B")).unwrap();
        own.rotate(key("B"), &signed, Some("announced"));
        assert_eq!(pins.providers[&parse("acme/*")].signers, [key("A")].into());
        assert_eq!(own.reasons, [(key("B"), "announced".to_owned())].into());
        assert!(own.accepts(&key("A"), &Version::new(1, 0, 0)) && !own.accepts(&key("A"), &Version::new(1, 0, 1)));
        assert!(rotated(&pins, &parse("other/x"), &key("B")).is_err());
        forget(&mut pins, &parse("acme/*")).unwrap();
        assert!(forget(&mut pins, &parse("acme/*")).is_err());
    }

    #[test]
    fn arguments_are_addresses_or_patterns_of_one_host() {
        let text = |text| pattern(text, Dialect::OpenTofu).map(|pattern| pattern.to_string());
        assert_eq!(text("null").unwrap(), "registry.opentofu.org/hashicorp/null");
        assert_eq!(text("Acme/*").unwrap(), "registry.opentofu.org/acme/*");
        for bad in ["*/*/*", "a/*/c", "a//b", "terraform.io/builtin/terraform"] {
            assert_eq!(text(bad).unwrap_err().kind, ErrorKind::Usage, "{bad}");
        }
    }
}
