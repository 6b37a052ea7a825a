use super::*;
use crate::net::tests::server::{Reply, Server};
use crate::settings::Variables;

const PATH: &str = "/.well-known/terraform.json";

fn discovery(server: &Server, credentials: Credentials) -> Discovery {
    Discovery::new(Client::new(server.options()), Arc::new(credentials), BTreeMap::new())
}

fn host(server: &Server) -> Hostname {
    Hostname::parse(&format!("localhost:{}", server.port())).unwrap()
}

async fn providers(reply: impl Fn() -> Reply + Send + Sync + 'static) -> Result<String, DiscoveryError> {
    let server = Server::start(move |_| reply()).await;
    let url = discovery(&server, Credentials::default()).url(&host(&server), Service::Providers).await?;
    Ok(url.to_string().replace(&server.port().to_string(), "PORT"))
}

#[tokio::test]
async fn service_urls() {
    let url = async |text: &'static str| {
        let text = format!("{{\"providers.v1\": {text:?}}}");
        providers(move || Reply::json(&text)).await
    };
    assert_eq!(url("/v1/providers/").await.unwrap(), "https://localhost:PORT/v1/providers/");
    assert_eq!(url("v1#f").await.unwrap(), "https://localhost:PORT/.well-known/v1");
    assert_eq!(url("http://other.example/p").await.unwrap(), "http://other.example/p");
    assert_eq!(url("p?a:b=%").await.unwrap(), "https://localhost:PORT/.well-known/p?a:b=%");
    let refused =
        ["ftp://other.example/", "https://me@other.example/", "https://", "://p", "a b:c/p", "1:/p", "/v1/%zz/", "p%"];
    for refused in refused {
        let error = url(refused).await.unwrap_err();
        assert_eq!(Error::from(error.clone()).kind, ErrorKind::Unavailable);
        assert!(matches!(error, DiscoveryError::ServiceUrl { configured: false, .. }), "{refused}: {error}");
    }
}

#[tokio::test]
async fn hosts_without_the_service() {
    let other_version = async |reply: fn() -> Reply| match providers(reply).await {
        Err(DiscoveryError::NoService { other_version, .. }) => other_version,
        other => panic!("{other:?}"),
    };
    assert!(!other_version(|| Reply::new(404, &[], "gone")).await);
    assert!(!other_version(|| Reply::json(r#"{"modules.v1": "/m/"}"#)).await);
    assert!(other_version(|| Reply::json(r#"{"providers.v2": "/p/"}"#)).await);
    assert!(other_version(|| Reply::json(r#"{"providers.v1": {"url": "/p/"}}"#)).await);
}

#[tokio::test]
async fn the_name_that_stands_for_another_host_is_not_asked() {
    let server = Server::start(|_| Reply::json("{}")).await;
    let discovery = discovery(&server, Credentials::default());
    for name in ["localterraform.com", "localtofu.com"] {
        let name = Hostname::parse(name).unwrap();
        let answer = discovery.url(&name, Service::Modules).await;
        assert_eq!(answer, Err(DiscoveryError::StandIn(name)));
    }
}

#[tokio::test]
async fn hosts_that_answer_nonsense() {
    let nonsense: [fn() -> Reply; 7] = [
        || Reply::new(200, &[("Content-Type", "application/json; foo")], r#"{"providers.v1": "/p/"}"#),
        || Reply::json("{}"),
        || Reply::json(r#"{"error": "rate limit exceeded"}"#),
        || Reply::new(200, &[("Content-Type", "text/html")], "<html>"),
        || Reply::new(200, &[], "{}"),
        || Reply::json("[]"),
        || Reply::json("{"),
    ];
    for reply in nonsense {
        let error = providers(reply).await.unwrap_err();
        assert!(matches!(error, DiscoveryError::Document { .. }), "{error:?}");
        assert!(error.to_string().contains("discovery"));
        assert_eq!(Error::from(error).kind, ErrorKind::Unavailable);
    }
    let dead = providers(|| Reply::new(500, &[], "")).await.unwrap_err();
    assert!(dead.to_string().contains("could not connect to localhost"), "{dead}");
    assert_eq!(Error::from(dead).kind, ErrorKind::Unavailable);
    let large = providers(|| Reply::json(&" ".repeat(1024 * 1024 + 1))).await.unwrap_err();
    assert!(matches!(large, DiscoveryError::Request { .. }), "{large:?}");
}

#[tokio::test]
async fn a_host_is_queried_once_whatever_it_answers() {
    let server = Server::start(|_| Reply::new(500, &[], "")).await;
    let mut options = server.options();
    options.retries = 0;
    let discovery = Discovery::new(Client::new(options), Arc::default(), BTreeMap::new());
    let host = host(&server);
    let (first, second) = tokio::join!(discovery.services(&host), discovery.services(&host));
    assert!(first.is_err());
    assert_eq!(first, second);
    assert_eq!(first, discovery.services(&host).await);
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn the_base_is_where_the_redirect_led_and_the_token_stayed_behind() {
    let other = Server::start(|_| Reply::json(r#"{"providers.v1": "p/", "modules.v1": "/m"}"#)).await;
    let port = other.port();
    let server = Server::start(move |_| Reply::redirect(&format!("https://127.0.0.1:{port}/deep/doc"))).await;
    let mut options = server.options();
    options.roots_pem.as_mut().unwrap().extend(other.options().roots_pem.unwrap());
    let host = host(&server);
    let variables = Variables::from_iter([(format!("TF_TOKEN_{}", host.as_ascii()), "hunter2")]);
    let credentials = Credentials::new(&variables, &crate::disk::cli_config::CliConfig::default(), Arc::default());
    let discovery = Discovery::new(Client::new(options), Arc::new(credentials), BTreeMap::new());
    let url = discovery.url(&host, Service::Providers).await.unwrap();
    assert_eq!(url.as_str(), format!("https://127.0.0.1:{port}/deep/p/"));
    let url = discovery.url(&host, Service::Modules).await.unwrap();
    assert_eq!(url.as_str(), format!("https://127.0.0.1:{port}/m/"));
    let request = &server.seen()[0];
    assert_eq!((request.path(), request.header("authorization")), (PATH, Some("Bearer hunter2")));
    assert_eq!(request.header("accept"), Some("application/json"));
    assert_eq!(other.seen()[0].header("authorization"), None);
}

#[tokio::test]
async fn a_host_block_replaces_discovery() {
    let server = Server::start(|_| Reply::json("{}")).await;
    let services = BTreeMap::from([("providers.v1".to_owned(), "/p".to_owned())]);
    let (full, empty) = (Hostname::parse("Full.example").unwrap(), host(&server));
    let configured = BTreeMap::from([(full.clone(), services), (empty.clone(), BTreeMap::new())]);
    let discovery = Discovery::new(Client::new(server.options()), Arc::default(), configured);
    let url = discovery.url(&full, Service::Providers).await.unwrap();
    assert_eq!(url.as_str(), "https://full.example/p");
    let error = discovery.url(&empty, Service::Providers).await.unwrap_err();
    assert_eq!(Error::from(error).kind, ErrorKind::NotFound);
    assert!(server.seen().is_empty());
}

#[test]
fn everything_may_run_on_any_thread() {
    fn sent(_: impl Send) {}
    let client = Client::new(crate::net::ClientOptions::default());
    let url = Url::parse("https://a.example/").unwrap();
    let request = DocumentRequest::new(url.clone(), DocumentKind::Sums);
    sent(client.document(&request));
    let mut download = client.download(&url);
    sent(async move {
        let mut body = download.open().await?;
        body.fill(&mut Vec::new()).await
    });
    let discovery = Discovery::new(client, Arc::default(), BTreeMap::new());
    sent(async move { discovery.url(&Hostname::parse("a.example").unwrap(), Service::Modules).await });
}
