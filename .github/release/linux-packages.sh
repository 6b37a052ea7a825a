#!/usr/bin/env bash
# Makes the packages of Debian (.deb) and of Fedora, openSUSE and their kin (.rpm) from the archives for Linux: the static program,
# man pages, completions, licences. The tools of these systems write them, dpkg-deb and rpmbuild; without one it says so and leaves
# that kind out.
#
# usage: linux-packages.sh FILES, where FILES holds the archives of a release
set -euo pipefail
cd "$(dirname "$0")/../.."

files=$(realpath "$1")
value() { sed -n "s/^$1 = \"\(.*\)\".*/\1/p" Cargo.toml | head -n 1; }
homepage=$(value repository) licence=$(value license) summary=$(value description)
owner=$(basename "$(dirname "$homepage")")
# The same archives give the same packages: no file is newer than this.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

installed() { command -v "$1" > /dev/null || { echo "skipped: $1 is not installed" >&2; false; }; }

# The tree of files that a package installs, in $work/ROOT; completions of zsh are elsewhere on each system.
lay_out() {
  local root=$work/$1 unpacked=$2 zsh=$3
  mkdir -p "$root/usr/bin" "$root/usr/share/man/man1" "$root/usr/share/doc/tflock" "$root/usr/share/zsh/$zsh" \
    "$root/usr/share/bash-completion/completions" "$root/usr/share/fish/vendor_completions.d"
  cp "$unpacked/tflock" "$root/usr/bin/"
  cp "$unpacked"/man/*.1 "$root/usr/share/man/man1/"
  gzip -9 --no-name "$root"/usr/share/man/man1/*.1
  cp "$unpacked/completions/tflock.bash" "$root/usr/share/bash-completion/completions/tflock"
  cp "$unpacked/completions/_tflock" "$root/usr/share/zsh/$zsh/"
  cp "$unpacked/completions/tflock.fish" "$root/usr/share/fish/vendor_completions.d/"
  cp "$unpacked"/{CHANGELOG.md,LICENSE-APACHE,LICENSE-MIT,THIRD-PARTY-LICENCES.txt,licences.md} "$root/usr/share/doc/tflock/"
  chmod -R u=rwX,go=rX "$root"
}

write_deb() {
  local version=$1 unpacked=$2 root=$work/deb debian=arm64
  if [ "$arch" = x86_64 ]; then debian=amd64; fi
  rm -rf "$root"
  lay_out deb "$unpacked" vendor-completions
  # Debian has a text of the other licence.
  printf '%s\n\nMIT:\n\n%s\n\nApache-2.0: /usr/share/common-licenses/Apache-2.0\n' "$licence" "$(cat "$unpacked/LICENSE-MIT")" \
    > "$root/usr/share/doc/tflock/copyright"
  mkdir "$root/DEBIAN"
  cat > "$root/DEBIAN/control" <<CONTROL
Package: tflock
Version: $version
Architecture: $debian
Maintainer: $owner <$owner@users.noreply.github.com>
Installed-Size: $(find "$root/usr" -type f -printf '%s\n' | awk '{ sum += $1 } END { print int(sum / 1024) }')
Recommends: git
Section: utils
Priority: optional
Homepage: $homepage
Description: $summary
 It runs on its own: a static program, without other packages.
CONTROL
  dpkg-deb --root-owner-group -Zxz --build "$root" "$files/tflock_${version}_$debian.deb" > /dev/null
}

write_rpm() {
  local version=$1 unpacked=$2 root=$work/rpm
  rm -rf "$root"
  lay_out rpm "$unpacked" site-functions
  cat > "$work/tflock.spec" <<SPEC
Name: tflock
Version: $version
Release: 1
Summary: $summary
License: $licence
URL: $homepage
Recommends: git-core
AutoReqProv: no
%description
It runs on its own: a static program, without other packages.
%install
cp -a "$root/." "%{buildroot}"
%files
/usr/bin/tflock
/usr/share/man/man1/*
/usr/share/bash-completion/completions/tflock
/usr/share/zsh/site-functions/_tflock
/usr/share/fish/vendor_completions.d/tflock.fish
%doc /usr/share/doc/tflock
SPEC
  # A program that was built elsewhere stays as it is, and what is written depends on nothing of this machine.
  rpmbuild -bb --quiet --target "$arch-linux" --define "_topdir $work/rpmbuild" --define "_rpmdir $work/built" \
    --define 'debug_package %{nil}' --define '__os_install_post %{nil}' --define '_build_id_links none' \
    --define '_buildhost localhost' --define 'use_source_date_epoch_as_buildtime 1' \
    --define 'clamp_mtime_to_source_date_epoch 1' --define '_binary_payload w6.xzdio' "$work/tflock.spec" > /dev/null
  cp "$work/built/$arch"/*.rpm "$files/"
}

for arch in x86_64 aarch64; do
  archive=$(echo "$files"/tflock-*-"$arch"-unknown-linux-musl.tar.gz)
  # A test may have one architecture alone.
  [ -e "$archive" ] || continue
  tar -xzf "$archive" -C "$work"
  name=$(basename "$archive" .tar.gz)
  version=${name#tflock-} version=${version%-"$arch"-unknown-linux-musl}
  # Before a release come its candidates, which is what `~` says on both systems.
  version=${version/-/\~}
  if installed dpkg-deb; then write_deb "$version" "$work/$name"; fi
  if installed rpmbuild; then write_rpm "$version" "$work/$name"; fi
done
