#!/usr/bin/env bash
# Lays out one archive for each target: program, man pages, completions, licences. From these archives come wheels for Python and
# packages for Linux. Then SHA256SUMS over all of them.
#
# usage: package.sh BUILT LICENCES OUT
#   BUILT     holds built-TARGET/tflock[.exe] and built-TARGET/tflock-TARGET.cdx.json
#   LICENCES  the licence texts of dependencies
#   OUT       is made afresh
set -euo pipefail

built=$1 licences=$2 out=$3
# Man pages and completions are the same everywhere; the program of the machine at hand writes them.
program=$built/built-$(uname -m)-unknown-linux-musl/tflock
chmod +x "$program"
version=$("$program" --version | cut -d ' ' -f 2)
# One time for all files, so the same inputs give the same archive.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}

rm -rf "$out"
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work/man"
"$program" man >"$work/man/tflock.1"
for command in $(sed -n 's/^tflock\\-\(.*\)(1)$/\1/p' "$work/man/tflock.1"); do
  "$program" man "$command" >"$work/man/tflock-$command.1"
done

for folder in "$built"/built-*; do
  target=${folder##*/built-}
  name=tflock-$version-$target
  mkdir -p "$work/$name/completions"
  cp "$folder"/tflock "$work/$name/" 2>/dev/null || cp "$folder"/tflock.exe "$work/$name/"
  chmod 0755 "$work/$name"/tflock*
  cp -R "$work/man" "$work/$name/"
  cp completions/* "$work/$name/completions/"
  cp README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE docs/licences.md "$work/$name/"
  cp "$licences" "$work/$name/THIRD-PARTY-LICENCES.txt"
  tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --mode=u=rwX,go=rX --owner=0 --group=0 --numeric-owner --format=ustar -C "$work" -cf - "$name" |
    gzip -9 --no-name >"$out/$name.tar.gz"
  cp "$folder/tflock-$target.cdx.json" "$out/$name.cdx.json"
done
export SOURCE_DATE_EPOCH
python3 .github/release/wheels.py "$out"
bash .github/release/linux-packages.sh "$out"
cd "$out"
sha256sum -- * >SHA256SUMS
