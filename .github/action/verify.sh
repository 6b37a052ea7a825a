#!/usr/bin/env bash
# Runs the gate: annotations on standard output, a step summary, files in SARIF and Markdown. Ends as `tflock verify` does.
set -euo pipefail

base=$BASE
if [ -z "$base" ] && [ -n "${GITHUB_BASE_REF:-}" ]; then
  # In full, so no tag or branch of the same name is meant.
  base=refs/remotes/origin/$GITHUB_BASE_REF
fi

folder=$(mktemp -d "$RUNNER_TEMP/tflock-reports-XXXXXX")
verify=(verify --recursive --format github --report "sarif=$folder/tflock.sarif" --report "markdown=$folder/verify.md"
  --inconclusive "$INCONCLUSIVE")
changes=(diff --recursive --exit-code --format markdown)
if [ -n "$base" ]; then
  verify+=(--base "$base")
fi
if [ "$ALLOW_TRUST_CHANGE" = true ]; then
  verify+=(--allow-trust-change)
fi
if [ "$OFFLINE" = true ]; then
  verify+=(--offline)
else
  changes+=(--online)
fi

: >"$folder/verify.md"
: >"$folder/diff.md"
code=0
tflock "${verify[@]}" || code=$?

# The explanation is for reviewers; the gate has decided above.
changed=false
if [ -n "$base" ]; then
  difference=0
  tflock "${changes[@]}" "$base" >"$folder/diff.md" || difference=$?
  case $difference in
    1 | 3 | 4) changed=true ;;
    *) : >"$folder/diff.md" ;;
  esac
  cat "$folder/diff.md" >>"$GITHUB_STEP_SUMMARY"
fi

# A comment may have 65,536 characters. The explanation is in the step summary as well.
if [ "$(cat "$folder/diff.md" "$folder/verify.md" | wc -c)" -lt 65000 ]; then
  cat "$folder/diff.md" "$folder/verify.md" >"$folder/tflock.md"
else
  cp "$folder/verify.md" "$folder/tflock.md"
fi

{
  printf 'exit-code=%s\n' "$code"
  printf 'changed=%s\n' "$changed"
  printf 'sarif=%s\n' "$folder/tflock.sarif"
  printf 'markdown=%s\n' "$folder/tflock.md"
} >>"$GITHUB_OUTPUT"
exit "$code"
