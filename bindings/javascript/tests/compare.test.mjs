// The library says what the command says: AVERMENT_AVER names the command, AVERMENT_PACKAGE the folder of the package.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { listExamples } from "../../../tools/playground/examples.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../..");
const shared = process.env.AVERMENT_SHARED ?? path.resolve(root, "../shared");
const aver = process.env.AVERMENT_AVER;
const { Rules, RulesError } = await import(pathToFileURL(path.resolve(process.env.AVERMENT_PACKAGE, "lib/index.mjs")).href);

function command(args, cwd) {
  return new Promise((done) => {
    execFile(aver, args, { cwd, maxBuffer: 256 << 20 }, (error, stdout) => {
      done(stdout ? JSON.parse(stdout) : { failed: error?.code });
    });
  });
}

// The same rules on the same trace: verdicts, scores, reasons, evidence, and what cannot be read.
async function compare(cwd, { rules, run, files, content }) {
  const said = await command(["check", rules, run, "--no-project", "--format", "json", "--allow", "empty"], cwd);
  const name = `${rules} on ${run}`;
  let found;
  try {
    const texts = { [rules]: files[rules] };
    found = Rules.fromTexts(texts, { files, allowEmpty: true }).checkAll(content, { name: run });
  } catch (error) {
    assert.ok(error instanceof RulesError, `${name}: ${error}`);
    assert.equal(said.runs, undefined, `${name}: the command judges it: ${error.message}`);
    return 0;
  }
  const plain = JSON.parse(JSON.stringify(found));
  assert.notEqual(said.runs, undefined, `${name}: the command does not judge it (${said.failed})`);
  for (const [at, one] of plain.runs.entries()) compareRun(one, said.runs[at], name);
  assert.equal(plain.runs.length, said.runs.length, name);
  assert.deepEqual(plain.unreadable, said.unreadable, name);
  return plain.runs.reduce((sum, one) => sum + one.results.length, 0);
}

// The library looks at nothing beside the run: there such an assertion is an error, whatever the command finds.
const isOutside = (one) => one.verdict === "error" && /looked at here/.test(one.reason);

function compareRun(found, said, name) {
  const outside = new Set(found.results.filter(isOutside).map((one) => one.id));
  if (outside.size === 0) return assert.deepEqual(found, said, name);
  const inside = (run) => run.results.filter((one) => !outside.has(one.id));
  assert.equal(found.passed, false, name);
  assert.deepEqual(inside(found), inside(said), name);
}

async function inTurn(jobs, work) {
  let sum = 0;
  const next = async () => {
    for (let job = jobs.shift(); job; job = jobs.shift()) {
      const results = await work(job);
      sum += results;
    }
  };
  await Promise.all([next(), next()]);
  return sum;
}

test("every example", { skip: aver ? false : "there is no aver" }, async (t) => {
  const { folders, pairs } = listExamples();
  const judged = pairs.filter((one) => one.run);
  const count = judged.length;
  const results = await inTurn(judged, ({ folder, rules, run }) => {
    const files = folders[folder];
    return compare(path.join(root, "examples", folder), { rules, run, files, content: files[run] });
  });
  t.diagnostic(`${count} pairs, ${results} results`);
  assert.ok(count >= 100 && results >= 500, `${count} pairs, ${results} results`);
});

const WIDE = `
each "*": args exists
count any <= 5
never "*delete*", "*remove*"
before "*read*" -> "*write*"
output exists
cost <= $1
usage.total_tokens <= 9000
output matches /the/
each "*": result does not match /error/i
`;

function tracesBelow(folder) {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((one) => {
    const file = path.join(folder, one.name);
    if (one.isDirectory()) return tracesBelow(file);
    return /\.(jsonl?|traj)$/.test(one.name) && fs.statSync(file).size < 1_000_000 ? [file] : [];
  });
}

test("shared traces", { skip: !aver || !fs.existsSync(path.join(shared, "traces")) ? "there are none, or no aver" : false }, async (t) => {
  const folder = fs.mkdtempSync(path.join(process.env.TMPDIR ?? "/tmp", "averment-js-"));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  fs.writeFileSync(path.join(folder, "wide.assert"), WIDE);
  const every = Number(process.env.AVERMENT_EVERY ?? 8);
  const traces = tracesBelow(path.join(shared, "traces")).filter((_, at) => at % every === 0);
  const count = traces.length;
  const results = await inTurn(traces, (file) => compare(folder, { rules: "wide.assert", run: file, files: { "wide.assert": WIDE }, content: fs.readFileSync(file) }));
  t.diagnostic(`${count} traces, ${results} results`);
  assert.ok(results > count, `${count} traces, ${results} results`);
});
