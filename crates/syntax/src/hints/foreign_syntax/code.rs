//! Expressions of Python and JavaScript: comprehensions, loops, arrows, chained comparisons.

use super::row::{RewriteRow, function_row, pattern_row};
use crate::hints::view::StatementView;
use crate::token::TokenKind;
use std::ops::Range;

const LISTS: &str =
    "values of a list are looked at with `any`, `all`, `no` and `count`: `all x in output.items: x.price > 0`";

pub(super) const TABLE: &[RewriteRow] = &[
    // Words.
    function_row("/* a comment */", super::comments::block_comment),
    pattern_row("usage.total_tokens <= 50,000", "..( n[ N THOUSAND THOUSAND* ]", "{n|ungrouped}")
        .with_message("digits are grouped with `_`"),
    pattern_row("assert(never refund)", "assert|expect|check|ensure '(' s[ STATEMENT IN ] ')' @end", "{s}"),
    pattern_row("refund()", "a:TOOL '(' ')' @end", "require {a}").as_guess(),
    function_row("usage.total_tokens <= 50k", super::amounts::token_amount).overriding_fix(),
    function_row("output.n <= 50k", super::amounts::thousands_amount).as_guess().overriding_fix(),
    pattern_row("new Set(output.ids).size == 3", "..( new Set '(' a:IN ')' . size|length", "length(distinct({a}))"),
    function_row("output.a != None", foreign_literal),
    pattern_row("output.a is not undefined", "..( < is not undefined >", "exists"),
    pattern_row("output.a is undefined", "..( < is|==|=== undefined >", "is missing")
        .with_message("what is not there is `missing`"),
    pattern_row("output.a != undefined", "..( < !=|!== undefined >", "exists").with_message("what is there `exists`"),
    pattern_row("output.a is true", "..( p:O < is > v:true|false", "{p} == {v}"),
    pattern_row("typeof output.a === \"string\"", "..( typeof p:O ==|=== t:T", "{p} is {t|typed}"),
    pattern_row("output.text == f\"x\"", "..( < f|r|u|b|F|R > t[ @touching T ]", "{t}"),
    pattern_row("output?.items", "..( < '?' > @touching &.", ""),
    // Lists.
    pattern_row(
        "len([c for c in calls if c.ok]) <= 2",
        "..( len|length '(' '[' W for v:W in p:O if c:IN ']' ')' s[ SIGN N ]",
        "(count {v} in {p}: {c}) {s}",
    )
    .with_message(LISTS),
    pattern_row(
        "sum(1 for c in calls if c.ok) <= 2",
        "..( sum '(' N for v:W in p:O if c:IN ')' s[ SIGN N ]",
        "(count {v} in {p}: {c}) {s}",
    )
    .with_message(LISTS),
    pattern_row(
        "sum(i.price for i in output.items) <= 5",
        "..( f:sum|max|min '(' '['? W . a:W for W in p:O ']'? ')'",
        "{f}({p}[*].{a})",
    )
    .with_message(LISTS),
    pattern_row(
        "[c for c in calls if c.ok] is empty",
        "'[' W for v:W in p:O if c:IN ']' is empty @modifiers ...",
        "no {v} in {p}: {c} {...}",
    )
    .with_message(LISTS),
    pattern_row(
        "[c for c in calls if c.ok] == []",
        "'[' W for v:W in p:O if c:IN ']' == '[' ']' @modifiers ...",
        "no {v} in {p}: {c} {...}",
    )
    .with_message(LISTS),
    pattern_row(
        "not any(c.ok for c in calls)",
        "not any '(' '['? c:.. for v:W in p:O ']'? ')' @end",
        "no {v} in {p}: {c}",
    )
    .with_message(LISTS),
    function_row("any(c.ok for c in calls)", generator_quantifier),
    pattern_row("for c in calls: c.ok", "for|forall v:W in p:O < :|, > assert? &X ...", "all {v} in {p}: {...}")
        .with_message(LISTS),
    pattern_row(
        "for (const c of calls) { c.ok }",
        "for '(' const|let|var? v:W of|in p:O ')' '{'? c:.. '}'? @end",
        "all {v} in {p}: {c}",
    )
    .with_message(LISTS),
    pattern_row("all c in calls: assert c.ok", "..( : < assert > &X", ""),
    pattern_row(
        "calls.every(c => c.ok)",
        "..( m:OBJECT . some|any|exists '(' '('? v:W ')'? => c:IN ')' @end",
        "any {v} in {m}: {c}",
    )
    .with_message(LISTS),
    pattern_row(
        "!calls.some(c => c.ok)",
        "'!'|not m:OBJECT . some|any '(' '('? v:W ')'? => c:IN ')' @end",
        "no {v} in {m}: {c}",
    )
    .with_message(LISTS),
    pattern_row(
        "calls.every(c => c.failed)",
        "..( m:OBJECT . every|all|forEach '(' '('? v:W ')'? => c:IN ')' @end",
        "all {v} in {m}: {c}",
    )
    .with_message(LISTS),
    pattern_row(
        "calls.filter(c => c.ok).length <= 2",
        "..( m:OBJECT . filter '(' '('? v:W ')'? => c:IN ')' . length|size @end",
        "(count {v} in {m}: {c})",
    )
    .with_message(LISTS),
    pattern_row(
        "calls.filter(c => c.ok).length < 2",
        "..( m:OBJECT . filter '(' '('? v:W ')'? => c:IN ')' . length|size s[ SIGN N ]",
        "(count {v} in {m}: {c}) {s}",
    )
    .with_message(LISTS),
    pattern_row(
        "output.items.map(i => i.price) == [1]",
        "..( m:OBJECT . map '(' '('? W ')'? => W . f:W ')'",
        "{m}[*].{f}",
    )
    .with_message(LISTS),
    pattern_row("calls[_].tool == \"refund\"", "p:BASE '[' _ ']' . f:W t[ TEST|SIGN ... ]", "any x in {p}: x.{f} {t}")
        .with_message(LISTS),
    pattern_row("output.items[].price > 5", "p:BASE '[' ']' . f:W t[ TEST|SIGN ... ]", "all x in {p}: x.{f} {t}")
        .as_guess()
        .with_message(LISTS),
    // Choices and comparisons.
    pattern_row(
        "0 < output.n < 5",
        "a:N < w:'<'|'<=' > p:O x:'<'|'<=' b:N @modifiers ...",
        "{a} {w} {p} and {p} {x} {b} {...}",
    )
    .with_message("comparisons do not chain"),
    pattern_row("output.a ?? \"x\" == \"y\"", "..( p:O '?' '?' v:VALUE", "(if {p} exists then {p} else {v})")
        .with_message("there is no `??`"),
    pattern_row("output.b ?? \"x\" == \"z\"", "..( p:O < '??' > v:VALUE", "(if {p} exists then {p} else {v})")
        .with_message("there is no `??`"),
    pattern_row("output.n ** 2 == 4", "..( p:O < '**' > 2", "{p} * {p}"),
    pattern_row("output.n in range(1, 5)", "..( in range '(' n:N , m:N ')'", "in {n}..{m|before}")
        .with_message("a range is written `1..5`")
        .as_guess(),
    pattern_row("output.a == \"x\" || \"y\"", "p:O ==|=== l[ VALUE or|'||' VALUE ] @modifiers", "{p} in {l|list}")
        .with_message("`or` joins conditions; one of several values is said with `in`"),
    pattern_row(
        "output.a != \"x\" and \"y\"",
        "p:O !=|!== l[ VALUE and|or|'&&'|'||' VALUE ] @modifiers",
        "{p} not in {l|list}",
    )
    .with_message("`and` joins conditions; none of several values is said with `not in`"),
    pattern_row(
        "output.a contains \"x\" or \"y\"",
        "p:O contains l[ VALUE or|'||' VALUE ] @modifiers",
        "{p} contains any {l|list}",
    )
    .with_message("`or` joins conditions; one of several texts is said with `contains any`"),
    // Functions.
    pattern_row("const paid = (x) => x > 5", "const|let|var n:W = '('? p:W ')'? => ...", "def {n}({p}) = {...}")
        .with_message("a function is `def NAME(x) = …`"),
    pattern_row("paid = lambda x: x > 5", "n:W = lambda p:W : ...", "def {n}({p}) = {...}")
        .with_message("a function is `def NAME(x) = …`"),
    pattern_row(
        "def paid(x): return x > 5",
        "h[ def|function|fn|func DEFINED &'(' G ] :|=>|->|=? return ...",
        "{h|defined} = {...}",
    )
    .with_message("a function is `def NAME(x) = …`"),
    pattern_row(
        "def paid(x) { return x > 5 }",
        "h[ def|function|fn|func DEFINED &'(' G ] '{' return? c:IN ;? '}' @end",
        "{h|defined} = {c}",
    )
    .with_message("a function is `def NAME(x) = …`"),
    // What libraries of tests write.
    pattern_row("assert output.n > 3, \"too few\"", "assert c:.. , t:T @end", "{c} message {t}")
        .with_message("what is said of a failure stands behind `message`"),
    pattern_row("assert output.ok == true", "assert &O|not|'('|T|any|all|no ...", "{...}"),
    pattern_row("expect output.status == 1", "expect &RUNPATH|not ...", "{...}"),
    pattern_row("output.a ~= \"x\"", "..( p:O < ~= > t:T", "{p} matches {t|regex}"),
    pattern_row("output.b ~= \"x\"", "..( p:O < ~ = > t:T", "{p} contains {t}").as_guess(),
    pattern_row("output.a !~ /x/", "..( < '!' ~ > &R|T", "not matches"),
    pattern_row("output.a matches \"^x\"", "..( matches|=~ t:T", "matches {t|pattern}")
        .with_message("a regular expression stands between slashes"),
    // Names that are not those of the run.
    function_row("COUNT(refund) <= 1", capital_function),
    function_row("before approve(id: id) -> refund(id: id)", shared_binding),
    function_row("$output.status == 1", binding_of_a_root),
    function_row("answer.status == 1", root_alias),
    pattern_row(
        "tool_calls <= 5",
        "calls|tool_calls|num_calls|n_calls|number_of_calls s[ SIGN N ] @modifiers ...",
        "count any {s} {...}",
    )
    .as_guess(),
    pattern_row(
        "each refund: amount <= 100",
        "w:each|some|no a:D : !STEPFIELD f:TOOL s[ SIGN|TEST ... ]",
        "{w} {a}: args.{f} {s}",
    )
    .as_guess()
    .with_message("an argument of the call is `args.NAME`"),
    pattern_row("refund.args.currency == \"EUR\"", "a:TOOL . args|arguments|input . c[ W ... ]", "each {a}: args.{c}")
        .as_guess()
        .with_message("an argument of a call is looked at with `each`"),
    pattern_row(
        "refund.result contains \"ok\"",
        "a:TOOL . c[ result|status|error|duration SIGN|TEST ... ]",
        "each {a}: {c}",
    )
    .as_guess()
    .with_message("a call is looked at with `each`"),
    pattern_row(
        "result of refund contains \"ok\"",
        "the? f:result|status|error|duration of a:TOOL t[ SIGN|TEST ... ]",
        "each {a}: {f} {t}",
    )
    .as_guess()
    .with_message("a call is looked at with `each`"),
    pattern_row(
        "refund returned \"ok\"",
        "a:TOOL returned|returns t:T @modifiers ...",
        "each {a}: result contains {t} {...}",
    )
    .as_guess()
    .with_message("a call is looked at with `each`"),
    pattern_row("tool calls <= 5", "tool calls s[ SIGN N ] @modifiers ...", "count any {s} {...}").as_guess(),
    pattern_row("refund.amount <= 500", "a:TOOL . f:W s[ SIGN N ... ]", "each {a}: args.{f} {s}")
        .as_guess()
        .with_message("an argument of a call is looked at with `each`"),
    pattern_row(
        "never refund when amount > 5",
        "w:never|require a:D < when|if|with|having|whose > c[ f:TOOL SIGN VALUE ] @end",
        "{w} {a}({c})",
    )
    .with_message("conditions on the arguments of a call stand in parentheses"),
    pattern_row("refund is not allowed", "a:TOOL is|are not allowed|permitted|ok|acceptable @end", "never {a}")
        .with_message("what must not occur is said with `never`"),
    pattern_row("refund is forbidden", "a:TOOL is|are forbidden|prohibited|banned|disallowed @end", "never {a}")
        .with_message("what must not occur is said with `never`"),
    pattern_row("refund implies notify", "a:TOOL implies b:TOOL @end", "if {a} then {b}")
        .as_guess()
        .with_message("steps are related with `if … then`"),
    pattern_row("F(notify)", "F|eventually '(' a:S ')' @end", "require {a}"),
    pattern_row("before(approve, refund)", "before '(' a:S , b:S ')' @modifiers ...", "before {a} -> {b} {...}")
        .as_guess(),
    pattern_row("sequence(login, search)", "sequence '(' s:IN ')' @modifiers ...", "sequence {s|arrows} {...}"),
    pattern_row(
        "never tool(\"refund\")",
        "w:never|require|count|first|last|only tool|call|calls|tool_call '(' t:T ')' ...",
        "{w} {t|bare} {...}",
    )
    .with_message("a call is named by its tool alone"),
    pattern_row(
        "never bash(\"rm -rf\")",
        "w:never|require bash|Bash|shell|exec|run_command '(' t:T ')' ...",
        "{w} command {t} {...}",
    )
    .as_guess(),
    pattern_row(
        "command contains \"rm -rf\"",
        "k:command|user|assistant contains|matches t:T|R @end",
        "require {k} {t}",
    )
    .as_guess()
    .overriding_fix(),
    pattern_row("count(*) <= 1", "count '(' '*' ')' ...", "count any {...}").overriding_fix(),
    pattern_row("count(refund, amount > 5) <= 1", "count '(' a:TOOL , c:IN ')' ...", "count {a}({c}) {...}"),
    pattern_row("count(refund) <= 1", "count '(' a:TOOL ')' ...", "count {a} {...}"),
    pattern_row("count(tool == \"refund\") <= 1", "count '(' tool|name ==|= t:T ')' ...", "count {t|bare} {...}"),
    pattern_row("count search <= three", "count c:.. s:SIGN n:WORDED @modifiers", "count {c} {s} {n|digits}"),
    pattern_row("output.a matches refund", "p:O matches w:TOOL @end", "{p} matches /{w}/")
        .as_guess()
        .with_message("a regular expression stands between slashes"),
    pattern_row("output.a is emtpy", "..( is < emtpy|empy|emty|emtpty|blank >", "is empty"),
    pattern_row("never refund severity high", "..( severity v:high|critical|fatal|major|blocker", "severity error")
        .as_guess(),
    pattern_row("never refund severity low", "..( severity v:low|minor|medium|moderate", "severity warn").as_guess(),
    // Other ways to name a value.
    pattern_row("$.output.status == 1", "..( < '$' . > &output|calls|inputs|usage", ""),
    pattern_row("{{output.status}} == 1", "..( '{' '{' p:O '}' '}'", "{p}"),
    pattern_row("${output.status} == 1", "..( '$' '{' p:O '}' @outer", "{p}"),
    pattern_row("output.items.*.price contains 5", "..( p:O . '*' . f:W", "{p}[*].{f}"),
];

/// `None`, `True`: literals of other languages.
fn foreign_literal(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
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
    let meant = |at: usize| LITERALS.iter().find(|(word, _)| view.token_is(at, word));
    let field = |at: usize| at > 0 && view.token_is(at - 1, ".") || view.is_any(at + 1, &["(", ":", "."]);
    let at = (1..view.len()).find(|&at| view.is_word(at) && meant(at).is_some() && !field(at))?;
    let (_, meant) = meant(at)?;
    // `is None` compares.
    let (start, sign) = match (view.token_is(at - 1, "is"), at > 1 && view.tokens_are(at - 2, &["is", "not"])) {
        (true, _) => (at - 1, "== "),
        (_, true) => (at - 2, "!= "),
        _ => (at, ""),
    };
    Some((view.token_range(start, at + 1), format!("{sign}{meant}")))
}

/// `COUNT(x)`, `LENGTH(x)`.
fn capital_function(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    const NAMES: &[&str] =
        &["COUNT", "SUM", "LENGTH", "AVG", "MIN", "MAX", "LOWER", "UPPER", "TRIM", "Count", "Sum", "Length", "LEN"];
    let at = (0..view.len())
        .find(|&at| view.is_any(at, NAMES) && view.token_is(at + 1, "(") && view.touches_previous(at + 1))?;
    Some((view.token_range(at, at + 1), view.token_text(at).to_ascii_lowercase()))
}

/// `approve(id: id)`, `approve($id)`: a value shared by two steps needs a `$`.
fn shared_binding(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    if !view.is_any(0, &["before", "after", "sequence", "if", "never", "immediately", "starts"]) {
        return None;
    }
    for at in 2..view.len() {
        let named =
            view.token_is(at - 1, "(") && view.token_kind(at) == TokenKind::Binding && view.token_is(at + 1, ")");
        if named {
            let name = view.token_text(at).trim_start_matches('$');
            return Some((view.token_range(at, at + 1), format!("{name}: ${name}")));
        }
        let colon =
            view.is_any(at, &[":", "=", "=="]) && view.is_any(at.wrapping_sub(2), &["(", ","]) && view.is_word(at - 1);
        let open = usize::from(view.is_any(at + 1, &["{", "<"]));
        let value = at + 1 + open;
        if colon && view.token_is(value, view.token_text(at - 1)) && view.is_any(value + 1, &[")", ",", "}", ">"]) {
            let text = format!("{}: ${}", view.token_text(at - 1), view.token_text(value));
            return Some((view.token_range(at - 1, value + 1 + open), text));
        }
    }
    None
}

/// `$output.status`: no binding.
fn binding_of_a_root(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    let name = |at: usize| view.token_text(at).trim_start_matches('$');
    let at = (0..view.len()).find(|&at| {
        view.token_kind(at) == TokenKind::Binding
            && ["output", "inputs", "usage", "cost", "duration", "prompt", "calls"].contains(&name(at))
    })?;
    Some((view.token_range(at, at + 1), name(at).to_owned()))
}

/// Names of run fields in other tools.
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
fn root_alias(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    let at = usize::from(view.token_is(0, "not"));
    let (_, meant) = ALIASES.iter().find(|(name, _)| view.token_is(at, name))?;
    let goes_on = view.is_any(
        at + 1,
        &[
            ".", "[", "==", "!=", "===", "<", "<=", ">", ">=", "contains", "matches", "is", "exists", "starts", "ends",
            "mentions", "in", "not", "below", "under", "at", "less", "more", "must", "should", "above", "over",
        ],
    );
    goes_on.then(|| (view.token_range(at, at + 1), (*meant).to_owned()))
}

/// `any(c.ok for c in calls)`, `all([i.price > 0 for i in output.items])`.
fn generator_quantifier(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    let at = (0..view.len()).find(|&at| view.is_any(at, &["any", "all"]) && view.token_is(at + 1, "("))?;
    let close = view.behind_bracket(at + 1) - 1;
    let list = usize::from(view.token_is(at + 2, "["));
    let first = at + 2 + list;
    let each = (first..close)
        .find(|&here| view.token_is(here, "for") && view.is_word(here + 1) && view.token_is(here + 2, "in"))?;
    let end = close - list;
    let (name, condition) = (view.token_text(each + 1), view.source_text(first, each));
    let over = (each + 3..end).find(|&here| view.token_is(here, "if")).unwrap_or(end);
    let filter = if over < end { Some(view.source_text(over + 1, end)) } else { None };
    let joint = if view.token_is(at, "any") { "and" } else { "implies" };
    let whole = filter.map_or(condition.clone(), |filter| format!("{filter} {joint} {condition}"));
    let text = format!("{} {name} in {}: {whole}", view.token_text(at), view.source_text(each + 3, over));
    let alone = at == 0 && close + 1 == view.len();
    Some((view.token_range(at, close + 1), if alone { text } else { format!("({text})") }))
}
