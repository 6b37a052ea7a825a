//! The text of `.tflock.hcl`, decoded; and days, as users write them.

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::time::SystemTime;

use hcl_edit::expr::Array;
use hcl_edit::structure::{Block, Body};
use jiff::civil;

use super::{
    Ban, Exclude, Exemption, ExpiredKeyRule, FILE_NAME, H1Rule, HostRules, Index, IndexPlace, IndexTrust, LinkChoice,
    OptionalPlatforms, Policy, ProviderScope, Settings, SignatureRule, ToolChoice, UNEXPLAINED_HASH,
};
use crate::addr::Hostname;
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::finding::{Level, Rule};
use crate::hcl::document::{self, Literal, Problem, Reader, Schema, did_you_mean, start};
use crate::platform::Platform;
use crate::terragrunt::{Environment, Vouched};
use crate::version::{Constraints, VersionError};
use crate::witness::WitnessPlace;

const TOP: Schema = Schema {
    name: "",
    attributes: &["platforms", "tool", "source", "link", "exclude", "optional_platforms", "witnesses"],
    blocks: &["policy", "provenance", "host", "index", "ban", "exempt", "level", "terragrunt"],
};
const POLICY: Schema = Schema {
    name: " in a policy block",
    attributes: &["hosts", "module_hosts", "signature", "expired_key", "h1", "minimum_age", "witnessed"],
    blocks: &[],
};
const PROVENANCE: Schema = Schema { name: " in a provenance block", attributes: &["required"], blocks: &[] };
const HOST: Schema = Schema { name: " in a host block", attributes: &["h1", "signature", "witnesses"], blocks: &[] };
const INDEX: Schema = Schema { name: " in an index block", attributes: &["url", "trust"], blocks: &[] };
const BAN: Schema = Schema { name: " in a ban block", attributes: &["versions", "reason"], blocks: &[] };
const EXEMPT: Schema = Schema {
    name: " in an exempt block",
    attributes: &["provider", "version", "advisory", "reason", "until"],
    blocks: &[],
};
const TERRAGRUNT: Schema =
    Schema { name: " in a terragrunt block", attributes: &["env", "plain", "harmless"], blocks: &[] };
const LEVEL: Schema = Schema { name: " in a level block", attributes: &["is"], blocks: &[] };

const TOOLS: [(&str, ToolChoice); 3] = [
    ("auto", ToolChoice::Auto),
    ("terraform", ToolChoice::Is(Dialect::Terraform)),
    ("tofu", ToolChoice::Is(Dialect::OpenTofu)),
];
/// The words of `link`.
pub const LINKS: [(&str, LinkChoice); 5] = [
    ("auto", LinkChoice::Auto),
    ("clone", LinkChoice::Clone),
    ("hard", LinkChoice::Hard),
    ("symlink", LinkChoice::Symlink),
    ("copy", LinkChoice::Copy),
];
/// The words of `signature`.
pub const SIGNATURES: [(&str, SignatureRule); 3] =
    [("always", SignatureRule::Always), ("if_keys_known", SignatureRule::IfKeysKnown), ("never", SignatureRule::Never)];
/// The words of `expired_key`.
pub const EXPIRED_KEYS: [(&str, ExpiredKeyRule); 3] =
    [("allow", ExpiredKeyRule::Allow), ("warn", ExpiredKeyRule::Warn), ("deny", ExpiredKeyRule::Deny)];
const H1_RULES: [(&str, H1Rule); 2] = [("registry", H1Rule::Registry), ("verified", H1Rule::Verified)];
const TRUSTS: [(&str, IndexTrust); 2] = [("reported", IndexTrust::Reported), ("verified", IndexTrust::Verified)];
/// The words of `level`.
pub const LEVELS: [(&str, Level); 3] = [("note", Level::Note), ("warn", Level::Warn), ("deny", Level::Deny)];

/// The word for a value; none for values that have none.
pub fn word<T: PartialEq>(words: &[(&'static str, T)], value: &T) -> Option<&'static str> {
    words.iter().find(|(_, of)| of == value).map(|(word, _)| *word)
}

pub fn decode(text: &str, file: &Path) -> Result<Settings, Vec<Error>> {
    #[expect(clippy::redundant_closure_for_method_calls, reason = "the method is of one lifetime, the closure of all")]
    document::read(text, FILE_NAME, (ErrorKind::Settings, file), |reader, body| reader.settings(body))
}

impl Reader<'_> {
    fn settings(&mut self, body: &Body) -> Settings {
        self.check_names(body, &TOP);
        let mut settings = Settings {
            platforms: self.wanted_platforms(body),
            tool: self.word(body, "tool", &TOOLS),
            source: self.text(body, "source").and_then(|source| self.keep(&source, source.text.parse())),
            link: self.word(body, "link", &LINKS),
            exclude: self.exclude(body),
            optional_platforms: self.optional_platforms(body),
            witnesses: self.witnesses(body).unwrap_or_default(),
            ..Settings::default()
        };
        let with_witnesses = hosts_with_witnesses(body);
        let (mut policies, mut provenances, mut units) = (0, 0, 0);
        for block in body.blocks() {
            let twice = match block.ident.as_str() {
                "policy" => {
                    settings.policy = self.policy(block, &with_witnesses);
                    policies += 1;
                    policies > 1
                }
                "provenance" => {
                    settings.provenance_required = self.provenance(block);
                    provenances += 1;
                    provenances > 1
                }
                "terragrunt" => {
                    settings.unit_environment = self.unit_environment(block);
                    settings.vouched = self.vouched(&block.body);
                    units += 1;
                    units > 1
                }
                "host" => self.host(block).is_some_and(|(host, rules, witnesses)| {
                    settings.host_witnesses.extend(witnesses.map(|witnesses| (host.clone(), witnesses)));
                    settings.hosts.insert(host, rules).is_some()
                }),
                "level" => self.level(block).is_some_and(|(rule, level)| settings.levels.insert(rule, level).is_some()),
                "index" => self
                    .index(block)
                    .is_some_and(|index| settings.indexes.insert(Arc::clone(&index.name), index).is_some()),
                "ban" => {
                    settings.bans.extend(self.ban(block).map(Arc::new));
                    false
                }
                "exempt" => {
                    settings.exemptions.extend(self.exemption(block));
                    false
                }
                _ => false,
            };
            if twice {
                self.report_twice(block);
            }
        }
        settings
    }

    fn wanted_platforms(&mut self, body: &Body) -> Option<Vec<Platform>> {
        let value = &body.get_attribute("platforms")?.value;
        if value.as_array().is_some_and(Array::is_empty) {
            self.report(start(value), "platforms must not be empty");
        }
        let literals = self.list(value, "platforms")?;
        Some(self.platforms(&literals))
    }

    fn platforms(&mut self, literals: &[Literal<'_>]) -> Vec<Platform> {
        let mut known = HashSet::new();
        let platforms = literals.iter().filter_map(|literal| self.keep(literal, literal.text.parse()));
        platforms.filter(|platform: &Platform| known.insert(platform.clone())).collect()
    }

    fn exclude(&mut self, body: &Body) -> Vec<Exclude> {
        let patterns = self.texts(body, "exclude").unwrap_or_default();
        patterns.iter().filter_map(|pattern| self.keep(pattern, Exclude::parse(pattern.text))).collect()
    }

    fn optional_platforms(&mut self, body: &Body) -> Vec<OptionalPlatforms> {
        let mut lines = Vec::new();
        for (key, value) in self.map(body, "optional_platforms", "a map from source addresses to lists of platforms") {
            let providers = self.keep(&key, ProviderScope::parse(key.text));
            let literals = self.list(value, "optional_platforms").unwrap_or_default();
            let platforms = self.platforms(&literals);
            lines.extend(providers.map(|providers| OptionalPlatforms { providers, platforms }));
        }
        lines
    }

    fn policy(&mut self, block: &Block, with_witnesses: &BTreeSet<String>) -> Policy {
        let body = &block.body;
        self.check_names(body, &POLICY);
        if let Some(label) = block.labels.first() {
            self.report(start(label), "a policy block has no label");
        }
        Policy {
            hosts: self.hosts(body, "hosts"),
            module_hosts: self.hosts(body, "module_hosts"),
            signature: self.word(body, "signature", &SIGNATURES),
            expired_key: self.word(body, "expired_key", &EXPIRED_KEYS),
            h1: self.word(body, "h1", &H1_RULES),
            minimum_age: self.text(body, "minimum_age").and_then(|age| self.keep(&age, age.text.parse())),
            witnessed: self.witnessed(body, with_witnesses),
        }
    }

    /// The providers that must have a witness; each must be one that can.
    fn witnessed(&mut self, body: &Body, with_witnesses: &BTreeSet<String>) -> Vec<ProviderScope> {
        let scopes = self.texts(body, "witnessed").unwrap_or_default();
        let mut witnessed = Vec::new();
        for literal in &scopes {
            let Some(scope) = self.keep(literal, ProviderScope::parse(literal.text)) else { continue };
            match scope.without_witness(with_witnesses) {
                Some(none) => {
                    let problem = format!("{:?} covers {none}, which no witness can know", literal.text);
                    self.report(literal.offset, problem);
                }
                None => witnessed.push(scope),
            }
        }
        witnessed
    }

    fn witnesses(&mut self, body: &Body) -> Option<BTreeSet<WitnessPlace>> {
        let places = self.texts(body, "witnesses")?;
        Some(places.iter().filter_map(|place| self.keep(place, place.text.parse())).collect())
    }

    fn provenance(&mut self, block: &Block) -> Vec<ProviderScope> {
        self.check_names(&block.body, &PROVENANCE);
        if let Some(label) = block.labels.first() {
            self.report(start(label), "a provenance block has no label");
        }
        let required = self.needed(block, "provenance", "required", |reader, body| {
            let scopes = reader.texts(body, "required")?;
            Some(scopes.iter().filter_map(|scope| reader.keep(scope, ProviderScope::parse(scope.text))).collect())
        });
        required.unwrap_or_default()
    }

    /// What variables of the environment are for units; `null` for one that is never set.
    fn unit_environment(&mut self, block: &Block) -> Environment {
        const WANTED: &str = "a map from names of variables to strings, or null for a variable that is never set";
        self.check_names(&block.body, &TERRAGRUNT);
        if let Some(label) = block.labels.first() {
            self.report(start(label), "a terragrunt block has no label");
        }
        let mut environment = Environment::new();
        for (name, value) in self.map(&block.body, "env", WANTED) {
            if value.is_null() {
                environment.insert(name.text.to_owned(), None);
            } else if let Some(text) = self.literal(value, "env", WANTED) {
                environment.insert(name.text.to_owned(), Some(text.text.to_owned()));
            }
        }
        environment
    }

    fn vouched(&mut self, body: &Body) -> Vouched {
        let mut words = |name| self.texts(body, name).into_iter().flatten().map(|word| word.text.to_owned()).collect();
        Vouched { plain: words("plain"), harmless: words("harmless") }
    }

    fn hosts(&mut self, body: &Body, name: &'static str) -> Option<BTreeSet<Hostname>> {
        let hosts = self.texts(body, name)?;
        Some(hosts.iter().filter_map(|host| self.hostname(host)).collect())
    }

    fn host(&mut self, block: &Block) -> Option<(Hostname, HostRules, Option<BTreeSet<WitnessPlace>>)> {
        self.check_names(&block.body, &HOST);
        let signature = self.word(&block.body, "signature", &SIGNATURES);
        let witnesses = self.witnesses(&block.body);
        let h1 = |reader: &mut Self, body: &Body| reader.word(body, "h1", &H1_RULES);
        // A block that says nothing is a mistake.
        let h1 = if signature.is_some() || witnesses.is_some() {
            h1(self, &block.body)
        } else {
            self.needed(block, "host", "h1", h1)
        };
        let label = self.label(block, "host", "one label, the host")?;
        let host = self.hostname(&label)?;
        if witnesses.iter().flatten().any(|place| *place == WitnessPlace::Registry(host.clone())) {
            self.report(label.offset, format!("{host} cannot be a witness of itself"));
        }
        let says_something = h1.is_some() || signature.is_some() || witnesses.is_some();
        says_something.then_some((host, HostRules { h1, signature }, witnesses))
    }

    fn index(&mut self, block: &Block) -> Option<Index> {
        self.check_names(&block.body, &INDEX);
        let place = self.needed(block, "index", "url", |reader: &mut Self, body: &Body| {
            let url = reader.text(body, "url")?;
            reader.keep(&url, IndexPlace::parse(url.text))
        });
        let trust = self.word(&block.body, "trust", &TRUSTS);
        let label = self.label(block, "index", "one label, its name")?;
        let is_name = |text: &str| {
            let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
            !text.is_empty() && text.len() <= 64 && text.chars().all(plain)
        };
        if !is_name(label.text) {
            let wanted = "expected up to 64 letters, digits, dashes, underscores and dots";
            self.report(label.offset, format!("{:?} is not the name of an index: {wanted}", label.text));
            return None;
        }
        Some(Index { name: Arc::from(label.text), place: place?, trust: trust.unwrap_or_default() })
    }

    fn ban(&mut self, block: &Block) -> Option<Ban> {
        let body = &block.body;
        self.check_names(body, &BAN);
        let versions = self.text(body, "versions").and_then(|text| self.constraints(&text));
        let reason = self.text(body, "reason").map(|reason| reason.text.to_owned());
        let label = self.label(block, "ban", "one label, the address of a provider")?;
        let providers = self.keep(&label, ProviderScope::parse(label.text))?;
        Some(Ban { providers, versions: versions.unwrap_or_default(), reason })
    }

    fn exemption(&mut self, block: &Block) -> Option<Exemption> {
        let body = &block.body;
        self.check_names(body, &EXEMPT);
        let rule = self.rule(block, "exempt");
        let providers = self.text(body, "provider").and_then(|addr| self.keep(&addr, ProviderScope::parse(addr.text)));
        let version = self.text(body, "version").and_then(|version| {
            let refused = |reason: VersionError| format!("{:?} is not a version: {reason}", version.text);
            self.keep(&version, version.text.parse().map_err(refused))
        });
        let advisory = self.text(body, "advisory").map(|advisory| advisory.text.to_owned());
        let reason = self.text(body, "reason").map(|reason| reason.text.to_owned());
        let until = self.text(body, "until").and_then(|day| self.keep(&day, day.text.parse()));
        Some(Exemption { rule: rule?, providers, version, advisory, reason, until })
    }

    fn level(&mut self, block: &Block) -> Option<(String, Level)> {
        self.check_names(&block.body, &LEVEL);
        let level =
            self.needed(block, "level", "is", |reader: &mut Self, body: &Body| reader.word(body, "is", &LEVELS));
        Some((self.rule(block, "level")?, level?))
    }

    fn rule(&mut self, block: &Block, kind: &'static str) -> Option<String> {
        let label = self.label(block, kind, "one label, the id of a rule")?;
        let ids = || Rule::ALL.iter().map(|rule| rule.id());
        if label.text == UNEXPLAINED_HASH || ids().any(|id| id == label.text) {
            return Some(label.text.to_owned());
        }
        let meant = did_you_mean(self.nearest(label.text, ids()));
        let problem = Problem::from(format!("there is no rule {:?}{meant}", label.text));
        self.report(label.offset, problem.hint(step!("`tflock explain` lists the rules")));
        None
    }

    fn hostname(&mut self, literal: &Literal<'_>) -> Option<Hostname> {
        let refused = |reason| format!("{:?} is not a host: {reason}", literal.text);
        self.keep(literal, Hostname::parse(literal.text).map_err(refused))
    }

    fn constraints(&mut self, literal: &Literal<'_>) -> Option<Constraints> {
        let refused = |reason| format!("{:?} is not a version constraint: {reason}", literal.text);
        self.keep(literal, Constraints::parse_config(literal.text).map_err(refused))
    }
}

/// The hosts whose blocks name witnesses.
fn hosts_with_witnesses(body: &Body) -> BTreeSet<String> {
    let named = body.blocks().filter(|block| block.ident.as_str() == "host" && block.body.has_attribute("witnesses"));
    let hosts = named.filter_map(|block| Hostname::parse(block.labels.first()?.as_str()).ok());
    hosts.map(|host| host.as_ascii().to_owned()).collect()
}

/// A day of the Gregorian calendar, from year 1 to 9999: `YYYY-MM-DD`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Date(civil::Date);

/// A text that is not a day.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a date: expected YYYY-MM-DD")]
pub struct DateError(pub String);

const EPOCH: civil::Date = civil::date(1970, 1, 1);

impl Date {
    /// The day of a point in time, UTC; the first of 1970 for those before, and the last of 9999 for those after it.
    pub fn of(time: SystemTime) -> Self {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self(EPOCH.saturating_add(since))
    }

    /// The midnight in which the day begins, in seconds since 1970-01-01, UTC.
    pub fn unix_seconds(self) -> i64 {
        self.0.duration_since(EPOCH).as_secs()
    }
}

impl FromStr for Date {
    type Err = DateError;

    fn from_str(text: &str) -> Result<Self, DateError> {
        let is_written_so = text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        let day = text.parse().ok().filter(|day: &civil::Date| is_written_so && day.year() > 0);
        day.map(Self).ok_or_else(|| DateError(text.to_owned()))
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted() {
        let seconds = |text: &str| text.parse::<Date>().unwrap().unix_seconds();
        assert_eq!(seconds("1970-01-01"), 0);
        assert_eq!(seconds("2000-02-29"), 951_782_400);
        assert_eq!(seconds("2027-01-01"), 1_798_761_600);
        assert_eq!(seconds("2024-03-01") - seconds("2024-02-28"), 2 * 86400);
        assert_eq!("2027-01-01".parse::<Date>().unwrap().to_string(), "2027-01-01");
    }

    #[test]
    fn points_in_time_have_a_day() {
        let day = |seconds| Date::of(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds));
        for text in ["1970-01-01", "1999-12-31", "2000-02-29", "2024-12-31", "2026-11-20"] {
            let date: Date = text.parse().unwrap();
            let midnight = u64::try_from(date.unix_seconds()).unwrap();
            assert_eq!([day(midnight), day(midnight + 86399)], [date, date]);
        }
    }

    #[test]
    fn refusals() {
        for bad in [
            "",
            "2027",
            "2027-1-1",
            "2027-13-01",
            "2027-02-29",
            "0000-01-01",
            "2027/01/01",
            "20270-1-01",
            "２027-01-01",
        ] {
            assert_eq!(bad.parse::<Date>(), Err(DateError(bad.to_owned())));
        }
    }
}
