//! `tflock lock` behind bad networks: it retries where that may help, names the servers that did not answer, and keeps tokens
//! at home.

use std::time::Duration;

use crate::support::registry::{Answer, Endpoint, Registry, Request};
use crate::support::run::Run;
use crate::support::workspace::Workspace;
use crate::support::worlds::{EMPTY_LOCK, LOCK, LOCK_BOTH, widget};

fn workspace() -> Workspace {
    let workspace = Workspace::from("modules/one-root");
    workspace.write(".terraform.lock.hcl", EMPTY_LOCK);
    // One attempt more, so giving up does not take long.
    workspace.env("TF_PROVIDER_DOWNLOAD_RETRY", "1")
}

#[track_caller]
fn accepted(registry: &Registry) -> Run {
    let run = workspace().tflock(registry, LOCK).ended_with(0);
    assert_eq!(run.touched(), [".terraform.lock.hcl", ".tflock.trust.hcl"]);
    run
}

#[track_caller]
fn refused(registry: &Registry, code: i32) -> Run {
    let run = workspace().tflock(registry, LOCK).ended_with(code);
    assert!(run.touched().is_empty(), "{run}");
    run
}

#[test]
fn a_short_failure_is_overcome() {
    let registry = widget().answers(Endpoint::Versions, Answer::status(503).times(1));
    let run = accepted(&registry);
    insta::assert_snapshot!("short_failure", run.filtered(&run.stderr));
    assert_eq!(registry.count(Endpoint::Versions), 2);
}

#[test]
fn the_servers_wish_to_wait_is_heard() {
    let registry = widget().answers(Endpoint::Download, Answer::too_many_requests(0).times(1));
    accepted(&registry);
    assert_eq!(registry.count(Endpoint::Download), 2);
    let never = widget().answers(Endpoint::Download, Answer::too_many_requests(86_400));
    insta::assert_snapshot!("too_long_a_wait", refused(&never, 4));
}

#[test]
fn a_lasting_failure_is_inconclusive() {
    let registry = widget().answers(Endpoint::Versions, Answer::status(500));
    insta::assert_snapshot!("lasting_failure", refused(&registry, 4));
    assert_eq!(registry.count(Endpoint::Versions), 2);
}

#[test]
fn a_lasting_failure_of_downloads_is_inconclusive() {
    insta::assert_snapshot!("archive_failure", refused(&widget().answers(Endpoint::Zip, Answer::status(500)), 4));
}

#[test]
fn a_dead_registry_of_one_provider_stops_all() {
    let registry = widget().answers(Endpoint::Discovery, Answer::status(500));
    let run = workspace().tflock(&registry, LOCK.iter().chain(&["--format=json"])).ended_with(4);
    insta::assert_snapshot!("discovery_failure_json", run);
}

#[test]
fn a_web_page_is_no_answer() {
    insta::assert_snapshot!("html_discovery", refused(&widget().answers(Endpoint::Discovery, Answer::html()), 4));
    insta::assert_snapshot!("html_versions", refused(&widget().answers(Endpoint::Versions, Answer::html()), 4));
    insta::assert_snapshot!("html_archive", refused(&widget().answers(Endpoint::Zip, Answer::html()), 4));
    insta::assert_snapshot!("json_nonsense", refused(&widget().answers(Endpoint::Download, Answer::json("[1]")), 4));
}

#[test]
fn a_broken_download_is_taken_up_again() {
    let registry = widget().answers(Endpoint::Zip, Answer::truncated().times(1));
    accepted(&registry);
    assert_eq!(registry.downloads("acme/widget"), 2);
}

#[test]
fn a_download_that_always_breaks_is_inconclusive() {
    let run = refused(&widget().answers(Endpoint::Zip, Answer::truncated()), 4);
    assert!(run.stderr.contains("broke off after"), "{run}");
}

#[test]
fn a_connection_that_breaks() {
    accepted(&widget().answers(Endpoint::Sums, Answer::reset().times(1)));
    let run = refused(&widget().answers(Endpoint::Sums, Answer::reset()), 4);
    assert!(run.stderr.contains("SHA256SUMS"), "{run}");
}

#[test]
#[ignore = "long"]
fn a_slow_registry_is_given_up() {
    let registry = widget().answers(Endpoint::Versions, Answer::slow(Duration::from_secs(3600)));
    let run = workspace().env("TF_REGISTRY_CLIENT_TIMEOUT", "1").tflock(&registry, LOCK).ended_with(4);
    insta::assert_snapshot!("slow_registry", run);
}

#[test]
fn slow_pieces_are_waited_for() {
    accepted(&widget().answers(Endpoint::Zip, Answer::slow(Duration::from_millis(20))));
}

#[test]
fn a_host_without_provider_registry() {
    insta::assert_snapshot!("no_providers_service", refused(&widget().without_providers_service(), 2));
    insta::assert_snapshot!("no_discovery", refused(&widget().answers(Endpoint::Discovery, Answer::status(404)), 2));
}

#[test]
fn a_provider_that_does_not_exist() {
    insta::assert_snapshot!("no_such_provider", refused(&Registry::start(), 2));
}

/// A token that is given goes to the registry and not to what it names, so the help does not ask for one.
#[test]
fn packages_that_want_a_token_are_the_fault_of_their_registry() {
    for endpoint in [Endpoint::Sums, Endpoint::Signature, Endpoint::Zip] {
        for code in [401, 403] {
            let registry = widget().requiring_token("good-token").answers(endpoint, Answer::status(code));
            let run = workspace().env("TF_TOKEN_{{registry}}", "good-token").tflock(&registry, LOCK).ended_with(4);
            let says = |text: &str| run.stderr.contains(text);
            assert!(
                says(&code.to_string()) && says(&registry.host()) && says("sign these URLs"),
                "{endpoint:?}: {run}"
            );
            assert!(!says("TF_TOKEN") && run.touched().is_empty(), "{endpoint:?}: {run}");
        }
    }
}

#[test]
fn missing_credentials_name_the_variable() {
    let registry = widget().requiring_token("hunter2-hunter2");
    let named = |run: &Run| {
        let port = registry.host().replace("localhost:", "");
        run.filtered(&run.stderr).replace(&port, "PORT")
    };
    let run = refused(&registry, 4);
    insta::assert_snapshot!("no_token", named(&run));
    let wrong = workspace().env("TF_TOKEN_{{registry}}", "wrong-token").tflock(&registry, LOCK).ended_with(4);
    insta::assert_snapshot!("wrong_token", named(&wrong));
    assert!(!wrong.to_string().contains("wrong-token"), "{wrong}");
}

#[test]
fn tokens_stay_at_home() {
    let worlds = [
        widget().requiring_token("secret").with_files_on_other_host(),
        widget().requiring_token("secret").answers(Endpoint::Zip, Answer::redirect_to_other_host()),
        widget().answers(Endpoint::Versions, Answer::redirect_to_other_host()),
    ];
    let block = "credentials \"{{registry}}\" {\n  token = \"secret\"\n}\n";
    for registry in worlds {
        let by_variable = workspace().env("TF_TOKEN_{{registry}}", "secret");
        for workspace in [by_variable, workspace().cli_config(block)] {
            let run = workspace.tflock(&registry, LOCK.iter().chain(&["-v", "--no-cache"])).ended_with(0);
            assert!(!run.to_string().contains("secret"), "{run}");
        }
        assert_eq!(registry.hosts_that_saw_a_token().into_iter().collect::<Vec<_>>(), [registry.host()]);
        let asked = |endpoint| registry.requests().into_iter().filter(move |request| request.endpoint == endpoint);
        assert!(asked(Endpoint::Zip).all(|request| request.authorization.is_none()));
        assert!(asked(Endpoint::Zip).count() > 0);
    }
}

/// Nor that for a mirror to another port of it.
#[test]
fn the_token_of_a_mirror_stays_at_its_port() {
    let registry = widget().answers(Endpoint::MirrorIndex, Answer::redirect_to_other_host());
    let workspace = workspace().env("TF_TOKEN_{{registry}}", "secret");
    let run = workspace.tflock(&registry, LOCK.iter().chain(&["--net-mirror", &registry.mirror_url()])).ended_with(0);
    let seen = |it: &Request| it.endpoint == Endpoint::MirrorIndex;
    let seen: Vec<_> =
        registry.requests().into_iter().filter(seen).map(|it| (it.host, it.authorization.is_some())).collect();
    assert_eq!(seen, [(registry.host(), true), (registry.other_host(), false)], "{run}");
}

/// Each answer waits for another one: packages of one release are downloaded side by side.
#[test]
fn the_packages_of_a_release_are_downloaded_side_by_side() {
    let registry = widget().answers(Endpoint::Zip, Answer::together(2));
    workspace().tflock(&registry, LOCK_BOTH).ended_with(0);
    assert_eq!(registry.count(Endpoint::Zip), 2);
}

#[test]
fn an_untrusted_certificate() {
    let registry = widget();
    let workspace = workspace().env("SSL_CERT_FILE", "/dev/null");
    let run = workspace.tflock(&registry, LOCK).ended_with(4);
    insta::assert_snapshot!("untrusted_certificate", run);
}

/// Waits for something that surely happens soon; the limit is for a test that fails.
#[cfg(unix)]
pub(crate) fn wait_until(mut what: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if what() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("it did not happen");
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_changes_nothing() {
    use std::os::unix::process::ExitStatusExt;

    let registry = widget().answers(Endpoint::Zip, Answer::slow(Duration::from_secs(3600)));
    let workspace = workspace();
    let process = workspace.tflock_command(&registry, LOCK).spawn().unwrap();
    wait_until(|| registry.downloads("acme/widget") > 0);
    let id = process.id().to_string();
    let kill = std::process::Command::new("/bin/sh").args(["-c", "kill -INT \"$1\"", "sh", &id]).status();
    assert!(kill.unwrap().success());
    let output = process.wait_with_output().unwrap();
    assert!(!output.status.success());
    // By the signal, or by an exit code that is not that of another ending.
    assert!(output.status.signal() == Some(2) || output.status.code() == Some(2) || output.status.code() == Some(130));
    assert_eq!(workspace.lock_file(), EMPTY_LOCK);
    let mut names: Vec<_> = std::fs::read_dir(workspace.path("")).unwrap().map(|it| it.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, [".terraform.lock.hcl", "main.tf"]);
    // The lock on the directory ends with the process.
    workspace.tflock(&registry.recovered(), LOCK).ended_with(0);
}

/// The least that a SOCKS5 proxy does: it connects to the requested address or name. Counts connections.
fn socks() -> (u16, std::sync::Arc<std::sync::atomic::AtomicUsize>) {
    use std::io::{Read as _, Write as _};
    use std::net::{Ipv4Addr, TcpListener, TcpStream};
    use std::sync::atomic::{AtomicUsize, Ordering};

    let (listener, count) = (TcpListener::bind("127.0.0.1:0").unwrap(), std::sync::Arc::new(AtomicUsize::new(0)));
    let (port, counted) = (listener.local_addr().unwrap().port(), std::sync::Arc::clone(&count));
    let serve = move |mut client: TcpStream| -> std::io::Result<()> {
        let mut head = [0; 2];
        client.read_exact(&mut head)?;
        client.read_exact(&mut vec![0; usize::from(head[1])])?;
        client.write_all(&[5, 0])?;
        let mut request = [0; 4];
        client.read_exact(&mut request)?;
        let length = match request[3] {
            1 => 4,
            4 => 16,
            _ => {
                let mut length = [0];
                client.read_exact(&mut length)?;
                length[0].into()
            }
        };
        client.read_exact(&mut vec![0; length])?;
        let mut port = [0; 2];
        client.read_exact(&mut port)?;
        let server = TcpStream::connect((Ipv4Addr::LOCALHOST, u16::from_be_bytes(port)))?;
        client.write_all(&[5, 0, 0, 1, 127, 0, 0, 1, 0, 0])?;
        let (mut from, mut to) = (client.try_clone()?, server.try_clone()?);
        std::thread::spawn(move || std::io::copy(&mut from, &mut to));
        let (mut from, mut to) = (server, client);
        std::io::copy(&mut from, &mut to).map(drop)
    };
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            counted.fetch_add(1, Ordering::Relaxed);
            std::thread::spawn(move || serve(client));
        }
    });
    (port, count)
}

#[test]
fn servers_are_reached_through_a_socks_proxy() {
    let registry = widget();
    for scheme in ["socks5", "socks5h"] {
        let (port, count) = socks();
        let proxy = format!("{scheme}://127.0.0.1:{port}");
        let workspace = Workspace::from("modules/one-root").env("HTTPS_PROXY", &proxy);
        workspace.tflock(&registry, LOCK).ended_with(0);
        assert!(count.load(std::sync::atomic::Ordering::Relaxed) > 0, "{scheme}");
    }
}
