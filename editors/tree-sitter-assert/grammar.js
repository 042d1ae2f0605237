// The tree-sitter grammar of `.assert` files. `grammar/assert.pest` decides what the language is; nodes have the names of its rules, and `./test` holds
// both against each other. What pest decides by looking ahead is decided by `src/scanner.c`.

// Words that no name is: they stand between operands.
const OPERATORS = ["and", "or", "not", "in", "is", "if", "then", "else", "implies", "contains", "icontains", "mentions", "matches", "exists"];
const KINDS = ["command", "read", "write", "skill", "http", "user", "assistant", "thinking", "message", "span", "handover"];

/** At least one, with commas between them; one more comma may follow. */
const listed = (part) => seq(part, repeat(seq(",", part)), optional(","));
/** A line may end here. */
const nl = ($) => optional($._goes_on);
/** One, or several behind commas, after each of which a line may end. */
const also = ($, part) => seq(part, repeat(seq(",", nl($), part)));
/** A sign or word behind which a line may end. */
const open = ($, ...parts) => seq(...parts, nl($));
/** The sign that closes what is open. One token for all of them, because parse states with different external tokens are never merged. */
const closed = ($, sign) => alias($._close, sign);
const block_of = ($, line, last) => seq(alias($._block_open, "{"), repeat(line), optional(last), closed($, "}"));

module.exports = grammar({
  name: "assert",

  word: ($) => $._word,
  extras: ($) => [/[ \t\r]/, $.comment, $._soft_newline],
  // The order is that of `enum SignKind` in the scanner.
  externals: ($) => [
    $._newline, $._modifier_newline, $._soft_newline, $._goes_on,
    "(", $._call_open, "[", $._index_open, $._block_open, $._object_open, $._repeat_open, $._interpolation_open, $._close,
    $._plain_ahead, $._infix_ahead, $._list_ahead, $._steps_ahead, $._like_start,
    $._quantifier_word, $._no_in, $._count_word, $._if_steps, $._in_a_row,
    $._entry_word, $._pattern, $._plain_word, $._command_word,
    $.number, $._regex_start, $._expression_end, "tagged",
    $._unreachable,
  ],
  reserved: { global: () => [], operators: () => OPERATORS },
  supertypes: ($) => [$.declaration, $.statement],
  inline: ($) => [$._item, $._tool_name],
  conflicts: ($) => [
    // `require a`, and in the next line `weight 2`: of the statement, or a setting by itself where the line cannot be one.
    [$.assertion], [$._infix_assertion],
    // `count a <= 3`, `count a + count b <= 3`
    [$.counted, $.step],
    [$.not_statement, $._logical],
  ],

  rules: {
    file: ($) => seq(repeat($._item_line), optional($._item)),

    _item_line: ($) => choice($._separator, seq($._item, $._separator)),
    _separator: ($) => choice($._newline, $._modifier_newline, ";"),
    _item: ($) => choice(seq($._plain_ahead, choice($.declaration, $.setting_line, $.assertion)), alias($._infix_assertion, $.assertion)),
    block: ($) => block_of($, $._item_line, $._item),
    comment: () => token(seq("#", /[^\n]*/)),

    // ---- words

    _word: () => /[A-Za-z_][A-Za-z0-9_]*/,
    identifier: ($) => $._word,
    plain_label: ($) => choice(reserved("operators", $._word), $._long_label),
    _long_label: () => /[A-Za-z_][A-Za-z0-9_]*([\-.][A-Za-z0-9_]+)+/,
    name: ($) => choice(reserved("operators", $._word), $._plain_word),
    type_name: ($) => reserved("operators", $._word),
    literal_word: () => choice("true", "false", "null"),

    // ---- literals

    money: () => /\$[0-9][0-9_]*(\.[0-9][0-9_]*)?[A-Za-z0-9_]*/,
    binding: () => /\$[A-Za-z_][A-Za-z0-9_]*/,
    regex: ($) => seq(alias($._regex_start, "/"), $.regex_pattern, token.immediate("/"), optional($.regex_flags)),
    regex_pattern: () => token.immediate(prec(2, /(\\[^\n]|\[\^?\]?(\\[^\n]|[^\]\\\n])*\]|[^\/\[\\\n])+/)),
    regex_flags: () => token.immediate(/[A-Za-z0-9_]+/),

    string: ($) => choice($.block_string, $.line_string, $.raw_string),
    block_string: ($) => seq('"""', repeat(choice($.interpolation, $.escape_sequence, $._block_text)), token.immediate(prec(3, '"""'))),
    line_string: ($) => seq('"', repeat(choice($.interpolation, $.escape_sequence, $._line_text)), token.immediate(prec(2, '"'))),
    raw_string: () => token(seq("'", /[^'\n]*/, "'")),
    escape_sequence: () => token.immediate(prec(2, /\\[^\n]/)),
    _line_text: () => choice(token.immediate(prec(2, /[^"\\$\n]+/)), token.immediate(prec(1, "$"))),
    _block_text: () => choice(token.immediate(prec(2, /[^"\\$]+/)), token.immediate(prec(1, /["$]/)), token.immediate(prec(1, "\\\n"))),
    interpolation: ($) => seq(alias($._interpolation_open, "${"), $.expression, closed($, "}")),

    list: ($) => seq("[", optional(listed($.expression)), closed($, "]")),
    object: ($) => seq(alias($._object_open, "{"), optional(listed($.pair)), closed($, "}")),
    pair: ($) => seq(field("key", $.object_key), open($, ":"), field("value", $.expression)),
    object_key: ($) => choice($.string, $.bare_key),
    bare_key: ($) => choice($._word, /[A-Za-z_][A-Za-z0-9_]*(-[A-Za-z0-9_]+)+/),

    // ---- expressions

    // The scanner says where an expression ends: without that, parse states of expressions would be made anew for everything that may follow.
    expression: ($) => seq($._logical, repeat(seq(open($, choice("and", "or", "implies")), $._logical)), $._expression_end),
    _logical: ($) => seq(repeat("not"), choice($.comparison, $._value)),
    comparison: ($) => seq($._value, repeat1($.test)),
    _value: ($) => choice($.value, $._operand),
    value: ($) => prec.right(choice(
      seq("..", $._signed, repeat($._value_tail)),
      seq($._signed, repeat1($._value_tail)),
      $._negative,
    )),
    _signed: ($) => prec(1, choice($._operand, $._negative)),
    _negative: ($) => seq(repeat1("-"), $._operand),
    _value_tail: ($) => prec.right(choice(
      seq(open($, choice("|", "+", "-", "*", "/", "%")), $._signed),
      seq("..", optional($._signed)),
    )),
    _operand: ($) => choice($.operand, $.conditional, $.quantified, $.counted, $._primary),
    operand: ($) => prec.right(seq($._primary, repeat1(choice($.field, $.index, $.arguments)))),
    _primary: ($) => choice($.literal_word, $.name, $.number, $.string, $.group, $.money, $.binding, $.list, $.object, $.regex),
    field: ($) => seq(token.immediate("."), alias(token.immediate(/[A-Za-z_][A-Za-z0-9_]*/), $.identifier)),
    index: ($) => seq(alias($._index_open, "["), choice("**", "*", $.expression), closed($, "]")),
    arguments: ($) => seq(alias($._call_open, "("), optional(listed($._collected)), closed($, ")")),
    group: ($) => seq("(", $._collected, closed($, ")")),
    conditional: ($) => seq("if", $.expression, open($, "then"), $.expression, open($, "else"), $.expression),
    quantified: ($) => seq(
      alias(choice($._quantifier_word, $._no_in), $.quantifier), field("name", $.identifier), "in", $.expression, open($, ":"), $.expression,
    ),
    counted: ($) => prec.right(seq(alias($._count_word, "count"), $._step_part, optional($.so_far))),
    so_far: () => seq(optional("started"), "so", "far"),

    // Inside of parentheses a list may be made.
    _collected: ($) => choice($.expression, $.collected),
    collected: ($) => seq($.expression, choice($.where_tail, $.of_tail)),
    where_tail: ($) => seq(open($, "where"), $.expression),
    of_tail: ($) => seq(open($, "of"), choice(
      seq($._plain_ahead, $.all_runs),
      seq($._list_ahead, $.expression, optional($.where_tail)),
      seq($._steps_ahead, $.step, optional($.so_far)),
    )),
    all_runs: ($) => seq("runs", optional($.grouping)),
    grouping: ($) => seq("by", choice($.operand, $._primary)),

    test: ($) => choice(
      seq(open($, $.test_sign), $._value),
      $.test_like,
      seq(optional("not"), open($, "in"), $._value),
      seq(choice(seq(optional("not"), "contains"), seq("is", optional("not"))), "json", optional($.schema_name)),
      seq(optional("not"), "contains", open($, choice("all", "any", "none")), $._value),
      seq(optional("not"), open($, choice("contains", "icontains", "mentions", "matches")), $._value),
      seq("does", "not", open($, choice("contain", "mention", "match", seq(choice("start", "end"), "with"))), $._value),
      seq(optional("not"), choice("starts", "ends"), open($, "with"), $._value),
      seq("is", optional("not"), choice("empty", "missing", $.type_name)),
      seq(optional("not"), "exists"),
    ),
    test_sign: () => choice("===", "!==", "==", "!=", "<=", ">=", "<", ">"),
    // A text behind `like` is compared only where that is asked for.
    test_like: ($) => prec.right(seq(optional("not"), open($, "like"), $._like_start, $._value, repeat(choice($.like_order, $.like_ignored, "folded")))),
    like_order: () => seq("in", "any", "order"),
    like_ignored: ($) => seq("ignoring", $.ignored_keys),
    schema_name: () => token(prec(1, /[A-Z][A-Za-z0-9_]*/)),

    // ---- steps

    step: ($) => prec.right(seq($._step_part, repeat($._alternative), optional($.where_clause))),
    listed_step: ($) => prec.right(seq($._listed_part, repeat($._alternative), optional($.where_clause))),
    _steps: ($) => prec.right(seq($.step, repeat(seq(open($, ","), $.listed_step)))),
    _alternative: ($) => seq(open($, "|"), $._listed_part),
    _listed_part: ($) => choice($._step_part, $.regex_atom),
    regex_atom: ($) => prec.right(seq($.regex, optional($.entries), repeat($._qualifier))),
    _step_part: ($) => prec.right(choice(seq(choice($.proposed_group, $.step_group), repeat($._qualifier)), $.atom)),
    step_group: ($) => seq("(", $.listed_step, closed($, ")")),
    proposed_group: ($) => seq("proposed", $.step_group),
    atom: ($) => prec.right(seq(optional($.proposed), $._subject, optional($.entries), repeat($._qualifier))),
    proposed: () => "proposed",
    _subject: ($) => choice($.kind_subject, $._tool_name),
    _tool_name: ($) => choice($.quoted_tool, $.tool_glob),
    quoted_tool: ($) => $.string,
    tool_glob: ($) => choice($._word, $._plain_word, $._pattern),
    kind_subject: ($) => prec.right(seq($.kind_word, optional(choice($.string, $.regex, $.command_name)))),
    kind_word: () => choice(...KINDS),
    command_name: ($) => $._command_word,
    _qualifier: ($) => choice($.status, $.by, $.tagged),
    status: () => choice("ok", "failed"),
    by: ($) => seq("by", choice($.binding, $.string, $.regex, alias($.tool_glob, $.agent_name))),
    tagged: ($) => seq("tagged", $.plain_label),
    entries: ($) => seq("(", optional(listed($.entry)), closed($, ")")),
    entry: ($) => choice(
      seq(field("key", $.entry_key), open($, ":"), field("value", $.expression)),
      seq($.expression, optional(seq(open($, ":"), field("value", $.expression)))),
    ),
    entry_key: ($) => $._entry_word,
    where_clause: ($) => seq(open($, "where"), $.expression),

    flow_sequence: ($) => seq($.flow_choice, repeat(seq($._then_to, $.flow_choice))),
    flow_choice: ($) => seq($._flow_part, repeat(seq(open($, "|"), choice($._flow_part, $.regex_atom)))),
    _flow_part: ($) => choice($.flow_repeat, $.proposed_group, $.atom),
    flow_repeat: ($) => seq($.flow_group, optional($.repetition)),
    flow_group: ($) => seq("(", $.flow_sequence, optional($.where_clause), closed($, ")")),
    repetition: ($) => choice(
      token.immediate("*"), token.immediate("+"), token.immediate("?"),
      seq(alias($._repeat_open, "{"), $._digits, optional(seq(",", optional($._digits))), closed($, "}")),
    ),
    _digits: () => /[0-9][0-9_]*/,
    _then_to: ($) => open($, "->"),

    // ---- statements

    assertion: ($) => seq(choice($.statement, $.not_statement, $.expression_statement), repeat($._attached_modifier)),
    _infix_assertion: ($) => seq($._infix_ahead, choice($.infix_statement, alias($._not_infix, $.not_statement)), repeat($._attached_modifier)),
    expression_statement: ($) => seq($.expression, optional(choice($.within, $.in_a_row))),
    in_a_row: ($) => $._in_a_row,
    not_statement: ($) => seq("not", choice($.statement, $.not_statement)),
    _not_infix: ($) => seq("not", choice($.infix_statement, alias($._not_infix, $.not_statement))),
    infix_statement: ($) => seq($.step, choice(seq("iff", $.step), seq("only", "after", $.step))),

    statement: ($) => choice(
      $.require_statement, $.repeat_statement, $.never_statement, $.only_statement, $.count_statement, $.first_statement, $.last_statement,
      $.before_statement, $.starts_statement, $.after_statement, $.immediately_statement, $.sequence_statement, $.nested_statement,
      $.together_statement, $.apart_statement, $.not_both_statement, $.either_statement, $.if_statement, $.flow_statement, $.each_statement,
      $.some_statement, $.no_statement, $.valid_statement, $.match_statement, $.score_statement, $.between_block, $.when_block,
      $.group_statement, $.file_check, $.env_check, $.tool_check, $.http_check, $.run_check, $.rate_statement, $.power_statement,
    ),

    require_statement: ($) => seq("require", $.step, optional($.times)),
    times: ($) => seq($.times_range, "times"),
    times_range: ($) => choice(
      seq($.number, optional(seq("..", optional($.number)))),
      seq("..", $.number),
    ),
    repeat_statement: ($) => seq("never", "repeat", $.step, "more", "than", $.number, "times"),
    never_statement: ($) => seq("never", $._steps, optional($.window), optional($.within)),
    window: ($) => choice(
      seq("after", $.step, optional(seq("until", $.step))),
      seq("before", $.step),
      seq("between", $.step, "and", $.step),
    ),
    within: ($) => seq("within", $.number, optional($.within_unit)),
    within_unit: () => choice("calls", "call", "turns", "turn"),
    only_statement: ($) => seq("only", $._steps),
    count_statement: ($) => prec.dynamic(1, seq(alias($._count_word, "count"), $.step, $.count_test)),
    count_test: ($) => seq(open($, choice($.test_sign, seq(optional("not"), "in"))), $._value, $._expression_end),
    first_statement: ($) => seq("first", $.step),
    last_statement: ($) => seq("last", $.step),
    before_statement: ($) => seq("before", choice(seq("each", $.step, $.targets), seq($.step, choice($.targets, $.block)))),
    starts_statement: ($) => seq("starts", "before", optional("each"), $.step, $.targets),
    after_statement: ($) => seq("after", choice(
      seq("each", $.step, $.targets),
      seq($.step, choice($.targets, seq(optional(seq("until", $.step)), $.block))),
    )),
    targets: ($) => seq($._then_to, $._steps, optional($.within)),
    immediately_statement: ($) => seq("immediately", choice("before", "after"), $.step, $.targets),
    sequence_statement: ($) => seq("sequence", choice(
      seq(choice("only", "exactly"), $.step, repeat(seq($._then_to, $.step))),
      seq($.step, repeat1(seq($._then_to, $.step))),
    ), optional($.within)),
    nested_statement: ($) => seq("nested", $.step, $._then_to, $.step),
    together_statement: ($) => seq("together", $.step, open($, ","), $.listed_step),
    apart_statement: ($) => seq("apart", $.step, open($, ","), $.listed_step),
    not_both_statement: ($) => seq("not", "both", $.step, open($, ","), $.listed_step),
    either_statement: ($) => seq("either", $.step, repeat1(seq(open($, "or"), $.listed_step))),
    if_statement: ($) => seq(alias($._if_steps, "if"), $.step, open($, "then"), $.step),
    flow_statement: ($) => seq("flow", $.flow_sequence),
    each_statement: ($) => seq("each", $.step, choice($.condition, $.block)),
    some_statement: ($) => seq("some", $.step, $.condition),
    no_statement: ($) => choice(
      seq(alias($._no_in, "no"), field("name", $.identifier), "in", $.no_target),
      seq("no", $.step, $.condition),
    ),
    no_target: ($) => choice(seq($._steps_ahead, $.step), $.expression),
    condition: ($) => seq(open($, ":"), $.expression),
    valid_statement: ($) => seq("args", "valid", optional("strict"), optional(seq("for", $.step)), optional("strict")),
    match_statement: ($) => seq("calls", "match", optional($.match_extent), $._value, repeat($._match_clause)),
    match_extent: () => choice("exactly", seq(choice("subset", "superset"), "of")),
    _match_clause: ($) => choice($.match_order, $.match_arguments, $.match_ignored, $.match_score),
    match_order: () => seq("in", optional("any"), "order"),
    match_arguments: () => seq("arguments", choice("exact", "named", "accepted", "ignored")),
    match_ignored: ($) => seq("ignoring", $.ignored_keys),
    ignored_keys: ($) => seq("[", listed($.object_key), closed($, "]")),
    match_score: ($) => seq("score", open($, ">="), $.number),
    score_statement: ($) => seq("score", $._value, optional(seq(open($, ">="), $.number))),
    between_block: ($) => seq("between", $.step, "and", $.step, $.block),
    when_block: ($) => seq("when", $.expression, $.block),
    group_statement: ($) => seq(choice(seq(choice("any", "all", "none"), "of"), seq("at", "least", $.number, "of")), $.block),
    file_check: ($) => seq("file", $.string, $.test, $._expression_end),
    env_check: ($) => seq("env", $.identifier, "is", optional("not"), choice("set", "empty")),
    tool_check: ($) => seq("tool", $._tool_name, "is", optional("not"), "available"),
    http_check: ($) => seq("http", choice($.string, $.regex), "status", $.test, $._expression_end),
    run_check: ($) => seq("run", $.string, "exits", $.number),
    rate_statement: ($) => seq(
      "in", "at", choice("least", "most"), $.number, "of", optional($.number), "runs",
      optional(choice(seq($.grouping, optional($.confidence)), seq($.confidence, optional($.grouping)))),
      open($, ":"), $.rated,
    ),
    power_statement: ($) => seq($.pass_power, $.grouping, open($, ">="), $.number, open($, ":"), $.rated),
    pass_power: () => seq("pass^", token.immediate(/[0-9][0-9_]*/)),
    confidence: ($) => seq("with", "confidence", $.number),
    rated: ($) => choice(
      seq($._plain_ahead, choice($.rated_rule, $.statement, $.not_statement, $.expression_statement)),
      seq($._infix_ahead, choice($.infix_statement, alias($._not_infix, $.not_statement))),
    ),
    rated_rule: ($) => seq("rule", $.plain_label),

    // ---- modifiers and settings

    _attached_modifier: ($) => choice($._modifier, prec.dynamic(1, seq($._modifier_newline, nl($), $._modifier))),
    _header: ($) => repeat1($._attached_modifier),
    _modifier: ($) => choice(
      $.weight_modifier, $.severity_modifier, "must", $.threshold_modifier, $.message_modifier, $.as_modifier, $.class_modifier, $.tags_modifier,
      $.when_modifier, $.id_modifier, $.expect_modifier, $.deny_modifier, $.allow_modifier,
    ),
    weight_modifier: ($) => seq("weight", optional("-"), $.number),
    severity_modifier: ($) => seq("severity", $.plain_label),
    threshold_modifier: ($) => seq("threshold", optional("-"), $.number),
    message_modifier: ($) => seq("message", $.string),
    as_modifier: ($) => seq("as", $.plain_label),
    class_modifier: ($) => seq("class", $.string, optional($.string)),
    tags_modifier: ($) => seq("tags", also($, $.plain_label)),
    when_modifier: ($) => seq("when", $.expression),
    id_modifier: ($) => seq("id", $.plain_label),
    expect_modifier: ($) => seq("expect", "fail", optional($.string)),
    deny_modifier: ($) => seq("deny", also($, $.plain_label)),
    allow_modifier: ($) => seq("allow", also($, $.plain_label)),

    setting_line: ($) => choice(repeat1($._modifier), $.call_expectation, $.classify_setting, $.key_setting),
    call_expectation: () => seq("expect", choice("ok", "error")),
    classify_setting: ($) => seq("classify", $.string, optional($.string), "when", "message", $.message_test),
    message_test: ($) => choice(seq("contains", $.string), seq("matches", $.regex)),
    key_setting: ($) => choice(
      seq(choice("prompt", "template", "bootstrap", "model"), $.string, optional($.own_timeout)),
      seq("timeout", $.number),
      seq("agent", choice($.string, $.plain_label)),
      seq("command", $.list),
      seq("env", $.object),
      seq("cwd", $.string),
      seq(choice("max_steps", "parallel", "repeat", "retries"), $.number),
      seq("schedule", $.plain_label),
      seq("select", also($, $.plain_label)),
      seq("snapshots", $.object),
    ),
    own_timeout: ($) => seq("timeout", $.number),
    settings_block: ($) => block_of($, choice($._separator, seq($.runner_setting, $._separator)), $.runner_setting),
    runner_setting: ($) => seq($.identifier, optional(choice($.string, $.number, $.list, $.object, $.plain_label)), optional($.own_timeout)),

    // ---- declarations

    declaration: ($) => choice(
      $.use_item, $.param_item, $.let_item, $.def_step_item, $.def_item, $.schema_item, $.tools_item, $.tool_item, $.tool_facts_item,
      $.rule_item, $.suite_item, $.case_item, $.workspace_item, $.runner_item, $.pre_item, $.post_item, $.test_item, $.invariant_item,
      $.call_item, $.for_each_item,
    ),
    use_item: ($) => seq("use", choice($.string, $.dotted_name), optional($.import_names)),
    dotted_name: ($) => choice($._word, $._long_label),
    import_names: ($) => seq("(", listed($.label), closed($, ")")),
    label: ($) => choice($._word, $._long_label),
    param_item: ($) => seq("param", field("name", $.identifier), open($, ":"), $.type_name, optional(seq(open($, "="), $.expression))),
    let_item: ($) => seq("let", field("name", $.identifier), open($, "="), $.expression),
    def_step_item: ($) => seq("def", "step", field("name", $.identifier), optional($.parameters), open($, "="), $.step),
    def_item: ($) => seq("def", field("name", choice($.identifier, alias($._plain_word, $.identifier))), $.parameters, open($, "="), $.expression),
    parameters: ($) => seq("(", optional(listed($.parameter)), closed($, ")")),
    parameter: ($) => choice($._word, $.binding),
    schema_item: ($) => seq("schema", field("name", $.identifier), choice(seq(open($, "="), $.object), seq("from", $.string))),
    tools_item: ($) => seq("tools", "from", $.string),
    tool_item: ($) => seq("tool", field("name", $._tool_name), $.object),
    tool_facts_item: ($) => seq("tool", also($, field("name", $._tool_name)), repeat1(choice($.fails_fact, $.other_names, $.tags_fact))),
    fails_fact: ($) => seq("fails", open($, "when"), $.expression),
    other_names: ($) => seq("also", also($, $._tool_name)),
    tags_fact: ($) => seq("tagged", also($, $.plain_label)),
    rule_item: ($) => seq("rule", field("name", $.plain_label), optional($.string), optional($._header), $.block),
    suite_item: ($) => seq("suite", field("name", $.string), optional($._header), $.block),
    case_item: ($) => seq("case", field("name", $.plain_label), optional($._header), $.block),
    workspace_item: ($) => seq("workspace", field("name", $.plain_label), optional($.settings_block)),
    runner_item: ($) => seq("runner", field("name", $.plain_label), $.settings_block),
    pre_item: ($) => seq("pre", $.block),
    post_item: ($) => seq("post", $.block),
    test_item: ($) => seq("test", field("name", $.string), "expect", $.identifier, optional($.tested_rules), choice(seq("from", $.string), $.run_object)),
    tested_rules: ($) => also($, $.plain_label),
    run_object: ($) => block_of($, choice($._run_separator, seq($.pair, $._run_separator)), $.pair),
    _run_separator: ($) => choice($._separator, ","),
    invariant_item: ($) => seq("invariant", field("name", $.plain_label), optional($.string), optional($._header), $.block),
    call_item: ($) => seq("call", field("name", $._tool_name), choice($.generated, $.object), optional($.call_alias), optional($.call_expectation)),
    call_alias: ($) => seq("as", $.identifier),
    generated: ($) => seq("generate", choice(seq(alias($._object_open, "{"), optional(listed($.generator)), closed($, "}")), $.by_schema), "cases", $.number, "seed", $.number, optional($.seed_name)),
    by_schema: () => seq("from", "schema"),
    seed_name: ($) => seq("for", $.string),
    generator: ($) => seq($.object_key, open($, ":"), $.generated_kind, repeat(seq(open($, "of"), $.generated_kind))),
    generated_kind: ($) => seq($.type_name, optional($.expression)),
    for_each_item: ($) => seq("for", "each", "tool", optional($.where_clause), $.block),
  },
});
