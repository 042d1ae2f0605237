; Written by `node tools/write.mjs`, from `tools/queries.mjs`.

[
  (block)
  (settings_block)
  (run_object)
  (list)
  (object)
  (block_string)
] @fold
