// The server, driven by the protocol library of the editor itself. `AVER=path npm test` names the program; without it, a build of the project
// is looked for, and the test says that it skips where there is none.
"use strict";

const assert = require("node:assert");
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const test = require("node:test");
const rpc = require("vscode-languageserver-protocol/node");

const builds = ["target/debug/aver", "target/release/aver"].map((one) => path.join(__dirname, "../../..", one));
const aver = process.env.AVER ?? builds.find((one) => fs.existsSync(one));

test("a rule is written, mended and renamed", { skip: aver ? false : "no build of aver: set AVER", timeout: 60_000 }, async (context) => {
  const server = spawn(aver, ["lsp", "--stdio"], { stdio: ["pipe", "pipe", "inherit"] });
  context.after(() => server.kill());
  const connection = rpc.createProtocolConnection(server.stdout, server.stdin);
  // Diagnostics come when nothing is asked.
  const waiting = new Map();
  const diagnostics = (version) => new Promise((resolve) => waiting.set(version, resolve));
  connection.onNotification(rpc.PublishDiagnosticsNotification.type, (one) => waiting.get(one.version)?.(one.diagnostics));
  connection.listen();
  const capabilities = { general: { positionEncodings: ["utf-16"] } };
  const initialized = await connection.sendRequest(rpc.InitializeRequest.type, { processId: process.pid, rootUri: null, capabilities });
  assert.strictEqual(initialized.serverInfo.name, "averment");
  await connection.sendNotification(rpc.InitializedNotification.type, {});
  const uri = "file:///nowhere/rules.assert";
  const text = "param limit: number = 3\noutput.amount <= limti\n";
  const textDocument = { uri, languageId: "assert", version: 1, text };
  const first = diagnostics(1);
  await connection.sendNotification(rpc.DidOpenTextDocumentNotification.type, { textDocument });
  assert.deepStrictEqual((await first).map((one) => one.code), ["unknown-name"]);
  const range = { start: { line: 1, character: 17 }, end: { line: 1, character: 22 } };
  const actions = await connection.sendRequest(rpc.CodeActionRequest.type, { textDocument: { uri }, range, context: { diagnostics: [] } });
  const fix = actions.find((one) => one.isPreferred);
  assert.deepStrictEqual(fix.edit.changes[uri], [{ range, newText: "limit" }]);
  const second = diagnostics(2);
  await connection.sendNotification(rpc.DidChangeTextDocumentNotification.type, {
    textDocument: { uri, version: 2 },
    contentChanges: [{ range, text: "limit" }],
  });
  assert.deepStrictEqual(await second, []);
  const renamed = await connection.sendRequest(rpc.RenameRequest.type, { textDocument: { uri }, position: range.start, newName: "most" });
  assert.deepStrictEqual(renamed.changes[uri].map((one) => one.range.start.line), [0, 1]);
  await connection.sendRequest(rpc.ShutdownRequest.type);
  const ended = new Promise((resolve) => server.on("exit", resolve));
  await connection.sendNotification(rpc.ExitNotification.type);
  assert.strictEqual(await ended, 0);
  connection.dispose();
});
