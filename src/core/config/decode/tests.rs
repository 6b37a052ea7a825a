use std::path::PathBuf;

use super::super::{Module, SourceFile, Text};
use super::*;
use crate::addr::{AddrError, PartError};
use crate::config::{ConfigFiles, Needs};
use crate::finding::Position;

fn files(sources: &[(&str, &str)], dialect: Dialect) -> Result<Module, Vec<ConfigError>> {
    let names = ConfigFiles::select(sources.iter().map(|(name, _)| (*name).to_owned()), dialect);
    let find = |names: &[String]| -> Vec<SourceFile> {
        let text = |name: &str| sources.iter().find(|(found, _)| *found == name).map(|(_, text)| (*text).to_owned());
        names.iter().map(|name| SourceFile { path: PathBuf::from(name), text: text(name).unwrap() }).collect()
    };
    Module::decode(&find(&names.primary), &find(&names.overrides), dialect)
}

/// The requirements of one module: `address constraints`, without the default host.
fn needs(sources: &[(&str, &str)], dialect: Dialect) -> Vec<String> {
    let module = files(sources, dialect).unwrap_or_else(|errors| panic!("{errors:?}"));
    let mut needs = Needs::default();
    module.contribute("", dialect, &mut needs);
    assert_eq!(needs.errors, []);
    let mut texts: Vec<String> = needs
        .requirements
        .iter()
        .map(|(addr, requirement)| format!("{} {}", addr.short(dialect), requirement.constraints).trim().to_owned())
        .collect();
    texts.extend(needs.built_in);
    texts
}

fn terraform(text: &str) -> Vec<String> {
    needs(&[("main.tf", text)], Dialect::Terraform)
}

fn json(text: &str) -> Vec<String> {
    needs(&[("main.tf.json", text)], Dialect::Terraform)
}

/// `line:column message` of each error.
fn errors(name: &str, text: &str) -> Vec<String> {
    let errors = files(&[(name, text)], Dialect::Terraform).expect_err(text);
    errors.iter().map(|error| format!("{} {error}", error.position)).collect()
}

#[test]
fn types_imply_providers() {
    let text = "resource \"foo_bar\" \"x\" {\n}\ndata baz_q y {\n}\nresource \"terraform_data\" \"z\" {\n}\n\
                ephemeral \"eph_x\" \"y\" {\n}\naction \"act_x\" \"y\" {\n}\nresource \"nounderscore\" \"n\" { count = 0 }\n\
                resource \"AWS_x\" \"n\" {}\n";
    assert_eq!(
        terraform(text),
        [
            "hashicorp/act",
            "hashicorp/aws",
            "hashicorp/baz",
            "hashicorp/eph",
            "hashicorp/foo",
            "hashicorp/nounderscore",
            "terraform.io/builtin/terraform"
        ]
    );
}

#[test]
fn local_names_lead_to_their_sources() {
    let text = "terraform {\n  required_providers {\n    foo = { source = \"acme/xyz\" }\n    old = \"~> 1.0\"\n    \
                AWS = 2.0\n    bare = {}\n    only = { version = \">= 1\" }\n  }\n}\nresource \"foo_bar\" \"x\" {\n}\n\
                resource \"qux_bar\" \"x\" {\n  provider = foo.alt\n}\nresource \"quux_bar\" \"x\" { provider = \"foo\" }\n";
    assert_eq!(
        terraform(text),
        ["acme/xyz", "hashicorp/aws 2.0.0", "hashicorp/bare", "hashicorp/old ~> 1.0", "hashicorp/only >= 1.0.0"]
    );
}

#[test]
fn blocks_that_need_nothing_need_nothing() {
    let text = "removed {\n  from = foo_a.b\n}\nmoved {\n  from = foo_a.b\n  to = bar_a.b\n}\nlocals {\n  a = \
                provider::fnp::f(1)\n}\nterraform {\n  provider_meta \"x\" {\n  }\n  backend \"s3\" {\n  }\n}\n\
                module \"m\" {\n  source = \"./m\"\n  providers = { zed = zed }\n}\noutput \"x\" {\n}\n";
    assert_eq!(terraform(text), Vec::<String>::new());
    assert!(files(&[("a.tf", text)], Dialect::Terraform).unwrap().backend.is_some());
}

#[test]
fn the_host_of_a_backend_is_known_where_it_is_a_literal() {
    let cloud = |host: &str| Some(Backend::Cloud(Some(host.to_owned())));
    let block = |inner: &str| format!("terraform {{\n  {inner}\n}}\n");
    for (inner, found) in [
        ("cloud {\n    hostname = \"a.example\"\n    workspaces {\n      name = \"x\"\n    }\n  }", cloud("a.example")),
        ("cloud {\n  }", Some(Backend::Cloud(None))),
        ("cloud {\n    hostname = \"\"\n  }", Some(Backend::Cloud(None))),
        ("cloud {\n    hostname = \"${var.a}\"\n  }", Some(Backend::Other)),
        ("cloud {\n    hostname = null\n  }", Some(Backend::Other)),
        ("backend \"remote\" {\n    hostname = \"a.example\"\n  }", Some(Backend::Remote("a.example".into()))),
        ("backend \"remote\" {\n  }", Some(Backend::Other)),
        ("backend \"s3\" {\n    hostname = \"a.example\"\n  }", Some(Backend::Other)),
        ("required_version = \">= 1.0\"", None),
    ] {
        let module = files(&[("a.tf", &block(inner))], Dialect::Terraform).unwrap();
        assert_eq!(module.backend, found, "{inner}");
    }
    let json = r#"{"terraform": {"cloud": {"hostname": "a.example"}}}"#;
    assert_eq!(files(&[("a.tf.json", json)], Dialect::OpenTofu).unwrap().backend, cloud("a.example"));
    let json = r#"{"terraform": {"backend": {"remote": {"hostname": "a.example"}}}}"#;
    let (main, other) = (block("backend \"s3\" {\n  }"), block("cloud {\n    hostname = \"b.example\"\n  }"));
    let overridden = files(&[("a.tf", &main), ("b_override.tf", &other)], Dialect::Terraform).unwrap();
    assert_eq!(overridden.backend, cloud("b.example"));
    assert_eq!(
        files(&[("a.tf.json", json)], Dialect::Terraform).unwrap().backend,
        Some(Backend::Remote("a.example".into()))
    );
}

#[test]
fn imports_speak_where_no_resource_does() {
    let text = "import {\n  to = foo_bar.x\n  id = 1\n}\nimport {\n  to = qux_bar.x[each.key]\n  provider = zed.a\n}\n\
                import {\n  to = module.m[0].sub_x.y\n}\nresource \"res_x\" \"y\" {\n  provider = other\n}\n\
                import {\n  to = res_x.y[\"k\"]\n}\n";
    assert_eq!(terraform(text), ["hashicorp/foo", "hashicorp/other", "hashicorp/zed"]);
    assert_eq!(
        needs(&[("main.tf", text)], Dialect::OpenTofu),
        ["hashicorp/foo", "hashicorp/other", "hashicorp/res", "hashicorp/sub", "hashicorp/zed"]
    );
}

#[test]
fn checks_hold_data_sources() {
    let text = "check \"h\" {\n  data \"http_x\" \"y\" {\n    provider = abc.d\n  }\n  assert {\n  }\n}\n";
    assert_eq!(terraform(text), ["hashicorp/abc"]);
}

#[test]
fn provider_blocks_may_have_versions() {
    let text = "provider \"foo\" {\n  version = \"~> 1.1\"\n}\nprovider \"foo\" {\n  alias = \"b\"\n  version = 1.2\n}\n\
                provider \"bar\" {\n  version = null\n}\n";
    assert_eq!(terraform(text), ["hashicorp/bar", "hashicorp/foo ~> 1.1, 1.2.0"]);
}

#[test]
fn overrides_replace_whole_entries() {
    let base = "terraform {\n  required_providers {\n    a = { source = \"x/a\", version = \"1.0\" }\n    \
                b = { source = \"x/b\", version = \"1.0\" }\n  }\n}\nprovider \"foo\" {\n  version = \"~> 1.1\"\n}\n\
                resource \"foo_a\" \"x\" {\n}\nresource \"foo_a\" \"y\" {\n}\n";
    let first = "terraform {\n  required_providers {\n    a = { source = \"x/a\" }\n    c = \"3.0\"\n  }\n}\n\
                 provider \"foo\" {\n  version = \"~> 2.1\"\n}\nresource \"foo_a\" \"x\" {\n  provider = bar\n}\n\
                 resource \"foo_a\" \"y\" {\n}\nprovider \"new\" {\n}\n";
    let second = "{\"terraform\": {\"required_providers\": {\"c\": {\"version\": \"4.0\"}}}}";
    let sources = [("main.tf", base), ("override.tf", first), ("x_override.tf.json", second)];
    assert_eq!(
        needs(&sources, Dialect::Terraform),
        ["hashicorp/bar", "hashicorp/c 4.0.0", "hashicorp/foo ~> 2.1", "hashicorp/new", "x/a", "x/b 1.0.0"]
    );
}

#[test]
fn overrides_need_something_to_override() {
    let sources = [
        ("a.tf", "resource \"a_b\" \"x\" {\n}\n"),
        (
            "override.tf",
            "resource \"a_b\" \"y\" {\n}\nprovider \"q\" {\n  alias = \"r\"\n}\nmodule \"z\" {\n}\nimport {\n  to = \
             a_b.x\n}\ncheck \"c\" {\n}\n",
        ),
    ];
    let lines: Vec<_> = files(&sources, Dialect::Terraform).unwrap_err().iter().map(|e| e.position.line).collect();
    assert_eq!(lines, [3, 1, 6, 8, 11]);
}

#[test]
fn json_maps_to_the_same() {
    assert_eq!(
        json(
            r#"{"//": "c", "terraform": [{"required_version": ">= 1"}, {"required_providers": [{"//": "c",
            "alpha": {"source": "acme/alpha", "version": "~> 1.0"}, "old": "1.0", "num": 2.0}]}],
            "resource": [{"foo_a": [{"x": [{"provider": "alpha.b"}]}, {"y": {}}]}, {"foo_b": {"z": {"//": 1}}}],
            "data": {"bar_a": {"x": {}}, "bar_a": {"y": {}}}, "provider": {"zed": [{}, {"alias": "b", "version": "1"}]},
            "import": [{"to": "imp_a.x", "id": "1"}], "removed": null, "output": {"x": {}}}"#
        ),
        [
            "acme/alpha ~> 1.0",
            "hashicorp/bar",
            "hashicorp/foo",
            "hashicorp/imp",
            "hashicorp/num 2.0.0",
            "hashicorp/old 1.0.0",
            "hashicorp/zed 1.0.0"
        ]
    );
    assert_eq!(json(r#"[{"resource": {"a_b": {"c": {}}}}, {"resource": {"d_e": {"f": {}}}}]"#).len(), 2);
}

#[test]
fn errors_of_json_have_their_place() {
    assert_eq!(
        errors("a.tf.json", "{\"resource\": {\"//\": \"x\",\n \"a_b\": {\"c\": {}}}}"),
        ["1:21 a JSON object is required here, whose keys are the labels of \"resource\" blocks"]
    );
    assert_eq!(errors("a.tf.json", "{\"a\"\n 1}"), ["2:2 a colon is required after a key"]);
    let twice = "{\"terraform\": {\"required_providers\": {\"a\": {}, \"a\": {}}}}";
    assert_eq!(errors("a.tf.json", twice), ["1:48 the argument \"a\" is set twice"]);
    let twice = "{\"terraform\": {\"required_providers\": [{\"a\": {}}, {\"b\": {}}]}}";
    assert_eq!(errors("a.tf.json", twice).len(), 1);
    assert_eq!(errors("a.tf.json", "\u{feff}{}").len(), 1);
}

#[test]
fn every_error_of_required_providers_is_reported() {
    let text = "terraform {\n  required_providers {\n    y = true\n    n = null\n    Big = {}\n    under_score = \"1\"\n    \
                q = { source = null }\n    r = { \"${\"version\"}\" = \"1\" }\n    s = { version = \"1\", foo = 2 }\n    \
                t = { version = 1.0 }\n    u = { version = var.x }\n    v = { source = \"a/b/c/d\", version = \">=  1\" }\n    \
                w = { configuration_aliases = [x.y] }\n    z = { configuration_aliases = [z.y, z.q] }\n    x = {\n  }\n}\n}\n";
    let constraint = |text: &str| {
        let reason = Constraints::parse_config(text).unwrap_err();
        ConfigErrorKind::Constraint { text: text.to_owned(), reason }
    };
    let [word, local_name, parts, spaces] = [
        ("3:9", constraint("true")),
        ("6:5", ConfigErrorKind::LocalName { name: "under_score".to_owned(), reason: PartError::Characters }),
        ("12:20", ConfigErrorKind::Source(AddrError::Shape("a/b/c/d".to_owned()))),
        ("12:41", constraint(">=  1")),
    ]
    .map(|(place, kind)| format!("{place} {kind}"));
    assert_eq!(
        errors("main.tf", text),
        [
            &*word,
            "4:9 the entry \"n\" of required_providers must be a string or an object",
            "5:5 the local name \"Big\" of a provider must be normalised: replace it with \"big\"",
            &*local_name,
            "7:20 the source of a provider must be a constant string",
            "9:26 an entry of required_providers can contain only \"source\", \"version\" and \"configuration_aliases\", not \
             \"foo\"",
            "10:21 a version constraint must be a constant string",
            &*parts,
            &*spaces,
            "13:35 configuration_aliases of \"w\" must be a list of references, such as w.ALIAS",
        ]
    );
}

#[test]
fn misplaced_and_misspelt_requirements_are_reported() {
    let entries = "{\n    foo = {\n      source = \"acme/foo\"\n    }\n  }\n";
    for (text, place, name) in [
        (format!("required_providers {entries}"), "1:1", "block of type \"required_providers\""),
        (format!("Terraform {{\n  required_providers {entries}}}\n"), "1:1", "block of type \"Terraform\""),
        (format!("terraform {{\n  required_provider {entries}}}\n"), "2:3", "block of type \"required_provider\""),
        (format!("terraform {{\n  required_providers = {entries}}}\n"), "2:3", "argument named \"required_providers\""),
        (format!("terraform {{\n  dynamic \"required_providers\" {entries}}}\n"), "2:3", "block of type \"dynamic\""),
    ] {
        let found = errors("main.tf", &text);
        assert!(found[0].starts_with(place) && found[0].contains(name), "{text}: {found:?}");
    }
    for (text, name) in [
        (r#"{"required_providers": {"foo": {"source": "acme/foo"}}}"#, "required_providers"),
        (r#"{"terraform": {"required_provider": {"foo": {"source": "acme/foo"}}}}"#, "required_provider"),
    ] {
        let found = errors("main.tf.json", text);
        assert!(found[0].contains(&format!("an argument named {name:?}")), "{text}: {found:?}");
    }
    let accepted = "terraform {\n  required_version = \">= 1\"\n  experiments = []\n}\n";
    assert_eq!(terraform(accepted), Vec::<String>::new());
}

#[test]
fn aliases_are_references_to_the_local_name() {
    let native = |aliases: &str| {
        let text = format!(
            "terraform {{\n  required_providers {{\n    null = {{\n      source = \"acme/x\"\n      \
             configuration_aliases = {aliases}\n    }}\n  }}\n}}\n"
        );
        files(&[("main.tf", &text)], Dialect::Terraform).is_ok()
    };
    let json = |aliases: &str| {
        let entry = format!("{{\"source\": \"acme/x\", \"configuration_aliases\": {aliases}}}");
        let text = format!("{{\"terraform\": {{\"required_providers\": {{\"null\": {entry}}}}}}}");
        files(&[("main.tf.json", &text)], Dialect::Terraform).is_ok()
    };
    for reference in ["null", "null.x", "null.x.y", "null.x[0]", "null.x[\"k\"].y"] {
        assert!(native(&format!("[{reference}]")) && native(&format!("[null, {reference},]")), "{reference}");
        assert!(!native(&format!("[\"{}\"]", reference.replace('"', "\\\""))), "{reference}");
        assert!(json(&format!("[\"{}\"]", reference.replace('"', "\\\""))), "{reference}");
    }
    assert!(native("[]") && json("[]"));
    for refused in ["null.x", "[other]", "[other.x]", "[null[0]]", "[\"${null.x}\"]", "[1]", "{}", "concat([null.x])"] {
        assert!(!native(refused), "{refused}");
    }
    for refused in ["\"null.x\"", "[\"other.x\"]", "[\"null[0]\"]", "[\"${null.x}\"]", "[1]", "{}", "[null]"] {
        assert!(!json(refused), "{refused}");
    }
}

#[test]
fn errors_of_all_files_are_reported_together() {
    let sources = [
        ("a.tf", "resource \"a_b\" \"c\" {\n  x = (\n}\n"),
        ("b.tf", "terraform {\n  required_providers {\n  }\n}\n"),
        ("c.tf", "terraform {\n  required_providers {\n  }\n}\nresource \"a_b\" {\n}\nfoo = 1\n"),
        ("d.tf.json", "{"),
    ];
    let errors = files(&sources, Dialect::Terraform).unwrap_err();
    let texts: Vec<_> =
        errors.iter().map(|error| format!("{}:{} {error}", error.file.display(), error.position)).collect();
    let first = Location { file: Path::new("b.tf").into(), position: Position { line: 2, column: 3 } };
    let second = format!("c.tf:2:3 {}", ConfigErrorKind::DuplicateRequiredProviders(first));
    assert_eq!(
        texts,
        [
            "a.tf:3:1 unexpected closing bracket '}'",
            "c.tf:7:1 an argument named \"foo\" is not expected here",
            "c.tf:5:1 a \"resource\" block takes 2 labels, and this one has 1",
            "d.tf.json:1:2 a key in double quotes is required here",
            &*second,
        ]
    );
}

#[test]
fn duplicates_are_errors() {
    let text = "provider \"x\" {\n}\nprovider \"x\" {\n}\nresource \"a_b\" \"c\" {\n}\nresource \"a_b\" \"c\" {\n}\n\
                module \"m\" {\n  source = \"./m\"\n}\nmodule \"m\" {\n  source = \"./m\"\n}\n\
                terraform {\n  required_providers {\n    a = {}\n    a = {}\n  }\n}\n";
    let lines: Vec<_> = errors("main.tf", text).iter().map(|text| text.split(' ').next().unwrap().to_owned()).collect();
    assert_eq!(lines, ["18:5", "3:1", "7:1", "12:1"]);
    let apart = "resource \"a_b\" \"c\" {\n}\ndata \"a_b\" \"c\" {\n}\nprovider \"a\" {\n}\nprovider \"a\" {\n  alias = \
                 \"b\"\n}\n";
    assert_eq!(terraform(apart), ["hashicorp/a"]);
}

#[test]
fn references_to_providers_have_one_form() {
    for value in ["foo.bar.baz", "foo[\"x\"]", "f(x)", "1", "Foo", "\"${foo}\"", "foo.bar[0]", "1 + 1", "\"a b\""] {
        let text = format!("resource \"a_b\" \"c\" {{\n  provider = {value}\n}}\n");
        assert_eq!(errors("main.tf", &text).len(), 1, "{value}");
    }
    let keyed = "resource \"a_b\" \"c\" {\n  provider = foo.bar[each.key]\n}\n";
    assert_eq!(needs(&[("main.tofu", keyed)], Dialect::OpenTofu), ["hashicorp/foo"]);
    assert_eq!(errors("main.tf", "resource \"_x\" \"y\" {\n}\n").len(), 1);
}

#[test]
fn constant_words_are_names_in_references() {
    assert_eq!(terraform("resource \"a_b\" \"c\" {\n  provider = null\n}\n"), ["hashicorp/null"]);
    assert_eq!(json(r#"{"resource": {"a_b": {"c": {"provider": "null"}}}}"#), ["hashicorp/null"]);
    assert_eq!(errors("a.tf.json", r#"{"resource": {"a_b": {"c": {"provider": null}}}}"#).len(), 1);
}

#[test]
fn names_are_identifiers() {
    for text in [
        "resource \"a_b\" \"c d\" {\n}\n",
        "resource \"a b_c\" \"d\" {\n}\n",
        "resource \"1a_c\" \"d\" {\n}\n",
        "module \"m n\" {\n  source = \"./m\"\n}\n",
        "provider \"a\" {\n  alias = var.x\n}\n",
        "provider \"a\" {\n  alias = \"b c\"\n}\n",
        "resource \"a_b\" \"c\" {\n  provider = d\n  provider = e\n}\n",
    ] {
        assert_eq!(errors("main.tf", text).len(), 1, "{text}");
    }
    assert_eq!(terraform("resource \"é_c\" \"d-e\" {\n}\nprovider \"ß\" {\n}\n"), ["hashicorp/ß", "hashicorp/é"]);
}

#[test]
fn labels_in_json_are_needed() {
    for text in [r#"{"data": null}"#, r#"{"data": {"x_y": null}}"#, r#"{"data": {"x_y": []}}"#, r#"{"terraform": 5}"#] {
        assert_eq!(errors("a.tf.json", text).len(), 1, "{text}");
    }
    assert_eq!(json(r#"{"data": {"x_y": {"c": null, "d": [null]}}, "terraform": null}"#), ["hashicorp/x"]);
    let number = r#"{"terraform": {"required_providers": {"a": 1.10, "b": 2.0}}}"#;
    assert_eq!(json(number), ["hashicorp/a 1.1.0", "hashicorp/b 2.0.0"]);
}

#[test]
fn module_calls_keep_their_source_and_version() {
    let text = "module \"a\" {\n  source  = \"x/y/z\"\n  version = \"~> 1.0\"\n  size = 1\n}\nmodule \"b\" {\n  source = \
                \"${path.module}/b\"\n}\n";
    let module = files(&[("main.tf", text)], Dialect::Terraform).unwrap();
    let call = &module.calls["a"];
    assert_eq!(call.source.as_ref().unwrap().text, Text::Known("x/y/z".into()));
    assert_eq!(call.version.as_ref().unwrap().constraints.as_ref().unwrap().as_str(), "~> 1.0");
    assert_eq!(call.inputs.keys().collect::<Vec<_>>(), ["size"]);
    assert!(matches!(module.calls["b"].source.as_ref().unwrap().text, Text::Expression(_)));
    assert_eq!(errors("main.tf", "module \"a\" {\n}\n"), ["1:1 module \"a\" has no source"]);
    assert_eq!(errors("main.tf", "module \"a\" {\n  source = \"x/y/z\"\n  version = \"foo\"\n}\n").len(), 1);
}

#[test]
fn line_ends_and_a_byte_order_mark_change_nothing() {
    let text = "\u{feff}terraform {\r\n  required_providers {\r\n    a = {\r\n      version = \"1.0\" # é\r\n    }\r\n  }\r\n}\r\n";
    assert_eq!(terraform(text), ["hashicorp/a 1.0.0"]);
    let module = files(&[("a.tf", text)], Dialect::Terraform).unwrap();
    assert_eq!(module.required["a"].place.to_string(), "a.tf:3:5");
}

/// Tables that OpenTofu may put into a language of its own, from 1.13 on.
#[test]
fn symbols_are_of_opentofu_and_require_nothing() {
    let native = "symbols \"net\" {\n  source  = \"acme/net\"\n  version = \"1.0.0\"\n}\n";
    assert_eq!(needs(&[("main.tf", native)], Dialect::OpenTofu), [""; 0]);
    let json = r#"{"symbols": {"net": {"source": "acme/net"}}}"#;
    assert_eq!(needs(&[("main.tf.json", json)], Dialect::OpenTofu), [""; 0]);
    assert_eq!(needs(&[("main.tf", ""), ("x.sym.hcl", "not = = read")], Dialect::OpenTofu), [""; 0]);
    assert_eq!(errors("main.tf", native), ["1:1 only OpenTofu reads a \"symbols\" block"]);
}

#[test]
fn a_state_store_has_one_label_and_a_declared_provider() {
    let store = |provider: &str| {
        format!(
            "terraform {{\n  state_store \"x_bucket\" {{\n    provider \"{provider}\" {{\n      a = 1\n    }}\n  }}\n}}\n"
        )
    };
    let declared = "terraform {\n  required_providers {\n    x = { source = \"acme/x\" }\n  }\n}\n";
    let both = [("main.tf", &*store("x")), ("versions.tf", declared)];
    assert_eq!(needs(&both, Dialect::Terraform), ["acme/x"]);
    assert_eq!(terraform(&store("terraform")), [""; 0]);
    let json = r#"{"terraform": {"required_providers": {"x": {"source": "acme/x"}},
        "state_store": {"x_bucket": {"provider": {"x": {}}, "bucket": "b"}}}}"#;
    assert_eq!(super::tests::json(json), ["acme/x"]);
    assert_eq!(
        errors("main.tf", &store("x")),
        ["3:14 the provider \"x\" of the state_store block must be in required_providers"]
    );
    // What an override file declares counts.
    let later = [("main.tf", &*store("x")), ("override.tf", declared)];
    assert_eq!(needs(&later, Dialect::Terraform), ["acme/x"]);
    for (text, expected) in [
        (
            "terraform {\n  state_store \"x_bucket\" \"y\" {\n  }\n}\n",
            "2:3 a \"state_store\" block takes 1 labels, and this one has 2",
        ),
        (
            "terraform {\n  state_store \"x_bucket\" {\n  }\n}\n",
            "2:3 a state_store block needs a provider block that names its provider",
        ),
    ] {
        assert_eq!(errors("main.tf", text), [expected]);
    }
}

#[test]
fn the_language_block_is_one_of_opentofu() {
    let read = |name: &str, text: &str, dialect| {
        let found = files(&[("a.tf", ""), (name, text)], dialect).err().unwrap_or_default();
        found.iter().map(|error| format!("{} {error}", error.position)).collect::<Vec<_>>()
    };
    let twice = "language {\n  edition     = tofu2024\n  experiments = []\n}\nlanguage {\n  compatible_with {\n    \
                 opentofu = \">= 1.12\"\n    other \"x\" {\n    }\n  }\n  compatible_with {\n  }\n}\n";
    assert_eq!(read("main.tf", twice, Dialect::OpenTofu), [""; 0]);
    assert_eq!(read("main.tf", twice, Dialect::Terraform).len(), 2);
    let json = r#"{"language": [{"edition": "tofu2024", "compatible_with": [{"opentofu": ">= 1.12"}]}]}"#;
    assert_eq!(read("main.tf.json", json, Dialect::OpenTofu), [""; 0]);
    for (text, position) in [
        ("language x {\n}\n", "1:1"),
        ("language {\n  other {\n  }\n}\n", "2:3"),
        ("language {\n  other = 1\n}\n", "2:3"),
        ("language {\n  edition = a\n  edition = a\n}\n", "3:3"),
        ("language {\n  compatible_with \"x\" {\n  }\n}\n", "2:3"),
        ("language = 1\n", "1:1"),
    ] {
        let found = read("main.tf", text, Dialect::OpenTofu);
        assert!(found.len() == 1 && found[0].starts_with(position), "{text}: {found:?}");
    }
    let of_override = read("override.tf", "language {\n}\n", Dialect::OpenTofu);
    assert_eq!(of_override, ["1:1 a \"language\" block is not allowed in an override file"]);
}
