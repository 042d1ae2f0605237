// Compiles `crates/syntax/grammar/assert.pest` for the scanner: a small program that reads texts as pest does (`src/scanner.c` runs it), and the nodes and signs
// that its tree has. Nothing here knows the language; a new statement in the grammar is in the tables once they are written again.
import { readFileSync } from "node:fs";
import { readGrammar } from "./pest.mjs";

export const PEST = new URL("../../../crates/syntax/grammar/assert.pest", import.meta.url);

// Rules that are no node: they may be empty, or they stand between a list and each of its members and say nothing.
export const HIDDEN_RULES = new Set(["file", "file_body", "item", "end", "modifiers", "header"]);
const CLASSES = ["ANY", "ASCII_DIGIT", "ASCII_ALPHA", "ASCII_ALPHA_UPPER", "ASCII_ALPHANUMERIC"];
// The order is that of `enum Operation` in the scanner.
const OPERATIONS = [
  "end", "text", "class", "leaf", "call", "either", "maybe", "repeat", "ahead", "not", "skip", "push", "drop", "open", "close", "cut", "lines", "next_line",
  "text_end", "peek",
];
const CODE = Object.fromEntries(OPERATIONS.map((name, index) => [name, index]));

/** The one text that a rule consists of, apart from what is looked for around it; otherwise undefined. */
function lone_text(rule) {
  const parts = rule.body.of === "row" ? rule.body.parts : [rule.body];
  const read = parts.filter((part) => part.of !== "not" && part.of !== "ahead" && !(part.of === "rule" && part.name === "word_end"));
  return read.length === 1 && read[0].of === "text" && read[0].text ? read[0].text : undefined;
}

/** `separator* (line (separator+ line)*)? separator*` from a part of a row on: what stands on lines of its own, where reading goes on behind a mistake. */
function lines_at(parts, index) {
  const [before, lines, behind] = parts.slice(index, index + 3);
  if (before?.of !== "many" || lines?.of !== "maybe" || behind?.of !== "many") return undefined;
  if (before.part.of !== "rule" || behind.part.name !== before.part.name || lines.part.of !== "row") return undefined;
  return { separator: before.part, line: lines.part.parts[0] };
}

/** The rules that a tree can hold: what is only looked for ahead is in none. */
function shown_rules(rules) {
  const shown = new Set();
  const visit = (part) => {
    if (part.of === "ahead" || part.of === "not") return;
    if (part.of === "rule" && rules[part.name] && !shown.has(part.name)) {
      shown.add(part.name);
      visit(rules[part.name].body);
    }
    for (const one of part.parts ?? [part.part]) if (one) visit(one);
  };
  visit({ of: "rule", name: "file" });
  return shown;
}

/** `{ code, start, texts, tokens, nodes }`: tokens are `{ kind }` for a named leaf and `{ text }` for a sign or word. */
export function compileGrammar(source) {
  const rules = readGrammar(source);
  const shown = shown_rules(rules);
  const [code, texts, tokens, nodes] = [[], [], [], []];
  const [starts, wanted] = [new Map(), []];
  const place = (list, same, made) => {
    const index = list.findIndex(same);
    return index >= 0 ? index : list.push(made) - 1;
  };
  const text_of = (text) => place(texts, (one) => one === text, text);
  const sign_of = (text) => place(tokens, (one) => one.text === text, { text });
  const leaf_of = (kind) => place(tokens, (one) => one.kind === kind, { kind });
  const emit = (name, ...operands) => code.push(CODE[name], ...operands) - 1 - operands.length;
  // Where a rule begins depends on whether space is skipped in it.
  const start_of = (name, atomic) => {
    const key = `${name} ${atomic}`;
    if (!starts.has(key)) starts.set(key, { name, atomic, uses: [], at: undefined });
    if (!starts.get(key).uses.length) wanted.push(key);
    return starts.get(key);
  };
  const emit_start = (name, atomic, operation, ...operands) => {
    const at = emit(operation, 0, ...operands);
    start_of(name, atomic).uses.push(at + 1);
  };
  const block = (operation, body) => {
    const at = emit(operation, 0);
    body();
    emit("end");
    code[at + 1] = code.length;
  };

  const rule = (name, atomic, is_token) => {
    if (name === "SOI") return;
    if (name === "EOI") return void emit("text_end");
    if (name === "DROP") return void emit("drop");
    if (name === "PEEK") return void emit("peek");
    if (CLASSES.includes(name)) return void emit("class", CLASSES.indexOf(name));
    const found = rules[name];
    const inside = found.atomic === "normal" ? atomic : found.atomic !== "spaced";
    const text = lone_text(found);
    if (found.silent) {
      part(found.body, inside, is_token);
      // What a block holds is decided line by line, so that a mistake in it spoils only its line.
      if (name === "lb") emit("cut");
    } else if (text !== undefined || found.atomic === "token") {
      const token = !shown.has(name) ? -1 : text !== undefined ? sign_of(text) : leaf_of(name);
      emit_start(name, true, "leaf", token + 1);
    } else {
      emit_start(name, inside, "call");
    }
  };
  const row = (parts, atomic, is_token) => {
    for (let index = 0; index < parts.length; index += 1) {
      if (index > 0 && !atomic) emit("skip");
      const lines = lines_at(parts, index);
      if (!lines) {
        part(parts[index], atomic, is_token);
        continue;
      }
      const at = emit("lines", 0, 0, 0);
      emit("next_line", at);
      for (const [slot, body] of [[2, lines.separator], [3, lines.line]]) {
        code[at + slot] = code.length;
        part(body, atomic, is_token);
        emit("end");
      }
      code[at + 1] = code.length;
      index += 2;
    }
  };
  const part = (one, atomic, is_token) => {
    switch (one.of) {
      case "text":
        if (one.text) emit("text", text_of(one.text), is_token ? 0 : sign_of(one.text) + 1);
        return;
      case "push":
        return void emit("push", one.text === "\n" ? 1 : 0);
      case "rule":
        return rule(one.name, atomic, is_token);
      case "row":
        return row(one.parts, atomic, is_token);
      case "maybe":
        return block("maybe", () => part(one.part, atomic, is_token));
      case "ahead":
      case "not":
        return block(one.of, () => part(one.part, atomic, true));
      case "many":
        return block("maybe", () => {
          part(one.part, atomic, is_token);
          block("repeat", () => {
            if (!atomic) emit("skip");
            part(one.part, atomic, is_token);
          });
        });
      case "either": {
        const at = emit("either", 0, one.parts.length, ...one.parts.map(() => 0));
        one.parts.forEach((each, index) => {
          code[at + 3 + index] = code.length;
          part(each, atomic, is_token);
          emit("end");
        });
        code[at + 1] = code.length;
        return;
      }
    }
    throw new Error(`${one.of} is no part of a rule`);
  };

  const start = start_of("file", true);
  start.uses.push(code.push(0) - 1);
  for (let key = wanted.shift(); key; key = wanted.shift()) {
    const entry = starts.get(key);
    if (entry.at !== undefined) continue;
    entry.at = code.length;
    const found = rules[entry.name];
    const is_leaf = lone_text(found) !== undefined || found.atomic === "token";
    const is_node = !is_leaf && shown.has(entry.name) && !HIDDEN_RULES.has(entry.name);
    if (is_node) emit("open");
    part(found.body, entry.atomic, is_leaf);
    if (is_node) emit("close", place(nodes, (one) => one === entry.name, entry.name));
    emit("end");
  }
  for (const entry of starts.values()) for (const use of entry.uses) code[use] = entry.at;
  return { code, start: code[0], texts, tokens, nodes };
}

export const readTables = () => compileGrammar(readFileSync(PEST, "utf8"));
