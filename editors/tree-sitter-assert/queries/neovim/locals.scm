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
