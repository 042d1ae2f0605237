# install.sh against a folder of a release, in every shell that is there.
wrong="$work/wrong"
cp -r "$release" "$wrong"
for archive in "$wrong"/aver-*; do printf x >>"$archive"; done
installer() { local url=$1; shift; env AVERMENT_BASE_URL="$url" PATH="$work/fakes:$PATH" "$shell" "$root/install.sh" "$@"; }

mkdir -p "$work/fakes"
for shell in sh bash dash "busybox sh"; do
  command -v "${shell%% *}" >/dev/null || { skip "$shell" "install.sh in it is"; continue; }
  [ "$shell" != "busybox sh" ] || { printf '#!/bin/sh\nexec busybox sh "$@"\n' >"$work/ash"; chmod +x "$work/ash"; shell=$work/ash; }
  rm -rf "$work/fakes" "$HOME/.local"
  expect 0 "installed aver $version" installer "file://$release"
  expect 0 "aver $version" "$HOME/.local/bin/aver" --version
  expect 0 "installed aver $version" installer "file://$release/" --to "$work/a folder" --version "v$version"
  [ "$(ls -A "$work/a folder")" = aver ] || fail "more than aver was installed"

  # Nothing is installed, and an older one stays, if anything is wrong.
  printf old >"$work/a folder/aver"
  expect 1 'nothing was installed' installer "file://$wrong" --to "$work/a folder"
  [[ $output == *"the checksum of aver-"* ]] || fail "the checksum is not named: $output"
  expect 1 'holds aver' installer "file://$release" --to "$work/a folder" --version 9.9.9
  expect 1 'no answer; check the network' installer "http://127.0.0.1:9" --to "$work/a folder"
  expect 3 'there is no SHA256SUMS' installer "file://$work/nowhere" --to "$work/a folder"
  [ "$(cat "$work/a folder/aver")" = old ] && [ "$(ls -A "$work/a folder")" = aver ] || fail "the folder was changed"
  mkdir -p "$work/unlisted"
  echo "0000  aver-other.tar.gz" >"$work/unlisted/SHA256SUMS"
  expect 3 'has no aver-' installer "file://$work/unlisted" --to "$work/a folder"

  expect 2 'is no version' installer "file://$release" --version '../../x'
  expect 2 'takes a value' installer "file://$release" --to
  expect 2 'unknown argument' installer "file://$release" --there
  expect 2 'HOME is not set' env HOME= AVERMENT_BASE_URL="file://$release" "$shell" "$root/install.sh"

  # Which archive each machine gets: the binary of the test runs on all of them.
  while read -r system machine glibc target; do
    fake uname "case \$1 in -s) echo $system ;; -m) echo $machine ;; esac"
    fake getconf "[ $glibc = none ] && exit 1; echo glibc $glibc"
    if [ "$target" = none ]; then expect 3 "there is no binary for $system on $machine" installer "file://$release" --to "$work/each"; continue; fi
    echo "0000  aver-$target" >"$work/unlisted/SHA256SUMS"
    expect 3 "there is no aver-$target" installer "file://$work/unlisted" --to "$work/each"
  done <<'TABLE'
Linux x86_64 2.36 x86_64-unknown-linux-gnu.tar.gz
Linux x86_64 2.35 x86_64-unknown-linux-gnu.tar.gz
Linux x86_64 2.17 x86_64-unknown-linux-musl.tar.gz
Linux aarch64 none aarch64-unknown-linux-musl.tar.gz
Linux arm64 2.41 aarch64-unknown-linux-gnu.tar.gz
Darwin arm64 none aarch64-apple-darwin.tar.gz
Darwin x86_64 none x86_64-apple-darwin.tar.gz
MINGW64_NT-10.0 x86_64 none x86_64-pc-windows-msvc.zip
Linux riscv64 2.36 none
FreeBSD amd64 none none
TABLE
  # Each line of the script but the last defines or sets something: of a download that broke off, nothing is run.
  rm -rf "$work/fakes" "$work/part"
  sed '$d' "$root/install.sh" >"$work/part.sh"
  expect 0 '' env AVERMENT_BASE_URL="file://$release" "$shell" "$work/part.sh" --to "$work/part"
  [ ! -e "$work/part" ] || fail "a part of install.sh installed something"
done
