#!/usr/bin/env bash
# Runs the gate: annotations on standard output, a step summary, files in SARIF and Markdown. Ends as `tflock verify` does.
set -euo pipefail

base=$BASE
if [ -z "$base" ] && [ -n "${GITHUB_BASE_REF:-}" ]; then
  # In full, so no tag or branch of the same name is meant.
  base=refs/remotes/origin/$GITHUB_BASE_REF
fi

folder=$(mktemp -d "$RUNNER_TEMP/tflock-reports-XXXXXX")
verify=(verify --recursive --format github --report "sarif=$folder/tflock.sarif" --report "markdown=$folder/tflock.md"
  --inconclusive "$INCONCLUSIVE")
if [ -n "$base" ]; then
  verify+=(--base "$base")
fi
if [ "$ALLOW_TRUST_CHANGE" = true ]; then
  verify+=(--allow-trust-change)
fi
if [ "$OFFLINE" = true ]; then
  verify+=(--offline)
fi

: >"$folder/tflock.md"
code=0
tflock "${verify[@]}" || code=$?

# The report explains what changed since the base, where anything did.
changed=false
if grep -q '^#### Changes' "$folder/tflock.md"; then
  changed=true
fi

{
  printf 'exit-code=%s\n' "$code"
  printf 'changed=%s\n' "$changed"
  printf 'sarif=%s\n' "$folder/tflock.sarif"
  printf 'markdown=%s\n' "$folder/tflock.md"
} >>"$GITHUB_OUTPUT"
exit "$code"
