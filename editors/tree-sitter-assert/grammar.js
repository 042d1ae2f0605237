// The tree-sitter grammar of `.assert` files. `crates/syntax/grammar/assert.pest` decides what the language is, and the scanner reads by it: it tells where each
// node begins and ends, and gives every token. What is left here is to make nodes of that. Their names are those of the rules.
import { readTables } from "./tools/tables.mjs";

const { tokens, nodes } = readTables();
const close = (name) => `_close_${name}`;
const token_of = ($, one) => (one.kind ? $[one.kind] : one.text === "\n" ? $._newline : one.text);

export default grammar({
  name: "assert",

  extras: ($) => [/\s/, $.comment],
  // The order is that of `enum SignKind` in the scanner: signs of its own, then the tokens, then the ends of nodes.
  externals: ($) => [
    $._look, $._open, $.comment, $._unexpected, $._loose_string, $._loose_sign,
    ...tokens.map((one) => token_of($, one)),
    ...nodes.map((name) => $[close(name)]),
  ],

  rules: {
    file: ($) => seq($._look, repeat($._part)),
    // The scanner looks ahead behind each part. Without a sign for that, whatever may follow would stand in the tables once for each kind of node.
    _part: ($) => seq(
      optional(choice($._loose_sign, alias($._loose_string, $.string), ...tokens.map((one) => token_of($, one)), ...nodes.map((name) => $[name]))),
      $._look,
    ),
    ...Object.fromEntries(nodes.map((name) => [name, ($) => seq($._open, repeat1($._part), $[close(name)])])),
  },
});
