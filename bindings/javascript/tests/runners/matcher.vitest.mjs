import "averment/vitest";
import { Rules } from "averment";
import { expect, test } from "vitest";

const rules = Rules.fromText("refunds.assert", "rule approval { before approve(id: $id) -> refund(id: $id) }");
const refund = { tool: "refund", args: { id: "o-1" } };
const approve = { tool: "approve", args: { id: "o-1" } };
const [satisfied, violated] = [{ calls: [approve, refund] }, { calls: [refund] }];
const [vacuous, undecided] = [{ calls: [] }, [{ role: "user", content: "hello" }]];

test("a run satisfies rules or violates them", () => {
  expect(satisfied).toSatisfyRules(rules);
  expect(violated).not.toSatisfyRules(rules);
  expect(() => expect(violated).toSatisfyRules(rules)).toThrow(/approval.1: fail: refund at call 1 has no earlier approve/);
  expect(() => expect(satisfied).not.toSatisfyRules(rules)).toThrow(/no assertion fails/);
});

test("vacuous and undecided runs do neither", () => {
  for (const run of [vacuous, undecided]) {
    expect(() => expect(run).toSatisfyRules(rules)).toThrow(/approval.1: (vacuous|undecided)/);
    expect(() => expect(run).not.toSatisfyRules(rules)).toThrow();
  }
});
