#!/usr/bin/env node
// Starts the binary of the package for this platform, which npm installed as an optional dependency.
"use strict";
const { spawn } = require("node:child_process");
const os = require("node:os");

const name = `@averment/cli-${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "aver.exe" : "aver";

function findBinary() {
  try {
    return require.resolve(`${name}/${file}`);
  } catch {
    const known = Object.keys(require("../package.json").optionalDependencies);
    console.error(
      known.includes(name)
        ? `averment: the package ${name} is missing. Install again, with optional dependencies (without --omit=optional).`
        : `averment: there is no binary for ${process.platform} on ${process.arch}. Build it with cargo: https://github.com/averment/averment`,
    );
    process.exit(2);
  }
}

const child = spawn(findBinary(), process.argv.slice(2), { stdio: "inherit" });
// A signal for the launcher is meant for the command, which ends it in its own way.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`averment: ${error.message}`);
  process.exit(2);
});
child.on("exit", (code, signal) => {
  process.exit(code ?? 128 + (os.constants.signals[signal] ?? 0));
});
