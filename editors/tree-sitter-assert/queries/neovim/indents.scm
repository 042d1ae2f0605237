; Written by `node tools/write.mjs`, from `tools/queries.mjs`.

[
  (block)
  (settings_block)
  (run_object)
  (list)
  (object)
  (entries)
  (arguments)
  (group)
  (step_group)
  (flow_group)
  (parameters)
  (import_names)
  (ignored_keys)
] @indent.begin

[
  ")"
  "]"
  "}"
] @indent.branch @indent.end

(block_string) @indent.ignore
(comment) @indent.auto
