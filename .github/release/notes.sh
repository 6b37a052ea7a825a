#!/usr/bin/env bash
# Prints the notes of a release: the section of its version in CHANGELOG.md, with links that lead to the files of that version.
#
# usage: notes.sh OWNER/REPOSITORY VERSION
set -euo pipefail

repository=$1 version=$2
section=$(awk -v head="## [$version]" '/^## / { printing = index($0, head) == 1; next } printing' CHANGELOG.md)
[ -n "$section" ] || { echo "CHANGELOG.md has no section for $version" >&2; exit 1; }
printf '%s\n' "$section" | sed "s#](docs/#](https://github.com/$repository/blob/v$version/docs/#g"
