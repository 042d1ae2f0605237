// Asks promptfoo's own assertions: `node promptfoo.mjs PACKAGE`, where PACKAGE is the folder of the npm package `promptfoo`.
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

for (const name of ["TELEMETRY", "UPDATE", "REMOTE_GENERATION", "SHARING"]) process.env[`PROMPTFOO_DISABLE_${name}`] = "1";
process.env.LOG_LEVEL = "error";
// It writes its log to standard output.
const print = process.stdout.write.bind(process.stdout);
process.stdout.write = () => true;
const promptfoo = (await import(pathToFileURL(resolve(process.argv[2], "dist/src/index.js")).href)).default;
const { runAssertion, runAssertions } = promptfoo.assertions;

const outcome = async (asked) => {
  const { test, response, latencyMs, spans } = asked;
  const common = { prompt: "ask", providerResponse: response, latencyMs, test, vars: test.vars };
  try {
    // Spans are given with one assertion: of several promptfoo looks for them in its store.
    const traceData = spans && { traceId: "t", spans };
    const said = spans
      ? await runAssertion({ ...common, assertion: test.assert[0], traceId: "t", traceData })
      : await runAssertions(common);
    const named = Object.entries(said.namedScores ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
    return { pass: said.pass, score: Number(said.score.toFixed(9)), named: named.map(([name, score]) => [name, Number(score.toFixed(9))]) };
  } catch {
    return "error";
  }
};
// What promptfoo loads may leave standard input without blocking.
const pieces = [];
for await (const piece of process.stdin) pieces.push(piece);
const outcomes = [];
for (const asked of JSON.parse(Buffer.concat(pieces).toString("utf8"))) outcomes.push(await outcome(asked));
print(JSON.stringify(outcomes), () => process.exit(0));
