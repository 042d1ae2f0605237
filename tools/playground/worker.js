// Judges beside the page, so that typing never waits. The page sends the compiled library first, then texts.
import { RulesError, Rules, format, init, lint } from "./averment.js";

const options = (files) => ({ files, limits: { foreign: true } });

// A trace of several runs is shown in part.
const SHOWN = 50;

// Rules are compiled again only when they change: mostly somebody edits one side, takes a change back, or goes on to another example.
// The newest stands last; the oldest goes.
const KEPT = 128;
const kept = new Map();

function compiledRules({ rulesName, rules, files }) {
  const key = JSON.stringify([rulesName, rules, files]);
  const known = kept.get(key);
  const compiled = known ?? Rules.fromText(rulesName, rules, options(files));
  kept.delete(key);
  kept.set(key, compiled);
  if (kept.size > KEPT) {
    const [oldest, old] = kept.entries().next().value;
    kept.delete(oldest);
    old.free();
  }
  return compiled;
}

function judge({ runName, run, ...given }) {
  const answer = { diagnostics: [], runs: [], unreadable: [], tests: [], count: 0, problem: "" };
  let rules;
  try {
    rules = compiledRules(given);
  } catch (error) {
    if (!(error instanceof RulesError)) throw error;
    const broken = error.diagnostics.some((one) => one.severity === "error");
    return { ...answer, diagnostics: error.diagnostics, problem: broken ? "The rules do not compile." : withHelp(error) };
  }
  answer.diagnostics = rules.diagnostics;
  answer.tests = rules.runTests();
  answer.ofAllRuns = rules.assertions.filter((one) => one.ofAllRuns).map((one) => one.id);
  if (run.trim() !== "") {
    const judged = rules.checkAll(run, { name: runName });
    answer.count = judged.runs.length;
    answer.failed = judged.runs.filter((one) => !one.passed).length;
    answer.runs = judged.runs.slice(0, SHOWN).map((one) => ({ ...one }));
    answer.unreadable = judged.unreadable;
  }
  return answer;
}

const withHelp = (error) => (error.help ? `${error.message}: ${error.help}` : error.message);

const work = {
  judge,
  prepare: (given) => { compiledRules(given); return {}; },
  lint: ({ rulesName, rules, files }) => ({ diagnostics: lint(rulesName, rules, options(files)) }),
  format: ({ rulesName, rules }) => ({ text: format(rulesName, rules) }),
};

self.onmessage = async ({ data }) => {
  if (data.module) {
    await init(data.module);
    return;
  }
  const begun = performance.now();
  let answer;
  try {
    answer = work[data.work](data);
  } catch (error) {
    answer = { failure: withHelp(error) };
  }
  self.postMessage({ ...answer, work: data.work, number: data.number, took: performance.now() - begun });
};
