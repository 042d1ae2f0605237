//! Methods and functions of other languages: `output.includes("x")`, `len(x)`, `expect(x).toBe(1)`.

use super::row::{RewriteRow, function_row};
use crate::hints::view::StatementView;
use std::ops::Range;

pub(super) const TABLE: &[RewriteRow] = &[
    function_row("expect(output.a).toBe(1)", expect_call),
    function_row("assertEqual(output.a, 1)", assert_call),
    function_row("re.search(\"x\", output.a)", function_call),
    function_row("output.text.includes(\"x\")", method_call),
    function_row("output.items.length > 0", length_property),
];

/// Test templates by method name, with `{o}` for the object and `{a}` for the argument.
const METHODS: &[(&str, &str)] = &[
    ("includes", "{o} contains {a}"),
    ("contains", "{o} contains {a}"),
    ("include?", "{o} contains {a}"),
    ("startsWith", "{o} starts with {a}"),
    ("startswith", "{o} starts with {a}"),
    ("starts_with", "{o} starts with {a}"),
    ("endsWith", "{o} ends with {a}"),
    ("endswith", "{o} ends with {a}"),
    ("ends_with", "{o} ends with {a}"),
    ("toLowerCase", "lower({o})"),
    ("lower", "lower({o})"),
    ("casefold", "lower({o})"),
    ("toUpperCase", "upper({o})"),
    ("upper", "upper({o})"),
    ("trim", "trim({o})"),
    ("strip", "trim({o})"),
    ("match", "{o} matches {r}"),
    ("matches", "{o} matches {r}"),
    ("equals", "{o} == {a}"),
    ("split", "split({o}, {a})"),
    ("join", "join({o}, {a})"),
    ("replace", "replace({o}, {a})"),
    ("get", "{o}[{a}]"),
    ("isEmpty", "{o} is empty"),
    ("size", "length({o})"),
    ("len", "length({o})"),
    ("length", "length({o})"),
    ("count", "length({o})"),
    ("exists", "{o} exists"),
    ("has", "{o} contains {a}"),
    ("hasOwnProperty", "{a} in {o}"),
    ("keys", "keys({o})"),
];

/// `o.includes("x")`, and `o.indexOf("x") >= 0`.
fn method_call(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    for at in 1..view.len() {
        if !(view.token_is(at, ".")
            && view.touches_previous(at)
            && view.is_word(at + 1)
            && view.token_is(at + 2, "(")
            && view.touches_previous(at + 2))
        {
            continue;
        }
        let start = object_start(view, at);
        let close = view.behind_bracket(at + 2);
        let (object, argument) = (view.source_text(start, at), view.source_text(at + 3, close.saturating_sub(1)));
        if start == at || close <= at + 3 && argument.is_empty() && view.token_is(close, "(") {
            continue;
        }
        let name = view.token_text(at + 1);
        if name == "indexOf" || name == "find" && view.is_text(at + 3) {
            let (end, negated) = found_comparison(view, close)?;
            let not = if negated { "not " } else { "" };
            return Some((view.token_range(start, end), format!("{object} {not}contains {argument}")));
        }
        if name == "test" && object.starts_with('/') {
            return Some((view.token_range(start, close), format!("{argument} matches {object}")));
        }
        if name == "join" && view.is_text(start) {
            return Some((view.token_range(start, close), format!("join({argument}, {object})")));
        }
        if name == "count" && view.token_is(start, "calls") && view.is_text(at + 3) {
            let tool = argument.trim_matches(['"', '\'']).to_owned();
            return Some((view.token_range(start, close), format!("count {tool}")));
        }
        let Some((_, template)) = METHODS.iter().find(|(method, _)| *method == name) else { continue };
        if (template.contains("{a}") || template.contains("{r}")) == argument.is_empty() {
            continue;
        }
        return Some((view.token_range(start, close), fill_call(template, &object, &argument)));
    }
    None
}

fn fill_call(template: &str, object: &str, argument: &str) -> String {
    // A field with a plain name needs no brackets.
    let bare = argument.trim_matches(['"', '\'']);
    if template == "{o}[{a}]"
        && crate::words::is_label(bare)
        && !bare.contains(['-', '.'])
        && bare.len() + 2 == argument.len()
    {
        return format!("{object}.{bare}");
    }
    template.replace("{o}", object).replace("{a}", argument).replace("{r}", &to_regex(argument))
}

fn to_regex(text: &str) -> String {
    let bare = text.trim_start_matches('r');
    let quoted = bare.len() >= 2 && bare.starts_with(['"', '\'']) && bare.ends_with(['"', '\'']);
    match bare.get(1..bare.len().saturating_sub(1)).filter(|_| quoted) {
        Some(inner) => format!("/{}/", inner.replace('/', "\\/")),
        None => text.to_owned(),
    }
}

/// After `indexOf(…)`: the comparison that says whether something was found.
fn found_comparison(view: &StatementView<'_, '_>, at: usize) -> Option<(usize, bool)> {
    let minus = view.token_is(at + 1, "-") && view.token_is(at + 2, "1");
    let negative = minus || view.token_is(at + 1, "-1");
    let end = at + 2 + usize::from(minus);
    match (view.token_text(at), negative, view.token_text(at + 1)) {
        (">=", false, "0") => Some((end, false)),
        ("!=" | "!==" | ">", true, _) => Some((end, false)),
        ("==" | "===", true, _) | ("<", false, "0") => Some((end, true)),
        _ => None,
    }
}

fn object_start(view: &StatementView<'_, '_>, dot: usize) -> usize {
    let mut start = dot;
    while start > 0 && view.touches_previous(start) {
        let before = start - 1;
        let bracket = view.is_any(before, &[")", "]"]);
        let joins = bracket
            || view.token_is(before, ".")
            || view.is_word(before)
            || view.is_number(before)
            || view.is_text(before);
        let regex = view.token_text(before).starts_with('/') && view.token_text(before).len() > 1;
        if !joins && !regex {
            break;
        }
        start = if bracket { view.opening_bracket(before) } else { before };
    }
    start
}

/// `output.items.length`.
fn length_property(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    let at = (1..view.len()).find(|&at| {
        view.token_is(at, ".")
            && view.touches_previous(at)
            && view.is_any(at + 1, &["length", "size", "len"])
            && !view.is_any(at + 2, &["(", ".", "["])
            && view.is_any(at + 2, &["<", "<=", ">", ">=", "==", "!=", "===", "in", ")"])
    })?;
    let start = object_start(view, at);
    (start < at).then(|| (view.token_range(start, at + 2), format!("length({})", view.source_text(start, at))))
}

/// Templates of two-argument tests by function name.
const FUNCTIONS: &[(&str, usize, &str)] = &[
    ("len", 1, "length({1})"),
    ("size", 1, "length({1})"),
    ("strlen", 1, "length({1})"),
    ("count", 1, "length({1})"),
    ("set", 1, "distinct({1})"),
    ("unique", 1, "distinct({1})"),
    ("sorted", 1, "sort({1})"),
    ("mean", 1, "avg({1})"),
    ("average", 1, "avg({1})"),
    ("p50", 1, "median({1})"),
    ("p90", 1, "percentile({1}, 90%)"),
    ("p95", 1, "percentile({1}, 95%)"),
    ("p99", 1, "percentile({1}, 99%)"),
    ("lowercase", 1, "lower({1})"),
    ("to_lower", 1, "lower({1})"),
    ("uppercase", 1, "upper({1})"),
    ("strip", 1, "trim({1})"),
    ("wordcount", 1, "word_count({1})"),
    ("exists", 1, "{1} exists"),
    ("has", 1, "{1} exists"),
    ("defined", 1, "{1} exists"),
    ("is_empty", 1, "{1} is empty"),
    ("isEmpty", 1, "{1} is empty"),
    ("empty", 1, "{1} is empty"),
    ("startswith", 2, "{1} starts with {2}"),
    ("starts_with", 2, "{1} starts with {2}"),
    ("endswith", 2, "{1} ends with {2}"),
    ("ends_with", 2, "{1} ends with {2}"),
    ("contains", 2, "{1} contains {2}"),
    ("includes", 2, "{1} contains {2}"),
    ("matches", 2, "{1} matches {r2}"),
    ("isinstance", 2, "{1} is {t2}"),
    ("re.search", 2, "{2} matches {r1}"),
    ("re.match", 2, "{2} matches {r1}"),
    ("re.fullmatch", 2, "{2} matches {r1}"),
    ("regex.match", 2, "{2} matches {r1}"),
    ("re_match", 2, "{2} matches {r1}"),
    ("Array.isArray", 1, "{1} is list"),
    ("is_string", 1, "{1} is string"),
    ("is_number", 1, "{1} is number"),
    ("Object.keys", 1, "keys({1})"),
    ("JSON.parse", 1, "json({1})"),
    ("json.loads", 1, "json({1})"),
    ("math.abs", 1, "abs({1})"),
    ("Math.abs", 1, "abs({1})"),
];

/// `len(x)`, `re.search(r"x", y)`, `isinstance(x, str)`, `new Set(x).size`.
fn function_call(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    for open in 1..view.len() {
        if !view.token_is(open, "(") || !view.touches_previous(open) || !view.is_word(open - 1) {
            continue;
        }
        let dotted = open > 2
            && view.token_is(open - 2, ".")
            && view.touches_previous(open - 1)
            && view.touches_previous(open - 2);
        let start = if dotted { open - 3 } else { open - 1 };
        if start > 0 && view.touches_previous(start) && view.token_is(start - 1, ".") {
            continue;
        }
        let name = view.source_text(start, open);
        let arguments = call_arguments(view, open);
        let step = start > 0 && crate::words::STATEMENTS.contains(&view.token_text(start - 1));
        // `count refund(…)` is a step.
        if step || name == "count" && !view.is_any(open + 1, crate::words::ROOTS) {
            continue;
        }
        let row = FUNCTIONS.iter().find(|(known, count, _)| *known == name && *count == arguments.len());
        let Some((_, _, template)) = row else { continue };
        let mut text = (*template).to_owned();
        for (number, argument) in arguments.iter().enumerate() {
            text = text.replace(&format!("{{{}}}", number + 1), argument);
            text = text.replace(&format!("{{r{}}}", number + 1), &to_regex(argument));
            text = text.replace(&format!("{{t{}}}", number + 1), type_word(argument));
        }
        return Some((view.token_range(start, view.behind_bracket(open)), text));
    }
    None
}

fn call_arguments(view: &StatementView<'_, '_>, open: usize) -> Vec<String> {
    let end = view.behind_bracket(open).saturating_sub(1);
    let (mut found, mut from) = (Vec::new(), open + 1);
    while from < end {
        let to = view.balanced_end(from, &[",", ")"]).min(end);
        found.push(view.source_text(from, to));
        from = to + 1;
    }
    found
}

pub(in crate::hints) fn type_word(name: &str) -> &'static str {
    match name.trim_matches(['"', '\'']) {
        "str" | "string" | "String" => "string",
        "int" | "integer" => "integer",
        "float" | "number" | "Number" => "number",
        "bool" | "boolean" => "boolean",
        "list" | "Array" | "array" | "tuple" => "list",
        _ => "object",
    }
}

const MATCHERS: &[(&str, &str)] = &[
    ("toBe", "{o} == {a}"),
    ("toEqual", "{o} == {a}"),
    ("toStrictEqual", "{o} == {a}"),
    ("equal", "{o} == {a}"),
    ("eq", "{o} == {a}"),
    ("eql", "{o} == {a}"),
    ("equals", "{o} == {a}"),
    ("toContain", "{o} contains {a}"),
    ("contain", "{o} contains {a}"),
    ("include", "{o} contains {a}"),
    ("toMatch", "{o} matches {r}"),
    ("match", "{o} matches {r}"),
    ("toHaveLength", "length({o}) == {a}"),
    ("lengthOf", "length({o}) == {a}"),
    ("toBeGreaterThan", "{o} > {a}"),
    ("above", "{o} > {a}"),
    ("toBeGreaterThanOrEqual", "{o} >= {a}"),
    ("least", "{o} >= {a}"),
    ("toBeLessThan", "{o} < {a}"),
    ("below", "{o} < {a}"),
    ("toBeLessThanOrEqual", "{o} <= {a}"),
    ("most", "{o} <= {a}"),
    ("toBeTruthy", "{o} == true"),
    ("toBeFalsy", "{o} == false"),
    ("toBeNull", "{o} == null"),
    ("toBeDefined", "{o} exists"),
    ("toBeUndefined", "{o} is missing"),
    ("toExist", "{o} exists"),
    ("toHaveBeenCalled", "require {o}"),
    ("toHaveBeenCalledTimes", "count {o} == {a}"),
];

/// `expect(x).not.toBe(1)`, `expect(x).to.equal(1)`.
fn expect_call(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    if !view.token_is(0, "expect") || !view.token_is(1, "(") {
        return None;
    }
    let mut at = view.behind_bracket(1);
    let object = view.source_text(2, at - 1);
    let mut not = false;
    while view.token_is(at, ".") && view.is_word(at + 1) && !view.token_is(at + 2, "(") {
        not ^= view.token_is(at + 1, "not");
        at += 2;
    }
    let (_, template) = MATCHERS.iter().find(|(name, _)| view.token_is(at, ".") && view.token_is(at + 1, name))?;
    let end = view.behind_bracket(at + 2);
    let argument = view.source_text(at + 3, end - 1);
    let text = fill_call(template, &object, &argument);
    let text = match text.strip_prefix("require ") {
        Some(step) if not => format!("never {step}"),
        _ if not => format!("not {text}"),
        _ => text,
    };
    Some((view.token_range(0, end), text))
}

/// Templates of two-argument assertions, by name in lower case without `_`.
const ASSERTIONS: &[(&str, usize, &str)] = &[
    ("assert", 1, "{1}"),
    ("asserttrue", 1, "{1} == true"),
    ("assertfalse", 1, "{1} == false"),
    ("assertequal", 2, "{1} == {2}"),
    ("assertequals", 2, "{1} == {2}"),
    ("asserteq", 2, "{1} == {2}"),
    ("assert.equal", 2, "{1} == {2}"),
    ("assert.strictequal", 2, "{1} == {2}"),
    ("assert.deepequal", 2, "{1} == {2}"),
    ("assertnotequal", 2, "{1} != {2}"),
    ("assert.notequal", 2, "{1} != {2}"),
    ("assertin", 2, "{1} in {2}"),
    ("assertnotin", 2, "{1} not in {2}"),
    ("assertisnone", 1, "{1} == null"),
    ("assertisnotnone", 1, "{1} != null"),
    ("assertgreater", 2, "{1} > {2}"),
    ("assertless", 2, "{1} < {2}"),
    ("assertlessequal", 2, "{1} <= {2}"),
    ("assertgreaterequal", 2, "{1} >= {2}"),
    ("assert.ok", 1, "{1}"),
];

/// `assertEqual(x, 1)`, `assert(x)`, with or without `self.`.
fn assert_call(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    let first = if view.tokens_are(0, &["self", "."]) { 2 } else { 0 };
    let open = (first + 1..view.len().min(first + 5)).find(|&at| view.token_is(at, "("))?;
    let name = view.source_text(first, open).to_ascii_lowercase().replace('_', "");
    let arguments = call_arguments(view, open);
    let (_, _, template) = ASSERTIONS.iter().find(|(known, count, _)| *known == name && *count == arguments.len())?;
    let mut text = (*template).to_owned();
    for (number, argument) in arguments.iter().enumerate() {
        text = text.replace(&format!("{{{}}}", number + 1), argument);
    }
    Some((view.token_range(0, view.behind_bracket(open)), text))
}
