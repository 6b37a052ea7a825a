#!/usr/bin/env bash
# Keeps one comment on the pull request up to date. Whether it can be written decides nothing.
set -euo pipefail
# gh looks for a repository where it is started; this one is untrusted.
cd "$RUNNER_TEMP"

# jq reads it from the environment, so no directory's name becomes a part of the filter.
export MARKER="<!-- tflock: $DIRECTORY -->"

give_up() {
  printf '::notice title=tflock::no comment: %s\n' "$*"
  exit 0
}

command -v gh >/dev/null || give_up 'gh is not installed'
comments=repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/comments
# Any user can write a comment that begins like ours; only comments of bots count.
mine='.[] | select(.user.type == "Bot" and (.body | startswith(env.MARKER))) | .id'
found=$(gh api --paginate "$comments?per_page=100" --jq "$mine") || give_up 'the token may not read the pull request'
earlier=$(tail -n 1 <<<"$found")

# Nothing to say, and nothing said before that would be out of date now.
if [ -z "$earlier" ] && [ "$EXIT_CODE" = 0 ] && [ "$CHANGED" = false ]; then
  exit 0
fi

body=$(dirname "$MARKDOWN")/comment.md
{
  printf '%s\n' "$MARKER"
  if [ -s "$MARKDOWN" ]; then
    cat "$MARKDOWN"
  else
    printf '### Could not be checked\n\nThe log of the job has the reason.\n'
  fi
} >"$body"

if [ -n "$earlier" ]; then
  gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$earlier" --field "body=@$body" ||
    give_up 'the token may not write on the pull request'
else
  gh api --silent --method POST "$comments" --field "body=@$body" || give_up 'the token may not write on the pull request'
fi
