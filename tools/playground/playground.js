// The page: texts go to the worker, and what comes back is set as text, never as markup.
const WAIT = 120;
// Lints follow the verdicts when nobody types.
const LINT_WAIT = 400;
const PATIENCE = 5000;
// Rules of examples are compiled ahead, one after the other, while nobody waits for an answer.
const PREPARE_WAIT = 20;
// What a link may unfold to.
const LARGEST = 4 << 20;

const $ = (id) => document.getElementById(id);
const [rulesField, runField, exampleField, statusLine] = ["rules", "run", "example", "status"].map($);
const own = { rulesName: "rules.assert", runName: "run.json", files: {} };
let names = own;
let examples = [];
let unprepared = [];
let module, worker, timer, lintTimer, prepareTimer, watch, asked;
let number = 0;
let busy = false;
let waiting;

function element(tag, { text, kind, ...attributes } = {}, ...children) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// ---- the worker

function startWorker() {
  worker = new Worker("worker.js", { type: "module" });
  worker.onmessage = ({ data }) => receive(data);
  worker.onerror = (event) => { event.preventDefault(); restart("The worker broke down."); };
  worker.postMessage({ module });
}

function restart(message) {
  clearTimeout(watch);
  worker.terminate();
  busy = false;
  startWorker();
  if (asked === "prepare") finishPreparing();
  else show({ failure: message });
  if (waiting) send(waiting);
}

function send(request) {
  if (busy) { waiting = request; return; }
  waiting = undefined;
  busy = true;
  asked = request.work;
  number += 1;
  watch = setTimeout(() => restart(`This took longer than ${PATIENCE / 1000} seconds and was ended.`), PATIENCE);
  worker.postMessage({ ...request, number });
}

function receive(answer) {
  clearTimeout(watch);
  busy = false;
  if (answer.work === "format") showFormatted(answer);
  else if (answer.work === "prepare") prepareSoon();
  else if (answer.work === "lint") { showLints(answer); prepareSoon(); }
  else { show(answer); lintTimer = setTimeout(() => send(request("lint")), LINT_WAIT); }
  if (waiting) send(waiting);
}

function request(work) {
  const { rulesName, runName, files } = names;
  return { work, rulesName, runName, files, rules: rulesField.value, run: runField.value };
}

function prepareSoon() {
  clearTimeout(prepareTimer);
  if (unprepared.length === 0) finishPreparing();
  else prepareTimer = setTimeout(() => { if (!busy) send({ ...unprepared.shift(), work: "prepare" }); }, PREPARE_WAIT);
}

function finishPreparing() {
  unprepared = [];
  document.body.dataset.prepared = "ready";
}

function judgeSoon(wait = WAIT) {
  document.body.dataset.state = "waiting";
  clearTimeout(timer);
  clearTimeout(lintTimer);
  timer = setTimeout(() => module && send(request("judge")), wait);
}

// ---- places in the texts

// Offsets are bytes of UTF-8; fields count units of UTF-16.
function unitOf(text, byte) {
  return new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, byte)).length;
}

function placeButton(field, label, start, end) {
  const button = element("button", { text: label, kind: "place", type: "button" });
  button.addEventListener("click", () => {
    const [from, to] = [unitOf(field.value, start), unitOf(field.value, end)];
    field.focus();
    field.setSelectionRange(from, Math.max(from, to));
    const lines = field.value.slice(0, from).split("\n").length - 1;
    field.scrollTop = Math.max(0, lines * parseFloat(getComputedStyle(field).lineHeight) - field.clientHeight / 2);
  });
  return button;
}

// ---- what was found

function diagnosticItem(one) {
  const { location } = one;
  const label = `${location.file}:${location.line}:${location.column}`;
  const place = location.file === names.rulesName ? placeButton(rulesField, label, location.start, location.end) : element("code", { text: label });
  const item = element("li", {}, element("span", { text: one.severity, kind: `word ${one.severity}` }), `${one.message} `, place);
  if (one.help) item.append(element("span", { text: one.help, kind: "piece soft" }));
  return item;
}

function evidencePiece(one) {
  const value = one.value === null || one.value === undefined ? "" : JSON.stringify(one.value);
  const words = [one.path, value, one.label].filter(Boolean).join("  ");
  const piece = element("span", { kind: "piece" });
  if (one.source) piece.append(placeButton(runField, `line ${one.source.line}`, one.source.start, one.source.end), " ");
  piece.append(element("code", { text: words }));
  return piece;
}

function resultItem(one) {
  const word = one.status === "expected-failed" || one.status === "unexpected-passed" ? one.status : one.verdict;
  const kind = word === "expected-failed" ? "pass" : word === "unexpected-passed" ? "fail" : word;
  const item = element("li", { "data-verdict": one.verdict, "data-id": one.id });
  item.append(element("span", { text: word, kind: `word ${kind}` }), element("strong", { text: one.id }));
  item.append(element("span", { text: one.text, kind: "text" }));
  for (const line of [one.message, one.reason].filter(Boolean)) item.append(element("span", { text: line, kind: "piece" }));
  item.append(...one.evidence.map(evidencePiece));
  return item;
}

function runSection(outcome) {
  const score = outcome.score === null ? "no score" : `score ${outcome.score.toFixed(2)}`;
  const head = element("h2", { kind: outcome.passed ? "pass" : "fail", text: `${outcome.run}: ${outcome.passed ? "passed" : "failed"}, ${score}` });
  const warnings = outcome.warnings.map((one) => element("li", { text: `line ${one.line}: ${one.message}`, kind: "warning" }));
  return element("section", { "data-run": outcome.run }, head, element("ul", {}, ...warnings, ...outcome.results.map(resultItem)));
}

function unreadableItem({ file, line, column, message, help }) {
  return element("li", {}, element("span", { text: "unreadable", kind: "word error" }), `${file}:${line}:${column}: ${message}`, element("span", { text: help, kind: "piece soft" }));
}

function testItem(one) {
  const word = one.passed ? "pass" : "fail";
  return element("li", { "data-test": one.name }, element("span", { text: word, kind: `word ${word}` }), `test ${one.name}`, element("span", { text: one.reason, kind: "piece" }));
}

function summary({ runs, count, failed, unreadable, problem }) {
  if (problem) return problem;
  if (count === 0 && unreadable.length === 0) return runField.value.trim() === "" ? "The rules compile. There is no run to judge." : "There is no run.";
  const words = [`${count - failed} of ${count} ${count === 1 ? "run" : "runs"} passed`];
  if (unreadable.length > 0) words.push(`${unreadable.length} cannot be read`);
  if (count > runs.length) words.push(`the first ${runs.length} are shown`);
  return words.join("; ");
}

function show(answer) {
  const { failure, diagnostics = [], runs = [], unreadable = [], tests = [], ofAllRuns = [] } = answer;
  statusLine.textContent = failure ?? summary(answer);
  statusLine.className = failure || answer.problem || answer.failed || unreadable.length > 0 ? "fail" : "";
  showDiagnostics(diagnostics);
  const parts = runs.map(runSection);
  if (unreadable.length > 0) parts.unshift(element("ul", {}, ...unreadable.map(unreadableItem)));
  if (ofAllRuns.length > 0) parts.push(element("p", { text: `Judged over all runs, by \`aver check\` alone: ${ofAllRuns.join(", ")}`, kind: "soft" }));
  if (tests.length > 0) parts.push(element("section", {}, element("h2", { text: "Tests of the rules" }), element("ul", {}, ...tests.map(testItem))));
  $("outcomes").replaceChildren(...parts);
  document.body.dataset.lints = "";
  document.body.dataset.took = answer.took ?? "";
  document.body.dataset.state = waiting ? "waiting" : "ready";
}

function showLints({ diagnostics }) {
  if (diagnostics && document.body.dataset.state === "ready") showDiagnostics(diagnostics);
  document.body.dataset.lints = "ready";
}

function showDiagnostics(diagnostics) {
  $("diagnostics").replaceChildren(element("ul", {}, ...diagnostics.map(diagnosticItem)));
}

function showFormatted({ text, failure }) {
  if (failure === undefined && rulesField.value !== text) {
    rulesField.value = text;
    exampleField.value = "";
  }
  judgeSoon(0);
}

// ---- links

async function packed(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let binary = "";
  for (let from = 0; from < bytes.length; from += 8192) binary += String.fromCharCode(...bytes.subarray(from, from + 8192));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function unpacked(code) {
  const bytes = Uint8Array.from(atob(code.replaceAll("-", "+").replaceAll("_", "/")), (sign) => sign.charCodeAt(0));
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const pieces = [];
  for (let size = 0; ;) {
    const { done, value } = await reader.read();
    if (done) return new Blob(pieces).text();
    size += value.length;
    if (size > LARGEST) { await reader.cancel(); throw new Error("the link holds too much"); }
    pieces.push(value);
  }
}

const textOf = (value, usual) => (typeof value === "string" ? value : usual);

async function openLink() {
  const code = /^#1\.([A-Za-z0-9_-]+)$/.exec(location.hash)?.[1];
  if (!code) return false;
  try {
    const given = JSON.parse(await unpacked(code));
    const files = Object.entries(given.files ?? {}).filter(([, text]) => typeof text === "string");
    names = { rulesName: textOf(given.rulesName, own.rulesName), runName: textOf(given.runName, own.runName), files: Object.fromEntries(files) };
    rulesField.value = textOf(given.rules, "");
    runField.value = textOf(given.run, "");
    return true;
  } catch {
    statusLine.textContent = "The link cannot be read.";
    return false;
  }
}

async function share() {
  const { rulesName, runName, files } = names;
  const code = await packed(JSON.stringify({ rulesName, runName, files, rules: rulesField.value, run: runField.value }));
  history.replaceState(null, "", `#1.${code}`);
  try {
    await navigator.clipboard.writeText(location.href);
    statusLine.textContent = "The link was copied.";
  } catch {
    statusLine.textContent = "The link stands in the address of this page.";
  }
}

// ---- examples

function choose(index) {
  const example = examples[index];
  if (!example) return;
  names = { rulesName: example.rulesName, runName: example.runName, files: example.files };
  rulesField.value = example.rules;
  runField.value = example.run;
  history.replaceState(null, "", location.pathname);
  judgeSoon(0);
}

// The files beside an example are written once for its folder.
function readExamples({ folders, pairs }) {
  const traces = new Set(pairs.map(({ folder, run }) => `${folder} ${run}`));
  const open = ({ folder, rules, run }) => {
    const files = folders[folder];
    const beside = Object.entries(files).filter(([name]) => name !== rules && !traces.has(`${folder} ${name}`));
    return { folder, files: Object.fromEntries(beside), rulesName: rules, runName: run ?? "run.json", rules: files[rules], run: run ? files[run] : "" };
  };
  examples = pairs.map(open);
  const distinct = new Map(examples.map(({ folder, rulesName, rules, files }) => [`${folder} ${rulesName}`, { rulesName, rules, files }]));
  unprepared = [...distinct.values()];
  let group;
  examples.forEach((one, index) => {
    if (group?.label !== one.folder) { group = element("optgroup", { label: one.folder }); exampleField.append(group); }
    group.append(element("option", { text: one.run ? `${one.rulesName} · ${one.runName}` : one.rulesName, value: String(index) }));
  });
}

// Where the browser allows it, the page opens again without a network; without it, the page works as long as it is open.
async function keepForOffline() {
  try {
    await navigator.serviceWorker?.register("offline.js");
    await navigator.serviceWorker?.ready;
    document.body.dataset.offline = "ready";
  } catch { /* A private window, or a page that is not served over https. */ }
}

// While it arrives, where the server names its type.
async function compileLibrary() {
  const answer = await fetch("averment.wasm");
  if (answer.headers.get("content-type") === "application/wasm") return WebAssembly.compileStreaming(answer);
  return WebAssembly.compile(await answer.arrayBuffer());
}

for (const field of [rulesField, runField]) {
  field.addEventListener("input", () => { exampleField.value = ""; judgeSoon(); });
}
exampleField.addEventListener("change", () => choose(Number(exampleField.value || -1)));
$("format").addEventListener("click", () => module && send(request("format")));
$("share").addEventListener("click", share);
window.addEventListener("hashchange", async () => { if (await openLink()) judgeSoon(0); });

try {
  const [compiled, listed, linked] = await Promise.all([compileLibrary(), fetch("examples.json").then((one) => one.json()), openLink()]);
  module = compiled;
  readExamples(listed);
  startWorker();
  keepForOffline();
  const first = examples.findIndex((one) => one.folder === "refund-agent" && one.runName.includes("wrong"));
  if (linked) judgeSoon(0);
  else if (rulesField.value === "" && runField.value === "") { exampleField.value = String(first); choose(first); }
  else judgeSoon(0);
} catch (error) {
  statusLine.textContent = `The playground cannot start: ${error.message}`;
}
