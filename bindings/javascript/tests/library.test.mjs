// The package as it is built: AVERMENT_PACKAGE names its folder. `../test` runs this.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const folder = path.resolve(process.env.AVERMENT_PACKAGE);
const load = (file) => import(pathToFileURL(path.join(folder, "lib", file)).href);
const { Guard, InternalError, ReadError, Rules, RulesError, format, lint } = await load("index.mjs");
const { createEvaluator, evaluateMessages } = await load("ai-sdk.mjs");

const RULES = `rule approval "Refunds are approved" {
  before approve(id: $id) -> refund(id: $id)
}`;
const refund = { tool: "refund", args: { id: "o-1" } };
const approve = { tool: "approve", args: { id: "o-1" } };
const rules = Rules.fromText("refunds.assert", RULES);

test("an outcome has verdict, score, reason and evidence", () => {
  const outcome = rules.check({ calls: [refund] });
  assert.equal(outcome.passed, false);
  assert.equal(outcome.score, 0);
  const [result] = outcome.results;
  assert.equal(result.verdict, "fail");
  assert.match(result.reason, /no earlier approve with id "o-1"/);
  assert.ok(result.evidence.some((one) => one.path.startsWith("/calls/0")));
  assert.deepEqual(Object.keys(JSON.parse(JSON.stringify(outcome))), ["run", "passed", "score", "named_scores", "results", "rules", "warnings"]);
  assert.match(outcome.reason, /^approval.1: fail: /);
  assert.equal(rules.check({ calls: [approve, refund] }).passed, true);
});

test("objects, texts, bytes and lists of messages are the same run", () => {
  const run = { calls: [refund] };
  const reasons = [run, JSON.stringify(run), new TextEncoder().encode(JSON.stringify(run))].map((one) => rules.check(one).reason);
  assert.equal(new Set(reasons).size, 1);
  const call = { id: "c-1", type: "function", function: { name: "refund", arguments: '{"id": "o-1"}' } };
  assert.equal(rules.check([{ role: "assistant", content: null, tool_calls: [call] }]).results[0].verdict, "fail");
});

test("what JSON does not have is refused, not left out", () => {
  for (const value of [new Map(), new Set(), NaN, 10n]) assert.throws(() => rules.check({ calls: [{ tool: "refund", args: { id: value } }] }), TypeError);
  for (const run of [undefined, null, 7, () => {}, Promise.resolve({})]) assert.throws(() => rules.check(run), TypeError);
  assert.throws(() => Rules.fromText("a.assert", RULES, { alowUndecided: true }), /there is no option `alowUndecided`/);
  assert.throws(() => Rules.fromText("a.assert", RULES, { deny: ["vacous"] }), RulesError);
});

test("errors have a file, a line and a column", () => {
  assert.throws(() => Rules.fromText("a.assert", "\n  nevr refund"), (error) => {
    assert.ok(error instanceof RulesError);
    assert.deepEqual([error.file, error.line, error.column, error.diagnostics[0].slug], ["a.assert", 2, 3, "unknown-statement"]);
    return /did you mean/.test(error.help);
  });
  assert.throws(() => rules.check('{"calls": [}', { name: "run.json" }), (error) => {
    assert.ok(error instanceof ReadError);
    return error.file === "run.json" && error.line === 1 && error.column === 12;
  });
  assert.throws(() => rules.check('{"calls": []}\n{"calls": []}'), /more than one run/);
  assert.throws(() => Rules.fromText("a.assert", "param limit: number\nnever refund(amount > limit)"), /limit/);
});

test("parameters, files, catalogues, selections and tests are taken", () => {
  const limited = Rules.fromText("a.assert", "param limit: number\nnever refund(amount > limit)", { params: { limit: 100 } });
  assert.equal(limited.check({ calls: [{ tool: "refund", args: { amount: 250 } }] }).passed, false);
  const tools = { refund: { type: "object", properties: {} } };
  assert.deepEqual(Rules.fromText("a.assert", "never refnd", { tools }).diagnostics.map((one) => one.slug), ["unlisted-tool"]);
  const files = { "lib/money.assert": "def large(x) = x > 100" };
  const imported = Rules.fromText("rules.assert", 'use "lib/money.assert"\neach refund: not large(args.amount)', { files });
  assert.equal(imported.check({ calls: [{ tool: "refund", args: { amount: 250 } }] }).passed, false);
  const tested = Rules.fromText("a.assert", `${RULES}\ntest "seen" expect fail approval { calls: [{ tool: "refund", args: { id: "o-1" } }] }`);
  assert.deepEqual(tested.runTests().map((one) => one.passed), [true]);
  assert.deepEqual(tested.assertions.map((one) => [one.id, one.line, one.ofAllRuns]), [["approval.1", 2, false]]);
  const two = Rules.fromTexts({ "a.assert": "never drop_table", "b.assert": "never refund" });
  assert.equal(two.assertions.length, 2);
});

test("lint and format say what the command says", () => {
  assert.ok(lint("a.assert", "never refund\nnever refund").some((one) => one.slug === "duplicate-assertion"));
  assert.deepEqual(lint("a.assert", "never refund\nnever refund", { levels: { "duplicate-assertion": "allow" } }), []);
  assert.equal(format("a.assert", "never   refund( amount>1 )"), "never refund(amount > 1)\n");
  assert.throws(() => format("a.assert", "nevr refund"), RulesError);
});

test("vacuous and undecided never count as satisfied", () => {
  const satisfied = (run, options) => rules.check(run).isSatisfied(options);
  assert.equal(satisfied({ calls: [approve, refund] }), true);
  assert.equal(satisfied({ calls: [] }), false);
  assert.equal(satisfied({ calls: [] }, { allow: ["vacuous"] }), false);
  assert.equal(satisfied([{ role: "user", content: "hello" }], { allow: ["undecided", "vacuous"] }), false);
  const both = Rules.fromText("a.assert", `${RULES}\nnever drop_table(name: "x")\nafter cancel -> notify`);
  assert.equal(both.check({ calls: [approve, refund] }).isSatisfied(), false);
  assert.equal(both.check({ calls: [approve, refund] }).isSatisfied({ allow: ["vacuous"] }), true);
  const open = Rules.fromText("a.assert", `${RULES}\ncost <= $1`, { allowUndecided: true });
  const outcome = open.check({ calls: [approve, refund] });
  assert.deepEqual([outcome.passed, outcome.isSatisfied()], [true, false]);
  assert.throws(() => outcome.isSatisfied({ allow: ["fail"] }), TypeError);
});

test("limits hold, and nothing is lost after the library broke down", () => {
  const nested = (depth) => `{"calls": [], "output": ${"[".repeat(depth)}${"]".repeat(depth)}}`;
  assert.equal(rules.check(nested(200)).passed, true);
  for (const depth of [300, 100_000]) assert.throws(() => rules.check(nested(depth)), ReadError);
  for (const depth of [200, 100_000]) {
    const text = `output == ${"(".repeat(depth)}1${")".repeat(depth)}`;
    if (depth === 200) assert.equal(Rules.fromText("deep.assert", text).check(nested(1)).passed, false);
    else assert.throws(() => Rules.fromText("deep.assert", text), RulesError);
  }
  const slow = "all x in output: all y in output: all z in output: x + y + z >= 0";
  const long = { calls: [], output: Array.from({ length: 400 }, (_, at) => at) };
  const [result] = Rules.fromText("slow.assert", slow, { limits: { fuel: 100_000 } }).check(long).results;
  assert.equal(result.verdict, "error");
  assert.throws(() => Rules.fromText("a.assert", RULES, { limits: { runBytes: 10 } }).check({ calls: [refund] }), ReadError);
});

test("a host that starts a module only asynchronously, as the main thread of Chromium, has the same outcomes", async () => {
  const page = await load("browser.mjs");
  const { Instance } = WebAssembly;
  WebAssembly.Instance = function () { throw new RangeError("WebAssembly.Instance is disallowed on the main thread"); };
  try {
    await page.init(readFileSync(path.join(folder, "lib/averment.wasm")));
    const made = page.Rules.fromText("refunds.assert", RULES);
    assert.equal(made.check({ calls: [refund] }).passed, false);
    trapOnce();
    assert.throws(() => made.check({ calls: [refund] }), /broke down/);
    assert.throws(() => made.check({ calls: [refund] }), /`await init\(\)` comes first/);
    await page.init();
    assert.equal(made.check({ calls: [approve, refund] }).passed, true);
  } finally {
    WebAssembly.Instance = Instance;
  }
});

test("a trap is an error once, and rules go on in a new instance", () => {
  const { instantiated } = breakOnce();
  assert.throws(() => rules.check({ calls: [] }), (error) => error instanceof InternalError && /broke down/.test(error.message));
  assert.equal(rules.check({ calls: [refund] }).passed, false);
  assert.ok(instantiated() >= 1);
});

// Lets the next call of the library end as a panic does.
function breakOnce() {
  const { Instance } = WebAssembly;
  let count = 0;
  WebAssembly.Instance = function (...given) { count += 1; return new Instance(...given); };
  trapOnce();
  return { instantiated: () => { WebAssembly.Instance = Instance; return count; } };
}

function trapOnce() {
  const { encode } = TextEncoder.prototype;
  TextEncoder.prototype.encode = function () { TextEncoder.prototype.encode = encode; throw new WebAssembly.RuntimeError("unreachable"); };
}

test("memory is given back", () => {
  for (let round = 0; round < 200; round += 1) {
    const short = Rules.fromText("a.assert", RULES);
    short.check({ calls: [refund] });
    short.free();
    assert.throws(() => short.check({ calls: [] }), /freed/);
  }
});

test("`require` has the same library", () => {
  const required = createRequire(import.meta.url)(path.join(folder, "lib", "index.cjs"));
  assert.equal(required.RulesError, RulesError);
  assert.equal(required.setLoader, undefined);
});

test("the matcher passes neither way where nothing was decided", async () => {
  const { toSatisfyRules } = (await load("matchers.cjs")).default;
  const ask = (isNot, run, of = rules) => toSatisfyRules.call({ isNot }, run, of);
  const holds = (isNot, run) => ask(isNot, run).pass !== isNot;
  assert.deepEqual([holds(false, { calls: [approve, refund] }), holds(true, { calls: [approve, refund] })], [true, false]);
  assert.deepEqual([holds(false, { calls: [refund] }), holds(true, { calls: [refund] })], [false, true]);
  for (const run of [{ calls: [] }, [{ role: "user", content: "hello" }]]) assert.deepEqual([holds(false, run), holds(true, run)], [false, false]);
  assert.match(ask(false, { calls: [refund] }).message(), /approval.1: fail: refund at call 1/);
  const ofAll = Rules.fromText("a.assert", "in at least 95% of runs: never refund");
  assert.throws(() => ask(false, { calls: [approve] }, ofAll), /all runs together/);
});

test("messages of the AI SDK are judged, from the model and from pages", async () => {
  const model = [
    { role: "assistant", content: [{ type: "tool-call", toolCallId: "c-1", toolName: "refund", input: { id: "o-1" } }] },
    { role: "tool", content: [{ type: "tool-result", toolCallId: "c-1", toolName: "refund", output: { type: "json", value: { ok: true } } }] },
  ];
  const part = { type: "tool-refund", toolCallId: "c-1", state: "output-available", input: { id: "o-1" }, output: { ok: true } };
  const page = [{ id: "m-1", role: "assistant", parts: [{ type: "step-start" }, part] }];
  const result = { text: "", response: Promise.resolve({ messages: model }) };
  for (const given of [model, page, result]) {
    const { passed, score, reason } = await evaluateMessages(rules, given, { prompt: "Refund my order" });
    assert.deepEqual([passed, score], [false, 0]);
    assert.match(reason, /no earlier approve/);
  }
  const nothing = await createEvaluator(rules)([{ role: "assistant", content: [{ type: "text", text: "Hello." }] }]);
  assert.equal(nothing.passed, false);
  await assert.rejects(evaluateMessages(rules, {}), TypeError);
});

test("a guard lets through what the rules let through", () => {
  const shop = Rules.fromText("shop.assert", `before approve(order: $o) ok -> refund(order: $o)
after refund(order: $o) -> notify(order: $o)
never pay before message(role: "user")`);
  const guard = new Guard(shop);
  const call = (id, tool) => ({ id, tool, args: { order: 7 } });
  const denied = guard.propose(call("c1", "refund"));
  assert.deepEqual([denied.decision, denied.allowed], ["deny", false]);
  assert.match(denied.reason, /no earlier `approve/);
  assert.equal(guard.propose(call("c2", "approve")).decision, "pass");
  assert.equal(guard.result({ id: "c2", tool: "approve", result: { by: "kim" } }).allowed, true);
  assert.equal(guard.propose(call("c3", "refund")).allowed, true);
  assert.equal(guard.message({ role: "user", text: "Pay, please." }).allowed, true);
  assert.equal(guard.propose({ id: "c4", tool: "pay" }).allowed, true);
  const owed = guard.stop();
  assert.deepEqual([owed.decision, owed.allowed], ["continue", false]);
  assert.match(owed.reason, /notify/);
  assert.equal(guard.stop({ held: true }).allowed, true);
  assert.equal(shop.check(guard.trace).results[0].verdict, "pass");

  const failed = new Guard(shop);
  failed.propose(call("c1", "approve"));
  failed.result({ id: "c1", tool: "approve", error: "no such order" });
  assert.equal(failed.propose(call("c2", "refund")).decision, "deny");

  for (const [mode, allowed] of [["enforce", false], ["warn", true], ["log", true]]) {
    const said = new Guard(shop, { mode }).propose({ tool: "" });
    assert.deepEqual([said.decision, said.allowed], ["error", allowed]);
  }
  assert.throws(() => new Guard(shop, { mode: "loud" }), RulesError);
  assert.throws(() => new Guard({}), TypeError);
  assert.throws(() => guard.propose({ tool: "refund", args: { amount: NaN } }), TypeError);
  guard.free();
  assert.throws(() => guard.propose(call("c9", "refund")), TypeError);
});
