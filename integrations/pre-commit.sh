#!/usr/bin/env bash
# What the hooks of pre-commit run: `aver` of the version that the hooks were taken from. The one on the path is used if it has this version;
# otherwise it is installed once, into the cache of the user.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' "$root/Cargo.toml")
if [ "$(aver --version 2>/dev/null || true)" = "aver $version" ]; then exec aver "$@"; fi
folder=${XDG_CACHE_HOME:-$HOME/.cache}/averment/$version
if [ ! -x "$folder/bin/aver" ] && [ ! -x "$folder/bin/aver.exe" ]; then
  # What the installation prints is shown only if it failed: the output of a hook is for what it found.
  if ! output=$(bash "$root/integrations/get-aver.sh" "$folder" 2>&1); then printf '%s\n' "$output" >&2; exit 1; fi
fi
exec "$folder/bin/aver" "$@"
