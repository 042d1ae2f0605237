// Reads texts by `crates/syntax/grammar/assert.pest` itself: a small interpreter of the notation of pest, as far as that grammar uses it. It gives the tree that
// the program sees, with one difference: a node ends behind its last sign, and not behind the space that follows.

const WORD = /[A-Za-z_]\w*/y;
const BUILT_IN = {
  ANY: /[^]/uy,
  SOI: null,
  EOI: null,
  DROP: null,
  PEEK: null,
  ASCII_DIGIT: /[0-9]/y,
  ASCII_ALPHA: /[A-Za-z]/y,
  ASCII_ALPHA_UPPER: /[A-Z]/y,
  ASCII_ALPHANUMERIC: /[A-Za-z0-9]/y,
};
// What stands in a rule that is named here is space: it neither begins nor ends a node.
const SPACE = new Set(["WHITESPACE", "nl", "separator", "run_separator"]);

/** Rules by name: `{ silent, atomic, body }`, where `atomic` is "normal", "token", "compound" or "spaced". */
export function readGrammar(source) {
  const rules = {};
  let at = 0;
  const space = () => {
    for (;;) {
      const found = take(/\s+|\/\/[^\n]*/y);
      if (!found) return;
    }
  };
  const take = (pattern) => {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    if (found) at = pattern.lastIndex;
    return found?.[0];
  };
  const sign = (text) => {
    space();
    if (!source.startsWith(text, at)) return false;
    at += text.length;
    return true;
  };
  const need = (text) => {
    if (!sign(text)) throw new Error(`assert.pest, character ${at}: \`${text}\` is expected`);
  };
  const string = () => {
    space();
    const found = take(/"(?:[^"\\]|\\.)*"/y);
    return found && JSON.parse(found);
  };
  const either = () => {
    const parts = [row()];
    while (sign("|")) parts.push(row());
    return parts.length === 1 ? parts[0] : { of: "either", parts };
  };
  const row = () => {
    const parts = [single()];
    while (sign("~")) parts.push(single());
    return parts.length === 1 ? parts[0] : { of: "row", parts };
  };
  const single = () => {
    if (sign("!")) return { of: "not", part: single() };
    if (sign("&")) return { of: "ahead", part: single() };
    let part = lone();
    for (;;) {
      if (sign("*")) part = { of: "many", part };
      else if (sign("+")) part = { of: "row", parts: [part, { of: "many", part }] };
      else if (sign("?")) part = { of: "maybe", part };
      else return part;
    }
  };
  const lone = () => {
    if (sign("(")) {
      const part = either();
      need(")");
      return part;
    }
    const text = string();
    if (text !== undefined) return { of: "text", text };
    const name = take(WORD);
    if (name !== "PUSH_LITERAL") return { of: "rule", name };
    need("(");
    const pushed = string();
    need(")");
    return { of: "push", text: pushed };
  };
  for (space(); at < source.length; space()) {
    const name = take(WORD);
    need("=");
    space();
    const kind = take(/[_@$!]/y);
    need("{");
    const body = either();
    need("}");
    const atomic = { "@": "token", $: "compound", "!": "spaced" }[kind] ?? "normal";
    rules[name] = { silent: kind === "_", atomic, body };
  }
  return rules;
}

/** The tree of a text, or where reading ended: `{ tree }` or `{ furthest }`. */
export function parseText(rules, text, entry = "file") {
  let stack = null;
  let furthest = 0;
  let steps = 0;
  // A match is where it ends, where its first and last sign are, and its nodes.
  const nothing = (at) => ({ at, from: -1, to: -1, nodes: [] });
  const joined = (a, b) => ({
    at: b.at,
    from: a.from < 0 ? b.from : a.from,
    to: b.to < 0 ? a.to : b.to,
    nodes: b.nodes.length === 0 ? a.nodes : a.nodes.length === 0 ? b.nodes : a.nodes.concat(b.nodes),
  });
  const sign = (at, length) => {
    if (at + length > furthest) furthest = at + length;
    return { at: at + length, from: length ? at : -1, to: length ? at + length : -1, nodes: [] };
  };
  const skipped = (at, atomic) => {
    if (atomic) return at;
    for (;;) {
      const found = rule("WHITESPACE", at, true);
      if (!found || found.at === at) return at;
      at = found.at;
    }
  };
  // In a token nothing is a node and nothing is skipped; in a compound rule nothing is skipped.
  const rule = (name, at, atomic, quiet = false) => {
    if ((steps += 1) > 20_000_000) throw new Error("the text takes too many steps");
    if (name in BUILT_IN) {
      if (name === "SOI") return at === 0 ? nothing(at) : null;
      if (name === "EOI") return at === text.length ? nothing(at) : null;
      if (name === "PEEK") return text.startsWith(stack.text, at) ? sign(at, stack.text.length) : null;
      if (name === "DROP") {
        stack = stack.below;
        return nothing(at);
      }
      BUILT_IN[name].lastIndex = at;
      const found = BUILT_IN[name].exec(text);
      return found ? sign(at, found[0].length) : null;
    }
    const { silent, atomic: own, body } = rules[name];
    const inside = own === "normal" ? atomic : own !== "spaced";
    const hushed = own === "spaced" ? false : quiet || own === "token";
    const kept = stack;
    const found = match(body, at, inside, own === "token" || hushed);
    if (!found) {
      stack = kept;
      return null;
    }
    if (SPACE.has(name)) return nothing(found.at);
    if (silent || quiet) return found;
    const from = found.from < 0 ? at : found.from;
    return { ...found, nodes: [{ kind: name, from, to: found.to < 0 ? from : found.to, children: found.nodes }] };
  };
  const match = (part, at, atomic, quiet) => {
    switch (part.of) {
      case "text":
        return text.startsWith(part.text, at) ? sign(at, part.text.length) : null;
      case "push":
        stack = { text: part.text, below: stack };
        return nothing(at);
      case "rule":
        return rule(part.name, at, atomic, quiet);
      case "maybe":
        return match(part.part, at, atomic, quiet) ?? nothing(at);
      case "ahead":
      case "not": {
        const [kept, far] = [stack, furthest];
        const found = match(part.part, at, atomic, quiet);
        [stack, furthest] = [kept, far];
        return (found !== null) === (part.of === "ahead") ? nothing(at) : null;
      }
      case "either":
        for (const one of part.parts) {
          const kept = stack;
          const found = match(one, at, atomic, quiet);
          if (found) return found;
          stack = kept;
        }
        return null;
      case "row": {
        let all = null;
        for (const one of part.parts) {
          const found = match(one, all ? skipped(all.at, atomic) : at, atomic, quiet);
          if (!found) return null;
          all = all ? joined(all, found) : found;
        }
        return all;
      }
      case "many": {
        let all = nothing(at);
        for (let first = true; ; first = false) {
          const kept = stack;
          const found = match(part.part, first ? at : skipped(all.at, atomic), atomic, quiet);
          if (!found) {
            stack = kept;
            return all;
          }
          if (found.at === all.at) return all;
          all = joined(all, found);
        }
      }
    }
    throw new Error(`${part.of} is no part of a rule`);
  };
  const found = rule(entry, 0, false);
  return found ? { tree: found.nodes[0] } : { furthest };
}
