# bindings/javascript/pack, and what it packs, installed into an empty folder. npm stays offline: the packages are not asked for elsewhere.
if command -v npm >/dev/null; then
  npm_packages="$work/npm"
  expect 0 averment- "$root/bindings/javascript/pack" "$release" "$npm_packages"
  expect 1 'the checksum of aver-' "$root/bindings/javascript/pack" "$wrong" "$work/npm-wrong"
  platform=$(node -p 'process.platform + "-" + process.arch')
  mkdir "$work/project"
  cd "$work/project"
  echo '{"private": true}' >package.json
  install_packages() { npm install --offline --no-audit --no-fund --silent "$@"; }

  expect 0 '' install_packages "$npm_packages/averment-$version.tgz"
  expect 2 "the package @averment/cli-$platform is missing" npx --offline aver --version
  expect 0 '' install_packages "$npm_packages/averment-cli-$platform-$version.tgz" "$npm_packages/averment-$version.tgz"
  expect 0 "aver $version" npx --offline aver --version
  cp -r "$root/examples/refund-agent" .
  expect 0 'passed: 10 passed, 1 vacuous' node_modules/.bin/aver check refund-agent/refunds.assert refund-agent/runs/approved.json
  expect 1 'error[approval.1]' node_modules/.bin/aver check refund-agent/refunds.assert refund-agent/runs/wrong-order-approved.json
  expect 2 'unexpected argument' node_modules/.bin/aver check --nonsense
  expect 0 '"pass"' sh -c "node_modules/.bin/aver check --format json refund-agent/refunds.assert - <refund-agent/runs/approved.json"

  # A platform that has no binary is said, and a signal ends the command as it ends a command.
  printf 'Object.defineProperty(process, "arch", { value: "s390x" });\n' >"$work/arch.js"
  expect 2 'no binary for' node -r "$work/arch.js" node_modules/.bin/aver --version
  printf '#!/bin/sh\nkill -TERM $$\n' >"node_modules/@averment/cli-$platform/aver"
  expect 143 '' node_modules/.bin/aver --version
  cd "$root"
else skip npm "the npm packages are"; fi
