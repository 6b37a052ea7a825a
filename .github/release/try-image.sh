#!/usr/bin/env bash
# Runs a program from what the container image would hold, with nothing else in sight: no shell, no libraries, another user.
# Lays the files out as a release does, puts the example where users mount their working tree, and changes the root directory, for
# which it has to be root itself.
#
# usage: try-image.sh PROGRAM, built for Linux on this machine's architecture without shared libraries
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
bash .github/release/image-root.sh "$work/files" "$work/image"
root=$(echo "$work"/image/*64)
cp -R "$work/image/cache" "$root/cache"
cp -R testdata/example/. "$root/work"
rm -f "$root/work/.terraform.lock.hcl"
chmod 0755 "$work" "$work/image" "$root"
chown -R 65532:65532 "$root/work" "$root/cache"

# As .github/Containerfile has it.
chroot=$(command -v chroot)
tflock() { env -i TFLOCK_CACHE_DIR=/cache "$chroot" --userspec=65532:65532 "$root" /usr/bin/tflock -C /work "$@"; }

tflock version
tflock lock --offline --fs-mirror /work/mirror --platform linux_amd64 --platform darwin_arm64
cmp "$root/work/.terraform.lock.hcl" testdata/example/expected.lock.hcl
tflock fmt --check
tflock list
tflock verify --offline
echo "$(basename "$program") works without anything beside it: $(stat -c %s "$program") bytes"
