//! Shared indexes on real servers, started by the tests on loopback, and 200 readers at once.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use tflock::internals::{
    Client, ClientOptions, Credentials, IndexEntry, IndexLine, IndexOrigin, IndexStores, Published,
};
use tflock_core::hash::{PackageHash, Sha256Digest};
use tflock_core::settings::IndexPlace;

use crate::index::machine;
use crate::support::registry::{ca_pem, server_pem};
use crate::support::tools::found;
use crate::support::workspace::Workspace;
use crate::support::worlds::{LOCK_BOTH, widget};

/// A server; stopped when dropped.
pub(crate) struct Program {
    child: Child,
    pub(crate) port: u16,
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that is free now. If another program takes it, the start fails, and the test says so.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

/// Starts a program and waits until it listens.
pub(crate) fn start(command: &mut Command, port: u16) -> Program {
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut program = Program { child, port };
    for _ in 0..1200 {
        if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return program;
        }
        assert!(program.child.try_wait().unwrap().is_none(), "the server did not start");
        std::thread::sleep(Duration::from_millis(25));
    }
    panic!("the server does not listen");
}

fn stores() -> Arc<IndexStores> {
    let options = ClientOptions { roots_pem: Some(ca_pem().as_bytes().to_vec()), ..ClientOptions::default() };
    Arc::new(IndexStores::new(&Client::new(options), Arc::new(Credentials::default()), Duration::from_secs(60)))
}

/// So many readers and four writers at once: an entry is there whole or not at all, and is written once.
pub(crate) fn nothing_is_torn(place: &IndexPlace, readers: usize) {
    let digest = |salt: &str, number: u32| Sha256Digest::of(format!("{salt}{number}").as_bytes());
    let entry = |number| {
        let h1 = PackageHash::h1(digest("h1", number));
        IndexLine::from(&IndexEntry::new(digest("zh", number), &h1, number.into(), IndexOrigin::Computed).unwrap())
    };
    let entries: Arc<Vec<IndexLine>> = Arc::new((0..8).map(entry).collect());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..readers + 4 {
            let (place, entries) = (place.clone(), Arc::clone(&entries));
            tasks.spawn(async move {
                if number % (readers / 4 + 1) == 0 {
                    let done = stores().publish(place, entries.to_vec()).await.unwrap();
                    assert!(done.differing.is_empty() && done.news + done.known == entries.len());
                    return;
                }
                let stores = stores();
                for entry in entries.iter() {
                    let there = stores.read(&place, &entry.key).await.unwrap();
                    assert!(there.is_none_or(|there| there == entry.text.as_bytes()));
                }
            });
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
        let again = stores().publish(place.clone(), entries.to_vec()).await.unwrap();
        assert_eq!(again, Published { known: entries.len(), ..Published::default() });
    });
}

/// Publishes to an index by `lock`, and has another machine lock from it without a download.
pub(crate) fn spares_downloads(url: &str, environment: &[(&str, &str)]) {
    let registry = widget();
    let with = |workspace: Workspace| {
        // Servers of the tests have the same authority as the registry.
        environment.iter().fold(workspace, |workspace, (name, value)| workspace.env(name, value))
    };
    let first = with(Workspace::from("modules/one-root"));
    let run = first.tflock(&registry, [&LOCK_BOTH[..], &["--publish", "--index", url]].concat()).ended_with(0);
    assert!(run.stderr.contains("2 of 2 records are new"), "{run}");
    registry.forget_requests();
    let second = with(machine(url, "  trust = \"verified\"\n"));
    let run = second.tflock(&registry, LOCK_BOTH).ended_with(0);
    assert_eq!((registry.downloads("acme/widget"), second.lock_file()), (0, first.lock_file()), "{run}");
    second.tflock(&registry, ["verify"]).ended_with(0);
    assert_eq!(registry.downloads("acme/widget"), 0);
}

/// nginx over a folder, where files may be put; none, and a line on stderr, if it is not installed.
fn nginx(folder: &Path) -> Option<Program> {
    let program = found("nginx")?;
    let port = free_port();
    let [certificate, key] = server_pem();
    let place = |name: &str| folder.join(name).display().to_string();
    std::fs::write(place("tls.pem"), certificate).unwrap();
    std::fs::write(place("tls.key"), key).unwrap();
    std::fs::create_dir(place("files")).unwrap();
    let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let paths: Vec<String> = paths.iter().map(|name| format!("{name}_temp_path {};\n", place(name))).collect();
    let config = format!(
        "daemon off;\nmaster_process off;\npid {};\nerror_log stderr;\nevents {{ worker_connections 1024; }}\nhttp {{\naccess_log \
         off;\n{}server {{\nlisten 127.0.0.1:{port} ssl;\nssl_certificate {};\nssl_certificate_key {};\nroot {};\nlocation / \
         {{\ndav_methods PUT;\ncreate_full_put_path on;\n}}\n}}\n}}\n",
        place("pid"),
        paths.concat(),
        place("tls.pem"),
        place("tls.key"),
        place("files"),
    );
    std::fs::write(place("nginx.conf"), config).unwrap();
    let mut command = Command::new(program);
    command.arg("-p").arg(folder).arg("-c").arg(place("nginx.conf"));
    Some(start(&mut command, port))
}

#[test]
fn nginx_takes_files_and_gives_them_to_200_readers() {
    let folder = crate::support::tempdir();
    let Some(program) = nginx(folder.path()) else { return };
    let url = format!("https://localhost:{}/team", program.port);
    spares_downloads(&url, &[]);
    nothing_is_torn(&IndexPlace::parse(&url).unwrap(), 200);
}

#[test]
fn a_directory_serves_200_readers() {
    let folder = crate::support::tempdir();
    nothing_is_torn(&IndexPlace::Directory(folder.path().to_owned()), 200);
}
