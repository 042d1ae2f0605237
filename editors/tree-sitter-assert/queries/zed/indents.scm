; Written by `node tools/write.mjs`, from `tools/queries.mjs`.

(_
  "{"
  "}" @end) @indent
(_
  "["
  "]" @end) @indent
(_
  "("
  ")" @end) @indent
