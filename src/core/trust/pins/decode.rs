//! The text of a trust file, decoded.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use hcl_edit::expr::Expression;
use hcl_edit::structure::{Block, Body};

use super::{BlockKey, FILE_NAME, Pin, Republication, Retired, Signer, TrustFile};
use crate::addr::{AddrPattern, ProviderAddr};
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::hcl::document::{self, Literal, Problem, Reader, Schema, last_byte, start};
use crate::hcl::{Anchor, Comments};
use crate::provenance::{self, BadPlace, BuiltBy, Repository};
use crate::trust::Fingerprint;
use crate::version::{Version, VersionError};

/// The most blocks of a trust file, those within blocks included.
const MOST_BLOCKS: usize = 10_000;

const TOP: Schema = Schema { name: "", attributes: &[], blocks: &["provider", "denied_signer", "republished"] };
const PROVIDER: Schema = Schema {
    name: " in a provider block",
    attributes: &["signers", "unsigned"],
    blocks: &["signer", "retired_signer", "built_by"],
};
const BUILT_BY: Schema = Schema {
    name: " in a built_by block",
    attributes: &[
        "repository",
        "repository_id",
        "owner_id",
        "workflow",
        "signer",
        "ref",
        "triggers",
        "since",
        "pinned_on",
        "reason",
    ],
    blocks: &[],
};
const SIGNER: Schema = Schema { name: " in a signer block", attributes: &["reason"], blocks: &[] };
const RETIRED: Schema = Schema { name: " in a retired_signer block", attributes: &["versions", "reason"], blocks: &[] };
const DENIED: Schema = Schema { name: " in a denied_signer block", attributes: &["reason"], blocks: &[] };
const REPUBLISHED: Schema =
    Schema { name: " in a republished block", attributes: &["version", "date", "reason"], blocks: &[] };

pub fn decode(text: &str, file: &Path) -> Result<TrustFile, Vec<Error>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut found = document::read(text, FILE_NAME, (ErrorKind::Settings, file), |reader, body| {
        let mut found = PinBlock::default();
        found.top(reader, body);
        found
    })?;
    found.anchors.sort_by_key(|(offset, _)| *offset);
    found.file.comments = Comments::find(text, &found.anchors);
    Ok(found.file)
}

/// Parses what a pin is for: a full address, or a pattern of one host.
pub fn provider_pattern(text: &str) -> Result<AddrPattern, Problem> {
    if text.matches('/').count() < 2 {
        return Err(no_host(text));
    }
    let pattern = AddrPattern::parse(text, Dialect::Terraform)?;
    if pattern.to_string().starts_with('*') {
        return Err(format!("{text:?} covers every host; a pin applies to one host").into());
    }
    if pattern.is_exact() {
        ProviderAddr::parse(text, Dialect::Terraform)?;
    }
    Ok(pattern)
}

#[derive(Default)]
struct PinBlock {
    file: TrustFile,
    blocks: usize,
    anchors: Vec<(usize, Anchor<BlockKey>)>,
}

impl PinBlock {
    fn top(&mut self, reader: &mut Reader<'_>, body: &Body) {
        reader.check_names(body, &TOP);
        for block in body.blocks() {
            self.blocks += 1 + block.body.blocks().count();
            if self.blocks > MOST_BLOCKS {
                let problem = format!("the file has more than {MOST_BLOCKS} blocks, which is the limit");
                reader.report(start(&block.ident), problem);
                return;
            }
            let twice = match block.ident.as_str() {
                "provider" => self.provider(reader, block),
                "denied_signer" => self.denied(reader, block),
                "republished" => self.republished(reader, block),
                _ => false,
            };
            if twice {
                reader.report_twice(block);
            }
        }
    }

    /// Each of these is true if the block appeared before.
    fn provider(&mut self, reader: &mut Reader<'_>, block: &Block) -> bool {
        let body = &block.body;
        reader.check_names(body, &PROVIDER);
        let label = reader.label(block, "provider", "one label, the address of a provider or a pattern");
        let pattern = label.and_then(|label| reader.keep(&label, provider_pattern(label.text)));
        let mut pin = Pin::default();
        if let Some(attribute) = body.get_attribute("signers") {
            let signers = reader.list(&attribute.value, "signers").unwrap_or_default();
            if attribute.value.as_array().is_some_and(hcl_edit::expr::Array::is_empty) {
                reader.report(start(&attribute.value), "signers must not be empty");
            }
            let keys = signers.iter().filter_map(|signer| reader.keep(signer, signer.text.parse::<Fingerprint>()));
            pin.signers.extend(keys.map(Signer::Key));
        }
        if let Some(attribute) = body.get_attribute("unsigned") {
            match &attribute.value {
                Expression::Bool(value) if *value.value() => {
                    pin.signers.insert(Signer::Unsigned);
                }
                Expression::Bool(_) => {}
                other => reader.report(start(other), "unsigned must be true or false"),
            }
        }
        if !body.has_attribute("signers") && !unsigned(body) {
            let problem = Problem::from("a provider block needs signers or unsigned = true");
            let hint = "remove the block, or name who signs the provider".to_owned();
            reader.report(start(&block.ident), problem.hint(hint));
        }
        self.reasons(reader, pattern.as_ref(), &mut pin, body);
        self.retired_signers(reader, pattern.as_ref(), &mut pin, body);
        self.built_by(reader, pattern.as_ref(), &mut pin, body);
        let Some(pattern) = pattern else { return false };
        self.anchor(reader, BlockKey::Provider(pattern.clone()), block, &["signers", "unsigned"]);
        self.file.pins.providers.insert(pattern, pin).is_some()
    }

    fn reasons(&mut self, reader: &mut Reader<'_>, of: Option<&AddrPattern>, pin: &mut Pin, body: &Body) {
        for block in body.blocks().filter(|block| block.ident.as_str() == "signer") {
            reader.check_names(&block.body, &SIGNER);
            let reason = reason(reader, block, "signer");
            let label = reader.label(block, "signer", "one label, a fingerprint or \"unsigned\"");
            let signer = label.as_ref().and_then(|label| reader.keep(label, label.text.parse::<Signer>()));
            let (Some(label), Some(signer), Some(reason)) = (label, signer, reason) else { continue };
            if !pin.signers.contains(&signer) {
                let problem = Problem::from(format!("{signer} is not an accepted signer of this provider"));
                let hint = match &signer {
                    Signer::Key(_) => "add it to signers, or remove the signer block",
                    Signer::Unsigned => "write unsigned = true, or remove the signer block",
                };
                reader.report(label.offset, problem.hint(hint.to_owned()));
                continue;
            }
            if let Some(pattern) = of {
                self.anchor(reader, BlockKey::Signer(pattern.clone(), signer.clone()), block, &["reason"]);
            }
            if pin.reasons.insert(signer, reason).is_some() {
                reader.report_twice(block);
            }
        }
    }

    fn retired_signers(&mut self, reader: &mut Reader<'_>, of: Option<&AddrPattern>, pin: &mut Pin, body: &Body) {
        for block in body.blocks().filter(|block| block.ident.as_str() == "retired_signer") {
            reader.check_names(&block.body, &RETIRED);
            let reason = reader.text(&block.body, "reason").map(|reason| reason.text.to_owned());
            let versions = reader.needed(block, "retired_signer", "versions", |reader, body| {
                let texts = reader.texts(body, "versions")?;
                Some(texts.iter().filter_map(|text| version(reader, text)).collect::<BTreeSet<Version>>())
            });
            let label = reader.label(block, "retired_signer", "one label, a fingerprint or \"unsigned\"");
            let signer = label.and_then(|label| reader.keep(&label, label.text.parse::<Signer>()));
            let (Some(signer), Some(versions)) = (signer, versions) else { continue };
            if let Some(pattern) = of {
                let key = BlockKey::Retired(pattern.clone(), signer.clone());
                self.anchor(reader, key, block, &["versions", "reason"]);
            }
            if pin.retired.insert(signer, Retired { versions, reason }).is_some() {
                reader.report_twice(block);
            }
        }
    }

    fn built_by(&mut self, reader: &mut Reader<'_>, of: Option<&AddrPattern>, pin: &mut Pin, body: &Body) {
        for block in body.blocks().filter(|block| block.ident.as_str() == "built_by") {
            if let Some(label) = block.labels.first() {
                reader.report(start(label), "a built_by block has no label");
            }
            if let Some(pattern) = of.filter(|pattern| !pattern.is_exact()) {
                let problem = Problem::from(format!(
                    "{pattern} covers several providers, which are built in places of their own"
                ));
                reader.report(
                    start(&block.ident),
                    problem.hint("give each provider a block with its built_by".to_owned()),
                );
            }
            let place = place(reader, block);
            if let Some(pattern) = of {
                self.anchor(reader, BlockKey::BuiltBy(pattern.clone()), block, BUILT_BY.attributes);
            }
            if pin.built_by.is_some() {
                reader.report_twice(block);
            }
            pin.built_by = place.map(Arc::new).or(pin.built_by.take());
        }
    }

    fn denied(&mut self, reader: &mut Reader<'_>, block: &Block) -> bool {
        reader.check_names(&block.body, &DENIED);
        let reason = reason(reader, block, "denied_signer");
        let label = reader.label(block, "denied_signer", "one label, the fingerprint of a key");
        let key = label.and_then(|label| reader.keep(&label, label.text.parse::<Fingerprint>()));
        let (Some(key), Some(reason)) = (key, reason) else { return false };
        self.anchor(reader, BlockKey::Denied(key.clone()), block, &["reason"]);
        self.file.pins.denied.insert(key, reason).is_some()
    }

    fn republished(&mut self, reader: &mut Reader<'_>, block: &Block) -> bool {
        reader.check_names(&block.body, &REPUBLISHED);
        let version = reader.needed(block, "republished", "version", |reader, body| {
            let text = reader.text(body, "version")?;
            version(reader, &text)
        });
        let date = reader.needed(block, "republished", "date", |reader, body| {
            let text = reader.text(body, "date")?;
            reader.keep(&text, text.text.parse())
        });
        let reason = reason(reader, block, "republished");
        let label = reader.label(block, "republished", "one label, the address of a provider");
        let address = label.and_then(|label| {
            let address = match label.text.matches('/').count() {
                2 => ProviderAddr::parse(label.text, Dialect::Terraform).map_err(Problem::from),
                _ => Err(no_host(label.text)),
            };
            reader.keep(&label, address)
        });
        let (Some(address), Some(version), Some(date), Some(reason)) = (address, version, date, reason) else {
            return false;
        };
        let republication = Republication { address, version, date };
        let key = BlockKey::Republished(republication.clone());
        self.anchor(reader, key, block, &["version", "date", "reason"]);
        self.file.pins.republished.insert(republication, reason).is_some()
    }

    fn anchor(&mut self, reader: &Reader<'_>, key: BlockKey, block: &Block, names: &[&'static str]) {
        self.file.spans.entry(key.clone()).or_insert_with(|| reader.position(start(&block.ident)));
        for name in names {
            let Some(attribute) = block.body.get_attribute(name) else { continue };
            self.anchors.push((start(&attribute.key), Anchor::Attribute(key.clone(), name)));
            let Expression::Array(items) = &attribute.value else { continue };
            for item in items {
                let text = item.as_str().unwrap_or_default();
                // As it will be written.
                let text = match text.parse::<Signer>() {
                    Ok(signer) => signer.to_string(),
                    Err(_) => text.parse::<Version>().map_or(text.to_owned(), |version| version.to_string()),
                };
                self.anchors.push((start(item), Anchor::Item(key.clone(), name, text)));
            }
            self.anchors.push((last_byte(items), Anchor::ListEnd(key.clone(), name)));
        }
        self.anchors.push((start(&block.ident), Anchor::Block(key.clone())));
        self.anchors.push((last_byte(block), Anchor::BlockEnd(key)));
    }
}

/// Where releases are built, if all of it can be read.
fn place(reader: &mut Reader<'_>, block: &Block) -> Option<BuiltBy> {
    fn checked(reader: &mut Reader<'_>, block: &Block, name: &'static str, check: Check) -> Option<String> {
        reader.needed(block, "built_by", name, |reader, body| {
            let text = reader.text(body, name)?;
            reader.keep(&text, check(text.text)).map(|()| text.text.to_owned())
        })
    }
    type Check = fn(&str) -> Result<(), BadPlace>;
    reader.check_names(&block.body, &BUILT_BY);
    let repository = reader.needed(block, "built_by", "repository", |reader, body| {
        let text = reader.text(body, "repository")?;
        reader.keep(&text, text.text.parse::<Repository>())
    });
    let [repository_id, owner_id] =
        ["repository_id", "owner_id"].map(|name| checked(reader, block, name, provenance::check_number));
    let workflow = checked(reader, block, "workflow", provenance::check_workflow);
    let git_ref = checked(reader, block, "ref", provenance::check_ref);
    let has_signer = block.body.has_attribute("signer");
    let signer = has_signer.then(|| checked(reader, block, "signer", provenance::check_signer));
    let signer = match signer {
        Some(None) => return None,
        signer => signer.flatten(),
    };
    let triggers = reader.needed(block, "built_by", "triggers", |reader, body| {
        let texts = reader.texts(body, "triggers")?;
        let sound = texts
            .iter()
            .filter_map(|text| reader.keep(text, provenance::check_trigger(text.text)).map(|()| text.text.to_owned()));
        let triggers: BTreeSet<String> = sound.collect();
        if texts.is_empty() {
            reader.report(start(&block.ident), "triggers must not be empty");
        }
        Some(triggers)
    });
    let since = reader.needed(block, "built_by", "since", |reader, body| {
        let text = reader.text(body, "since")?;
        version(reader, &text)
    });
    let pinned_on = match reader.text(&block.body, "pinned_on") {
        Some(text) => Some(reader.keep(&text, text.text.parse())?),
        None => None,
    };
    let reason = reader.text(&block.body, "reason").map(|reason| reason.text.to_owned());
    Some(BuiltBy {
        repository: repository?,
        repository_id: repository_id?,
        owner_id: owner_id?,
        workflow: workflow?,
        signer,
        git_ref: git_ref?,
        triggers: triggers?,
        since: since?,
        pinned_on,
        reason,
    })
}

fn unsigned(body: &Body) -> bool {
    // A value that is not a boolean is reported already.
    body.get_attribute("unsigned").is_some_and(|attribute| attribute.value.as_bool() != Some(false))
}

fn version(reader: &mut Reader<'_>, literal: &Literal<'_>) -> Option<Version> {
    let refused = |reason: VersionError| format!("{:?} is not a version: {reason}", literal.text);
    reader.keep(literal, literal.text.parse().map_err(refused))
}

fn reason(reader: &mut Reader<'_>, block: &Block, kind: &'static str) -> Option<String> {
    let read = |reader: &mut Reader<'_>, body: &Body| Some(reader.text(body, "reason")?.text.to_owned());
    reader.needed(block, kind, "reason", read)
}

fn no_host(text: &str) -> Problem {
    Problem::from(format!("{text:?} has no host; a pin is for host/namespace/type"))
        .hint(format!("write registry.terraform.io/{text} or registry.opentofu.org/{text}"))
}
