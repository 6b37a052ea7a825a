#!/usr/bin/env bash
# Lays out what the container image holds, for each architecture: the program, licences, and a directory for temporary files.
# The cache lies next to them, since it belongs to another user: one that others may write is not used.
#
# usage: image-root.sh FILES OUT, where FILES holds the archives of a release
set -euo pipefail

files=$1 out=$2
rm -rf "$out"
mkdir -p "$out/cache"
for pair in amd64=x86_64 arm64=aarch64; do
  archive=$(echo "$files"/tflock-*-"${pair#*=}"-unknown-linux-musl.tar.gz)
  # An image may be made for one architecture alone.
  [ -e "$archive" ] || continue
  root=$out/${pair%=*}
  mkdir -p "$root/usr/bin" "$root/usr/share/doc/tflock" "$root/tmp" "$root/work"
  name=$(basename "$archive" .tar.gz)
  tar -xzf "$archive" -C "$root/usr/share/doc/tflock" --strip-components 1
  mv "$root/usr/share/doc/tflock/tflock" "$root/usr/bin/tflock"
  rm -rf "$root/usr/share/doc/tflock/man" "$root/usr/share/doc/tflock/completions"
  chmod 1777 "$root/tmp"
  printf '%s\n' "$name" >"$root/usr/share/doc/tflock/RELEASE"
done
