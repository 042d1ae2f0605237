// Writes the queries of each editor. What is marked stands here once; editors have other names for it, and other files.
import { readFileSync } from "node:fs";
import { readTables } from "./tables.mjs";

const { tokens, nodes } = readTables();
const OPERATORS = new Set(["and", "or", "not", "in", "is", "implies", "contains", "icontains", "mentions", "matches", "exists", "like", "iff"]);
const BRACKETS = ["(", ")", "[", "]", "{", "}"];
const DELIMITERS = [",", ":", ";", "."];
const quoted = (texts) => texts.map((text) => `  ${JSON.stringify(text)}`).join("\n");
const words = tokens.map((one) => one.text).filter((text) => text && /^[a-z_]{2,}$/.test(text)).sort();
// A slash is left as it is: mostly it stands around a regular expression.
const signs = tokens.map((one) => one.text).filter((text) => text && /^[-+*%|=.<>?]+$/.test(text) && !DELIMITERS.includes(text)).sort();

/** The words that a part of the grammar for colours lists; they are written there from the table of words. */
function listed_words(name) {
  const grammar = JSON.parse(readFileSync(new URL("../../../crates/syntax/grammar/assert.tmLanguage.json", import.meta.url), "utf8"));
  return /\\b\(\?:([^)]*)\)/.exec(grammar.repository[name].match)[1];
}

const HIGHLIGHTS = `
[
${quoted(words.filter((word) => !OPERATORS.has(word)))}
] @keyword

[
${quoted(words.filter((word) => OPERATORS.has(word)))}
] @keyword.operator

[
${quoted(signs)}
] @operator

(test_sign) @operator
(sequence_mode) @keyword
(kind_word) @type.builtin

[
${quoted(BRACKETS)}
] @punctuation.bracket

[
${quoted(DELIMITERS)}
] @punctuation.delimiter

(comment) @comment
[
  (line_string)
  (block_string)
  (raw_string)
] @string
(interpolation) @none
(interpolation
  [
    "\${"
    "}"
  ] @punctuation.special)
(regex) @string.regexp
[
  (number)
  (money)
  (digits)
  (power)
] @number
((literal_word) @boolean
  (#match? @boolean "^(true|false)$"))
((literal_word) @constant.builtin
  (#eq? @constant.builtin "null"))

(binding) @variable.parameter
((name) @variable.builtin
  (#match? @variable.builtin "^(${listed_words("roots")})$"))
(operand
  .
  (name) @function
  .
  (arguments))
(field
  (identifier) @property)
[
  (bare_key)
  (entry_key)
] @property
[
  (tool_glob)
  (command_name)
] @function
(agent_name) @type
[
  (type_name)
  (schema_name)
] @type

(dotted_name) @module
[
  (rule_item
    (label) @label)
  (invariant_item
    (label) @label)
  (case_item
    (label) @label)
  (workspace_item
    (label) @label)
  (runner_item
    (label) @label)
  (rated_rule
    (label) @label)
]
(severity_modifier
  (label) @constant)
(param_item
  (identifier) @variable.parameter)
(parameter) @variable.parameter
[
  (def_item
    (identifier) @function)
  (def_step_item
    (identifier) @function)
]
(schema_item
  (identifier) @type)
(test_item
  (identifier) @constant)
(runner_setting
  (identifier) @property)
`;

const INJECTIONS = `
((regex_pattern) @injection.content
  (#set! injection.language "regex"))
((comment) @injection.content
  (#set! injection.language "comment"))
`;

const LOCALS = `
[
  (file)
  (block)
  (def_item)
  (def_step_item)
  (quantified)
  (no_statement)
] @local.scope

(param_item
  (identifier) @local.definition.parameter)
(parameter) @local.definition.parameter
(let_item
  (identifier) @local.definition.var)
(quantified
  (identifier) @local.definition.var)
(no_statement
  (identifier) @local.definition.var)
(def_item
  (identifier) @local.definition.function)
(def_step_item
  (identifier) @local.definition.function)
(schema_item
  (identifier) @local.definition.type)

(name) @local.reference
(tool_glob) @local.reference
(type_name) @local.reference
`;

// What holds lines or parts of its own: nodes of which one begins with a bracket that its last sign closes.
const BLOCKS = ["block", "settings_block", "run_object"];
const BRACKETED = [...BLOCKS, "list", "object", "entries", "arguments", "group", "step_group", "flow_group", "parameters", "import_names", "ignored_keys"];
const NAMED = [
  ["rule_item", "label"], ["invariant_item", "label"], ["case_item", "label"], ["suite_item", "string"], ["test_item", "string"], ["runner_item", "label"],
  ["workspace_item", "label"], ["def_item", "identifier"], ["def_step_item", "identifier"], ["let_item", "identifier"], ["param_item", "identifier"],
  ["schema_item", "identifier"], ["tool_item", "tool_glob"],
];
for (const name of [...BRACKETED, ...NAMED.map(([name]) => name)]) if (!nodes.includes(name)) throw new Error(`the grammar has no ${name}`);
const any_of = (names) => `[\n${names.map((name) => `  (${name})`).join("\n")}\n]`;
const first_word = (name) => (name.startsWith("def_") ? "def" : name.replace(/_item$/, ""));

const NEOVIM = {
  highlights: HIGHLIGHTS,
  injections: INJECTIONS,
  locals: LOCALS,
  folds: `\n${any_of([...BLOCKS, "list", "object", "block_string"])} @fold\n`,
  indents: `\n${any_of(BRACKETED)} @indent.begin\n\n[\n  ")"\n  "]"\n  "}"\n] @indent.branch @indent.end\n\n(block_string) @indent.ignore\n(comment) @indent.auto\n`,
  tags: `\n${NAMED.map(([name, part]) => `(${name}\n  (${part}) @name) @definition.${first_word(name)}`).join("\n")}\n`,
};
const renamed = (text, names) => text.replace(/@[a-z.]+/g, (name) => names[name] ?? name);
const HELIX = {
  highlights: renamed(HIGHLIGHTS, {
    "@number": "@constant.numeric", "@boolean": "@constant.builtin.boolean", "@property": "@variable.other.member", "@module": "@namespace",
    "@none": "@embedded",
  }),
  injections: INJECTIONS,
  locals: renamed(LOCALS, {
    "@local.definition.parameter": "@local.definition.variable.parameter", "@local.definition.var": "@local.definition.variable",
  }),
  indents: `\n${any_of(BRACKETED)} @indent\n\n[\n  ")"\n  "]"\n  "}"\n] @outdent\n`,
  textobjects: `
[
  (rule_item)
  (suite_item)
  (invariant_item)
] @class.around
(rule_item
  (block) @class.inside)
(test_item) @test.around
(test_item
  (run_object) @test.inside)
[
  (def_item)
  (def_step_item)
] @function.around
(entry) @parameter.inside @parameter.around
(comment) @comment.inside @comment.around
`,
};
const ZED = {
  highlights: renamed(HIGHLIGHTS, {
    "@string.regexp": "@string.regex", "@none": "@embedded", "@constant.builtin": "@constant", "@module": "@namespace", "@variable.builtin": "@variable.special",
    "@keyword.operator": "@keyword", "@type.builtin": "@type",
  }),
  injections: INJECTIONS,
  indents: `\n(_\n  "{"\n  "}" @end) @indent\n(_\n  "["\n  "]" @end) @indent\n(_\n  "("\n  ")" @end) @indent\n`,
  brackets: `\n("{" @open\n  "}" @close)\n("[" @open\n  "]" @close)\n("(" @open\n  ")" @close)\n`,
  outline: `\n${NAMED.map(([name, part]) => `(${name}\n  ${JSON.stringify(first_word(name))} @context\n  (${part}) @name) @item`).join("\n")}\n`,
};

/** Path and text of each file. */
export const queryFiles = () =>
  Object.entries({ neovim: NEOVIM, helix: HELIX, zed: ZED }).flatMap(([editor, files]) =>
    Object.entries(files).map(([name, text]) => [`queries/${editor}/${name}.scm`, `; Written by \`node tools/write.mjs\`, from \`tools/queries.mjs\`.\n${text}`]),
  );
