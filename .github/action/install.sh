#!/usr/bin/env bash
# Installs a released tflock: an archive whose checksum was pinned, or whose origin is attested. Nothing else is run.
set -euo pipefail

fail() {
  printf '::error title=tflock::%s\n' "$*"
  exit 2
}

version=${VERSION#v}
if [ -z "$version" ]; then
  version=${ACTION_REF#v}
fi
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] ||
  fail 'which release is wanted? Use this action by the tag of a release, or set its input `version`, such as 1.2.3'

case $RUNNER_OS-$RUNNER_ARCH in
  Linux-X64) target=x86_64-unknown-linux-musl ;;
  Linux-ARM64) target=aarch64-unknown-linux-musl ;;
  macOS-X64) target=x86_64-apple-darwin ;;
  macOS-ARM64) target=aarch64-apple-darwin ;;
  Windows-X64) target=x86_64-pc-windows-msvc ;;
  Windows-ARM64) target=aarch64-pc-windows-msvc ;;
  *) fail "there is no release for $RUNNER_OS on $RUNNER_ARCH" ;;
esac

# A path of its own for each release: on machines that are kept, an older one must not be found.
folder=$RUNNER_TEMP/tflock-$version
mkdir -p "$folder"
# GNU tar takes `D:\…` for a host, so it gets no path.
cd "$folder"
name=tflock-$version-$target
archive=$name.tar.gz
# Used as `uses: ./`, the action belongs to the repository itself.
repository=${ACTION_REPOSITORY:-$GITHUB_REPOSITORY}
url=$GITHUB_SERVER_URL/$repository/releases/download/v$version/$archive
curl --fail --silent --show-error --location --proto '=https' --retry 3 --output "$archive" "$url" ||
  fail "cannot fetch $url"

if [ -n "$CHECKSUMS" ]; then
  wanted=$(awk -v name="$archive" '$2 == name || $2 == "*" name { print $1 }' <<<"$CHECKSUMS")
  [[ $wanted =~ ^[0-9a-f]{64}$ ]] || fail "the input \`checksums\` needs one line for $archive, as SHA256SUMS of the release has it"
  if command -v sha256sum >/dev/null; then
    found=$(sha256sum <"$archive")
  else
    found=$(shasum -a 256 <"$archive")
  fi
  [ "${found%% *}" = "$wanted" ] || fail "$archive is not what was pinned: ${found%% *} instead of $wanted"
else
  command -v gh >/dev/null || fail 'gh is not installed, which checks who built a release; set the input `checksums` instead'
  gh attestation verify "$archive" --repo "$repository" --signer-workflow "$repository/.github/workflows/release.yml" \
    --source-ref "refs/tags/v$version" --deny-self-hosted-runners ||
    fail "nothing attests that the release workflow of $repository built $archive"
fi

tar -xzf "$archive"
printf '%s\n' "$folder/$name" >>"$GITHUB_PATH"
"./$name/tflock" --version
