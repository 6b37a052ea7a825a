//! How fast configuration is read: the scanner alone, one big file, and a tree of many files from disk.
#![expect(clippy::disallowed_methods, reason = "the files to read are written here")]

use std::fmt::Write as _;
use std::path::PathBuf;

use divan::Bencher;
use divan::counter::BytesCount;
use tflock::internals::{TreeOptions, load_tree};
use tflock_core::config::{Module, SourceFile};
use tflock_core::dialect::Dialect;
use tflock_core::hcl::scan;

fn main() {
    divan::main();
}

/// Ordinary resources, about 780 bytes each.
fn resources(range: std::ops::Range<usize>) -> String {
    let mut text = String::new();
    for at in range {
        let _ = write!(
            text,
            r#"# Instance number {at}, with everything that belongs to it.
resource "aws_instance" "node_{at}" {{
  count                  = var.enabled ? length(var.zones) : 0
  ami                    = data.aws_ami.base.id
  instance_type          = "m5.${{lookup(var.sizes, "node_{at}", "large")}}"
  subnet_id              = element(var.subnets, count.index)
  vpc_security_group_ids = [aws_security_group.node.id, aws_security_group.common[0].id]

  user_data = <<-EOT
    #!/bin/sh
    echo "node {at} in ${{var.zones[count.index]}}" > /etc/motd
    exec /usr/bin/agent --config /etc/agent.json
  EOT

  root_block_device {{
    volume_size = 100 + {at} * 2
    encrypted   = true
  }}

  tags = merge(var.tags, {{
    Name = "node-${{count.index}}"
    Role = "worker" // one of many
  }})
}}

"#
        );
    }
    text
}

const REQUIRED: &str = "terraform {\n  required_providers {\n    aws = {\n      source  = \"hashicorp/aws\"\n      version = \"~> 5.0\"\n    }\n  }\n}\n";

fn big_file() -> SourceFile {
    SourceFile { path: PathBuf::from("main.tf"), text: format!("{REQUIRED}{}", resources(0..3000)) }
}

#[divan::bench]
fn outline_of_a_big_file(bencher: Bencher) {
    let file = big_file();
    bencher
        .counter(BytesCount::of_str(&file.text))
        .bench(|| scan::outline(&file.text, 0..file.text.len()).map(|outline| outline.blocks.len()));
}

#[divan::bench]
fn module_of_a_big_file(bencher: Bencher) {
    let file = big_file();
    bencher.counter(BytesCount::of_str(&file.text)).bench(|| {
        Module::decode(std::slice::from_ref(&file), &[], Dialect::Terraform).map(|module| module.resources.len())
    });
}

#[divan::bench]
fn tree_of_200_files(bencher: Bencher) {
    let dir = tempfile::tempdir().expect("a temporary directory can be made");
    let write = |name: String, text: String| std::fs::write(dir.path().join(name), text).expect("files can be written");
    write("versions.tf".to_owned(), REQUIRED.to_owned());
    for at in 0..199 {
        write(format!("part_{at}.tf"), resources(at * 15..at * 15 + 15));
    }
    let options = TreeOptions::new(Dialect::Terraform);
    bencher.bench(|| load_tree(dir.path(), &options).map(|tree| tree.requirements.len()));
}
