// Runs suites in node and prints of each case in which runs it passes.
//
// `node oracle.mjs FOLDER`: `FOLDER/runs.json` holds runs in the normal form, `FOLDER/suites.json` the paths of suites.
// Suites import from `FOLDER/skillgym.mjs`, which is this file's own `assert` unless `AVERMENT_SKILLGYM` names an installed package.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const read = (name) => JSON.parse(readFileSync(join(folder, name), "utf8"));

// What the documents of SkillGym say of its groups.
const OWN = `
import strict from "node:assert/strict";
const found = (matcher, value) => {
  if (typeof matcher === "string") return value.includes(matcher);
  matcher.lastIndex = 0;
  return matcher.test(value);
};
const hold = (condition) => strict.ok(condition);
const steps = (list, test) => {
  const count = (report, matcher) => list(report).filter((one) => test(matcher, one)).length;
  const first = (report, matcher) => list(report).findIndex((one) => test(matcher, one));
  return {
    includes: (report, m) => hold(count(report, m) > 0),
    has: (report, m) => hold(count(report, m) > 0),
    notIncludes: (report, m) => hold(count(report, m) === 0),
    count: (report, m, n) => strict.equal(count(report, m), n),
    atLeast: (report, m, n) => hold(count(report, m) >= n),
    atMost: (report, m, n) => hold(count(report, m) <= n),
    exactlyOne: (report, m) => strict.equal(count(report, m), 1),
    before: (report, a, b) => {
      const [one, other] = [first(report, a), first(report, b)];
      hold(one >= 0 && other >= 0 && one < other);
    },
    only: (report, ms) => hold(list(report).every((one) => ms.some((m) => test(m, one)))),
    size: (report, n) => strict.equal(list(report).length, n),
    first: (report, m) => hold(list(report).length > 0 && test(m, list(report)[0])),
    last: (report, m) => hold(list(report).length > 0 && test(m, list(report).at(-1))),
    sequence: (report, ms) => {
      let next = 0;
      for (const one of list(report)) if (next < ms.length && test(ms[next], one)) next += 1;
      hold(next === ms.length);
    },
  };
};
const events = (type, key) => (report) => report.events.filter((one) => one.type === type).map((one) => key ? one[key] : one);
const RANKS = ["weak", "medium", "strong", "explicit"];
const names = (report, options) => report.detectedSkills
  .filter((one) => RANKS.indexOf(one.confidence) >= RANKS.indexOf(options?.minConfidence ?? "weak"))
  .map((one) => one.skill);
const groups = {
  commands: steps(events("command", "command"), found),
  fileReads: steps((report) => {
    const read = events("fileRead", "path")(report);
    return read.length > 0 ? read : report.files.observedReads;
  }, found),
  toolCalls: steps(events("toolCall"), (m, one) => (m.tool === undefined || found(m.tool, one.tool)) && (m.where === undefined || Boolean(m.where(one.args, one)))),
  skills: {
    has: (report, name, options) => hold(names(report, options).includes(name)),
    notHas: (report, name, options) => hold(!names(report, options).includes(name)),
    includes: (report, all, options) => hold(all.every((name) => names(report, options).includes(name))),
    only: (report, all, options) => hold(names(report, options).every((name) => all.includes(name))),
    count: (report, name, n, options) => strict.equal(names(report, options).filter((one) => one === name).length, n),
    exactlyOne: (report, name, options) => strict.equal(names(report, options).filter((one) => one === name).length, 1),
  },
  output: {
    includes: (report, m) => hold(found(m, report.finalOutput)),
    notEmpty: (report) => hold(report.finalOutput.length > 0),
  },
};
export const assert = Object.assign((value, message) => strict.ok(value, message), strict, groups, {
  classify: (kind, callback) => callback(),
});
`;
const real = process.env.AVERMENT_SKILLGYM;
writeFileSync(
  join(folder, "skillgym.mjs"),
  real ? `export * from ${JSON.stringify(pathToFileURL(join(real, "dist", "index.js")).href)};\n` : OWN,
);

// The report of a session that did what a run tells of.
function reportOf(run) {
  const reads = run.reads.map((one) => one.path);
  return {
    runner: { id: "r", pathKey: "r", agent: { type: "codex", model: "m" } },
    prompt: run.prompt,
    usage: {
      inputTokens: run.usage.input_tokens, outputTokens: run.usage.output_tokens, totalTokens: run.usage.total_tokens,
      inputChars: run.prompt.length, outputChars: run.output.length, reasoningChars: 0,
      source: { input: "provider", output: "provider", reasoning: "provider" },
    },
    files: { observedReads: reads, observedSkillReads: [] },
    detectedSkills: run.skills.map((one) => ({ skill: one.name, confidence: one.confidence, evidence: [] })),
    events: [
      ...run.commands.map((one) => ({ type: "command", command: one.command })),
      ...run.calls.map((one) => ({ type: "toolCall", tool: one.tool, args: one.args })),
      ...reads.map((path) => ({ type: "fileRead", path })),
    ],
    finalOutput: run.output,
    durationMs: run.duration,
    rawArtifacts: {},
  };
}

function contextOf(report) {
  const calls = report.events.filter((one) => one.type === "toolCall");
  return {
    getCommands: () => report.events.filter((one) => one.type === "command").map((one) => one.command),
    getToolCalls: (tool) => (tool ? calls.filter((one) => one.tool === tool) : calls),
    getFileReads: () => report.files.observedReads,
    detectedSkills: () => report.detectedSkills,
    finalOutput: () => report.finalOutput,
  };
}

console.log = () => {};
const results = [];
for (const path of read("suites.json")) {
  const suite = (await import(pathToFileURL(join(folder, path)).href)).default;
  const cases = [];
  for (const one of Object.values(suite)) {
    const passes = [];
    for (const run of read("runs.json")) {
      const report = reportOf({ ...run, prompt: one.prompt });
      try {
        await one.assert(report, contextOf(report));
        passes.push(true);
      } catch {
        passes.push(false);
      }
    }
    cases.push({ prompt: one.prompt, passes });
  }
  results.push(cases);
}
process.stdout.write(JSON.stringify(results));
