#!/usr/bin/env bash
# Puts `aver` into DIR/bin: get-aver.sh DIR. It takes the binary of the release of this version, with its checksum, and compiles only where
# the release has none for this machine. AVERMENT_VERSION names another version, or `source` to compile this one.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
to=${1:?the folder}
version=${AVERMENT_VERSION:-}
if [ -z "$version" ]; then version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' "$root/Cargo.toml"); fi

# The workflow commands of GitHub are for its logs only.
complain() { if [ -n "${GITHUB_ACTIONS:-}" ]; then echo "::error::$*"; else echo "$*" >&2; fi; }

if [ "$version" != source ]; then
  code=0
  sh "$root/install.sh" --to "$to/bin" --version "$version" || code=$?
  case "$code" in
    0) exit 0 ;;
    3) echo "compiling aver, which takes some minutes: the release of $version has no binary for this machine" >&2 ;;
    # A wrong checksum or a broken download is no reason to go on quietly.
    *) complain "aver $version was not installed: the download failed or is not what the release lists (above)"; exit 1 ;;
  esac
  if [ -n "${AVERMENT_VERSION:-}" ]; then complain "aver $version cannot be compiled from another version: leave the version out"; exit 1; fi
fi
if ! command -v cargo >/dev/null; then complain "compiling aver needs Rust: cargo is not there"; exit 1; fi
cargo install --locked --path "$root/crates/cli" --root "$to"
