; Written by `node tools/write.mjs`, from `tools/queries.mjs`.

[
  (file)
  (block)
  (def_item)
  (def_step_item)
  (quantified)
  (no_statement)
] @local.scope

(param_item
  (identifier) @local.definition.variable.parameter)
(parameter) @local.definition.variable.parameter
(let_item
  (identifier) @local.definition.variable)
(quantified
  (identifier) @local.definition.variable)
(no_statement
  (identifier) @local.definition.variable)
(def_item
  (identifier) @local.definition.function)
(def_step_item
  (identifier) @local.definition.function)
(schema_item
  (identifier) @local.definition.type)

(name) @local.reference
(tool_glob) @local.reference
(type_name) @local.reference
