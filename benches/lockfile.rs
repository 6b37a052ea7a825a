//! Reading and writing a lock file of 200 providers with 60 hashes each, about 880 KB.

use divan::Bencher;
use divan::counter::BytesCount;
use tflock_core::addr::ProviderAddr;
use tflock_core::dialect::Dialect;
use tflock_core::hash::{PackageHash, Sha256Digest};
use tflock_core::lockfile::{LockEntry, LockFile, decode};
use tflock_core::version::{Constraints, Version};

fn main() {
    divan::main();
}

fn large() -> LockFile {
    let mut lock = LockFile::new();
    for provider in 0..200_u64 {
        let text = format!("registry.terraform.io/acme/provider-{provider}");
        let Ok(addr) = ProviderAddr::parse(&text, Dialect::Terraform) else { continue };
        let digest = |hash: u64| Sha256Digest::of(&(provider * 1000 + hash).to_le_bytes());
        let hash = |at: u64| if at < 12 { PackageHash::h1(digest(at)) } else { PackageHash::zh(digest(at)) };
        let version = Version::new(provider, 2, 3);
        let constraints = Constraints::compatible_with(&version);
        lock.insert(addr, LockEntry { version, constraints, hashes: (0..60).map(hash).collect() });
    }
    lock
}

#[divan::bench]
fn decode_canonical(bencher: Bencher<'_, '_>) {
    let text = large().encode(Dialect::Terraform);
    bencher.counter(BytesCount::of_str(&text)).bench(|| decode(text.as_bytes(), Dialect::Terraform).is_ok());
}

#[divan::bench]
fn decode_other(bencher: Bencher<'_, '_>) {
    let text = large().encode(Dialect::Terraform).replace('\n', "\r\n");
    bencher.counter(BytesCount::of_str(&text)).bench(|| decode(text.as_bytes(), Dialect::Terraform).is_ok());
}

#[divan::bench]
fn encode(bencher: Bencher<'_, '_>) {
    let lock = large();
    bencher.bench(|| lock.encode(Dialect::Terraform));
}
