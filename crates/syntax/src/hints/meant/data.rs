//! Habits from YAML, Rego and SQL: `- never: refund`, `deny if …`, `output.a LIKE "ok%"`.

use super::row::{Meaning, say};

const BLOCKS: &str = "a condition stands on a line by itself";

pub(super) const TABLE: &[Meaning] = &[
    say("- never refund", "< - @apart > &X ...", "{...}").says("statements are lines without `-` in front of them"),
    say("never: refund", "w:STATEMENT < : > &D ...", "{w} {...}"),
    say("never: [a, b]", "w:never|only :? '[' s:IN ']' @modifiers ...", "{w} {s|bared} {...}")
        .says("steps are listed without brackets"),
    say("never: - a - b", "w:never|only : - a:S - b:S @end", "{w} {a}, {b}").says("steps are listed without brackets"),
    say("require: [a, b]", "require :? '[' a:S , b:S ']' @modifiers ...", "require {a}; require {b} {...}"),
    say("before: first: approve then: refund", "before : first : a:S then : b:S @end", "before {a} -> {b}"),
    say(
        "max_calls: 10",
        "max_calls|max_tool_calls|max_steps|call_limit|tool_call_limit :|=|==|<= n:N @end",
        "count any <= {n}",
    ),
    say("max_cost: $5", "max_cost|budget|cost_limit :|= n:N @end", "cost <= {n}"),
    say("cost: <= $0.05", "p:O : s[ SIGN ... ]", "{p} {s}"),
    say("output: status: ok", "output : f:W : v:W @end", "output.{f} == \"{v}\"").guess(),
    say("output.status: ok", "p:O : v:W @end", "{p} == \"{v}\"").guess(),
    say("never refund, severity: warn", "s:.. < , > m[ MODIFIER :|= ... ]", "{s} {m}")
        .says("modifiers stand behind their assertion without a comma"),
    say("never refund severity: warn", "s:.. m:MODIFIER < :|= > &T|N|error|warn|info ...", "{s} {m} {...}"),
    say("rule: no_refunds {}", "rule : n:LABEL ...", "rule {n} {...}").says("no `:` stands behind `rule`"),
    say("rule no_refunds() {}", "rule n:LABEL '(' ')' ...", "rule {n} {...}"),
    say("rule no_refunds = {}", "rule n:LABEL = ...", "rule {n} {...}"),
    // Rego.
    say("deny if output.a == 1", "deny|violation|forbid < if|when|:= > &X ...", "not ({...})").says(BLOCKS),
    say("deny { output.a == 1 }", "deny|violation|deny_all|reject < G? if|contains? '{' > c:IN '}' @end", "not ({c})")
        .says(BLOCKS),
    say("allow if refund", "allow|permit if a:S @end", "require {a}").guess().says(BLOCKS),
    say("allow if output.a == 1", "allow|permit|pass|valid|accept < if|when > &X ...", "{...}").says(BLOCKS),
    say("allow { output.a == 1 }", "allow|permit|pass|valid|accept < if? '{' > c:IN '}' @end", "{c}").says(BLOCKS),
    say("every c in calls { c.ok }", "every|all|forall v:W in p:O '{' c:IN '}' @end", "all {v} in {p}: {c}"),
    say("some c in calls; c.tool == \"a\"", "some v:W in p:O < ;|,|:|'{' > c:.. '}'? @end", "any {v} in {p}: {c}"),
    say("some c in calls: c.tool == \"a\"", "some v:W in p:O : ...", "any {v} in {p}: {...}"),
    say("default allow = false", "d[ default W :|=+ VALUE ] @end", "# {d}")
        .guess()
        .says("nothing is allowed or denied by default: statements say what has to hold")
        .over(),
    // SQL.
    say("output.a isnt \"ok\"", "p:O isnt|isn not? v:VALUE ...", "{p} != {v} {...}"),
    say("output.a is not \"ok\"", "p:O is not v:VALUE ...", "{p} != {v} {...}"),
    say("unless output.a == 1 {}", "unless|except c:.. r[ '{' ... ]", "when not ({c}) {r}"),
    say("output.a not like \"%x%\"", "p:O not like t:LIKEIN ...", "{p} not contains {t|like} {...}")
        .says("`%` stands for nothing here")
        .over(),
    say("output.a ilike \"%x%\"", "p:O ilike t:LIKEIN ...", "{p} icontains {t|like} {...}")
        .says("`%` stands for nothing here")
        .over(),
    say("output.a like \"%x%\"", "p:O like t:LIKEIN ...", "{p} contains {t|like} {...}")
        .says("`%` stands for nothing here")
        .over(),
    say("output.a like \"x%\"", "p:O like t:LIKEFROM ...", "{p} starts with {t|like} {...}")
        .says("`%` stands for nothing here")
        .over(),
    say("output.a like \"%x\"", "p:O like t:LIKETO ...", "{p} ends with {t|like} {...}")
        .says("`%` stands for nothing here")
        .over(),
    say("output.n between 1 and 5", "p:O between n:N and|to|, m:N @modifiers ...", "{p} in {n}..{m} {...}"),
    say("if output.a == 1: output.b == 2", "if &RUNPATH c:.. < : > &X ...", "when {c} { {...} }").guess(),
    say("output.a == 1 => output.b == 2", "!STATEMENT c:.. < => > &O !N ...", "{c} implies {...}")
        .guess()
        .says("`=>` is said with `implies`, and `>=` is a comparison")
        .over(),
    say("output.a == 1 then output.b == 2", "!if|when|let|def|param c:.. < then > &O ...", "{c} implies {...}")
        .guess()
        .says("what follows from a condition is said with `implies`")
        .over(),
];
