# What the action and the hooks use: a prebuilt binary with its checksum, and a compiler only where there is none.
fake cargo 'echo "cargo $*"; while [ "$1" != --root ]; do shift; done; mkdir -p "$2/bin"; printf "#!/bin/sh\necho compiled \"\$@\"\n" >"$2/bin/aver"; chmod +x "$2/bin/aver"'
get() { local url=$1; shift; env AVERMENT_BASE_URL="$url" PATH="$work/fakes:$PATH" GITHUB_ACTIONS=true bash "$root/integrations/get-aver.sh" "$@"; }

expect 0 "installed aver $version" get "file://$release" "$work/got"
[[ $output != *cargo* ]] || fail "compiled although there is a binary"
expect 0 "aver $version" "$work/got/bin/aver" --version
expect 1 '::error::' get "file://$wrong" "$work/refused"
[[ $output == *checksum* && $output != *cargo* ]] || fail "a wrong checksum is no reason to compile: $output"
expect 1 '::error::' get "http://127.0.0.1:9" "$work/refused"
[[ $output != *"cargo install"* ]] || fail "no network is no reason to compile: $output"
[ ! -e "$work/refused/bin/aver" ] || fail "something was installed"
expect 0 "cargo install --locked --path" get "file://$work/nowhere" "$work/compiled"
expect 0 "cargo install --locked --path" env AVERMENT_VERSION=source PATH="$work/fakes:$PATH" bash "$root/integrations/get-aver.sh" "$work/compiled"
AVERMENT_VERSION=9.9.9 expect 1 'cannot be compiled from another version' get "file://$work/nowhere" "$work/refused"

# A hook takes the command on the path if it has the version of the hooks, otherwise the cache, which it fills once.
fake aver "[ \$1 = --version ] && echo aver $version || echo path \"\$@\""
hook() { local url=$1; shift; env AVERMENT_BASE_URL="$url" PATH="$work/fakes:$PATH" bash "$root/integrations/pre-commit.sh" "$@"; }
expect 0 'path lint a.assert' hook "http://127.0.0.1:9" lint a.assert
fake aver 'echo aver 0.0.1'
expect 1 'could not be downloaded' hook "http://127.0.0.1:9" lint a.assert
expect 1 'checksum' hook "file://$wrong" lint a.assert
printf 'never refund\n' >"$work/a.assert"
expect 0 '' hook "file://$release" lint "$work/a.assert"
[ -z "$output" ] || fail "the hook prints the installation: $output"
printf 'never refund(\n' >"$work/a.assert"
expect 3 "$work/a.assert" hook "http://127.0.0.1:9" lint "$work/a.assert"
rm -rf "$XDG_CACHE_HOME"
expect 0 'compiled lint' hook "file://$work/nowhere" lint "$work/a.assert"
rm -rf "$work/fakes"
