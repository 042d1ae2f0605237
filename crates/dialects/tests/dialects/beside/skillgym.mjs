// Runs generated cases with SkillGym and with `aver run`, by the scripted agents of examples/from-skillgym, and compares what passes.
//
// `node skillgym.mjs SKILLGYM AVER [CASES] [SEED]`: the folder of the installed package (`npm install skillgym`, node 22.18 or newer), and the command.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const [skillgym, aver] = process.argv.slice(2, 4).map((path) => resolve(path));
const [cases, seed] = [Number(process.argv[4] ?? 60), Number(process.argv[5] ?? 1)];
const live = resolve(dirname(fileURLToPath(import.meta.url)), "../../../../../examples/from-skillgym/live");

let state = seed * 2654435761 + 1;
const below = (end) => {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return (state >>> 8) % end;
};
const oneOf = (list) => list[below(list.length)];

// What the agents do is told by the prompt.
const PROMPTS = ["please list the folder", "a skill for upgrading", "which agent opens it?", "run five commands", "tell the two markers", "say hello", "fall over"];
const word = () => JSON.stringify(oneOf(["ls", "echo", "step3", "npx skills", "SKILL.md", "README.md", "ready", "Install", "done", "cursr", "marker", "l", "find-skills", "made.txt"]));
const matcher = () => (below(2) ? word() : oneOf(["/^ls$/", "/^echo step[1-5]$/", "/SKILL\\.md$/", "/INSTALL|ready/i", "/skills? (find|add)/"]));
const count = () => below(7);

function assertion() {
  return oneOf([
    () => `assert.commands.${oneOf(["includes", "notIncludes", "exactlyOne", "first", "last"])}(report, ${matcher()})`,
    () => `assert.commands.${oneOf(["count", "atLeast", "atMost"])}(report, ${matcher()}, ${count()})`,
    () => `assert.commands.size(report, ${count()})`,
    () => `assert.commands.before(report, ${matcher()}, ${matcher()})`,
    () => `assert.commands.only(report, [${matcher()}, ${matcher()}])`,
    () => `assert.fileReads.${oneOf(["includes", "notIncludes"])}(report, ${matcher()})`,
    () => `assert.skills.${oneOf(["has", "notHas"])}(report, ${oneOf(['"find-skills"', '"other"'])})`,
    () => `assert.skills.only(report, [${oneOf(['"find-skills"', '"other"'])}])`,
    () => `assert.output.includes(report, ${matcher()})`,
    () => `assert.output.notEmpty(report)`,
    () => `assert.match(report.finalOutput, ${oneOf(["/^ready/", "/listed/", "/steps? (are|is)/", "/marker|Template/"])})`,
    () => `assert.ok(ctx.getCommands().${oneOf(["some", "every"])}((c) => c.${oneOf(["includes", "startsWith", "endsWith"])}(${word()})))`,
    () => `assert.ok(!ctx.getCommands().includes(${oneOf(['"ls"', '"echo step2"', '"npx skills find upgrade"'])}))`,
    () => `assert.equal(ctx.getCommands().filter((c) => c.startsWith("echo")).length, ${count()})`,
    () => `assert.ok(ctx.getFileReads().length ${oneOf(["<", ">", ">="])} ${below(3)})`,
    () => `assert.ok(report.usage.totalTokens ${oneOf(["<", ">"])} ${oneOf([100, 200, 300, 1000])})`,
    () => `assert.equal(ctx.getToolCalls().length, ${count()})`,
    () => `for (const c of ctx.getCommands()) { assert.match(c, ${matcher().replace(/^".*"$/, "/s/")}); }`,
    () => `if (report.finalOutput.includes("done")) { assert.commands.size(report, 5); } else { assert.commands.atMost(report, /./, ${below(3)}); }`,
    () => `ctx.getCommands()[0]?.startsWith("echo") && assert.commands.last(report, "step5")`,
  ])();
}

const folder = mkdtempSync(join(tmpdir(), "beside-skillgym-"));
const bin = join(folder, "bin");
mkdirSync(bin);
cpSync(join(live, "agent.sh"), join(folder, "agent.sh"));
cpSync(join(live, "template"), join(folder, "template"), { recursive: true });
for (const [name, agent] of [["claude", "claude"], ["agent", "cursor"], ["opencode", "opencode"]]) {
  writeFileSync(join(bin, name), `#!/bin/sh\nexec sh '${join(folder, "agent.sh")}' ${agent} "$@"\n`);
  chmodSync(join(bin, name), 0o755);
}
mkdirSync(join(folder, "node_modules"));
symlinkSync(skillgym, join(folder, "node_modules", "skillgym"));
// Of what Codex did its adapter takes the answer alone: that is decided otherwise (docs/reference/skillgym.md).
const runners = { claude: "claude-code", cursor: "cursor-agent", opencode: "opencode" };
const config = {
  run: { schedule: "parallel", maxParallel: 2, outputDir: "./out", workspace: { mode: "isolated", templateDir: "./template" } },
  runners: Object.fromEntries(Object.entries(runners).map(([id, type]) => [id, { agent: { type, model: "m" } }])),
};
writeFileSync(join(folder, "skillgym.config.mjs"), `export default ${JSON.stringify(config)};\n`);
const bodies = Array.from({ length: cases }, () => Array.from({ length: 1 + below(2) }, assertion).join("; "));
const written = bodies.map((body, at) => `  { id: "c${at}", prompt: ${JSON.stringify(`${oneOf(PROMPTS)} (${at})`)}, assert(report, ctx) { ${body}; } },\n`);
writeFileSync(join(folder, "suite.mjs"), `import { assert } from "skillgym";\nexport default [\n${written.join("")}];\n`);

const options = { cwd: folder, encoding: "utf8", maxBuffer: 1 << 28, env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` } };
spawnSync(process.execPath, [join(skillgym, "bin.js"), "run", "suite.mjs"], options);
const [out] = readdirSync(join(folder, "out"));
const there = new Map();
for (const one of JSON.parse(readFileSync(join(folder, "out", out, "results.json"), "utf8")).cases) {
  for (const result of one.runnerResults) there.set(`${one.caseId} > ${result.runner.id}`, result.passed);
}
const imported = execFileSync(aver, ["import", "suite.mjs"], { ...options, stdio: ["ignore", "pipe", "ignore"] });
writeFileSync(join(folder, "suite.assert"), imported);
const ran = spawnSync(aver, ["run", "suite.assert", "--allow-run", "--format", "jsonl", "--out", "runs"], options);
const here = new Map();
const sessions = readFileSync(join(folder, "runs", "runs.jsonl"), "utf8").trim().split("\n");
ran.stdout.split("\n").filter((line) => line.startsWith('{"run"')).forEach((line, at) => {
  const { case: name, runner } = JSON.parse(sessions[at]).meta;
  here.set(`${name} > ${runner}`, JSON.parse(line).passed);
});

let [agree, decided, unsound] = [0, 0, 0];
for (const [name, passed] of there) {
  if (here.get(name) === passed) {
    agree += 1;
  } else if (passed && bodies[Number(name.slice(1, name.indexOf(" ")))].includes("totalTokens")) {
    // What a cache saved counts here, unless `--compat skillgym` reads the transcript (docs/reference/skillgym.md).
    decided += 1;
  } else {
    unsound += here.get(name) && !passed ? 1 : 0;
    console.log(`${name}: ${passed ? "passes" : "fails"} there, ${here.get(name) ? "passes" : "fails"} here:${written[Number(name.slice(1, name.indexOf(" ")))]}`);
  }
}
console.log(`SkillGym: ${agree} of ${there.size} sessions agree, ${decided} differ by decision; ${unsound} pass here that fail there; ${folder}`);
process.exitCode = agree + decided === there.size && there.size === here.size ? 0 : 1;
