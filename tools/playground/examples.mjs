// The examples of the project as the playground offers them: `node examples.mjs` prints JSON. Each pair is a rule file of a folder of
// `examples/` with a trace that belongs to it; `folders` has the texts of all files of such a folder, because rules may name them.
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../examples");
// Folders that are no pairs of rules and traces: programs, live agents, columns.
const SKIPPED = new Set(["embed", "parquet", "from-skillgym"]);
const TEXTS = new Set([".assert", ".json", ".jsonl", ".yaml", ".toml", ".dw", ".cedarschema"]);
const FOREIGN = new Set([
  "mcp-eval.yaml", "policy.dw", "promptfooconfig.yaml", "refunds.evalset.json", "orders.yaml", "skill.yaml", "workflow.yaml", "suite.yaml",
]);
// Files that are neither rules nor traces.
const BESIDE = new Set(["tools.json", "test_config.json", "event.json", "earlier.json"]);
const LARGEST = 200_000;

function filesBelow(folder, prefix = "") {
  return fs.readdirSync(path.join(folder, prefix), { withFileTypes: true }).flatMap((one) => {
    const name = path.posix.join(prefix, one.name);
    if (one.isDirectory()) return filesBelow(folder, name);
    return TEXTS.has(path.extname(name)) && fs.statSync(path.join(folder, name)).size <= LARGEST ? [name] : [];
  });
}

function isRules(folder, name) {
  const foreign = folder.startsWith("from-") && (FOREIGN.has(name) || name === "refunds.json" || name === "refunds.yaml");
  return (name.endsWith(".assert") && !name.startsWith("recorded/")) || foreign;
}

function isTrace(folder, name) {
  const base = path.posix.basename(name);
  return /\.jsonl?$/.test(name) && !isRules(folder, name) && !BESIDE.has(base) && !base.endsWith(".cases.jsonl") && !name.includes(".cases/");
}

function pairsOf(folder, names) {
  const [rules, traces] = [names.filter((name) => isRules(folder, name)), names.filter((name) => isTrace(folder, name))];
  return rules.flatMap((name) => {
    const stem = path.posix.basename(name).split(".")[0];
    const place = path.posix.dirname(name);
    const near = traces.filter((trace) => place === "." || place === "rules" || trace.startsWith(`${place}/`));
    const named = near.filter((trace) => trace.split("/").some((part) => part === stem || part.startsWith(`${stem}.`)));
    const chosen = named.length > 0 ? named : near;
    return chosen.length > 0 ? chosen.map((run) => ({ folder, rules: name, run })) : [{ folder, rules: name, run: null }];
  });
}

export function listExamples() {
  const folders = {};
  const pairs = [];
  for (const folder of fs.readdirSync(ROOT).sort()) {
    if (SKIPPED.has(folder) || !fs.statSync(path.join(ROOT, folder)).isDirectory()) continue;
    const names = filesBelow(path.join(ROOT, folder)).sort();
    const found = pairsOf(folder, names);
    if (found.length === 0) continue;
    folders[folder] = Object.fromEntries(names.map((name) => [name, fs.readFileSync(path.join(ROOT, folder, name), "utf8")]));
    pairs.push(...found);
  }
  return { folders, pairs };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(JSON.stringify(listExamples()));
