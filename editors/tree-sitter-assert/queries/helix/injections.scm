; Written by `node tools/write.mjs`, from `tools/queries.mjs`.

((regex_pattern) @injection.content
  (#set! injection.language "regex"))
((comment) @injection.content
  (#set! injection.language "comment"))
