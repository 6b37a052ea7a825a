#!/usr/bin/env bash
# Installs the wheel and the .deb that a release would make of a program, each where nothing else is, and runs them on the example:
# pip in a fresh environment and without an index, dpkg in a directory of its own, with manual page and completions.
#
# usage: try-packages.sh PROGRAM, built for Linux on this machine's architecture
set -euo pipefail
cd "$(dirname "$0")/../.."

program=$1
target=$(uname -m)-unknown-linux-musl
# The time of the files does not matter here.
export SOURCE_DATE_EPOCH=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir -p "$work/built/built-$target"
cp "$program" "$work/built/built-$target/tflock"
echo '{}' >"$work/built/built-$target/tflock-$target.cdx.json"
echo 'not for release' >"$work/licences.txt"
bash .github/release/package.sh "$work/built" "$work/licences.txt" "$work/files"

try() {
  "$1" --version
  cp -R testdata/example "$work/example"
  rm -f "$work/example/.terraform.lock.hcl"
  env TFLOCK_CACHE_DIR="$work/cache" "$1" -C "$work/example" lock --fs-mirror "$work/example/mirror" --platform linux_amd64 --platform darwin_arm64
  cmp "$work/example/.terraform.lock.hcl" testdata/example/expected.lock.hcl
  rm -rf "$work/example"
}

python3 -m venv "$work/venv"
began=$EPOCHREALTIME
"$work/venv/bin/pip" install --quiet --disable-pip-version-check --no-index "$work"/files/*.whl
try "$work/venv/bin/tflock"
echo "wheel: $(stat -c %s "$work"/files/*.whl) bytes, $(awk "BEGIN { print $EPOCHREALTIME - $began }") s from a fresh environment to the lock file"

if command -v dpkg-deb >/dev/null; then
  root=$work/deb
  mkdir -p "$root/var/lib/dpkg"
  touch "$root/var/lib/dpkg/status"
  PATH=$PATH:/usr/sbin:/sbin dpkg --root="$root" --force-not-root --log=/dev/null --install "$work"/files/*.deb
  try "$root/usr/bin/tflock"
  zcat "$root/usr/share/man/man1/tflock.1.gz" | grep -q '^.TH tflock 1'
  # Completion of bash, as it is loaded when the name is completed first.
  PATH=$root/usr/bin:$PATH bash -euc 'source "$1"; complete -p tflock' bash "$root/usr/share/bash-completion/completions/tflock"
  echo ".deb: $(stat -c %s "$work"/files/*.deb) bytes"
fi
