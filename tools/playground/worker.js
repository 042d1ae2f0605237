// Judges beside the page, so that typing never waits. The page sends the compiled library first, then texts.
import { RulesError, Rules, format, init, lint } from "./averment.js";

const options = (files) => ({ files, limits: { foreign: true } });

// A trace of several runs is shown in part.
const SHOWN = 50;

function judge({ rulesName, rules, runName, run, files }) {
  const answer = { diagnostics: lint(rulesName, rules, options(files)), runs: [], unreadable: [], tests: [], count: 0, problem: "" };
  let compiled;
  try {
    compiled = Rules.fromText(rulesName, rules, options(files));
  } catch (error) {
    if (!(error instanceof RulesError)) throw error;
    const broken = answer.diagnostics.some((one) => one.severity === "error");
    return { ...answer, problem: broken ? "The rules do not compile." : withHelp(error) };
  }
  try {
    answer.tests = compiled.runTests();
    answer.ofAllRuns = compiled.assertions.filter((one) => one.ofAllRuns).map((one) => one.id);
    if (run.trim() !== "") {
      const judged = compiled.checkAll(run, { name: runName });
      answer.count = judged.runs.length;
      answer.failed = judged.runs.filter((one) => !one.passed).length;
      answer.runs = judged.runs.slice(0, SHOWN).map((one) => ({ ...one }));
      answer.unreadable = judged.unreadable;
    }
  } finally {
    compiled.free();
  }
  return answer;
}

const withHelp = (error) => (error.help ? `${error.message}: ${error.help}` : error.message);

const work = {
  judge,
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
