// Asks STOP's runtime: `node stop.mjs RUNNER`, where RUNNER is `runtime/src/assertions/runner.ts` of its repository, compiled.
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const { runAssertions } = await import(pathToFileURL(resolve(process.argv[2])).href);
const outcomes = JSON.parse(readFileSync(0, "utf8")).map((asked) => {
  const folder = mkdtempSync(join(tmpdir(), "beside-stop-"));
  for (const [path, text] of Object.entries(asked.files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  process.chdir(folder);
  return runAssertions(asked.rules, asked.context, asked.phase).map((one) => one.status);
});
process.stdout.write(JSON.stringify(outcomes));
