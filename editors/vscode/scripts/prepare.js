// Puts what the extension shares with the rest of the project beside it: the grammar and the licence, each from its one source.
"use strict";

const fs = require("node:fs");
const path = require("node:path");

const own = path.join(__dirname, "..");
const project = path.join(own, "..", "..");
fs.mkdirSync(path.join(own, "syntaxes"), { recursive: true });
for (const [from, to] of [
  ["grammar/assert.tmLanguage.json", "syntaxes/assert.tmLanguage.json"],
  ["LICENSE-MIT", "LICENSE.txt"],
]) {
  fs.copyFileSync(path.join(project, from), path.join(own, to));
}
