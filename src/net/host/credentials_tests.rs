use super::*;
use crate::dialect::Dialect;

fn host(text: &str) -> Hostname {
    Hostname::parse(text).unwrap()
}

fn credentials(variables: &[(&str, &str)], config: &str) -> Credentials {
    let config = CliConfig::decode(config, Dialect::Terraform, &Variables::default()).unwrap();
    Credentials::new(&variables.iter().copied().collect::<Variables>(), &config, Arc::default())
}

async fn token(credentials: &Credentials, name: &str) -> Option<String> {
    credentials.token(&host(name)).await.unwrap().map(|secret| secret.reveal().to_owned())
}

#[test]
fn a_port_needs_more_than_a_shell() {
    assert_eq!(token_variable_shown(&host("app.example.com")), "TF_TOKEN_app_example_com");
    let shown = token_variable_shown(&host("localhost:8443"));
    assert!(shown.contains("`env 'TF_TOKEN_localhost:8443=TOKEN' tflock …`"), "{shown}");
}

#[test]
fn names_of_variables() {
    for (name, expected) in [
        ("app_example_com", "app.example.com"),
        ("my__corp_example_com", "my-corp.example.com"),
        ("a.b__c", "a.b-c"),
        ("xn____caf__dma_fr", "café.fr"),
        ("xn--caf-dma_fr", "café.fr"),
        ("café_fr", "café.fr"),
        ("localhost:8443", "localhost:8443"),
        ("LOCALHOST:443", "localhost"),
    ] {
        assert_eq!(host_of_variable(name), Some(host(expected)), "{name}");
    }
    assert_eq!(["", "a__", "_", "a b"].map(host_of_variable), [const { None }; 4]);
    for name in ["my-corp.example.com", "café.fr", "localhost:8443"] {
        let variable = token_variable(&host(name));
        assert_eq!(host_of_variable(variable.strip_prefix("TF_TOKEN_").unwrap()), Some(host(name)));
    }
}

#[tokio::test]
async fn the_first_source_wins() {
    let config = r#"
            credentials "a.example" { token = "block" }
            credentials "b.example" { token = "block" }
        "#;
    let tokens = credentials(&[("TF_TOKEN_a_example", "variable"), ("TF_TOKEN_localhost", "x")], config);
    assert_eq!(token(&tokens, "A.example").await.as_deref(), Some("variable"));
    assert_eq!(token(&tokens, "b.example").await.as_deref(), Some("block"));
    assert_eq!(token(&tokens, "c.example").await, None);
    assert_eq!(token(&tokens, "localhost:8443").await, None);
    assert!(!format!("{tokens:?}").contains("variable"));
}

#[tokio::test]
async fn an_empty_variable_is_absent() {
    let tokens = credentials(&[("TF_TOKEN_a_example", "")], "credentials \"a.example\" { token = \"block\" }");
    assert_eq!(token(&tokens, "a.example").await.as_deref(), Some("block"));
    assert_eq!(tokens.warnings(), ["TF_TOKEN_a_example is empty and is not used"]);
}

#[tokio::test]
async fn a_missing_helper_is_a_warning() {
    let tokens = credentials(&[], "credentials_helper \"nowhere\" {}");
    assert_eq!(token(&tokens, "a.example").await, None);
    assert_eq!(tokens.warnings().len(), 1);
}

/// A helper that is a script, asked with the limits that these variables set.
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "the helper is a script that this test writes")]
fn helped(data: &std::path::Path, script: &str, limits: &[(&str, &str)]) -> Credentials {
    use std::os::unix::fs::PermissionsExt;

    let plugins = data.join("plugins");
    std::fs::create_dir_all(&plugins).unwrap();
    let program = plugins.join("terraform-credentials-x");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let text = "credentials_helper \"x\" {} credentials \"b.example\" {}";
    let mut config = CliConfig::decode(text, Dialect::Terraform, &Variables::default()).unwrap();
    config.data_dirs = vec![data.to_path_buf()];
    let budget = RunBudget::new(&limits.iter().copied().collect());
    Credentials::new(&Variables::default(), &config, Arc::new(budget))
}

#[cfg(unix)]
#[tokio::test]
async fn helpers_spend_from_the_budget_of_the_run() {
    let data = tempfile::tempdir().unwrap();
    let tokens = helped(data.path(), "echo '{\"token\":\"helped\"}'", &[("TFLOCK_MAX_REQUESTS", "1")]);
    assert_eq!(token(&tokens, "a.example").await.as_deref(), Some("helped"));
    let refused = tokens.token(&host("c.example")).await.unwrap_err();
    assert!(refused.to_string().contains("the run has used its 1 requests"), "{refused}");
    let tokens = helped(data.path(), "exec sleep 60", &[("TFLOCK_MAX_NETWORK_SECONDS", "1")]);
    let late = tokens.token(&host("a.example")).await.unwrap_err();
    assert!(matches!(late, HelperError::Timeout { limit, .. } if limit <= Duration::from_secs(1)), "{late}");
}

#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "a test reads what its script wrote")]
#[tokio::test]
async fn the_helper_runs_once_a_host_and_never_with_a_credentials_block() {
    let data = tempfile::tempdir().unwrap();
    let log = data.path().join("log");
    let script = format!("echo $2 >> {}\necho '{{\"token\":\"helped\"}}'", log.display());
    let tokens = helped(data.path(), &script, &[]);
    for _ in 0..2 {
        assert_eq!(token(&tokens, "a.example").await.as_deref(), Some("helped"));
        assert_eq!(token(&tokens, "b.example").await, None);
    }
    assert_eq!(std::fs::read_to_string(log).unwrap(), "a.example\n");
}
