// The extension without an editor: what it declares is there, and what it does is what it says.
"use strict";

const assert = require("node:assert");
const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const Module = require("node:module");
const os = require("node:os");
const path = require("node:path");
const test = require("node:test");

const own = path.join(__dirname, "..");
const manifest = JSON.parse(fs.readFileSync(path.join(own, "package.json"), "utf8"));

/** A stand-in for the editor that writes down what is asked of it. */
function editor(picked, chosen) {
  const seen = { commands: {}, updates: [], executed: [], clients: [], lines: [] };
  const configuration = {
    get: (key) => ({ "server.path": chosen, "server.arguments": ["lsp", "--stdio"], run: "", lint: true })[key],
    update: async (key, value) => seen.updates.push([key, value]),
  };
  const item = () => ({ show() {}, hide() {}, dispose() {} });
  const vscode = {
    window: {
      createOutputChannel: () => ({ appendLine: (line) => seen.lines.push(line), show() {}, dispose() {} }),
      createStatusBarItem: item,
      onDidChangeActiveTextEditor: item,
      showQuickPick: async (picks) => picks.find((pick) => pick.label === picked),
      showErrorMessage: async () => undefined,
      showInformationMessage: () => undefined,
    },
    workspace: {
      workspaceFolders: [{}],
      getConfiguration: () => configuration,
      onDidChangeConfiguration: item,
      findFiles: async () => [{ path: "runs/b.json" }, { path: "runs/a.jsonl" }],
      asRelativePath: (uri) => uri.path,
    },
    commands: {
      registerCommand: (name, run) => ((seen.commands[name] = run), item()),
      executeCommand: async (...all) => seen.executed.push(all),
    },
    ConfigurationTarget: { Workspace: 2, Global: 1 },
    StatusBarAlignment: { Left: 1 },
    ViewColumn: { Beside: -2 },
  };
  class LanguageClient {
    constructor(id, name, server, options) {
      seen.clients.push({ server, options });
    }
    async start() {}
    async stop() {}
  }
  return { seen, vscode, languageclient: { LanguageClient } };
}

async function activated(picked, { home = own, chosen = "/opt/aver" } = {}) {
  const stand = editor(picked, chosen);
  const load = Module._load;
  Module._load = (name, ...rest) =>
    name === "vscode" ? stand.vscode : name === "vscode-languageclient/node" ? stand.languageclient : load(name, ...rest);
  try {
    delete require.cache[path.join(home, "extension.js")];
    const extension = require(path.join(home, "extension.js"));
    await extension.activate({ subscriptions: [], extensionPath: home });
    return stand.seen;
  } finally {
    Module._load = load;
  }
}

function named_files({ contributes, icon, main }) {
  return [
    icon,
    main,
    ...contributes.languages.flatMap((one) => [one.configuration, one.icon.light, one.icon.dark]),
    ...contributes.grammars.map((one) => one.path),
    ...contributes.snippets.map((one) => one.path),
  ];
}

test("every file that the manifest names is there", () => {
  for (const file of named_files(manifest)) assert.ok(fs.existsSync(path.join(own, file)), file);
});

test("the grammar is that of the project", () => {
  const shared = fs.readFileSync(path.join(own, "../../crates/syntax/grammar/assert.tmLanguage.json"), "utf8");
  assert.strictEqual(fs.readFileSync(path.join(own, "syntaxes/assert.tmLanguage.json"), "utf8"), shared);
  assert.strictEqual(JSON.parse(shared).scopeName, manifest.contributes.grammars[0].scopeName);
});

test("every command is registered, and the server is the one of the settings", async () => {
  const seen = await activated();
  const declared = manifest.contributes.commands.map((one) => one.command).sort();
  assert.deepStrictEqual(Object.keys(seen.commands).sort(), declared);
  assert.deepStrictEqual(seen.clients[0].server, { command: "/opt/aver", args: ["lsp", "--stdio"] });
});

test("a run is picked by asking, and goes into the settings", async () => {
  const seen = await activated("runs/a.jsonl");
  const { executeCommand } = seen.clients[0].options.middleware;
  await executeCommand("averment.pickRun", [], () => assert.fail("the server need not be asked"));
  assert.deepStrictEqual(seen.updates, [["run", "runs/a.jsonl"]]);
});

test("verdicts are written into the output", async () => {
  const seen = await activated();
  const { executeCommand } = seen.clients[0].options.middleware;
  const answer = { summary: "run.json: 1 fail", results: [{ verdict: "fail", line: 3, text: "require x", reason: "there is no x" }] };
  await executeCommand("averment.checkRun", ["file:///a"], async () => answer);
  assert.deepStrictEqual(seen.lines, ["run.json: 1 fail", "  fail      line 3  require x: there is no x"]);
});

test("without a setting the server is the one that came with the extension, or that of the PATH", async (context) => {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "averment-"));
  context.after(() => fs.rmSync(home, { recursive: true }));
  fs.copyFileSync(path.join(own, "extension.js"), path.join(home, "extension.js"));
  assert.strictEqual((await activated(undefined, { home, chosen: "" })).clients[0].server.command, "aver");
  const bundled = path.join(home, "bin", process.platform === "win32" ? "aver.exe" : "aver");
  fs.mkdirSync(path.dirname(bundled));
  fs.writeFileSync(bundled, "");
  assert.strictEqual((await activated(undefined, { home, chosen: "" })).clients[0].server.command, bundled);
  assert.strictEqual((await activated(undefined, { home })).clients[0].server.command, "/opt/aver");
});

// `AVERMENT_VSIX=folder` names an unpacked package.
const unpacked = process.env.AVERMENT_VSIX && path.join(process.env.AVERMENT_VSIX, "extension");
test("a package holds what the manifest names, and its own program", { skip: unpacked ? false : "no package: set AVERMENT_VSIX" }, async () => {
  const packed = JSON.parse(fs.readFileSync(path.join(unpacked, "package.json"), "utf8"));
  for (const file of named_files(packed)) assert.ok(fs.existsSync(path.join(unpacked, file)), file);
  require(path.join(unpacked, "node_modules/vscode-languageclient/package.json"));
  const [{ server }] = (await activated(undefined, { home: unpacked, chosen: "" })).clients;
  const { stdout } = spawnSync(server.command, ["--version"], { encoding: "utf8" });
  assert.strictEqual(stdout?.trim(), `aver ${packed.version}`);
});
