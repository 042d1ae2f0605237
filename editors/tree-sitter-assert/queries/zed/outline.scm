; Written by `node tools/write.mjs`, from `tools/queries.mjs`.

(rule_item
  "rule" @context
  (label) @name) @item
(invariant_item
  "invariant" @context
  (label) @name) @item
(case_item
  "case" @context
  (label) @name) @item
(suite_item
  "suite" @context
  (string) @name) @item
(test_item
  "test" @context
  (string) @name) @item
(runner_item
  "runner" @context
  (label) @name) @item
(workspace_item
  "workspace" @context
  (label) @name) @item
(def_item
  "def" @context
  (identifier) @name) @item
(def_step_item
  "def" @context
  (identifier) @name) @item
(let_item
  "let" @context
  (identifier) @name) @item
(param_item
  "param" @context
  (identifier) @name) @item
(schema_item
  "schema" @context
  (identifier) @name) @item
(tool_item
  "tool" @context
  (tool_glob) @name) @item
