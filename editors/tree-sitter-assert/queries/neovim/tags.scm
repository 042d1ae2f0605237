; Written by `node tools/write.mjs`, from `tools/queries.mjs`.

(rule_item
  (label) @name) @definition.rule
(invariant_item
  (label) @name) @definition.invariant
(case_item
  (label) @name) @definition.case
(suite_item
  (string) @name) @definition.suite
(test_item
  (string) @name) @definition.test
(runner_item
  (label) @name) @definition.runner
(workspace_item
  (label) @name) @definition.workspace
(def_item
  (identifier) @name) @definition.def
(def_step_item
  (identifier) @name) @definition.def
(let_item
  (identifier) @name) @definition.let
(param_item
  (identifier) @name) @definition.param
(schema_item
  (identifier) @name) @definition.schema
(tool_item
  (tool_glob) @name) @definition.tool
