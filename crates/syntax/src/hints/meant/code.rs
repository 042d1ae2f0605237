//! Expressions of Python and JavaScript: comprehensions, loops, arrows, chained comparisons.

use super::row::{Meaning, asked, say};
use crate::hints::view::View;
use crate::token::Kind;
use std::ops::Range;

const LISTS: &str =
    "values of a list are looked at with `any`, `all`, `no` and `count`: `all x in output.items: x.price > 0`";

pub(super) const TABLE: &[Meaning] = &[
    // Words.
    asked("/* a comment */", super::comments::block),
    say("usage.total_tokens <= 50,000", "..( n[ N THOUSAND THOUSAND* ]", "{n|ungrouped}")
        .says("digits are grouped with `_`"),
    say("assert(never refund)", "assert|expect|check|ensure '(' s[ STATEMENT IN ] ')' @end", "{s}"),
    say("refund()", "a:TOOL '(' ')' @end", "require {a}").guess(),
    asked("usage.total_tokens <= 50k", super::amounts::tokens).over(),
    asked("output.n <= 50k", super::amounts::thousands).guess().over(),
    say("new Set(output.ids).size == 3", "..( new Set '(' a:IN ')' . size|length", "length(distinct({a}))"),
    asked("output.a != None", literals),
    say("output.a is not undefined", "..( < is not undefined >", "exists"),
    say("output.a is undefined", "..( < is|==|=== undefined >", "is missing").says("what is not there is `missing`"),
    say("output.a != undefined", "..( < !=|!== undefined >", "exists").says("what is there `exists`"),
    say("output.a is true", "..( p:O < is > v:true|false", "{p} == {v}"),
    say("typeof output.a === \"string\"", "..( typeof p:O ==|=== t:T", "{p} is {t|typed}"),
    say("output.text == f\"x\"", "..( < f|r|u|b|F|R > t[ @touching T ]", "{t}"),
    say("output?.items", "..( < '?' > @touching &.", ""),
    // Lists.
    say(
        "len([c for c in calls if c.ok]) <= 2",
        "..( len|length '(' '[' W for v:W in p:O if c:IN ']' ')' s[ SIGN N ]",
        "(count {v} in {p}: {c}) {s}",
    )
    .says(LISTS),
    say(
        "sum(1 for c in calls if c.ok) <= 2",
        "..( sum '(' N for v:W in p:O if c:IN ')' s[ SIGN N ]",
        "(count {v} in {p}: {c}) {s}",
    )
    .says(LISTS),
    say(
        "sum(i.price for i in output.items) <= 5",
        "..( f:sum|max|min '(' '['? W . a:W for W in p:O ']'? ')'",
        "{f}({p}[*].{a})",
    )
    .says(LISTS),
    say(
        "[c for c in calls if c.ok] is empty",
        "'[' W for v:W in p:O if c:IN ']' is empty @modifiers ...",
        "no {v} in {p}: {c} {...}",
    )
    .says(LISTS),
    say(
        "[c for c in calls if c.ok] == []",
        "'[' W for v:W in p:O if c:IN ']' == '[' ']' @modifiers ...",
        "no {v} in {p}: {c} {...}",
    )
    .says(LISTS),
    say("not any(c.ok for c in calls)", "not any '(' '['? c:.. for v:W in p:O ']'? ')' @end", "no {v} in {p}: {c}")
        .says(LISTS),
    asked("any(c.ok for c in calls)", generator),
    say("for c in calls: c.ok", "for|forall v:W in p:O < :|, > assert? &X ...", "all {v} in {p}: {...}").says(LISTS),
    say(
        "for (const c of calls) { c.ok }",
        "for '(' const|let|var? v:W of|in p:O ')' '{'? c:.. '}'? @end",
        "all {v} in {p}: {c}",
    )
    .says(LISTS),
    say("all c in calls: assert c.ok", "..( : < assert > &X", ""),
    say(
        "calls.every(c => c.ok)",
        "..( m:OBJECT . some|any|exists '(' '('? v:W ')'? => c:IN ')' @end",
        "any {v} in {m}: {c}",
    )
    .says(LISTS),
    say(
        "!calls.some(c => c.ok)",
        "'!'|not m:OBJECT . some|any '(' '('? v:W ')'? => c:IN ')' @end",
        "no {v} in {m}: {c}",
    )
    .says(LISTS),
    say(
        "calls.every(c => c.failed)",
        "..( m:OBJECT . every|all|forEach '(' '('? v:W ')'? => c:IN ')' @end",
        "all {v} in {m}: {c}",
    )
    .says(LISTS),
    say(
        "calls.filter(c => c.ok).length <= 2",
        "..( m:OBJECT . filter '(' '('? v:W ')'? => c:IN ')' . length|size @end",
        "(count {v} in {m}: {c})",
    )
    .says(LISTS),
    say(
        "calls.filter(c => c.ok).length < 2",
        "..( m:OBJECT . filter '(' '('? v:W ')'? => c:IN ')' . length|size s[ SIGN N ]",
        "(count {v} in {m}: {c}) {s}",
    )
    .says(LISTS),
    say("output.items.map(i => i.price) == [1]", "..( m:OBJECT . map '(' '('? W ')'? => W . f:W ')'", "{m}[*].{f}")
        .says(LISTS),
    say("calls[_].tool == \"refund\"", "p:BASE '[' _ ']' . f:W t[ TEST|SIGN ... ]", "any x in {p}: x.{f} {t}")
        .says(LISTS),
    say("output.items[].price > 5", "p:BASE '[' ']' . f:W t[ TEST|SIGN ... ]", "all x in {p}: x.{f} {t}")
        .guess()
        .says(LISTS),
    // Choices and comparisons.
    say(
        "0 < output.n < 5",
        "a:N < w:'<'|'<=' > p:O x:'<'|'<=' b:N @modifiers ...",
        "{a} {w} {p} and {p} {x} {b} {...}",
    )
    .says("comparisons do not chain"),
    say("output.a ?? \"x\" == \"y\"", "..( p:O '?' '?' v:VALUE", "(if {p} exists then {p} else {v})")
        .says("there is no `??`"),
    say("output.b ?? \"x\" == \"z\"", "..( p:O < '??' > v:VALUE", "(if {p} exists then {p} else {v})")
        .says("there is no `??`"),
    say("output.n ** 2 == 4", "..( p:O < '**' > 2", "{p} * {p}"),
    say("output.n in range(1, 5)", "..( in range '(' n:N , m:N ')'", "in {n}..{m|before}")
        .says("a range is written `1..5`")
        .guess(),
    say("output.a == \"x\" || \"y\"", "p:O ==|=== l[ VALUE or|'||' VALUE ] @modifiers", "{p} in {l|list}")
        .says("`or` joins conditions; one of several values is said with `in`"),
    say(
        "output.a != \"x\" and \"y\"",
        "p:O !=|!== l[ VALUE and|or|'&&'|'||' VALUE ] @modifiers",
        "{p} not in {l|list}",
    )
    .says("`and` joins conditions; none of several values is said with `not in`"),
    say(
        "output.a contains \"x\" or \"y\"",
        "p:O contains l[ VALUE or|'||' VALUE ] @modifiers",
        "{p} contains any {l|list}",
    )
    .says("`or` joins conditions; one of several texts is said with `contains any`"),
    // Functions.
    say("const paid = (x) => x > 5", "const|let|var n:W = '('? p:W ')'? => ...", "def {n}({p}) = {...}")
        .says("a function is `def NAME(x) = …`"),
    say("paid = lambda x: x > 5", "n:W = lambda p:W : ...", "def {n}({p}) = {...}")
        .says("a function is `def NAME(x) = …`"),
    say(
        "def paid(x): return x > 5",
        "h[ def|function|fn|func DEFINED &'(' G ] :|=>|->|=? return ...",
        "{h|defined} = {...}",
    )
    .says("a function is `def NAME(x) = …`"),
    say(
        "def paid(x) { return x > 5 }",
        "h[ def|function|fn|func DEFINED &'(' G ] '{' return? c:IN ;? '}' @end",
        "{h|defined} = {c}",
    )
    .says("a function is `def NAME(x) = …`"),
    // What libraries of tests write.
    say("assert output.n > 3, \"too few\"", "assert c:.. , t:T @end", "{c} message {t}")
        .says("what is said of a failure stands behind `message`"),
    say("assert output.ok == true", "assert &O|not|'('|T|any|all|no ...", "{...}"),
    say("expect output.status == 1", "expect &RUNPATH|not ...", "{...}"),
    say("output.a ~= \"x\"", "..( p:O < ~= > t:T", "{p} matches {t|regex}"),
    say("output.b ~= \"x\"", "..( p:O < ~ = > t:T", "{p} contains {t}").guess(),
    say("output.a !~ /x/", "..( < '!' ~ > &R|T", "not matches"),
    say("output.a matches \"^x\"", "..( matches|=~ t:T", "matches {t|pattern}")
        .says("a regular expression stands between slashes"),
    // Names that are not those of the run.
    asked("COUNT(refund) <= 1", capital_function),
    asked("before approve(id: id) -> refund(id: id)", bindings),
    asked("$output.status == 1", binding_of_a_root),
    asked("answer.status == 1", alias),
    say(
        "tool_calls <= 5",
        "calls|tool_calls|num_calls|n_calls|number_of_calls s[ SIGN N ] @modifiers ...",
        "count any {s} {...}",
    )
    .guess(),
    say(
        "each refund: amount <= 100",
        "w:each|some|no a:D : !STEPFIELD f:TOOL s[ SIGN|TEST ... ]",
        "{w} {a}: args.{f} {s}",
    )
    .guess()
    .says("an argument of the call is `args.NAME`"),
    say("refund.args.currency == \"EUR\"", "a:TOOL . args|arguments|input . c[ W ... ]", "each {a}: args.{c}")
        .guess()
        .says("an argument of a call is looked at with `each`"),
    say("refund.result contains \"ok\"", "a:TOOL . c[ result|status|error|duration SIGN|TEST ... ]", "each {a}: {c}")
        .guess()
        .says("a call is looked at with `each`"),
    say(
        "result of refund contains \"ok\"",
        "the? f:result|status|error|duration of a:TOOL t[ SIGN|TEST ... ]",
        "each {a}: {f} {t}",
    )
    .guess()
    .says("a call is looked at with `each`"),
    say("refund returned \"ok\"", "a:TOOL returned|returns t:T @modifiers ...", "each {a}: result contains {t} {...}")
        .guess()
        .says("a call is looked at with `each`"),
    say("tool calls <= 5", "tool calls s[ SIGN N ] @modifiers ...", "count any {s} {...}").guess(),
    say("refund.amount <= 500", "a:TOOL . f:W s[ SIGN N ... ]", "each {a}: args.{f} {s}")
        .guess()
        .says("an argument of a call is looked at with `each`"),
    say(
        "never refund when amount > 5",
        "w:never|require a:D < when|if|with|having|whose > c[ f:TOOL SIGN VALUE ] @end",
        "{w} {a}({c})",
    )
    .says("conditions on the arguments of a call stand in parentheses"),
    say("refund is not allowed", "a:TOOL is|are not allowed|permitted|ok|acceptable @end", "never {a}")
        .says("what must not occur is said with `never`"),
    say("refund is forbidden", "a:TOOL is|are forbidden|prohibited|banned|disallowed @end", "never {a}")
        .says("what must not occur is said with `never`"),
    say("refund implies notify", "a:TOOL implies b:TOOL @end", "if {a} then {b}")
        .guess()
        .says("steps are related with `if … then`"),
    say("F(notify)", "F|eventually '(' a:S ')' @end", "require {a}"),
    say("before(approve, refund)", "before '(' a:S , b:S ')' @modifiers ...", "before {a} -> {b} {...}").guess(),
    say("sequence(login, search)", "sequence '(' s:IN ')' @modifiers ...", "sequence {s|arrows} {...}"),
    say(
        "never tool(\"refund\")",
        "w:never|require|count|first|last|only tool|call|calls|tool_call '(' t:T ')' ...",
        "{w} {t|bare} {...}",
    )
    .says("a call is named by its tool alone"),
    say(
        "never bash(\"rm -rf\")",
        "w:never|require bash|Bash|shell|exec|run_command '(' t:T ')' ...",
        "{w} command {t} {...}",
    )
    .guess(),
    say("command contains \"rm -rf\"", "k:command|user|assistant contains|matches t:T|R @end", "require {k} {t}")
        .guess()
        .over(),
    say("count(*) <= 1", "count '(' '*' ')' ...", "count any {...}").over(),
    say("count(refund, amount > 5) <= 1", "count '(' a:TOOL , c:IN ')' ...", "count {a}({c}) {...}"),
    say("count(refund) <= 1", "count '(' a:TOOL ')' ...", "count {a} {...}"),
    say("count(tool == \"refund\") <= 1", "count '(' tool|name ==|= t:T ')' ...", "count {t|bare} {...}"),
    say("count search <= three", "count c:.. s:SIGN n:WORDED @modifiers", "count {c} {s} {n|digits}"),
    say("output.a matches refund", "p:O matches w:TOOL @end", "{p} matches /{w}/")
        .guess()
        .says("a regular expression stands between slashes"),
    say("output.a is emtpy", "..( is < emtpy|empy|emty|emtpty|blank >", "is empty"),
    say("never refund severity high", "..( severity v:high|critical|fatal|major|blocker", "severity error").guess(),
    say("never refund severity low", "..( severity v:low|minor|medium|moderate", "severity warn").guess(),
    // Other ways to name a value.
    say("$.output.status == 1", "..( < '$' . > &output|calls|inputs|usage", ""),
    say("{{output.status}} == 1", "..( '{' '{' p:O '}' '}'", "{p}"),
    say("${output.status} == 1", "..( '$' '{' p:O '}' @outer", "{p}"),
    say("output.items.*.price contains 5", "..( p:O . '*' . f:W", "{p}[*].{f}"),
];

/// `None`, `True`: the words of other languages for literals.
fn literals(view: &View<'_, '_>) -> Option<(Range<usize>, String)> {
    const LITERALS: &[(&str, &str)] = &[
        ("None", "null"),
        ("nil", "null"),
        ("NULL", "null"),
        ("Null", "null"),
        ("True", "true"),
        ("False", "false"),
        ("TRUE", "true"),
        ("FALSE", "false"),
    ];
    let meant = |at: usize| LITERALS.iter().find(|(word, _)| view.is(at, word));
    let field = |at: usize| at > 0 && view.is(at - 1, ".") || view.is_any(at + 1, &["(", ":", "."]);
    let at = (1..view.len()).find(|&at| view.is_word(at) && meant(at).is_some() && !field(at))?;
    let (_, meant) = meant(at)?;
    // `is None` compares.
    let (start, sign) = match (view.is(at - 1, "is"), at > 1 && view.are(at - 2, &["is", "not"])) {
        (true, _) => (at - 1, "== "),
        (_, true) => (at - 2, "!= "),
        _ => (at, ""),
    };
    Some((view.range(start, at + 1), format!("{sign}{meant}")))
}

/// `COUNT(x)`, `LENGTH(x)`.
fn capital_function(view: &View<'_, '_>) -> Option<(Range<usize>, String)> {
    const NAMES: &[&str] =
        &["COUNT", "SUM", "LENGTH", "AVG", "MIN", "MAX", "LOWER", "UPPER", "TRIM", "Count", "Sum", "Length", "LEN"];
    let at = (0..view.len()).find(|&at| view.is_any(at, NAMES) && view.is(at + 1, "(") && view.touches(at + 1))?;
    Some((view.range(at, at + 1), view.word(at).to_ascii_lowercase()))
}

/// `approve(id: id)`, `approve(id: {id})`, `approve($id)`: what two steps share has a `$`.
fn bindings(view: &View<'_, '_>) -> Option<(Range<usize>, String)> {
    if !view.is_any(0, &["before", "after", "sequence", "if", "never", "immediately", "starts"]) {
        return None;
    }
    for at in 2..view.len() {
        let named = view.is(at - 1, "(") && view.kind(at) == Kind::Binding && view.is(at + 1, ")");
        if named {
            let name = view.word(at).trim_start_matches('$');
            return Some((view.range(at, at + 1), format!("{name}: ${name}")));
        }
        let colon =
            view.is_any(at, &[":", "=", "=="]) && view.is_any(at.wrapping_sub(2), &["(", ","]) && view.is_word(at - 1);
        let open = usize::from(view.is_any(at + 1, &["{", "<"]));
        let value = at + 1 + open;
        if colon && view.is(value, view.word(at - 1)) && view.is_any(value + 1, &[")", ",", "}", ">"]) {
            let text = format!("{}: ${}", view.word(at - 1), view.word(value));
            return Some((view.range(at - 1, value + 1 + open), text));
        }
    }
    None
}

/// `$output.status`: no binding.
fn binding_of_a_root(view: &View<'_, '_>) -> Option<(Range<usize>, String)> {
    let name = |at: usize| view.word(at).trim_start_matches('$');
    let at = (0..view.len()).find(|&at| {
        view.kind(at) == Kind::Binding
            && ["output", "inputs", "usage", "cost", "duration", "prompt", "calls"].contains(&name(at))
    })?;
    Some((view.range(at, at + 1), name(at).to_owned()))
}

/// Names that other tools give to what a run records.
const ALIASES: &[(&str, &str)] = &[
    ("answer", "output"),
    ("result", "output"),
    ("final_output", "output"),
    ("final_answer", "output"),
    ("final_response", "output"),
    ("reply", "output"),
    ("completion", "output"),
    ("input", "inputs"),
    ("tokens", "usage.total_tokens"),
    ("total_tokens", "usage.total_tokens"),
    ("token_count", "usage.total_tokens"),
    ("input_tokens", "usage.input_tokens"),
    ("output_tokens", "usage.output_tokens"),
    ("latency", "duration"),
    ("elapsed", "duration"),
    ("runtime", "duration"),
    ("total_cost", "cost"),
    ("price", "cost"),
    ("num_turns", "turns"),
];

/// `answer.status`, `tokens <= 5000`: a name at the start of a condition.
fn alias(view: &View<'_, '_>) -> Option<(Range<usize>, String)> {
    let at = usize::from(view.is(0, "not"));
    let (_, meant) = ALIASES.iter().find(|(name, _)| view.is(at, name))?;
    let goes_on = view.is_any(
        at + 1,
        &[
            ".", "[", "==", "!=", "===", "<", "<=", ">", ">=", "contains", "matches", "is", "exists", "starts", "ends",
            "mentions", "in", "not", "below", "under", "at", "less", "more", "must", "should", "above", "over",
        ],
    );
    goes_on.then(|| (view.range(at, at + 1), (*meant).to_owned()))
}

/// `any(c.ok for c in calls)`, `all([i.price > 0 for i in output.items])`.
fn generator(view: &View<'_, '_>) -> Option<(Range<usize>, String)> {
    let at = (0..view.len()).find(|&at| view.is_any(at, &["any", "all"]) && view.is(at + 1, "("))?;
    let close = view.behind_bracket(at + 1) - 1;
    let list = usize::from(view.is(at + 2, "["));
    let first = at + 2 + list;
    let each =
        (first..close).find(|&here| view.is(here, "for") && view.is_word(here + 1) && view.is(here + 2, "in"))?;
    let end = close - list;
    let (name, condition) = (view.word(each + 1), view.source(first, each));
    let over = (each + 3..end).find(|&here| view.is(here, "if")).unwrap_or(end);
    let filter = if over < end { Some(view.source(over + 1, end)) } else { None };
    let joint = if view.is(at, "any") { "and" } else { "implies" };
    let whole = filter.map_or(condition.clone(), |filter| format!("{filter} {joint} {condition}"));
    let text = format!("{} {name} in {}: {whole}", view.word(at), view.source(each + 3, over));
    let alone = at == 0 && close + 1 == view.len();
    Some((view.range(at, close + 1), if alone { text } else { format!("({text})") }))
}
