// Writes `src/tables.h` and the queries from `crates/syntax/grammar/assert.pest`; with `--check` it only says whether they are what it would write.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { queryFiles } from "./queries.mjs";
import { readTables } from "./tables.mjs";

const { code, start, texts, tokens, nodes } = readTables();
// Those of the scanner itself, `FIRST_TOKEN` there.
const OWN_SIGNS = 6;
const rows = (values) => {
  const lines = [""];
  for (const value of values) {
    if (lines.at(-1).length + value.length > 145) lines.push("");
    lines[lines.length - 1] += (lines.at(-1) ? " " : "  ") + value + ",";
  }
  return lines.join("\n");
};
if (code.length > 65_535) throw new Error("the program is longer than its addresses reach");
const tables = `// Written by \`node tools/write.mjs\` from \`crates/syntax/grammar/assert.pest\`.
#define START ${start}
#define TOKEN_COUNT ${tokens.length}
#define NODE_COUNT ${nodes.length}
#define IDENTIFIER ${tokens.findIndex((one) => one.kind === "identifier")}
#define NUMBER ${tokens.findIndex((one) => one.kind === "number")}
#define LINE_END ${tokens.findIndex((one) => one.text === "\n")}
// What a sign or word consists of; nothing where it is of a kind.
static const char *const TOKEN_TEXTS[] = {
${rows(tokens.map((one) => JSON.stringify(one.text ?? "")))}
};
static const char *const TEXTS[] = {
${rows(texts.map((text) => JSON.stringify(text)))}
};
static const uint16_t CODE[] = {
${rows(code.map(String))}
};
`;
let is_stale = false;
for (const [path, text] of [["src/tables.h", tables], ...queryFiles()]) {
  const target = new URL(`../${path}`, import.meta.url);
  if (existsSync(target) && readFileSync(target, "utf8") === text) continue;
  is_stale = true;
  if (!process.argv.includes("--check")) {
    mkdirSync(new URL(".", target), { recursive: true });
    writeFileSync(target, text);
  } else console.error(`${path} is out of date: node editors/tree-sitter-assert/tools/write.mjs`);
}
// The numbers that the scanner gives its signs are those of the parser.
const parser = new URL("../src/parser.c", import.meta.url);
const counted = existsSync(parser) && /^#define EXTERNAL_TOKEN_COUNT (\d+)/m.exec(readFileSync(parser, "utf8"))?.[1];
if (Number(counted) !== OWN_SIGNS + tokens.length + nodes.length) {
  is_stale = true;
  console.error("src/parser.c is out of date: tree-sitter generate, in editors/tree-sitter-assert");
}
process.exit(is_stale && process.argv.includes("--check") ? 1 : 0);
