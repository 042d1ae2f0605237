; Written by `node tools/write.mjs`, from `tools/queries.mjs`.

[
  (rule_item)
  (suite_item)
  (invariant_item)
] @class.around
(rule_item
  (block) @class.inside)
(test_item) @test.around
(test_item
  (run_object) @test.inside)
[
  (def_item)
  (def_step_item)
] @function.around
(entry) @parameter.inside @parameter.around
(comment) @comment.inside @comment.around
