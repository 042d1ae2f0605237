#!/bin/sh
# Installs `aver` from a release: install.sh [--to DIR] [--version VERSION]
#
# It downloads the archive for this machine, compares its SHA-256 checksum with the list of the release, and installs only on a match.
# AVERMENT_BASE_URL names another folder of one release (https://…, file://…), such as a mirror.
# Exit codes: 0 installed, 1 failed, 2 wrong usage, 3 the release has no binary for this machine, or there is no such release.
set -eu

releases=https://github.com/averment/averment/releases
# Binaries for glibc are built on a system with this version.
oldest_glibc=35

say() { printf '%s\n' "install.sh: $*" >&2; }
fail() { say "$2"; exit "$1"; }

# The target triple of this machine.
find_target() {
  system=$(uname -s) machine=$(uname -m)
  case "$machine" in
    x86_64 | amd64) cpu=x86_64 ;;
    aarch64 | arm64) cpu=aarch64 ;;
    *) fail 3 "there is no binary for $system on $machine" ;;
  esac
  case "$system-$cpu" in
    Linux-*) libc=$(find_libc); echo "$cpu-unknown-linux-$libc" ;;
    Darwin-*) echo "$cpu-apple-darwin" ;;
    MINGW*-x86_64 | MSYS*-x86_64 | CYGWIN*-x86_64) echo x86_64-pc-windows-msvc ;;
    *) fail 3 "there is no binary for $system on $machine" ;;
  esac
}

# The static binary runs everywhere; the other one wants a glibc that is new enough.
find_libc() {
  glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null || true)
  minor=${glibc#glibc 2.}
  case "$minor" in '' | *[!0-9]*) echo musl ;; *) if [ "$minor" -ge "$oldest_glibc" ]; then echo gnu; else echo musl; fi ;; esac
}

# Downloads $1 to $2. Returns 3 if the server answers that there is no such file.
download() {
  code=0 status=
  if command -v curl >/dev/null 2>&1; then
    # A download over TLS never continues without it, wherever it is redirected to.
    case "$1" in https:*) protocols='=https' ;; *) protocols='=https,http,file' ;; esac
    status=$(curl --silent --show-error --location --proto "$protocols" --retry 3 --connect-timeout 20 --output "$2" --write-out '%{http_code}' "$1") || code=$?
    case "$code-$status" in 0-2?? | 0-000) return 0 ;; 37-*) return 3 ;; esac
  elif command -v wget >/dev/null 2>&1; then
    answer=$(wget --server-response --output-document="$2" "$1" 2>&1) || code=$?
    if [ "$code" = 0 ]; then return 0; fi
    status=$(printf '%s\n' "$answer" | awk '{ for (i = 1; i < NF; i++) if ($i ~ /^HTTP\//) status = $(i + 1) } END { print status }')
  else
    fail 1 "curl or wget is needed"
  fi
  case "$status" in
    404 | 410) return 3 ;;
    '' | 000) say "$1: no answer; check the network and the proxy, or set AVERMENT_BASE_URL to a folder with the files of the release" ;;
    *) say "$1: the server answered $status" ;;
  esac
  return 1
}

checksum() {
  if command -v sha256sum >/dev/null 2>&1; then sha256sum "$1" | cut -d ' ' -f 1
  elif command -v shasum >/dev/null 2>&1; then shasum -a 256 "$1" | cut -d ' ' -f 1
  else fail 1 "sha256sum or shasum is needed"; fi
}

# Downloads a file of the release into the work folder, or ends.
need() {
  code=0
  download "$base/$1" "$work/$1" || code=$?
  case "$code" in
    0) ;;
    3) fail 3 "there is no $1 at $base" ;;
    *) fail 1 "$1 could not be downloaded; nothing was installed" ;;
  esac
}

main() {
  to="${HOME:-}/.local/bin" version=latest
  while [ $# -gt 0 ]; do
    case "$1" in
      --to | --version) [ $# -ge 2 ] || fail 2 "$1 takes a value" ;;
    esac
    case "$1" in
      --to) to=$2; shift 2 ;;
      --version) version=${2#v}; shift 2 ;;
      -h | --help) echo "usage: install.sh [--to DIR] [--version VERSION]"; exit 0 ;;
      *) fail 2 "unknown argument \`$1\`; usage: install.sh [--to DIR] [--version VERSION]" ;;
    esac
  done
  # The version becomes part of an address.
  case "$version" in '' | *[!0-9A-Za-z.+-]*) fail 2 "\`$version\` is no version" ;; esac
  case "$to" in '' | /.local/bin) fail 2 "HOME is not set: name a folder with --to" ;; esac

  target=$(find_target)
  case "$target" in *windows*) archive=aver-$target.zip name=aver.exe ;; *) archive=aver-$target.tar.gz name=aver ;; esac
  if [ -n "${AVERMENT_BASE_URL:-}" ]; then base=${AVERMENT_BASE_URL%/}
  elif [ "$version" = latest ]; then base=$releases/latest/download
  else base=$releases/download/v$version; fi

  work=$(mktemp -d)
  new=
  trap 'rm -rf "$work" ${new:+"$new"}' EXIT
  trap 'exit 1' HUP INT TERM
  need SHA256SUMS
  expected=$(awk -v file="$archive" '$2 == file { print $1; exit }' "$work/SHA256SUMS")
  [ -n "$expected" ] || fail 3 "the release at $base has no $archive"
  need "$archive"
  found=$(checksum "$work/$archive")
  [ "$found" = "$expected" ] || fail 1 "the checksum of $archive is $found, not $expected; nothing was installed"

  case "$archive" in
    *.zip) if command -v unzip >/dev/null 2>&1; then unzip -q "$work/$archive" -d "$work"; else tar -xf "$work/$archive" -C "$work"; fi ;;
    *) tar -xzf "$work/$archive" -C "$work" ;;
  esac
  unpacked=$work/aver-$target/$name
  says=$("$unpacked" --version) || fail 1 "the binary for $target does not run on this machine; nothing was installed"
  if [ "$version" != latest ] && [ "$says" != "aver $version" ]; then fail 1 "the release at $base holds $says, not aver $version; nothing was installed"; fi

  # Written beside its place and renamed: an `aver` that runs at this moment is not disturbed, and a full disk leaves the old one.
  mkdir -p "$to"
  new=$to/.aver-new-$$
  cp "$unpacked" "$new"
  chmod 755 "$new"
  mv -f "$new" "$to/$name"
  new=
  say "installed $says as $to/$name"
  case ":${PATH:-}:" in *":$to:"*) ;; *) say "$to is not on your PATH" ;; esac
}

# In a function, so that a script that arrives only in part does nothing.
main "$@"
