// Puts what the extension shares with the rest of the project beside it, or into the folder that is named: the grammar and the licence, each from its one
// source.
"use strict";

const fs = require("node:fs");
const path = require("node:path");

const own = process.argv[2] ?? path.join(__dirname, "..");
const project = path.join(__dirname, "..", "..", "..");
fs.mkdirSync(path.join(own, "syntaxes"), { recursive: true });
for (const [from, to] of [
  ["crates/syntax/grammar/assert.tmLanguage.json", "syntaxes/assert.tmLanguage.json"],
  ["LICENSE-MIT", "LICENSE.txt"],
]) {
  fs.copyFileSync(path.join(project, from), path.join(own, to));
}
