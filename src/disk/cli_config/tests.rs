use super::*;

fn decode(dialect: Dialect, text: &str) -> Result<CliConfig, Error> {
    CliConfig::decode(text, dialect, &Variables::from_iter([("HOME", "/h")]))
}

fn fault(text: &str) -> (String, (usize, usize)) {
    let error = decode(Dialect::Terraform, text).unwrap_err();
    let position = error.position.unwrap();
    let problem = error.message.strip_prefix("invalid CLI configuration: ").unwrap().to_owned();
    (problem, (position.line, position.column))
}

fn host(text: &str) -> Hostname {
    Hostname::parse(text).unwrap()
}

#[test]
fn blocks_and_their_json_form_agree() {
    let native = r#"
        credentials "app.example" { token = "a" }
        credentials "b.example:8443" { other = "x" }
        host "Registry.example" { services = { "providers.v1" = "https://r/" "x" = ["no text"] } }
        credentials_helper "store" { args = ["--flag", 7] }
    "#;
    let json = r#"{
        "credentials": {"app.example": {"token": "a"}, "b.example:8443": {"other": "x"}},
        "host": {"Registry.example": {"services": {"providers.v1": "https://r/", "x": ["no text"]}}},
        "credentials_helper": [{"store": [{"args": ["--flag", 7]}]}]
    }"#;
    let config = decode(Dialect::Terraform, native).unwrap();
    assert_eq!(config, decode(Dialect::Terraform, json).unwrap());
    assert_eq!(config.credentials[&host("app.example")].as_ref().unwrap().reveal(), "a");
    assert_eq!(config.credentials[&host("b.example:8443")], None);
    assert_eq!(config.hosts[&host("registry.example")]["providers.v1"], "https://r/");
    assert_eq!(config.hosts[&host("registry.example")].len(), 1);
    assert_eq!(config.credentials_helper.unwrap().args, ["--flag", "7"]);
}

#[test]
fn installation_methods_keep_their_order() {
    let text = r#"provider_installation {
        dev_overrides { "acme/foo" = "/dev/foo" }
        filesystem_mirror { path = "/m" include = ["a.example/*/*", "b/*"] }
        network_mirror { url = "https://m/" exclude = ["acme/*"] download_retry_count = 5 trust_all_hashes = true }
        oci_mirror { repository_template = "r/${namespace}/${type}" }
        direct {}
    }"#;
    let installation = decode(Dialect::OpenTofu, text).unwrap().installation.unwrap();
    assert_eq!(installation.dev_overrides[0].address, "acme/foo");
    let kinds: Vec<_> = installation.methods.iter().map(|method| method.kind.clone()).collect();
    let url = "https://m/".to_owned();
    assert_eq!(
        kinds,
        [
            MethodKind::FilesystemMirror { path: "/m".into() },
            MethodKind::NetworkMirror { url, download_retry_count: Some(5), trust_all_hashes: true },
            MethodKind::OciMirror { repository_template: "r/${namespace}/${type}".to_owned() },
            MethodKind::Direct { download_retry_count: None },
        ]
    );
    assert_eq!(installation.methods[0].include, ["a.example/*/*", "b/*"]);
    assert_eq!(installation.methods[1].exclude, ["acme/*"]);
    assert_eq!(installation.methods[3].position, Position { line: 6, column: 9 });
    assert_eq!(fault(text), ("unknown provider installation method \"oci_mirror\"".to_owned(), (5, 9)));
}

#[test]
fn an_empty_installation_is_not_an_absent_one() {
    assert_eq!(decode(Dialect::Terraform, "").unwrap().installation, None);
    let empty = decode(Dialect::Terraform, "provider_installation {}").unwrap().installation;
    assert!(empty.unwrap().methods.is_empty());
    // Compared with its case: another word, and words that are not known are ignored.
    assert_eq!(decode(Dialect::Terraform, "Provider_installation { nope {} }").unwrap().installation, None);
    let json = r#"{"provider_installation": [{"direct": [{"include": ["a/b"]}]}]}"#;
    assert_eq!(decode(Dialect::Terraform, json).unwrap().installation.unwrap().methods[0].include, ["a/b"]);
}

#[test]
fn refusals_have_a_place() {
    let not_a_block = |name: &str| format!("{name} must be a block without label and equals sign");
    assert_eq!(fault("\nprovider_installation = {}"), (not_a_block("provider_installation"), (2, 1)));
    assert_eq!(fault("provider_installation \"x\" {}").0, not_a_block("provider_installation"));
    assert_eq!(fault("provider_installation { direct = {} }"), (not_a_block("direct"), (1, 25)));
    assert_eq!(fault("provider_installation { direct \"x\" {} }").0, not_a_block("direct"));
    let twice = "provider_installation {}\nprovider_installation {}";
    assert_eq!(fault(twice), ("no more than one provider_installation block may be specified".to_owned(), (2, 1)));
    let late = "provider_installation { direct {} dev_overrides {} }";
    assert_eq!(fault(late).1, (1, 35));
    let missing = "filesystem_mirror needs an argument \"path\"".to_owned();
    assert_eq!(fault("provider_installation { filesystem_mirror {} }"), (missing, (1, 25)));
    assert!(fault("provider_installation { direct { include = \"a\" } }").0.contains(" wants "));
    assert!(fault("plugin_cache_dir = [\"x\"]").0.contains(" wants "));
    assert!(fault("plugin_cache_may_break_dependency_lock_file = \"maybe\"").0.contains(" wants "));
    assert!(fault("credentials \"xn--caf-dma.fr\" {}").0.contains("has an invalid hostname"));
    assert!(fault("Host \"a..b\" {}").0.contains("has an invalid hostname"));
    assert_eq!(fault("credentials = 1").1, (1, 1));
    assert_eq!(fault("a = foo").1, (1, 5));
    let helpers = "credentials_helper \"a\" {} credentials_helper \"b\" {}";
    assert_eq!(fault(helpers), ("no more than one credentials_helper block may be specified".to_owned(), (1, 27)));
}

#[test]
fn tofu_only_settings() {
    let text = "registry_protocols { retry_count = 0 request_timeout_seconds = 20 }";
    let protocols = decode(Dialect::OpenTofu, text).unwrap().registry_protocols;
    assert_eq!((protocols.retry_count, protocols.request_timeout_seconds), (Some(0), Some(20)));
    assert_eq!(decode(Dialect::Terraform, text).unwrap().registry_protocols, RegistryProtocols::default());
    assert!(decode(Dialect::OpenTofu, "registry_protocols { retry_count = -1 }").is_err());
}

#[test]
fn paths_of_files_are_expanded_and_the_environment_wins() {
    let text = "plugin_cache_dir = \"$HOME/a/${HOME}$UNSET/b$\"";
    let dir = decode(Dialect::Terraform, text).unwrap().plugin_cache_dir.unwrap();
    assert_eq!(dir, Path::new("/h/a//h/b$"));
    let variables = Variables::from_iter([("TF_PLUGIN_CACHE_DIR", "$HOME/x")]);
    let config = CliConfig::decode(text, Dialect::Terraform, &variables).unwrap();
    assert_eq!(config.plugin_cache_dir.unwrap(), Path::new("$HOME/x"));
}

#[test]
fn may_break_is_set_anywhere() {
    let name = "TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE";
    for (value, text, expected) in
        [("0", "", false), ("no", "", true), ("", "plugin_cache_may_break_dependency_lock_file = 1", true)]
    {
        let variables = Variables::from_iter([(name, value)]);
        let config = CliConfig::decode(text, Dialect::Terraform, &variables).unwrap();
        assert_eq!(config.plugin_cache_may_break_lock, expected, "{value:?} {text:?}");
    }
}

#[test]
fn an_empty_token_is_absent_and_said() {
    let config = decode(Dialect::Terraform, "credentials \"a.example\" { token = \"\" }").unwrap();
    assert_eq!(config.credentials[&host("a.example")], None);
    assert_eq!(config.warnings.len(), 1);
}

#[test]
fn files_merge_in_order() {
    let home = tempfile::tempdir().unwrap();
    // On Windows the names have no dot at their beginning.
    let place = |name: &str| home.path().join(if cfg!(windows) { &name[1..] } else { name });
    let write = |name: &str, text: &str| std::fs::write(place(name), text).unwrap();
    std::fs::create_dir(place(".terraform.d")).unwrap();
    std::fs::create_dir(place(".terraform.d/dir.tfrc")).unwrap();
    let cache = home.path().to_str().unwrap();
    let main = if cfg!(windows) { ".terraform.rc" } else { ".terraformrc" };
    write(main, &format!("plugin_cache_dir = {cache:?}\ncredentials \"a.example\" {{ token = \"main\" }}"));
    write(".terraform.d/b.tfrc", "plugin_cache_dir = \"/other\"\nprovider_installation { direct {} }");
    write(".terraform.d/credentials.tfrc.json", r#"{"credentials": {"a.example": {"token": "json"}}}"#);
    write(".terraform.d/ignored.txt", "not HCL");
    let variables = Variables::from_iter([("HOME", cache), ("APPDATA", cache)]);
    let config = CliConfig::load(&variables, Dialect::Terraform).unwrap();
    assert_eq!(config.credentials[&host("a.example")].as_ref().unwrap().reveal(), "json");
    assert_eq!(config.plugin_cache_dir.as_deref(), Some(home.path()));
    assert_eq!(config.files.len(), 3);

    write(".terraform.d/c.tfrc", "\n provider_installation {}");
    let error = CliConfig::load(&variables, Dialect::Terraform).unwrap_err();
    assert_eq!(error.file, Some(place(".terraform.d/c.tfrc")));
    assert_eq!(error.position, Some(Position { line: 2, column: 2 }));
}

#[test]
fn a_named_file_that_is_missing_is_a_warning() {
    let home = tempfile::tempdir().unwrap();
    let missing = home.path().join("nope");
    let variables = Variables::from_iter([("HOME", "/nowhere"), ("TF_CLI_CONFIG_FILE", missing.to_str().unwrap())]);
    let config = CliConfig::load(&variables, Dialect::OpenTofu).unwrap();
    assert_eq!((config.files.len(), config.warnings.len()), (0, 1));
    // A directory cannot be read at all.
    let variables = Variables::from_iter([("TF_CLI_CONFIG_FILE", home.path().to_str().unwrap())]);
    let error = CliConfig::load(&variables, Dialect::OpenTofu).unwrap_err();
    assert!(error.message.contains("cannot read the CLI configuration"));
}
