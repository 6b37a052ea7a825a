//! Shared indexes in cloud stores, served by moto (S3) and Azurite (Azure), where they are installed. For Google's there is
//! no server here: `gs:` is untested.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::index::machine;
use crate::index_servers::{Program, free_port, spares_downloads, start};
use crate::support::tools::found;
use crate::support::workspace::Workspace;
use crate::support::worlds::{LOCK_BOTH, widget};

/// The status of an answer to a request over plain HTTP.
fn status(port: u16, request: &str) -> String {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned()
}

const SECRET: &str = "s3cr3t-w0rd-of-the-cloud";

/// moto with a bucket, and the environment that leads there.
fn moto() -> Option<(Program, Vec<(&'static str, String)>)> {
    let port = free_port();
    let program = start(Command::new(found("moto_server")?).args(["-H", "127.0.0.1", "-p", &port.to_string()]), port);
    let made = status(
        port,
        &format!("PUT /team HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
    );
    assert!(made.contains(" 200 "), "{made}");
    let environment = vec![
        ("AWS_ENDPOINT", format!("http://127.0.0.1:{port}")),
        ("AWS_ALLOW_HTTP", "true".to_owned()),
        ("AWS_REGION", "eu-central-1".to_owned()),
        ("AWS_ACCESS_KEY_ID", "somebody".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", SECRET.to_owned()),
    ];
    Some((program, environment))
}

fn borrowed<'a>(environment: &'a [(&'static str, String)]) -> Vec<(&'a str, &'a str)> {
    environment.iter().map(|(name, value)| (*name, value.as_str())).collect()
}

#[test]
fn an_index_in_s3() {
    let Some((_program, environment)) = moto() else { return };
    spares_downloads("s3://team/tflock", &borrowed(&environment));
    spares_downloads_and_shows_nothing("s3://team", &environment);
    let run = refused("s3://nowhere", &environment);
    assert!(run.contains("the store of s3://nowhere"), "{run}");
}

/// The public key that Azurite is shipped with.
const AZURITE: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

fn hmac(key: &[u8], text: &str) -> Vec<u8> {
    let mut block = [0_u8; 64];
    block[..key.len()].copy_from_slice(key);
    let pad = |with: u8| block.map(|byte| byte ^ with);
    let inner = Sha256::new().chain_update(pad(0x36)).chain_update(text).finalize();
    Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize().to_vec()
}

/// Azurite with a container, and the environment that leads there.
fn azurite() -> Option<(Program, Vec<(&'static str, String)>)> {
    let port = free_port();
    let mut command = Command::new(found("azurite-blob")?);
    command.args(["--inMemoryPersistence", "--skipApiVersionCheck", "--blobHost", "127.0.0.1", "--blobPort"]);
    let program = start(command.arg(port.to_string()), port);
    let (account, date) = ("devstoreaccount1", now());
    // Twelve headers that are not sent, then those that are.
    let signed = format!(
        "PUT{}x-ms-date:{date}\nx-ms-version:2021-10-04\n/{account}/{account}/team\nrestype:container",
        "\n".repeat(12)
    );
    let signature = STANDARD.encode(hmac(&STANDARD.decode(AZURITE).unwrap(), &signed));
    let made = status(
        port,
        &format!(
            "PUT /{account}/team?restype=container HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nx-ms-date: {date}\r\nx-ms-version: \
             2021-10-04\r\nAuthorization: SharedKey {account}:{signature}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        ),
    );
    assert!(made.contains(" 201 "), "{made}");
    let environment = vec![
        ("AZURE_STORAGE_ENDPOINT", format!("http://127.0.0.1:{port}/{account}")),
        ("AZURE_ALLOW_HTTP", "true".to_owned()),
        ("AZURE_STORAGE_ACCOUNT_NAME", account.to_owned()),
        ("AZURE_STORAGE_ACCOUNT_KEY", AZURITE.to_owned()),
    ];
    Some((program, environment))
}

/// The time of this machine as HTTP has it.
fn now() -> String {
    let output = Command::new("date").args(["-u", "+%a, %d %b %Y %H:%M:%S GMT"]).env("LC_ALL", "C").output().unwrap();
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn an_index_in_azure() {
    let Some((_program, environment)) = azurite() else { return };
    spares_downloads("az://team/tflock", &borrowed(&environment));
    spares_downloads_and_shows_nothing("az://team", &environment);
}

#[test]
fn cloud_stores_spend_from_the_budget_of_the_run() {
    let registry = widget();
    // A store that does not answer.
    let with = |workspace: Workspace| {
        let names = [("AWS_ENDPOINT", "http://127.0.0.1:1"), ("AWS_ALLOW_HTTP", "true"), ("AWS_REGION", "a")];
        let keys = [("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", SECRET)];
        names.into_iter().chain(keys).fold(workspace, |it, (name, value)| it.env(name, value))
    };
    with(machine("s3://bucket", "")).tflock(&registry, LOCK_BOTH).ended_with(0);
    let limit = registry.requests().len().to_string();
    let limited = with(machine("s3://bucket", "")).env("TFLOCK_MAX_REQUESTS", &limit);
    let run = limited.tflock(&registry, LOCK_BOTH).ended_with(4);
    assert!(run.stderr.contains("set TFLOCK_MAX_REQUESTS to more than"), "{run}");
}

/// The same with `-v`, whatever is said.
fn spares_downloads_and_shows_nothing(url: &str, environment: &[(&'static str, String)]) {
    let registry = widget();
    let with = |workspace: Workspace| environment.iter().fold(workspace, |it, (name, value)| it.env(name, value));
    let first = with(Workspace::from("modules/one-root"));
    let args = [&LOCK_BOTH[..], &["-v", "--publish", "--index", url]].concat();
    let run = first.tflock(&registry, args).ended_with(0);
    assert!(!format!("{}{}", run.stdout, run.stderr).contains(SECRET) && !run.stderr.contains(AZURITE), "{run}");
    let second = with(machine(url, ""));
    let run = second.tflock(&registry, [&LOCK_BOTH[..], &["-v", "--format=json"]].concat()).ended_with(0);
    assert!(!format!("{}{}", run.stdout, run.stderr).contains(SECRET) && !run.stderr.contains(AZURITE), "{run}");
    // A dead store costs a note.
    let dead = environment.iter().fold(machine(url, ""), |it, (name, value)| {
        it.env(name, &if name.ends_with("ENDPOINT") { "http://127.0.0.1:1/x".to_owned() } else { value.clone() })
    });
    let run = dead.tflock(&registry, [&LOCK_BOTH[..], &["-v"]].concat()).ended_with(0);
    assert_eq!(run.stderr.matches("skipping the index \"team\" for the rest of this run").count(), 1, "{run}");
    assert!(!run.stderr.contains(SECRET), "{run}");
}

/// What is said where an index cannot be written to.
fn refused(url: &str, environment: &[(&'static str, String)]) -> String {
    let registry = widget();
    let workspace =
        environment.iter().fold(Workspace::from("modules/one-root"), |it, (name, value)| it.env(name, value));
    let run = workspace.tflock(&registry, [&LOCK_BOTH[..], &["-v", "--publish", "--index", url]].concat());
    assert!(matches!(run.code, Some(2 | 4)) && !run.stderr.contains(SECRET), "{run}");
    assert!(workspace.lock_file().contains("h1:"), "{run}");
    run.stderr
}
