; Written by `node tools/write.mjs`, from `tools/queries.mjs`.

[
  "accepted"
  "after"
  "agent"
  "all"
  "allow"
  "also"
  "any"
  "apart"
  "args"
  "arguments"
  "as"
  "at"
  "available"
  "before"
  "between"
  "bootstrap"
  "both"
  "by"
  "call"
  "calls"
  "case"
  "cases"
  "class"
  "classify"
  "command"
  "confidence"
  "contain"
  "count"
  "cwd"
  "def"
  "deny"
  "does"
  "each"
  "either"
  "else"
  "empty"
  "end"
  "ends"
  "env"
  "error"
  "exact"
  "exactly"
  "exits"
  "expect"
  "fail"
  "failed"
  "fails"
  "far"
  "file"
  "first"
  "flow"
  "folded"
  "for"
  "from"
  "generate"
  "http"
  "id"
  "if"
  "ignored"
  "ignoring"
  "immediately"
  "invariant"
  "json"
  "last"
  "least"
  "let"
  "match"
  "max_steps"
  "mention"
  "message"
  "missing"
  "model"
  "more"
  "most"
  "must"
  "named"
  "nested"
  "never"
  "no"
  "none"
  "of"
  "ok"
  "only"
  "optional"
  "order"
  "parallel"
  "param"
  "post"
  "pre"
  "prompt"
  "proposed"
  "repeat"
  "repeats"
  "require"
  "retries"
  "row"
  "rule"
  "run"
  "runner"
  "runs"
  "schedule"
  "schema"
  "score"
  "seed"
  "select"
  "sequence"
  "set"
  "severity"
  "snapshots"
  "so"
  "some"
  "start"
  "started"
  "starts"
  "status"
  "step"
  "strict"
  "subset"
  "suite"
  "superset"
  "tagged"
  "tags"
  "template"
  "test"
  "than"
  "then"
  "threshold"
  "timeout"
  "times"
  "together"
  "tool"
  "tools"
  "turn"
  "turns"
  "until"
  "use"
  "valid"
  "weight"
  "when"
  "where"
  "with"
  "within"
  "workspace"
] @keyword

[
  "and"
  "contains"
  "exists"
  "icontains"
  "iff"
  "implies"
  "in"
  "is"
  "like"
  "matches"
  "mentions"
  "not"
  "or"
] @keyword.operator

[
  "%"
  "*"
  "**"
  "+"
  "-"
  "->"
  ".."
  "="
  ">="
  "?"
  "|"
] @operator

(test_sign) @operator
(sequence_mode) @keyword
(kind_word) @type.builtin

[
  "("
  ")"
  "["
  "]"
  "{"
  "}"
] @punctuation.bracket

[
  ","
  ":"
  ";"
  "."
] @punctuation.delimiter

(comment) @comment
[
  (line_string)
  (block_string)
  (raw_string)
] @string
(interpolation) @embedded
(interpolation
  [
    "${"
    "}"
  ] @punctuation.special)
(regex) @string.regexp
[
  (number)
  (money)
  (digits)
  (power)
] @constant.numeric
((literal_word) @constant.builtin.boolean
  (#match? @constant.builtin.boolean "^(true|false)$"))
((literal_word) @constant.builtin
  (#eq? @constant.builtin "null"))

(binding) @variable.parameter
((name) @variable.builtin
  (#match? @variable.builtin "^(inputs|prompt|output|calls|steps|messages|commands|reads|writes|skills|http|spans|handovers|usage|cost|duration|turns|error|meta|env|tools|files|response|run)$"))
(operand
  .
  (name) @function
  .
  (arguments))
(field
  (identifier) @variable.other.member)
[
  (bare_key)
  (entry_key)
] @variable.other.member
[
  (tool_glob)
  (command_name)
] @function
(agent_name) @type
[
  (type_name)
  (schema_name)
] @type

(dotted_name) @namespace
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
  (identifier) @variable.other.member)
