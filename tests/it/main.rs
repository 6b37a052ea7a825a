//! One binary for all tests of commands, so the program is linked to its tests once.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may panic, and looks at files itself")]
#![cfg_attr(not(target_os = "linux"), allow(dead_code, unused_imports, reason = "what tests of Linux alone use"))]

mod add;
mod advice;
mod altered;
mod arrows;
mod at_once;
mod atmos;
mod attack;
mod audit;
mod cache;
mod changing_differential;
mod comments;
mod configuration;
mod diff;
mod diff_online;
mod diff_reads;
mod effective;
mod empty_cache;
mod example;
mod fixture;
mod functions;
mod fuzzed;
mod ignored;
mod index;
#[cfg(feature = "cloud")]
mod index_clouds;
mod index_servers;
mod install;
mod interrupted;
mod kept;
mod killed;
mod kinds;
mod levels;
mod lock;
mod lock_broken;
mod lock_differential;
mod lock_mirror;
mod lock_network;
mod lock_options;
mod lock_trust;
mod looked_at;
mod manual;
mod merge;
mod migrate;
mod mirror;
mod mirror_copies;
mod modules;
mod monorepo;
mod names;
mod newest;
mod no_answer;
mod no_cache;
mod not_literal;
mod offline;
#[cfg(unix)]
mod other_user;
mod outdated;
mod pages;
mod passed;
mod picture;
mod policy;
mod printed;
mod programs;
mod provenance;
mod publish;
mod publishers;
mod readme;
mod reasons;
mod reasons_unread;
mod recursive;
mod restored;
mod rotated;
mod rules;
mod same_versions;
mod sbom;
mod settings_changed;
mod shells;
mod ship;
mod silent;
mod sources;
mod squat;
mod stand_in;
mod status;
mod style;
mod support;
mod trust;
mod typed;
mod unattested;
mod upgrade;
mod upgrade_choice;
mod verify;
mod verify_base;
mod verify_base_read;
mod verify_fix;
mod walk;
mod without_openat2;
mod witnesses;
mod work;
mod written;

/// A file that is not named by the module above it is never compiled, and its tests never run.
#[test]
fn no_file_is_forgotten() {
    let mut folders = vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it"))];
    while let Some(folder) = folders.pop() {
        let list = ["main.rs", "mod.rs"].map(|name| std::fs::read_to_string(folder.join(name)).unwrap_or_default());
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            if ["main", "mod", "snapshots"].contains(&name) || name.starts_with('.') {
                continue;
            }
            let named = list.concat().lines().any(|line| line.ends_with(&format!("mod {name};")));
            assert!(named, "{} does not name {name}", folder.display());
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
}
