#!/bin/sh
# Indexes examples/notes and asks it three things. Offline: the built-in model, a store of its own below target/,
# none of your settings and keys. Run by `make demo`.
set -eu
cd "$(dirname "$0")/.."
here=$(pwd)
state="$here/target/demo"
rm -rf "$state"
mkdir -p "$state"

memgrep() {
  printf '\n$ memgrep'
  for word in "$@"; do
    case $word in *' '*) printf ' "%s"' "$word" ;; *) printf ' %s' "$word" ;; esac
  done
  printf '\n'
  env -i PATH="$PATH" HOME="$state" LANG=C.UTF-8 TZ=Europe/Berlin MEMGREP_WORKSPACE="$here/examples/notes" \
    MEMGREP_PROVIDER=static OPENCLAW_STATE_DIR="$state" "$here/.venv/bin/memgrep" "$@"
}

memgrep index
echo
echo "# By word: a ticket, and a compound inside a German sentence"
memgrep search OPS-4412 --max-results 2
memgrep search Kündigungsfrist --max-results 1
echo
echo "# By meaning: no word of the question has to stand in the note"
memgrep search "voyage au Japon" --max-results 1
echo
memgrep status
