# editors/vscode/pack, and the extension that it packs with the binary of this platform. What it needs of npm is not fetched here.
if [ -d "$root/editors/vscode/node_modules" ] && command -v node unzip >/dev/null; then
  platform=$(node -p 'process.platform + "-" + process.arch')
  expect 0 'averment.vsix: ' "$root/editors/vscode/pack" "$work/vsix"
  expect 0 "averment-$platform.vsix: " "$root/editors/vscode/pack" "$work/vsix" "$release"
  expect 1 'the checksum of aver-' "$root/editors/vscode/pack" "$work/vsix" "$wrong"
  unzip -q "$work/vsix/averment-$platform.vsix" -d "$work/unpacked"
  expect 0 '# pass' env AVERMENT_VSIX="$work/unpacked" AVER="$work/unpacked/extension/bin/aver" npm --prefix "$root/editors/vscode" test
else skip "node_modules in editors/vscode" "the extension is"; fi
