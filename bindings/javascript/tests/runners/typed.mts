// What people write, held against the types.
import "averment/vitest";
import { Guard, InternalError, Outcome, ReadError, Rules, RulesError, format, init, lint } from "averment";
import type { Decision, Diagnostic, Severity, Verdict } from "averment";
import { createEvaluator } from "averment/ai-sdk";
import { expect } from "vitest";

await init();
const rules = Rules.fromText("a.assert", "never refund", { params: { limit: 1 }, deny: ["vacuous"], limits: { foreign: true } });
const outcome: Outcome = rules.check([{ role: "user", content: "hello" }], { name: "run" });
const verdicts: Verdict[] = outcome.results.map((one) => one.verdict);
const severities: Severity[] = rules.assertions.map((one) => one.severity);
const found: Diagnostic[] = lint("a.assert", format("a.assert", "never refund"), { levels: { style: "warn" } });
const evaluation = await createEvaluator(rules, { allow: ["vacuous"] })([{ role: "user", content: "hello" }]);
expect({ calls: [] }).toSatisfyRules(rules, { allow: ["vacuous"] });
console.log(verdicts, severities, found, evaluation.passed, outcome.isSatisfied());
const guard = new Guard(rules, { mode: "warn" });
const decision: Decision = guard.propose({ id: "c1", tool: "refund", args: { order: 7 } });
console.log(decision.allowed, guard.result({ id: "c1", tool: "refund", result: 1 }), guard.stop({ held: true }), guard.trace);
// @ts-expect-error a call has a tool
guard.propose({ id: "c1" });
// @ts-expect-error `deny` takes words that are known
Rules.fromText("a.assert", "never refund", { deny: ["vacous"] });
// @ts-expect-error a number is no run
rules.check(7);
try {
  rules.check("{");
} catch (error) {
  if (error instanceof ReadError || error instanceof RulesError || error instanceof InternalError) console.log(error.line?.toFixed());
}
