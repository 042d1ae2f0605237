//! Values of a closed set of words: a literal outside of the set is an error in every position, which says what was meant; one of the set
//! compiles there.

use averment::Rules;

/// A subject in the scope of a step, the kind word of the step, words that it never is with what was meant, and a word that it may be.
type Set = (&'static str, &'static str, &'static [(&'static str, &'static str)], &'static str);

const SETS: &[Set] = &[
    (
        "status",
        "any",
        &[
            ("error", "failed"),
            ("timeout", "failed"),
            ("success", "ok"),
            ("OK", "ok"),
            ("Failed", "failed"),
            ("rejected", "denied"),
            ("requires_approval", "pending"),
            ("faild", "failed"),
        ],
        "ok",
    ),
    ("status", "command", &[("error", "failed")], "failed"),
    ("status", "read", &[("error", "failed")], "failed"),
    ("status", "span", &[("ERROR", "failed"), ("unset", "")], "ok"),
    (
        "kind",
        "any",
        &[
            ("tool_call", "call"),
            ("function_call", "call"),
            ("tool", "call"),
            ("shell", "command"),
            ("command_execution", "command"),
            ("file_read", "read"),
            ("edit", "write"),
            ("user", "message"),
            ("handoff", "handover"),
            ("Call", "call"),
            ("calls", "call"),
        ],
        "call",
    ),
    (
        "weekday(start)",
        "any",
        &[("sat", "saturday"), ("Sunday", "sunday"), ("tues", "tuesday"), ("wendesday", "wednesday"), ("Mo", "monday")],
        "saturday",
    ),
    (
        "type_of(result)",
        "any",
        &[
            ("dict", "object"),
            ("int", "number"),
            ("bool", "boolean"),
            ("array", "list"),
            ("str", "string"),
            ("None", "null"),
            ("String", "string"),
        ],
        "object",
    ),
    (
        "first(find_pii(result))",
        "any",
        &[("e-mail", "email"), ("social security number", "social-security-number")],
        "email",
    ),
    ("role", "message", &[("asistant", "assistant"), ("assitant", "assistant"), ("sytem", "system")], "user"),
];

/// Conditions on a subject `@S` with a wrong word `@W` beside a right one `@R`.
const CONDITIONS: &[&str] = &[
    "@S == @W",
    "@S === @W",
    "@S != @W",
    "@W == @S",
    "@W != @S",
    "@S in [@W]",
    "@S in [@R, @W]",
    "@S in [@R, output.word, @W]",
    "@S not in [@W, @R]",
    "[@R, @W] contains @S",
    "[@W] not contains @S",
    "[@S] contains @W",
    "[@S] contains any [@W]",
    "[@S] contains all [@R, @W]",
    "[@S] contains none [@W]",
    "@W in [@S]",
    "[@S] == [@W]",
    "@S == (if output.x exists then @R else @W)",
    "@S == bad",
    "@S in all_bad",
    "not @S == @W",
    "@S == @R or @S == @W",
    "(if @S == @W then 1 else 2) == 1",
    "lower(@S) == @W",
];

/// Places of a condition `@C` on a step of the kind `@K`.
const PLACES: &[&str] = &[
    "each @K: @C",
    "some @K: @C",
    "no @K: @C",
    "never (@K where @C)",
    "never (@K where @C and index > 1), drop",
    "count (@K where @C) <= 3",
    "before (@K where @C) -> refund",
    "refund only after (@K where @C)",
    "length(it of (@K where @C)) == 0",
    "(count (@K where @C)) == 0",
    "each @K { @C }",
    "any of { no @K: @C\n require refund }",
    "never refund when length(index of (@K where @C)) > 0",
    "when length(index of (@K where @C)) > 0 { never refund }",
    "in at least 50% of runs: no @K: @C",
];

/// What the rules say on compiling: nothing, or all errors.
fn compile(rules: &str) -> Result<(), String> {
    Rules::from_text("rules.assert", rules).map(drop).map_err(|error| error.to_string())
}

fn filled(place: &str, condition: &str, set: &Set, wrong: &str) -> String {
    let (subject, kind, _, right) = set;
    let quoted = |word: &str| format!("\"{word}\"");
    let rule = place
        .replace("@C", condition)
        .replace("@S", subject)
        .replace("@K", kind)
        .replace("@W", &quoted(wrong))
        .replace("@R", &quoted(right));
    format!("let bad = \"{wrong}\"\nlet all_bad = [\"{right}\", \"{wrong}\"]\n{rule}\n")
}

#[test]
fn a_word_outside_of_its_set_is_an_error_in_every_position() {
    let (mut tried, mut wrong) = (0, Vec::new());
    for set in SETS {
        for (number, place) in PLACES.iter().enumerate() {
            // A third of all pairs has every place and every condition.
            let conditions = CONDITIONS.iter().enumerate().filter(|(at, _)| (at + number) % 3 == 0);
            for (_, condition) in conditions {
                let good = filled(place, condition, set, set.3);
                if let Err(said) = compile(&good) {
                    wrong.push(format!("{good}{said}"));
                    continue;
                }
                // Every word in one position, and one word in every position.
                let is_first = (*place, *condition) == (PLACES[0], CONDITIONS[0]);
                for (word, meant) in &set.2[..if is_first { set.2.len() } else { 1 }] {
                    let bad = filled(place, condition, set, word);
                    tried += 1;
                    match compile(&bad) {
                        Ok(()) => wrong.push(format!("compiles: {bad}")),
                        Err(said) if !said.contains(&format!("is never \"{word}\"")) || !said.contains(meant) => {
                            wrong.push(format!("{bad}{said}"));
                        }
                        Err(_) => {}
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong[..wrong.len().min(12)].join("\n"));
    assert!(tried > 700, "{tried}");
}

#[test]
fn lists_names_and_bindings_keep_the_set() {
    let rules = [
        "no s in steps: s.kind == \"tool_call\"",
        "any s in steps: s.kind in [\"tool_call\", \"message\"]",
        "no x in steps[*].kind: x == \"tool_call\"",
        "steps[*].kind not contains \"tool_call\"",
        "steps[*].kind contains any [\"tool_call\"]",
        "no s in steps: s.status == \"error\"",
        "calls[0].status == \"success\"",
        "last(calls).status == \"success\"",
        "distinct(calls[*].status) == [\"success\"]",
        "all s in (calls where tool == \"x\"): s.status != \"error\"",
        "no x in (status of any): x == \"error\"",
        "let last_status = calls[-1].status\nlast_status != \"error\"",
        "def day(t) = weekday(t)\neach any: day(start) != \"sat\"",
        "def step on(day) = any where weekday(start) == day\nnever on(\"sat\")",
        "def step broken = any where status == \"error\"\nnever broken",
        "never message(role: \"asistant\")",
        "never command(status: \"error\")",
        "never command(status: [\"ok\", \"error\"])",
        "never read(kind: \"file\") after x",
        "each command(status: $s): $s == \"error\"",
        "each command(status: $s) { $s != \"error\" }",
        "never command(status: $s) before refund(\"error\" == $s)",
        "each any: status contains \"err\"",
        "each any: status starts with \"err\"",
        "each any: status icontains \"ERR\"",
    ];
    for rule in rules {
        let said = compile(rule).expect_err(rule);
        assert!(said.contains("is never"), "{rule}\n{said}");
    }
}

#[test]
fn what_may_be_true_compiles() {
    for rule in [
        "each any: status in [\"ok\", \"failed\", \"denied\", \"pending\"]",
        "each any: args.status == \"error\" and result.status != \"timeout\"",
        "output.status == \"error\"",
        "never refund(status: \"error\", kind: \"tool_call\")",
        "each http: status == 200",
        "each span: status.code == \"ERROR\"",
        "each any: status contains \"fail\"",
        "each any: status starts with \"o\"",
        "each any: status icontains \"FAIL\"",
        "never message(role: \"tool\")",
        "never message(role: \"narrator\")",
        "never message(role: \"Assistant\")",
        "each any: status == output.expected",
        "each any: status == null or status != inputs.x",
        "param day: string = \"saturday\"\neach any: weekday(start) != day",
        "no x in [\"error\"]: x == \"error\"",
        "each (command(status: $s) | refund(why: $s)): $s == \"error\"",
    ] {
        compile(rule).unwrap_or_else(|said| panic!("{rule}\n{said}"));
    }
}

#[test]
fn a_def_that_is_given_steps_keeps_the_sets_of_their_fields() {
    for (rules, meant) in [
        ("def bad(s) = s.status == \"error\"\nno c in calls: bad(c)", Some("failed")),
        ("def bad(s) = \"error\" in [s.status]\nno any: bad(calls[0])", Some("failed")),
        ("def bad(xs) = any c in xs: c.kind == \"tool_call\"\nnot bad(steps)", Some("call")),
        ("def bad(xs) = xs[*].status contains \"error\"\nnot bad(calls)", Some("failed")),
        ("def bad(s) = s.status == \"failed\"\nno c in calls: bad(c)", None),
        ("def bad(s) = s.status == \"error\"\nnot bad(output)", None),
    ] {
        let said = compile(rules);
        match meant {
            Some(meant) => assert!(said.as_ref().is_err_and(|text| text.contains(meant)), "{rules}: {said:?}"),
            None => assert_eq!(said, Ok(()), "{rules}"),
        }
    }
}
