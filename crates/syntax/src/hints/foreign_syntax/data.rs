//! Habits from YAML, Rego and SQL: `- never: refund`, `deny if …`, `output.a LIKE "ok%"`.

use super::row::{RewriteRow, pattern_row};

const BLOCKS: &str = "a condition stands on a line by itself";

pub(super) const TABLE: &[RewriteRow] = &[
    pattern_row("- never refund", "< - @apart > &X ...", "{...}")
        .with_message("statements are lines without `-` in front of them"),
    pattern_row("never: refund", "w:STATEMENT < : > &D ...", "{w} {...}"),
    pattern_row(
        "prohibit: delete_user",
        "prohibit|forbid|deny|disallow|block|forbidden_tools|blocked_tools|denied_tools|deny_tools : a:S @end",
        "never {a}",
    )
    .overriding_fix(),
    pattern_row(
        "forbidden_tools: [a, b]",
        "prohibit|forbid|deny|disallow|block|forbidden_tools|blocked_tools|denied_tools|deny_tools : '[' s:IN ']' @end",
        "never {s|bared}",
    )
    .overriding_fix(),
    pattern_row(
        "allow_tools: [a, b]",
        "allow|allowed|allow_tools|allowed_tools|permit|permitted_tools : '[' s:IN ']' @end",
        "only {s|bared}",
    )
    .overriding_fix(),
    pattern_row("never: [a, b]", "w:never|only :? '[' s:IN ']' @modifiers ...", "{w} {s|bared} {...}")
        .with_message("steps are listed without brackets"),
    pattern_row("never (a, b)", "w:never|only '(' s[ X , IN ] ')' @modifiers ...", "{w} {s|bared} {...}")
        .with_message("steps are listed without brackets"),
    pattern_row("never: - a - b", "w:never|only : - a:S - b:S @end", "{w} {a}, {b}")
        .with_message("steps are listed without brackets"),
    pattern_row("require: - a - b", "require : - a:S - b:S @end", "require {a}; require {b}"),
    pattern_row("severity: warn", "m:severity|as|id|tags|timeout < : > v:W @end", "{m} {v}").overriding_fix(),
    pattern_row("require: [a, b]", "require :? '[' a:S , b:S ']' @modifiers ...", "require {a}; require {b} {...}"),
    pattern_row("before: first: approve then: refund", "before : first : a:S then : b:S @end", "before {a} -> {b}"),
    pattern_row(
        "max_calls: 10",
        "max_calls|max_tool_calls|max_steps|call_limit|tool_call_limit :|=|==|<= n:N @end",
        "count any <= {n}",
    ),
    pattern_row("max_cost: $5", "max_cost|budget|cost_limit :|= n:N @end", "cost <= {n}"),
    pattern_row("cost: <= $0.05", "p:O : s[ SIGN ... ]", "{p} {s}"),
    pattern_row("output: status: ok", "output : f:W : v:W @end", "output.{f} == \"{v}\"").as_guess(),
    pattern_row("output.status: ok", "p:RUNPATH : v:W @end", "{p} == \"{v}\"").as_guess(),
    pattern_row("never refund, severity: warn", "s:.. < , > m[ MODIFIER :|= ... ]", "{s} {m}")
        .with_message("modifiers stand behind their assertion without a comma"),
    pattern_row("never refund severity: warn", "s:.. m:MODIFIER < :|= > &T|N|error|warn|info ...", "{s} {m} {...}"),
    pattern_row("rule: no_refunds {}", "rule : n:LABEL ...", "rule {n} {...}")
        .with_message("no `:` stands behind `rule`"),
    pattern_row("rule no_refunds() {}", "rule n:LABEL '(' ')' ...", "rule {n} {...}"),
    pattern_row("rule no_refunds = {}", "rule n:LABEL = ...", "rule {n} {...}"),
    // Rego.
    pattern_row("deny if output.a == 1", "deny|violation|forbid < if|when|:= > &X ...", "not ({...})")
        .with_message(BLOCKS),
    pattern_row(
        "deny { output.a == 1 }",
        "deny|violation|deny_all|reject < G? if|contains? '{' > c:IN '}' @end",
        "not ({c})",
    )
    .with_message(BLOCKS),
    pattern_row("allow if refund", "allow|permit if a:S @end", "require {a}").as_guess().with_message(BLOCKS),
    pattern_row("allow if output.a == 1", "allow|permit|pass|valid|accept < if|when > &X ...", "{...}")
        .with_message(BLOCKS),
    pattern_row("allow { output.a == 1 }", "allow|permit|pass|valid|accept < if? '{' > c:IN '}' @end", "{c}")
        .with_message(BLOCKS),
    pattern_row("every c in calls { c.ok }", "every|all|forall v:W in p:O '{' c:IN '}' @end", "all {v} in {p}: {c}"),
    pattern_row(
        "some c in calls; c.tool == \"a\"",
        "some v:W in p:O < ;|,|:|'{' > c:.. '}'? @end",
        "any {v} in {p}: {c}",
    ),
    pattern_row("some c in calls: c.tool == \"a\"", "some v:W in p:O : ...", "any {v} in {p}: {...}"),
    pattern_row("default allow = false", "d[ default W :|=+ VALUE ] @end", "# {d}")
        .as_guess()
        .with_message("nothing is allowed or denied by default: statements say what has to hold")
        .overriding_fix(),
    // SQL.
    pattern_row("output.a isnt \"ok\"", "p:O isnt|isn not? v:VALUE ...", "{p} != {v} {...}"),
    pattern_row("output.a is not \"ok\"", "p:O is not v:VALUE ...", "{p} != {v} {...}"),
    pattern_row("unless output.a == 1 {}", "unless|except c:.. r[ '{' ... ]", "when not ({c}) {r}"),
    pattern_row("output.a not like \"%x%\"", "p:O not like t:LIKEIN ...", "{p} not contains {t|like} {...}")
        .with_message("`%` stands for nothing here")
        .overriding_fix(),
    pattern_row("output.a ilike \"%x%\"", "p:O ilike t:LIKEIN ...", "{p} icontains {t|like} {...}")
        .with_message("`%` stands for nothing here")
        .overriding_fix(),
    pattern_row("output.a like \"%x%\"", "p:O like t:LIKEIN ...", "{p} contains {t|like} {...}")
        .with_message("`%` stands for nothing here")
        .overriding_fix(),
    pattern_row("output.a like \"x%\"", "p:O like t:LIKEFROM ...", "{p} starts with {t|like} {...}")
        .with_message("`%` stands for nothing here")
        .overriding_fix(),
    pattern_row("output.a like \"%x\"", "p:O like t:LIKETO ...", "{p} ends with {t|like} {...}")
        .with_message("`%` stands for nothing here")
        .overriding_fix(),
    pattern_row("output.n between 1 and 5", "p:O between n:N and|to|, m:N @modifiers ...", "{p} in {n}..{m} {...}"),
    pattern_row("if output.a == 1: output.b == 2", "if &RUNPATH c:.. < : > &X ...", "when {c} { {...} }").as_guess(),
    pattern_row("output.a == 1 => output.b == 2", "!STATEMENT c:.. < => > &O !N ...", "{c} implies {...}")
        .as_guess()
        .with_message("`=>` is said with `implies`, and `>=` is a comparison")
        .overriding_fix(),
    pattern_row("output.a == 1 then output.b == 2", "!if|when|let|def|param c:.. < then > &O ...", "{c} implies {...}")
        .as_guess()
        .with_message("what follows from a condition is said with `implies`")
        .overriding_fix(),
];
