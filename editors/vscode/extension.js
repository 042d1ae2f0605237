// The client of the language server `aver lsp`. Everything that knows the language is in the server.
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

/** @type {LanguageClient | undefined} */
let client;
/** @type {vscode.OutputChannel | undefined} */
let output;
/** @type {vscode.StatusBarItem | undefined} */
let status;
/** Where the extension is. */
let home = __dirname;

const PICK = "averment.pickRun";
const CHECK = "averment.checkRun";
const EXPLAIN = "averment.explain";
const RUN_TEST = "averment.runTest";

async function activate(context) {
  home = context.extensionPath;
  output = vscode.window.createOutputChannel("Averment");
  status = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left, 10);
  status.command = "averment.chooseRun";
  context.subscriptions.push(output, status);
  const commands = {
    "averment.chooseRun": chooseRun,
    "averment.forgetRun": () => settings().update("run", "", target()),
    "averment.checkDocument": checkDocument,
    "averment.runTestHere": runTestHere,
    "averment.restart": restart,
  };
  for (const [name, run] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(name, run));
  }
  context.subscriptions.push(
    vscode.window.onDidChangeActiveTextEditor(showStatus),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("averment.run")) showStatus();
      if (change.affectsConfiguration("averment.server")) restart();
    }),
  );
  showStatus();
  await start();
}

async function deactivate() {
  await client?.stop();
}

function settings() {
  return vscode.workspace.getConfiguration("averment");
}

/** Settings of a workspace belong to it; without one they are the user's. */
function target() {
  return vscode.workspace.workspaceFolders?.length ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global;
}

/** The program of the settings, otherwise the one that came with the extension, otherwise that of the PATH. */
function findServer() {
  const bundled = path.join(home, "bin", process.platform === "win32" ? "aver.exe" : "aver");
  return settings().get("server.path") || (fs.existsSync(bundled) ? bundled : "aver");
}

async function start() {
  const command = findServer();
  const args = settings().get("server.arguments") || ["lsp", "--stdio"];
  const run = settings();
  client = new LanguageClient(
    "averment",
    "Averment",
    { command, args },
    {
      // Rule files of other systems are YAML; of any other YAML nothing is said.
      documentSelector: [{ language: "assert" }, { language: "yaml" }],
      outputChannel: output,
      synchronize: { configurationSection: "averment" },
      initializationOptions: {
        run: run.get("run"),
        lint: run.get("lint"),
        inlayHints: run.get("inlayHints"),
        codeLens: run.get("codeLens"),
      },
      middleware: { executeCommand },
    },
  );
  try {
    await client.start();
  } catch (error) {
    const choice = await vscode.window.showErrorMessage(
      `Averment: \`${command}\` cannot be started: ${error.message ?? error}`,
      "Open Settings",
    );
    if (choice) vscode.commands.executeCommand("workbench.action.openSettings", "averment.server.path");
  }
}

async function restart() {
  await client?.stop().catch(() => undefined);
  await start();
}

/** Commands of the server whose answers want to be shown, or that ask first. */
async function executeCommand(command, args, next) {
  if (command === PICK && !args?.length) return chooseRun();
  const answer = await next(command, args);
  if (command === CHECK && answer) showResults(answer);
  if (command === EXPLAIN && answer) await showPage(answer);
  return answer;
}

/** Lets the user pick a trace of the workspace, or any other. */
async function chooseRun() {
  const found = await vscode.workspace.findFiles("**/*.{json,jsonl}", "**/{node_modules,target,.git}/**", 2000);
  const named = found.map((uri) => vscode.workspace.asRelativePath(uri, false)).sort();
  const other = { label: "$(folder-opened) Another file…", other: true };
  const none = { label: "$(circle-slash) No run", none: true };
  const picks = [...named.map((label) => ({ label })), other, none];
  const picked = await vscode.window.showQuickPick(picks, { placeHolder: "The run whose verdicts are shown above rules" });
  if (!picked) return undefined;
  let run = picked.none ? "" : picked.label;
  if (picked.other) {
    const files = await vscode.window.showOpenDialog({ filters: { Traces: ["json", "jsonl"] } });
    if (!files?.length) return undefined;
    run = files[0].fsPath;
  }
  await settings().update("run", run, target());
  return run;
}

function currentUri() {
  const editor = vscode.window.activeTextEditor;
  return editor?.document.languageId === "assert" ? editor.document.uri.toString() : undefined;
}

async function checkDocument() {
  const uri = currentUri();
  if (!uri) return;
  if (!settings().get("run") && !(await chooseRun())) return;
  await vscode.commands.executeCommand(CHECK, uri);
}

/** Runs the test that the cursor stands in, or the nearest one above. */
async function runTestHere() {
  const editor = vscode.window.activeTextEditor;
  const uri = currentUri();
  if (!editor || !uri) return;
  for (let line = editor.selection.active.line; line >= 0; line -= 1) {
    const found = /^\s*test\s+(?:"((?:[^"\\]|\\.)*)"|'([^']*)')/.exec(editor.document.lineAt(line).text);
    if (found) {
      const name = found[1] !== undefined ? found[1].replace(/\\(["\\$])/g, "$1") : found[2];
      await vscode.commands.executeCommand(RUN_TEST, uri, name);
      return;
    }
  }
  vscode.window.showInformationMessage("Averment: there is no test at the cursor or above it");
}

/** All verdicts, a line each. */
function showResults(answer) {
  output.appendLine(answer.summary);
  for (const one of answer.results) {
    const reason = one.reason ? `: ${one.reason}` : "";
    output.appendLine(`  ${one.verdict.padEnd(9)} line ${one.line}  ${one.text}${reason}`);
  }
  output.show(true);
}

async function showPage(answer) {
  const document = await vscode.workspace.openTextDocument({ language: "markdown", content: answer.page });
  await vscode.window.showTextDocument(document, { preview: true, viewColumn: vscode.ViewColumn.Beside });
}

function showStatus() {
  const run = settings().get("run");
  status.text = run ? `$(checklist) ${run.split(/[\\/]/).pop()}` : "$(checklist) no run";
  status.tooltip = run ? `Rules are checked on ${run}` : "Pick a run whose verdicts are shown above rules";
  if (vscode.window.activeTextEditor?.document.languageId === "assert") status.show();
  else status.hide();
}

module.exports = { activate, deactivate };
