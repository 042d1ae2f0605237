# tools/dist: the archives, their checksums, the formula.
release="$work/release" host=$(rustc -vV | sed -n 's/^host: //p')
for target in x86_64-unknown-linux-gnu x86_64-unknown-linux-musl aarch64-unknown-linux-gnu aarch64-unknown-linux-musl; do
  expect 0 "aver-$target.tar.gz" "$root/tools/dist" --binary "$work/aver" --target "$target" --out "$release"
done
[ ! -e "$release/averment.rb" ] || fail "a formula without archives of macOS"
for target in x86_64-apple-darwin aarch64-apple-darwin; do
  expect 0 "aver-$target.tar.gz" "$root/tools/dist" --binary "$work/aver" --target "$target" --out "$release"
done
if command -v zip >/dev/null; then
  expect 0 .zip "$root/tools/dist" --binary "$work/aver" --target x86_64-pc-windows-msvc --out "$release"
else skip zip "the archive of Windows is"; fi
(cd "$release" && sha256sum --quiet -c SHA256SUMS) || fail "SHA256SUMS does not match the archives"

listed=$(tar -tzf "$release/aver-x86_64-unknown-linux-gnu.tar.gz")
for file in aver README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE man/aver.1 man/aver-check.1 completions/{_aver,aver.bash,aver.fish,aver.ps1,aver.elv}; do
  grep -qxF "aver-x86_64-unknown-linux-gnu/$file" <<<"$listed" || fail "$file is not in the archive"
done
before=$(cat "$release/SHA256SUMS")
sleep 1
expect 0 "$before" "$root/tools/dist" --binary "$work/aver" --target x86_64-unknown-linux-gnu --out "$release"
if grep -q '@' "$release/averment.rb"; then fail "a place of the formula was not filled"; fi
grep -q "$(awk '/aarch64-apple-darwin/ { print $1 }' "$release/SHA256SUMS")" "$release/averment.rb" || fail "the formula has another checksum"
if command -v ruby >/dev/null; then expect 0 'Syntax OK' ruby -c "$release/averment.rb"; else skip ruby "the Homebrew formula is"; fi

if command -v python3 >/dev/null; then
  expect 0 "$before" "$root/tools/dist" --sums-only --out "$release"
  case "$output" in
    *'no SBOM'*) skip "Python 3.11 with the sources of all dependencies" "the SBOM is" ;;
    *) expect 0 "averment-cli $version serde" python3 -c 'import json, sys
bom = json.load(open(sys.argv[1]))
root = bom["metadata"]["component"]
print(root["name"], root["version"], *[one["name"] for one in bom["components"] if one["name"] == "serde"])' "$release/averment.cdx.json" ;;
  esac
else skip python3 "the SBOM is"; fi

printf '#!/bin/sh\necho aver 9.9.9\n' >"$work/other"
chmod +x "$work/other"
expect 2 'is aver 9.9.9, not aver' "$root/tools/dist" --binary "$work/other" --out "$work/none"
expect 2 'no target of a release' "$root/tools/dist" --binary "$work/aver" --target sparc-sun-solaris --out "$work/none"
expect 2 'no archives' "$root/tools/dist" --sums-only --out "$work/none"
