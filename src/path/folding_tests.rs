use super::*;
use crate::config::is_read;

/// Spellings of names, each with the path that some file system takes it for: from the documents of APFS, HFS+, NTFS and
/// ext4 (casefold).
const SPELLINGS: [(&str, &str); 72] = [
    // Case.
    (".Terraform.lock.hcl", ".terraform.lock.hcl"),
    (".TERRAFORM.LOCK.HCL", ".terraform.lock.hcl"),
    ("prod/.terraform.lock.HCL", "prod/.terraform.lock.hcl"),
    (".TFLock.hcl", ".tflock.hcl"),
    (".tflock.Trust.hcl", ".tflock.trust.hcl"),
    (".tflock.MODULES.hcl", ".tflock.modules.hcl"),
    (".GitAttributes", ".gitattributes"),
    ("a/.GITMODULES", "a/.gitmodules"),
    (".Git/config", ".git/config"),
    ("Terraform.d/plugins/x", "terraform.d/plugins/x"),
    ("terraform.d/Plugins/x", "terraform.d/plugins/x"),
    ("TERRAFORM.D/PLUGINS/x", "terraform.d/plugins/x"),
    (".Terraform/providers/x", ".terraform/providers/x"),
    (".Terragrunt-Cache/x", ".terragrunt-cache/x"),
    // Letters whose case folding is Latin: Kelvin, long s, ligatures.
    (".terraform.loc\u{212a}.hcl", ".terraform.lock.hcl"),
    (".tfloc\u{212a}.hcl", ".tflock.hcl"),
    (".t\u{fb02}ock.hcl", ".tflock.hcl"),
    (".tflock.tru\u{fb06}.hcl", ".tflock.trust.hcl"),
    (".tflock.tru\u{fb05}.hcl", ".tflock.trust.hcl"),
    (".tflock.tru\u{17f}t.hcl", ".tflock.trust.hcl"),
    (".gitmodule\u{17f}", ".gitmodules"),
    ("terraform.d/plugin\u{17f}/x", "terraform.d/plugins/x"),
    (".gitattribute\u{17f}", ".gitattributes"),
    // Code points that HFS+ or ext4 ignore.
    (".terra\u{200c}form.lock.hcl", ".terraform.lock.hcl"),
    (".terraform\u{200d}/x", ".terraform/x"),
    ("\u{feff}.tflock.hcl", ".tflock.hcl"),
    (".g\u{200c}it/hooks/x", ".git/hooks/x"),
    (".gi\u{200e}tmodules", ".gitmodules"),
    (".git\u{200f}attributes", ".gitattributes"),
    ("terraform\u{202a}.d/plugins/x", "terraform.d/plugins/x"),
    ("terraform.d/plug\u{202e}ins/x", "terraform.d/plugins/x"),
    (".tflock\u{206a}.hcl", ".tflock.hcl"),
    (".tflock.trust.hcl\u{206f}", ".tflock.trust.hcl"),
    (".terraform.l\u{ad}ock.hcl", ".terraform.lock.hcl"),
    (".terraform.lock\u{2060}.hcl", ".terraform.lock.hcl"),
    (".TFLOCK\u{200b}.hcl", ".tflock.hcl"),
    (".terraform.lock.hcl\u{fe0f}", ".terraform.lock.hcl"),
    // Dots and spaces at the end.
    (".terraform.lock.hcl.", ".terraform.lock.hcl"),
    (".terraform.lock.hcl ", ".terraform.lock.hcl"),
    (".tflock.hcl. . .", ".tflock.hcl"),
    (".tflock.trust.hcl   ", ".tflock.trust.hcl"),
    (".terraform./x", ".terraform/x"),
    ("terraform.d /plugins/x", "terraform.d/plugins/x"),
    ("terraform.d/plugins./x", "terraform.d/plugins/x"),
    (".git./config", ".git/config"),
    (".git /config", ".git/config"),
    (".gitmodules .", ".gitmodules"),
    ("prod./.terraform.lock.hcl.", "prod/.terraform.lock.hcl"),
    // Streams.
    (".terraform.lock.hcl::$DATA", ".terraform.lock.hcl"),
    (".tflock.hcl:stream", ".tflock.hcl"),
    (".tflock.trust.hcl::$data", ".tflock.trust.hcl"),
    (".git::$INDEX_ALLOCATION/config", ".git/config"),
    (".gitmodules .:x", ".gitmodules"),
    ("terraform.d::$INDEX_ALLOCATION/plugins/x", "terraform.d/plugins/x"),
    (".terraform:$I30:$INDEX_ALLOCATION/x", ".terraform/x"),
    // Short names.
    ("TERRAF~1.D/plugins/x", "terraform.d/plugins/x"),
    ("terraf~2.d/plugins/x", "terraform.d/plugins/x"),
    ("TERRAF~1/x", ".terraform/x"),
    ("TERRAF~1.HCL", ".terraform.lock.hcl"),
    ("TE12AB~1.HCL", ".terraform.lock.hcl"),
    ("TFLOCK~1.HCL", ".tflock.hcl"),
    ("GIT~1/config", ".git/config"),
    ("GITATT~1", ".gitattributes"),
    ("gitmod~4", ".gitmodules"),
    ("GI7EBA~1", ".gitattributes"),
    ("TERRA~10.D/plugins/x", "terraform.d/plugins/x"),
    ("TERRAF~1.D::$INDEX_ALLOCATION/PLUGINS./x", "terraform.d/plugins/x"),
    // Separators.
    ("prod\\.terraform.lock.hcl", "prod/.terraform.lock.hcl"),
    ("terraform.d\\plugins\\x", "terraform.d/plugins/x"),
    ("prod\\Terraform.d/plugins\\x", "prod/terraform.d/plugins/x"),
    (".\\.tflock.hcl", ".tflock.hcl"),
    (".git\\config", ".git/config"),
];

#[test]
fn every_spelling_is_read_as_one_name() {
    for (spelling, name) in SPELLINGS {
        assert_eq!(folded(spelling), name, "{spelling:?}");
        let packages = PackageFolder::on_the_way(spelling);
        assert_eq!(packages.is_some(), PackageFolder::on_the_way(name).is_some(), "{spelling:?}");
        if let Some(folder) = packages {
            assert!(!folder.is_exact() && folder.name != "terraform.d", "{spelling:?}");
        } else {
            let found = ambiguous_names([spelling].into_iter(), is_read);
            assert_eq!(found, [AmbiguousName { path: spelling, read_as: name.to_owned() }]);
        }
    }
}

#[test]
fn two_spellings_of_one_name_are_ambiguous() {
    let rows = [
        ["main.tf", "Main.tf"],
        ["main.tf", "main.TF"],
        ["prod/.terraform.lock.hcl", "Prod/.terraform.lock.hcl"],
        ["caf\u{e9}/main.tf", "cafe\u{301}/main.tf"],
        ["caf\u{e9}.tf", "cafe\u{301}.tf"],
        ["\u{c5}/main.tf", "\u{212b}/main.tf"],
        ["stra\u{df}e/main.tf", "STRASSE/main.tf"],
        ["prod/a.tf", "PROD/b.tf"],
        ["\u{3c3}.tf", "\u{3c2}.tf"],
        ["x\u{200d}.tf", "x.tf"],
        // A link or a file in the place of a directory.
        ["prod/main.tf", "Prod"],
        ["a/b/c/main.tf", "a/B"],
    ];
    for pair in rows {
        let found = ambiguous_names(pair.into_iter(), is_read);
        assert_eq!(found.len(), 1, "{pair:?}: {found:?}");
        assert_eq!(ambiguous_names(pair.into_iter().rev(), is_read).len(), 1, "{pair:?}");
    }
    for lone in ["evil.tf.", "evil.tf ", "evil.tf::$DATA", "prod\\evil.tf", "x.tfvars "] {
        assert_eq!(ambiguous_names([lone].into_iter(), is_read).len(), 1, "{lone:?}");
    }
}

#[test]
fn honest_names_are_not_ambiguous() {
    let tracked = [
        ".git-blame-ignore-revs",
        ".gitattributes",
        ".github/x.yml",
        ".gitignore",
        ".gitmodules",
        ".terraform-version",
        ".terraform.lock.hcl",
        ".terraform.lock.hcl.bak",
        ".terraform.lock.hcl~",
        ".terraformrc",
        ".tflock.hcl",
        ".tflock.modules.hcl",
        ".tflock.trust.hcl",
        "Docs/a.md",
        "GIT~1.txt",
        "MAKEFILE",
        "Main.tofu",
        "Makefile",
        "Modules/a/main.tf",
        "README.md",
        "TERRAF~1.TXT",
        "Terraform.md",
        "a b/main.tf",
        "a~1.tf",
        "caf\u{e9}/main.tf",
        "cafe/main.tf",
        "docs/a.md",
        "kap\u{131}.tf",
        "kapi.tf",
        "lib~2/main.tf",
        "main.tf",
        "main.tf~",
        "makefile",
        "modules/b/main.tf",
        "notes:today.md",
        "prod/.terraform.lock.hcl",
        "prod/main.tf",
        "prod/terraform.d",
        "readme.md",
        "terraform.d.md",
        "terraform.d/README.md",
        "terraform~1.md",
        "trailing. /x.md",
        "v1.2./x",
    ];
    assert_eq!(ambiguous_names(tracked.into_iter(), is_read), []);
}

#[test]
fn folders_of_packages() {
    let rows = [
        ("a/terraform.d/plugins/x/y", Some(("a", "a/terraform.d/plugins", "terraform.d/plugins", true))),
        ("terraform.d", Some(("", "terraform.d", "terraform.d", true))),
        ("terraform.d/notes", Some(("", "terraform.d", "terraform.d", true))),
        ("a/.terraform/x/terraform.d/plugins/y", Some(("a", "a/.terraform", ".terraform", true))),
        (".terragrunt-cache", Some(("", ".terragrunt-cache", ".terragrunt-cache", true))),
        ("a\\b/Terraform.D\\plugins", Some(("a\\b", "a\\b/Terraform.D\\plugins", "terraform.d/plugins", false))),
        ("A/.TERRAFORM/x", Some(("A", "A/.TERRAFORM", ".terraform", false))),
        ("a.terraform/x", None),
        ("a/.terraform.lock.hcl", None),
    ];
    for (path, wanted) in rows {
        let found = PackageFolder::on_the_way(path).map(|it| (it.root, it.path, it.name, it.is_exact()));
        assert_eq!(found, wanted, "{path}");
    }
}
