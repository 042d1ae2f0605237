// `expect(run).toSatisfyRules(rules)` for vitest and jest.
"use strict";

function toSatisfyRules(run, rules, options) {
  if (typeof rules?.check !== "function") throw new TypeError("`toSatisfyRules` takes rules of `Rules.fromText`");
  const ofAll = rules.assertions.find((one) => one.ofAllRuns);
  if (ofAll) throw new TypeError(`\`${ofAll.id}\` speaks of all runs together, and this is one: \`aver check\` judges it`);
  const outcome = rules.check(run);
  const satisfied = outcome.isSatisfied(options);
  // Rules that nothing exercised, or that the run cannot decide, are neither satisfied nor violated: they pass neither way.
  const violated = !outcome.passed && outcome.failures.some((one) => one.verdict !== "error");
  const pass = this.isNot ? !violated : satisfied;
  const findings = outcome.reason.split("\n").filter(Boolean).map((line) => `  ${line}`);
  const nothing = "  no assertion was exercised";
  const message = () =>
    this.isNot
      ? ["expected the run to violate the rules, and no assertion fails", ...findings].join("\n")
      : ["expected the run to satisfy the rules", ...(findings.length > 0 ? findings : [nothing])].join("\n");
  return { pass, message };
}

exports.toSatisfyRules = toSatisfyRules;
