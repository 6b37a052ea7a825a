//! Judgments over what a change made of an entry.

use super::*;

/// What is found about the change from some hashes to others, with the line of each finding.
fn shift(old: &[PackageHash], new: &[PackageHash], knowledge: Lookup, pins: &str) -> Vec<(Rule, Level, usize)> {
    let findings = changed([old, new], knowledge, Some(pins), false).into_iter();
    let findings = findings.filter(|finding| [Rule::HashReplaced, Rule::HashesDropped].contains(&finding.rule));
    findings.map(|finding| (finding.rule, finding.level(), finding.position.unwrap().line)).collect()
}

/// All that is found about the change from some hashes to others; `within` says whether a mirror in the working tree was asked.
fn changed([old, new]: [&[PackageHash]; 2], knowledge: Lookup, pins: Option<&str>, within: bool) -> Vec<Finding> {
    let lock = |hashes: &[PackageHash]| {
        let texts: Vec<String> = hashes.iter().map(|hash| format!("    \"{hash}\",\n")).collect();
        let list = if texts.is_empty() { String::new() } else { format!("  hashes = [\n{}  ]\n", texts.concat()) };
        let text = format!("provider \"{}\" {{\n  version = \"1.0.0\"\n{list}}}\n", addr());
        decode(text.as_bytes(), Dialect::Terraform).unwrap()
    };
    let (old, new) = (lock(old), lock(new));
    let pins = pins.map(|pins| crate::trust::pins::decode(pins, Path::new("x")).unwrap().pins);
    let subject = Subject {
        lock: &new.lock,
        before: Some(&old.lock),
        base: None,
        first_seen: None,
        spans: &new.spans,
        requirements: None,
        kind: crate::config::RootKind::Module,
        is_instance: false,
        complete: true,
        settings: &settings::Settings::default(),
        dialect: Dialect::Terraform,
        translates_state: false,
        pins: pins.as_ref(),
        now: SystemTime::UNIX_EPOCH,
    };
    let releases = BTreeMap::from([(addr(), knowledge)]);
    let served = if within { BTreeSet::from([addr()]) } else { BTreeSet::new() };
    verify(&subject, &Facts { releases, served_within: Some(&served), ..Facts::default() }).1
}

/// What only a mirror vouches for: nothing to say of what the base has, a warning of what is new; refused where the trust file
/// knows better, and where the change could have filled the mirror.
#[test]
fn added_hashes_that_only_a_mirror_reports() {
    let mirrored = || known(Release { signer: None, signed_at: None, ..release() });
    let pin = |what: &str| format!("provider \"{}\" {{\n {what}\n}}\n", addr());
    let key = pin("signers = [\"0123456789ABCDEF0123456789ABCDEF01234567\"]");
    let unsigned = pin("unsigned = true");
    let other = key.replace("widget", "other");
    let at = |old: &[PackageHash], knowledge, pins: Option<&str>, within| {
        let findings = changed([old, &[zh(1), h1(11), h1(12)]], knowledge, pins, within).into_iter();
        let mut mirror_only = findings.filter(|finding| finding.rule == Rule::MirrorOnly);
        mirror_only.next().map(|finding| (finding.level(), finding.message().split(' ').next().unwrap().to_owned()))
    };
    let all = [zh(1), h1(11), h1(12)];
    let counted = |level, count: &str| Some((level, count.to_owned()));
    for old in [&all[..], &all[..2], &[]] {
        let (deny, warn) = match old.len() {
            3 => (None, None),
            2 => (counted(Level::Deny, "1"), counted(Level::Warn, "1")),
            _ => (counted(Level::Deny, "3"), counted(Level::Warn, "3")),
        };
        assert_eq!(at(old, mirrored(), None, false), warn);
        assert_eq!(at(old, mirrored(), Some(&unsigned), false), warn);
        assert_eq!(at(old, mirrored(), Some(&key), false), deny);
        assert_eq!(at(old, mirrored(), Some(&other), false), deny);
        for pins in [None, Some(unsigned.as_str()), Some(&key)] {
            assert_eq!(at(old, mirrored(), pins, true), deny);
        }
        // What is signed is as good as the key, wherever the copies lie; a key that no one remembers is the mirror's word.
        let signer = || Some("0123456789ABCDEF0123456789ABCDEF01234567".parse().unwrap());
        let by_key = || known(Release { signer: signer(), ..release() });
        assert_eq!(at(old, by_key(), Some(&key), true), None);
        assert_eq!(at(old, by_key(), None, true), deny);
        assert_eq!(at(old, by_key(), None, false), None);
        // A package that is a directory next to a signed list.
        let mut beside = Release { signer: signer(), complete: false, ..release() };
        beside.h1.get_mut(&h1(12)).unwrap().evidence = Evidence::ReportedByMirror;
        let of_one = deny.as_ref().map(|_| (Level::Deny, "1".to_owned()));
        assert_eq!(at(old, known(beside), Some(&key), false), of_one);
    }
}

#[test]
fn replaced_or_dropped_since_the_base() {
    let unasked = |old: &[PackageHash], new: &[PackageHash]| shift(old, new, Lookup::NotRequested, "");
    assert_eq!(unasked(&[zh(1), h1(11)], &[zh(1), h1(11)]), []);
    assert_eq!(unasked(&[zh(1)], &[zh(1), zh(2), h1(11)]), []);
    assert_eq!(unasked(&[], &[zh(1), h1(11)]), []);
    assert_eq!(unasked(&[zh(1), h1(11)], &[zh(1), h1(12)]), [(Rule::HashReplaced, Level::Deny, 5)]);
    assert_eq!(unasked(&[zh(1), zh(2), h1(11)], &[zh(1), h1(11)]), [(Rule::HashesDropped, Level::Deny, 3)]);
    assert_eq!(unasked(&[zh(1), h1(11)], &[]), [(Rule::HashesDropped, Level::Deny, 1)]);
    // What can match no package is no loss, and no replacement.
    let other = "md5:x".parse::<PackageHash>().unwrap();
    let malformed = "h1:x".parse::<PackageHash>().unwrap();
    assert_eq!(unasked(&[zh(1), other.clone(), malformed], &[zh(1)]), []);
    assert_eq!(unasked(&[zh(1), zh(2)], &[zh(1), other]), [(Rule::HashesDropped, Level::Deny, 3)]);
}

#[test]
fn refuted_hashes_may_be_replaced_by_computed_ones() {
    let judged = |old: &[PackageHash], new: &[PackageHash]| shift(old, new, known(release()), "");
    assert_eq!(judged(&[zh(1), h1(11), h1(99)], &[zh(1), h1(11)]), [(Rule::HashesDropped, Level::Note, 3)]);
    assert_eq!(judged(&[zh(1), h1(11), h1(12)], &[zh(1), h1(11)]), [(Rule::HashesDropped, Level::Deny, 3)]);
    assert_eq!(judged(&[zh(99)], &[]), [(Rule::HashesDropped, Level::Deny, 1)]);
    assert_eq!(judged(&[h1(99)], &[h1(11)]), [(Rule::HashReplaced, Level::Deny, 4)]);
    let (planted, mended) = ([zh(1), zh(2), h1(11), h1(99)], [zh(1), zh(2), h1(11), h1(12)]);
    assert_eq!(judged(&planted, &mended), [(Rule::HashReplaced, Level::Note, 7)]);
    // An archive that the base does not record may be that of another release.
    assert_eq!(judged(&planted[1..], &mended[1..]), [(Rule::HashReplaced, Level::Deny, 6)]);
    assert_eq!(judged(&planted, &[zh(1), zh(2), h1(11), h1(98)]), [(Rule::HashReplaced, Level::Deny, 7)]);
    // A report takes the place of nothing.
    let mut reporting = release();
    reporting.h1.get_mut(&h1(12)).unwrap().evidence = Evidence::ReportedByOrigin;
    assert_eq!(shift(&planted, &mended, known(reporting), ""), [(Rule::HashReplaced, Level::Deny, 7)]);
}

/// What took the place of a recorded hash and belongs to no package is said once; what else came, or was there, by itself.
#[test]
fn a_replaced_hash_that_no_package_has_is_one_finding() {
    let found = |old: &[PackageHash], new: &[PackageHash]| {
        let findings = changed([old, new], known(release()), None, false).into_iter();
        findings.filter(|it| it.level() > Level::Note).map(|it| (it.rule, it.help().to_string())).collect::<Vec<_>>()
    };
    let rules = |old: &[PackageHash], new: &[PackageHash]| -> Vec<Rule> {
        found(old, new).into_iter().map(|(rule, _)| rule).collect()
    };
    let base = [zh(1), zh(2), h1(11), h1(12)];
    assert_eq!(rules(&base, &[zh(1), zh(2), h1(12), h1(99)]), [Rule::HashReplaced]);
    // If the release has the new ones, its publisher may be the reason.
    let help = |new: &[PackageHash]| {
        let mut found = found(&[zh(1), h1(98)], new).into_iter();
        found.find(|(rule, _)| *rule == Rule::HashReplaced).unwrap().1
    };
    assert!(help(&[zh(1), h1(11)]).contains("--accept-republished") && !help(&[zh(1), h1(99)]).contains("--accept"));
    assert_eq!(rules(&base, &[zh(1), zh(2), h1(11), h1(12), h1(99)]), [Rule::UnattestedHash]);
    let was_there = [zh(1), zh(2), h1(11), h1(12), h1(98)];
    let both = rules(&was_there, &[zh(1), zh(2), h1(12), h1(98), h1(99)]);
    assert_eq!(both.len(), 2, "{both:?}");
    assert!(both.contains(&Rule::HashReplaced) && both.contains(&Rule::UnattestedHash), "{both:?}");
}

/// Without configuration nothing tells that an entry is needed no more.
#[test]
fn removed_entries_without_configuration() {
    let lock = |types: &[&str]| {
        let block = |name: &&str| {
            let addr = ProviderAddr::parse(&format!("acme/{name}"), Dialect::Terraform).unwrap();
            format!("provider \"{addr}\" {{\n version = \"1.0.0\"\n hashes = [\"{}\"]\n}}\n", h1(11))
        };
        decode(types.iter().map(block).collect::<String>().as_bytes(), Dialect::Terraform).unwrap()
    };
    let old = lock(&["gadget", "widget"]);
    for (now, configured, found) in [
        (&["gadget", "widget"][..], false, &[][..]),
        (&["gadget"], false, &[Rule::HashesDropped]),
        (&["other"], false, &[Rule::HashesDropped, Rule::HashesDropped]),
        (&[], false, &[Rule::LockFileRemoved]),
        (&[], true, &[]),
    ] {
        let (now, requirements) = (lock(now), Requirements::default());
        let subject = Subject {
            lock: &now.lock,
            before: Some(&old.lock),
            base: None,
            first_seen: None,
            spans: &now.spans,
            requirements: configured.then_some(&requirements),
            kind: crate::config::RootKind::Module,
            is_instance: false,
            complete: true,
            settings: &settings::Settings::default(),
            dialect: Dialect::Terraform,
            translates_state: false,
            pins: None,
            now: SystemTime::UNIX_EPOCH,
        };
        let (_, findings) = verify(&subject, &Facts::default());
        let rules: Vec<Rule> = findings.iter().map(|finding| finding.rule).collect();
        assert_eq!(rules, found);
        let level = |rule| if rule == Rule::HashesDropped { Level::Warn } else { Level::Deny };
        assert!(findings.iter().all(|finding| finding.level() == level(finding.rule)));
    }
}

#[test]
fn an_accepted_republication_explains_its_release() {
    let record = |version: &str| {
        let date = "date = \"2026-01-01\"\n reason = \"x\"";
        format!("republished \"{}\" {{\n version = \"{version}\"\n {date}\n}}\n", addr())
    };
    let of = |version| shift(&[h1(99)], &[h1(11)], known(release()), &record(version));
    assert_eq!(of("1.0.0"), [(Rule::HashReplaced, Level::Warn, 4)]);
    assert_eq!(of("1.0.1"), [(Rule::HashReplaced, Level::Deny, 4)]);
}

#[test]
fn questions_about_changes_need_answers() {
    let refused = || Lookup::Inconclusive(Error::new(ErrorKind::Unavailable, "down"));
    for (before, changed) in [(None, false), (Some("1.0.0"), false), (Some("0.9.0"), true)] {
        let text = |version: &str| {
            format!("provider \"{}\" {{\n version = \"{version}\"\n hashes = [\"{}\"]\n}}\n", addr(), h1(1))
        };
        let lock = |version: &str| decode(text(version).as_bytes(), Dialect::Terraform).unwrap();
        let (now, before) = (lock("1.0.0"), before.map(lock));
        let subject = Subject {
            lock: &now.lock,
            before: before.as_ref().map(|before| &before.lock),
            base: None,
            first_seen: None,
            spans: &now.spans,
            requirements: None,
            kind: crate::config::RootKind::Module,
            is_instance: false,
            complete: true,
            settings: &settings::Settings::default(),
            dialect: Dialect::Terraform,
            translates_state: false,
            pins: None,
            now: SystemTime::UNIX_EPOCH,
        };
        let releases = BTreeMap::from([(addr(), refused())]);
        let (verified, _) = verify(&subject, &Facts { releases, ..Facts::default() });
        assert_eq!(verified.inconclusive.iter().map(|it| it.changed).collect::<Vec<_>>(), [changed]);
    }
}
