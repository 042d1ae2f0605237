// Compares suites of agentv with its own evaluation: `node agentv.mjs PACKAGE AVER 400`, where PACKAGE is the folder of the npm package
// `@agentv/core`. Prints how many tests agree, how many are undecided here, and each that differs. What passes here and fails there is an error.
import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, aver, count = "400", first = "1"] = process.argv.slice(2);
const core = await import(pathToFileURL(resolve(folder, "dist/index.js")).href);

let state = Number(first) * 2654435761 >>> 0;
const random = () => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 4294967296;
};
const below = (most) => Math.floor(random() * most);
const oneOf = (list) => list[below(list.length)];

const ANSWERS = ["Hello Bob, your order o-1 is on its way.", "hello bob", "  Dear Bob,\nyours  ", '{"a": 1}', "[1, 2]", "42", "no", "Grüße ÄÖ", "line one\nline two"];
const TEXTS = ["Bob", "bob", "order", "o-1", "Dear", "yours", "42", "ä", "line", " hello bob "];
const CALLS = ["search", "refund", "get_order"];
const ARGS = [{}, { id: "o-1" }, { id: "o-1", n: 2 }];

const texts = () => Array.from({ length: 1 + below(3) }, () => oneOf(TEXTS));
const expected = (withArgs) => Array.from({ length: 1 + below(3) }, () => ({ tool: oneOf(CALLS), ...(withArgs && below(2) ? { args: oneOf(ARGS) } : {}) }));
const assertion = () => {
  const made = oneOf([
    () => ({ type: "contains", value: oneOf(TEXTS) }),
    () => ({ type: "icontains", value: oneOf(TEXTS) }),
    () => ({ type: oneOf(["contains-any", "contains-all", "icontains-any", "icontains-all"]), value: texts() }),
    () => ({ type: oneOf(["starts-with", "ends-with", "equals"]), value: oneOf([...TEXTS, ...ANSWERS]) }),
    () => ({ type: "regex", value: oneOf(["^hello", "\\bBob\\b", "o-\\d+", "^line two", "[A-Z]{2}", "w\\w+$"]), ...(below(2) ? { flags: oneOf(["i", "m", "gi", "s"]) } : {}) }),
    () => ({ type: "is-json" }),
  ])();
  if (below(3) === 0) made.negate = true;
  if (below(3) === 0) made.weight = oneOf([0.5, 2, 3]);
  if (below(4) === 0) made.required = oneOf([true, true, 0.5]);
  return made;
};
const metric = () => oneOf([
  () => ({ type: "latency", threshold: oneOf([100, 500]) }),
  () => ({ type: "cost", budget: oneOf([0.001, 0.5]) }),
  () => ({ type: "token-usage", ...oneOf([{ max_total: 150 }, { max_input: 90 }, { max_output: 30, max_total: 500 }]) }),
  () => ({ type: "execution-metrics", ...oneOf([{ max_tool_calls: 1 }, { max_tool_calls: 2, max_tokens: 120 }, { max_cost_usd: 0.01, max_duration_ms: 400, max_tool_calls: 3 }]) }),
  () => ({ type: "tool-trajectory", mode: "any_order", minimums: { [oneOf(CALLS)]: 1, ...(below(2) ? { [oneOf(CALLS)]: 2 } : {}) } }),
  () => ({ type: "tool-trajectory", mode: "in_order", expected: expected(false) }),
  () => ({ type: "tool-trajectory", mode: "exact", expected: expected(true), ...(below(3) ? {} : { args_match: oneOf(["superset", "ignore"]) }) }),
])();

const tally = new Map();
let wrong = 0;
const add = (what, asked, here, there) => {
  const kind = here === there ? "agree" : here === "undecided" ? "undecided here" : `${here} here, ${there} there`;
  tally.set(`${what}: ${kind}`, (tally.get(`${what}: ${kind}`) ?? 0) + 1);
  if (kind.includes(" there")) {
    wrong += here === "pass" ? 1 : 0;
    console.log(what, kind, JSON.stringify(asked));
  }
};

// The verdict of each run: what fails or is undecided of severity `error` decides.
const judge = (tests, runs) => {
  const at = mkdtempSync(join(tmpdir(), "agentv-"));
  writeFileSync(join(at, "suite.yaml"), JSON.stringify({ tests }));
  writeFileSync(join(at, "runs.jsonl"), runs.map((run) => JSON.stringify(run)).join("\n"));
  let out;
  try {
    out = execFileSync(resolve(aver), ["check", "suite.yaml", "runs.jsonl", "--format", "json"], { cwd: at, encoding: "utf8", maxBuffer: 1 << 28 });
  } catch (error) {
    out = error.stdout;
    if (!out.startsWith("{")) throw new Error(out + error.stderr);
  }
  return JSON.parse(out).runs.map(({ results }) => {
    const decides = results.filter((one) => one.severity === "error").map((one) => one.verdict);
    return decides.includes("fail") ? "fail" : decides.includes("undecided") ? "undecided" : "pass";
  });
};

const tests = Array.from({ length: Number(count) }, (_, at) => ({
  id: `t${at}`, input: `ask ${at}`, assert: Array.from({ length: 1 + below(4) }, assertion), answer: oneOf(ANSWERS), threshold: oneOf([0.3, 0.5, 0.8, 1]),
}));
const there = new Map();
const print = console.log;
console.log = () => {};
for (const threshold of [0.3, 0.5, 0.8, 1]) {
  const some = tests.filter((test) => test.threshold === threshold);
  const answers = new Map(some.map((test) => [test.input, test.answer]));
  const { results } = await core.evaluate({
    tests: some.map(({ id, input, assert }) => ({ id, input, assert: assert.map((one) => ({ ...one, min_score: undefined })) })),
    task: (input) => answers.get(input), threshold, outputDir: mkdtempSync(join(tmpdir(), "agentv-")),
  });
  for (const result of results) there.set(result.testId, result.score >= threshold ? "pass" : "fail");
}
console.log = print;
const here = judge(tests.map(({ answer, ...test }) => test), tests.map(({ id, input, answer }) => ({ prompt: input, output: answer, meta: { case: id } })));
tests.forEach((test, at) => add("answers", test, here[at], there.get(test.id)));

// What a run took is given to the evaluators themselves.
const CLASSES = { latency: "LatencyGrader", cost: "CostGrader", "token-usage": "TokenUsageGrader", "execution-metrics": "ExecutionMetricsGrader", "tool-trajectory": "ToolTrajectoryGrader" };
const metrics = Array.from({ length: Number(count) }, (_, at) => {
  const calls = Array.from({ length: below(4) }, () => ({ tool: oneOf(CALLS), input: oneOf(ARGS) }));
  const usage = { input: oneOf([50, 100]), output: oneOf([20, 40]) };
  return { id: `m${at}`, one: metric(), calls, usage, costUsd: oneOf([0.0005, 0.02]), durationMs: oneOf([20, 300, 900]) };
});
console.warn = () => {};
for (const test of metrics) {
  const { type, args_match: argsMatch, ...config } = test.one;
  const trace = { eventCount: test.calls.length, toolCalls: {}, errorCount: 0 };
  for (const { tool } of test.calls) trace.toolCalls[tool] = (trace.toolCalls[tool] ?? 0) + 1;
  const said = new core[CLASSES[type]]({ config: { type, ...config, ...(argsMatch ? { argsMatch } : {}) } }).evaluate({
    output: [{ role: "assistant", toolCalls: test.calls }], trace, tokenUsage: test.usage, costUsd: test.costUsd, durationMs: test.durationMs,
  });
  test.there = said.score >= 0.8 ? "pass" : "fail";
}
const judged = judge(
  metrics.map(({ id, one }) => ({ id, input: id, assert: [one] })),
  metrics.map(({ id, calls, usage, costUsd, durationMs }) => ({
    prompt: id, output: "x", cost: costUsd, duration: durationMs, usage: { input_tokens: usage.input, output_tokens: usage.output },
    calls: calls.map(({ tool, input }) => ({ tool, args: input, result: 1, status: "ok" })), meta: { case: id },
  })),
);
metrics.forEach((test, at) => add("metrics", test, judged[at], test.there));
for (const [kind, number] of [...tally].sort()) console.log(`${number} ${kind}`);
process.exit(wrong ? 1 : 0);
