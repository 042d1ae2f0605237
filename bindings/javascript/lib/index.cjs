// The library in Node, which reads the compiled half when it is first needed.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const core = require("./core.cjs");

core.setLoader(() => new WebAssembly.Module(fs.readFileSync(path.join(__dirname, "averment.wasm"))));
const { setLoader, ...library } = core;
module.exports = library;
