const { Rules } = require("averment");
const { expect, test } = require("@jest/globals");

const rules = Rules.fromText("refunds.assert", "rule approval { before approve(id: $id) -> refund(id: $id) }");
const refund = { tool: "refund", args: { id: "o-1" } };
const approve = { tool: "approve", args: { id: "o-1" } };

test("a run satisfies rules or violates them", () => {
  expect({ calls: [approve, refund] }).toSatisfyRules(rules);
  expect({ calls: [refund] }).not.toSatisfyRules(rules);
  expect(() => expect({ calls: [refund] }).toSatisfyRules(rules)).toThrow(/approval.1: fail: refund at call 1/);
  expect(() => expect({ calls: [approve, refund] }).not.toSatisfyRules(rules)).toThrow(/no assertion fails/);
});

test("vacuous and undecided runs do neither", () => {
  for (const run of [{ calls: [] }, [{ role: "user", content: "hello" }]]) {
    expect(() => expect(run).toSatisfyRules(rules)).toThrow(/approval.1: (vacuous|undecided)/);
    expect(() => expect(run).not.toSatisfyRules(rules)).toThrow();
  }
});
