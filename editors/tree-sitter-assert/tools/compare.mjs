// Reads files with tree-sitter and with `crates/syntax/grammar/assert.pest`, and compares the trees: node compare.mjs PARSER.so [FILE…]; otherwise all of the project.
// A file that pest reads has the same nodes at the same places; one that it refuses has an error.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseText, readGrammar } from "./pest.mjs";
import { PEST, readTables } from "./tables.mjs";

const project = fileURLToPath(new URL("../../..", import.meta.url));
const { tokens, nodes } = readTables();
const SHOWN = new Set([...nodes, ...tokens.map((one) => one.kind).filter(Boolean)]);

/** Kind, depth and place of each node that pest's tree and the other one share. */
function pest_nodes(rules, text) {
  const { tree } = parseText(rules, text);
  if (!tree) return undefined;
  const lines = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines.push(at + 1);
  const place = (at) => {
    let [low, high] = [0, lines.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (lines[middle] <= at) low = middle;
      else high = middle;
    }
    return `${low},${Buffer.byteLength(text.slice(lines[low], at))}`;
  };
  const found = [];
  const visit = (node, depth) => {
    const is_shown = SHOWN.has(node.kind) && node.to > node.from;
    if (is_shown) found.push(`${" ".repeat(depth)}${node.kind} ${place(node.from)} ${place(node.to)}`);
    for (const child of node.children) visit(child, depth + is_shown);
  };
  visit(tree, 0);
  return found;
}

/** The same of tree-sitter's trees, one list for each file; undefined where one has an error. */
function tree_sitter_nodes(parser, files) {
  const folder = mkdtempSync(join(tmpdir(), "assert-"));
  writeFileSync(join(folder, "paths"), files.join("\n"));
  const cli = process.env.TREE_SITTER ?? "tree-sitter";
  const answer = spawnSync(cli, ["parse", "--lib-path", parser, "--lang-name", "assert", "--paths", join(folder, "paths")], {
    cwd: project, encoding: "utf8", maxBuffer: 1 << 30, env: { ...process.env, NO_COLOR: "1" },
  });
  rmSync(folder, { recursive: true });
  if (answer.error) throw answer.error;
  const trees = [];
  for (const line of answer.stdout.split("\n")) {
    const found = /^( *)\((\w+(?: [^[]+)?) \[(\d+), (\d+)\] - \[(\d+), (\d+)\]/.exec(line);
    if (!found) continue;
    const [, indent, kind, ...at] = found;
    if (indent === "") trees.push({ nodes: [], errors: kind === "file" ? 0 : 1 });
    else if (kind === "ERROR" || kind.startsWith("MISSING")) trees.at(-1).errors += 1;
    else if (kind !== "comment") trees.at(-1).nodes.push(`${" ".repeat(indent.length / 2 - 1)}${kind} ${at[0]},${at[1]} ${at[2]},${at[3]}`);
  }
  return trees;
}

const [parser, ...named] = process.argv.slice(2);
const listed = ["benches", "crates", "docs", "examples", "integrations", "tests"].flatMap((folder) =>
  readdirSync(join(project, folder), { recursive: true }).filter((name) => name.endsWith(".assert")).map((name) => join(folder, name)),
);
const files = named.length > 0 ? named.map((name) => resolve(name)) : listed.sort();
const rules = readGrammar(readFileSync(PEST, "utf8"));
const trees = tree_sitter_nodes(parser, files);
if (trees.length !== files.length) throw new Error(`${files.length} files, but ${trees.length} trees`);
let [good, bad, wrong, count] = [0, 0, 0, 0];
files.forEach((file, index) => {
  const expected = pest_nodes(rules, readFileSync(resolve(project, file), "utf8"));
  const tree = trees[index];
  const complain = (what) => {
    wrong += 1;
    console.error(`${file}: ${what}`);
  };
  if (!expected) {
    bad += 1;
    if (tree.errors === 0) complain("pest refuses it, and tree-sitter has no error");
    return;
  }
  good += 1;
  count += expected.length;
  const at = expected.findIndex((node, place) => node !== tree.nodes[place]);
  if (tree.errors > 0) complain(`pest reads it, and tree-sitter has ${tree.errors} errors`);
  else if (at >= 0 || expected.length !== tree.nodes.length) complain(`pest has \`${expected[at]?.trim()}\`, and tree-sitter \`${tree.nodes[at < 0 ? expected.length : at]?.trim()}\``);
});
console.log(`${good} files with ${count} nodes that pest reads, ${bad} that it refuses: ${wrong} differ`);
process.exit(wrong > 0 ? 1 : 0);
