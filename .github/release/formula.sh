#!/usr/bin/env bash
# Writes the Homebrew formula of a release.
#
# usage: formula.sh OWNER/REPOSITORY FILES, where FILES holds the archives and SHA256SUMS
set -euo pipefail

repository=$1 files=$2
sum() { awk -v name="$1" '$2 == name { print $1 }' "$files/SHA256SUMS"; }
version=$(sed -n 's/.*  tflock-\(.*\)-x86_64-apple-darwin\.tar\.gz$/\1/p' "$files/SHA256SUMS")

platform() {
  local archive=tflock-$version-$1.tar.gz digest
  digest=$(sum "$archive")
  [ -n "$digest" ] || { echo "SHA256SUMS has no $archive" >&2; exit 1; }
  printf '      url "https://github.com/%s/releases/download/v%s/%s"\n      sha256 "%s"\n' "$repository" "$version" "$archive" "$digest"
}

cat <<FORMULA
class Tflock < Formula
  desc "Completes, explains and verifies the dependency lock files of OpenTofu and Terraform"
  homepage "https://github.com/$repository"
  version "$version"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
$(platform aarch64-apple-darwin)
    end
    on_intel do
$(platform x86_64-apple-darwin)
    end
  end
  on_linux do
    on_arm do
$(platform aarch64-unknown-linux-musl)
    end
    on_intel do
$(platform x86_64-unknown-linux-musl)
    end
  end

  def install
    bin.install "tflock"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/tflock.bash" => "tflock"
    zsh_completion.install "completions/_tflock"
    fish_completion.install "completions/tflock.fish"
    doc.install "licences.md", "THIRD-PARTY-LICENCES.txt"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/tflock --version")
  end
end
FORMULA
