use std::io::Write;

use super::*;
use crate::net::RedirectFault;
use crate::net::tests::server::{Reply, Seen, Server};
use crate::settings::Secret;

fn request(server: &Server, path: &str) -> DocumentRequest {
    DocumentRequest::new(server.url(path), DocumentKind::Metadata)
}

async fn fault(server: &Server, path: &str) -> Fault {
    Client::new(server.options()).document(&request(server, path)).await.unwrap_err().fault
}

fn authorizations(server: &Server) -> Vec<Option<String>> {
    server.seen().iter().map(|seen| seen.header("authorization").map(str::to_owned)).collect()
}

#[tokio::test]
async fn a_document_with_its_place_and_headers() {
    let server = Server::start(|seen| match seen.path() {
        "/a" => Reply::redirect("b/c?x=1#f"),
        _ => Reply::new(204, &[("X-Terraform-Get", "./m"), ("Content-Type", "Text/Plain ; q=1")], ""),
    })
    .await;
    let mut options = server.options();
    options.terraform_version = Some("1.2.3".into());
    let document = Client::new(options).document(&request(&server, "/a").header("Accept", "text/x")).await.unwrap();
    assert_eq!(document.final_url, server.url("/b/c?x=1"));
    assert_eq!((document.status, document.header("x-terraform-get")), (204, Some("./m")));
    assert_eq!(document.media_type().as_deref(), Some("text/plain"));
    for seen in server.seen() {
        assert_eq!(seen.header("accept"), Some("text/x"));
        assert_eq!(seen.header("user-agent"), Some(concat!("tflock/", env!("CARGO_PKG_VERSION"))));
        assert_eq!(seen.header("x-terraform-version"), Some("1.2.3"));
        assert_eq!(seen.header("accept-encoding"), Some("gzip"));
    }
}

#[tokio::test]
async fn the_token_does_not_follow_to_another_host() {
    let other = Server::start(|_| Reply::json("{}")).await;
    let port = other.port();
    let server = Server::start(move |seen| match seen.path() {
        "/other" => Reply::redirect(&format!("https://127.0.0.1:{port}/")),
        "/same" => Reply::redirect("/end"),
        _ => Reply::json("{}"),
    })
    .await;
    let mut options = server.options();
    options.roots_pem.as_mut().unwrap().extend(other.options().roots_pem.unwrap());
    let client = Client::new(options);
    let token = || Secret::new("hunter2");
    client.document(&request(&server, "/same").token(token())).await.unwrap();
    client.document(&request(&server, "/other").token(token())).await.unwrap();
    let bearer = Some("Bearer hunter2".to_owned());
    assert_eq!(authorizations(&server), [bearer.clone(), bearer.clone(), bearer]);
    assert_eq!(authorizations(&other), [None]);
}

#[tokio::test]
async fn a_refusal_says_whether_a_token_was_sent() {
    let server = Server::start(|_| Reply::new(401, &[], "<html>\u{1b}[31m")).await;
    let client = Client::new(server.options());
    let refused = client.document(&request(&server, "/x?k=secret").token(Secret::new("hunter2"))).await.unwrap_err();
    assert_eq!(refused.refused_token(), Some(true));
    let text = format!("{refused} {refused:?}");
    assert!(!text.contains("secret") && !text.contains("hunter2"), "{text}");
    assert_eq!(client.document(&request(&server, "/x")).await.unwrap_err().refused_token(), Some(false));
    assert_eq!(server.seen().len(), 2);
    let refused = client.document(&request(&server, "/x").token(Secret::new("a\nb"))).await.unwrap_err();
    assert_eq!(refused.fault, Fault::Token);
}

#[tokio::test]
async fn a_downgrade_is_refused_where_a_token_is_in_use() {
    let server = Server::start(|seen| Reply::redirect(&format!("http://{}/", seen.header("host").unwrap()))).await;
    let request = request(&server, "/").token(Secret::new("hunter2"));
    let error = Client::new(server.options()).document(&request).await.unwrap_err();
    assert!(matches!(error.fault, Fault::Redirect(RedirectFault::Downgrade(_))), "{error}");
}

#[tokio::test]
async fn failures_that_may_pass_are_tried_again() {
    let server = Server::start(|seen| match (seen.path(), seen.earlier) {
        ("/503", 0) => Reply::new(503, &[("Retry-After", "0")], ""),
        ("/cut", 0) => Reply::new(200, &[("Content-Length", "10")], "{"),
        ("/dead", _) => Reply::new(500, &[], ""),
        ("/501", _) => Reply::new(501, &[], ""),
        _ => Reply::json("{}"),
    })
    .await;
    let client = Client::new(server.options());
    assert_eq!(client.document(&request(&server, "/503")).await.unwrap().body, b"{}");
    assert_eq!(client.document(&request(&server, "/cut")).await.unwrap().body, b"{}");
    let dead = client.document(&request(&server, "/dead")).await.unwrap_err();
    assert_eq!((dead.attempts, dead.status()), (2, Some(500)));
    assert!(dead.to_string().ends_with("500 Internal Server Error (2 attempts)"), "{dead}");
    assert_eq!(client.document(&request(&server, "/501")).await.unwrap_err().attempts, 1);
}

#[tokio::test]
async fn a_long_retry_after_is_not_waited_for() {
    let date = ("Date", "Sun, 06 Nov 1994 08:49:37 GMT");
    let server = Server::start(move |seen| match seen.path() {
        "/date" => Reply::new(429, &[date, ("Retry-After", "Sun, 06 Nov 1994 09:49:37 GMT")], ""),
        _ => Reply::new(503, &[("Retry-After", "3600")], ""),
    })
    .await;
    for path in ["/date", "/seconds"] {
        let waits = fault(&server, path).await;
        assert!(matches!(waits, Fault::Wait { demanded, .. } if demanded == Duration::from_secs(3600)), "{waits:?}");
    }
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn bodies_are_bounded_after_decompression() {
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    for _ in 0..11 {
        bomb.write_all(&vec![b' '; 1024 * 1024]).unwrap();
    }
    let bomb = bomb.finish().unwrap();
    assert!(bomb.len() < 64 * 1024);
    let server = Server::start(move |seen| match seen.path() {
        "/bomb" => Reply::new(200, &[("Content-Encoding", "gzip")], &bomb),
        "/announced" => Reply::new(200, &[("Content-Length", "99999999")], "").then_silence(),
        _ => Reply::new(200, &[], vec![0; 64 * 1024 + 1]),
    })
    .await;
    assert_eq!(fault(&server, "/bomb").await, Fault::TooLarge(DocumentKind::Metadata.limit()));
    assert_eq!(fault(&server, "/announced").await, Fault::TooLarge(DocumentKind::Metadata.limit()));
    let client = Client::new(server.options());
    let signature = DocumentRequest { kind: DocumentKind::Signature, ..request(&server, "/signature") };
    let error = client.document(&signature).await.unwrap_err();
    assert_eq!((error.fault, error.attempts), (Fault::TooLarge(64 * 1024), 1));
}

#[tokio::test]
async fn the_time_of_an_attempt_covers_the_body() {
    let server = Server::start(|_| Reply::new(200, &[("Content-Length", "5")], "{").then_silence()).await;
    let mut options = server.options();
    options.timeout = Duration::from_millis(300);
    let error = Client::new(options).document(&request(&server, "/slow")).await.unwrap_err();
    assert_eq!((error.fault, error.attempts), (Fault::Timeout(Duration::from_millis(300)), 2));
}

#[tokio::test]
async fn redirects_end() {
    let server = Server::start(|seen| match seen.path() {
        "/circle" => Reply::redirect("/circle"),
        "/nowhere" => Reply::new(302, &[], ""),
        "/file" => Reply::redirect("file:///etc/passwd"),
        path => Reply::redirect(&format!("{path}x")),
    })
    .await;
    assert!(matches!(fault(&server, "/circle").await, Fault::Redirect(RedirectFault::Loop(_))));
    assert!(matches!(fault(&server, "/file").await, Fault::Redirect(RedirectFault::Target(_))));
    assert!(matches!(fault(&server, "/nowhere").await, Fault::Status { status: 302, .. }));
    assert_eq!(fault(&server, "/long").await, Fault::Redirect(RedirectFault::TooMany(10)));
}

#[tokio::test]
async fn an_unknown_certificate_is_refused_at_once() {
    let server = Server::start(|_| Reply::json("{}")).await;
    let stranger = Server::start(|_| Reply::json("{}")).await;
    let error = Client::new(stranger.options()).document(&request(&server, "/")).await.unwrap_err();
    assert!(matches!(error.fault, Fault::Certificate(_)), "{error:?}");
    assert_eq!(error.attempts, 1);
}

#[tokio::test]
async fn hosts_that_cannot_be_reached() {
    let server = Server::start(|_| Reply::json("{}")).await;
    let deaf = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = Url::parse(&format!("https://{}/", deaf.local_addr().unwrap())).unwrap();
    tokio::spawn(async move { while deaf.accept().await.is_ok() {} });
    let error =
        Client::new(server.options()).document(&DocumentRequest::new(url, DocumentKind::Sums)).await.unwrap_err();
    assert!(matches!(error.fault, Fault::Connect(_)), "{error:?}");
    assert_eq!(error.attempts, 2);
    let url = Url::parse("ftp://localhost/").unwrap();
    let error =
        Client::new(server.options()).document(&DocumentRequest::new(url, DocumentKind::Sums)).await.unwrap_err();
    assert_eq!(error.fault, Fault::Scheme("ftp".into()));
}

async fn collect(body: &mut crate::net::DownloadBody) -> Result<Vec<u8>, NetError> {
    let (mut all, mut buffer) = (Vec::new(), Vec::new());
    while body.fill(&mut buffer).await? {
        all.append(&mut buffer);
    }
    Ok(all)
}

#[tokio::test]
async fn a_download_starts_anew_after_it_broke_off() {
    let archive: Vec<u8> = (0..700_000_u32).flat_map(u32::to_le_bytes).collect();
    let sent = archive.clone();
    let server = Server::start(move |seen: &Seen| match seen.earlier {
        0 => Reply::new(503, &[], ""),
        1 => Reply::new(200, &[("Content-Length", "2800000")], &sent[..300_000]),
        _ => Reply::new(200, &[], &sent),
    })
    .await;
    let client = Client::new(ClientOptions { downloads_per_host: 1, ..server.options() });
    let mut download = client.download(&server.url("/a.zip"));
    let mut body = download.open().await.unwrap();
    assert_eq!(body.length(), Some(2_800_000));
    let broken = collect(&mut body).await.unwrap_err();
    assert!(matches!(broken.fault, Fault::Broken { expected: Some(2_800_000), .. }), "{broken:?}");
    drop(body);
    download.again(broken).await.unwrap();
    let mut body = download.open().await.unwrap();
    assert!(collect(&mut body).await.unwrap() == archive);
    assert_eq!(body.received(), 2_800_000);
    for seen in server.seen() {
        assert_eq!((seen.header("authorization"), seen.header("accept-encoding")), (None, Some("identity")));
    }
}

#[tokio::test]
async fn a_silent_download_ends() {
    let server = Server::start(|_| Reply::new(200, &[("Content-Length", "9")], "1234").then_silence()).await;
    let idle_timeout = Duration::from_millis(200);
    let client = Client::new(ClientOptions { idle_timeout, ..server.options() });
    let mut download = client.download(&server.url("/a.zip")).with_retries(0);
    // On a busy machine even the head may come late.
    let late = match download.open().await {
        Ok(mut body) => download.again(collect(&mut body).await.unwrap_err()).await.unwrap_err(),
        Err(late) => late,
    };
    assert!(matches!(late.fault, Fault::Timeout(after) | Fault::Stalled(after) if after == idle_timeout));
    assert_eq!(late.attempts, 1);
}

#[tokio::test]
async fn a_missing_archive_is_not_requested_again() {
    let server = Server::start(|_| Reply::new(404, &[], "")).await;
    let error = Client::new(server.options()).download(&server.url("/x")).open().await.unwrap_err();
    assert!(error.is_not_found());
    assert_eq!(server.seen().len(), 1);
}

/// The tools take no other success for an answer.
#[tokio::test]
async fn what_is_neither_200_nor_204_is_no_answer() {
    let server = Server::start(|_| Reply::new(201, &[], "{}")).await;
    assert!(matches!(fault(&server, "/").await, Fault::Status { status: 201, .. }));
    let server = Server::start(|_| Reply::new(204, &[], "")).await;
    let sums = DocumentRequest::new(server.url("/"), DocumentKind::Sums);
    let refused = Client::new(server.options()).document(&sums).await.unwrap_err();
    assert!(matches!(refused.fault, Fault::Status { status: 204, .. }), "{refused}");
}

/// What a stranger names is not read from this machine or its link, whatever the name resolves to.
#[tokio::test]
async fn a_bundle_comes_from_a_public_address() {
    let server = Server::start(|_| Reply::json("{}")).await;
    let client = Client::new(server.options());
    client.document(&request(&server, "/")).await.unwrap();
    let bundle = DocumentRequest::new(server.url("/"), DocumentKind::Bundle);
    let refused = client.document(&bundle).await.unwrap_err().fault;
    assert!(matches!(refused, Fault::Private(address) if address.is_loopback()), "{refused:?}");
    assert_eq!(server.seen().len(), 2, "nothing is repeated");
    for (address, is_public) in [
        ("127.0.0.1", false),
        ("127.8.9.10", false),
        ("0.0.0.0", false),
        ("169.254.169.254", false),
        ("::1", false),
        ("::", false),
        ("fe80::1", false),
        ("::ffff:127.0.0.1", false),
        ("::ffff:169.254.169.254", false),
        ("10.0.0.1", true),
        ("140.82.121.4", true),
        ("2a01:111::1", true),
    ] {
        assert_eq!(check_public(address.parse().unwrap()).is_ok(), is_public, "{address}");
    }
}
