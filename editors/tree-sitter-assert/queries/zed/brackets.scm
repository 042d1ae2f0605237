; Written by `node tools/write.mjs`, from `tools/queries.mjs`.

("{" @open
  "}" @close)
("[" @open
  "]" @close)
("(" @open
  ")" @close)
