//! Hints for mistakes in and behind step patterns: conditions without parentheses, repetition, `each` without a colon, counts without a comparison.

use super::hint::{Hint, ask, not};
use super::view::{View, Write};
use crate::{grammar, near, words};
use averment_base::diagnostic::{Diagnostic, Edit};

pub(super) const TABLE: &[Hint] = &[
    ask("either refund where result.code == 0 or cancel", where_without_parentheses),
    not("require refund, where result.code == 0", "a:.. < ,|and > b[ where ... ]")
        .says("`where` follows its step without `{wrong}`")
        .write("{a} {b}"),
    ask("require skill find-skills", text_of_a_kind),
    ask("require refund amount > 3", arguments_without_parentheses),
    ask("flow plan -> search+", repetition),
    not("flow plan -> (search) *", "&flow ..( a:')' < @apart b:'*'|+|'?'|'{' >")
        .says("repetition touches its parenthesis")
        .help("write `){b}` without a space")
        .line("{a}{b}")
        .title("remove the space"),
    not("each x in output.items: x > 0", "< w:each|every|forall|some|exists|none > v[ W in ... ]")
        .says("`{w}` speaks of calls; values of a list are quantified with `{w|values}`")
        .write("{w|values} {v}"),
    not("for all x in output.items: x > 0", "< for|there all|each|every|is > v[ W in ... ]")
        .says("`{wrong}` speaks of calls; values of a list are quantified with `all`")
        .write("all {v}"),
    not("each 3", "w:each|some|no !..:|'{' < !P X? >")
        .says("`{w}` needs a step behind it")
        .help("name the calls, then the condition: `{w} refund: args.amount <= 100`"),
    not("no refund", "no !..:|'{' a:P <> @end")
        .says("`no` needs a condition behind its step")
        .help("write `never {a}`, or a condition behind a colon: `no {a}: args.force == true`"),
    not("some refund", "some !..:|'{' a:P <> @end")
        .says("`some` needs a condition behind its step")
        .help("write `require {a}`, or a condition behind a colon: `some {a}: args.amount > 0`"),
    not("each refund", "each !..:|'{' a:P <> @end")
        .says("`each` needs a condition behind its step")
        .help("write a condition behind a colon: `each {a}: args.amount <= 100`"),
    not("no a after b", "< no > !..:|'{' v[ P after|before|between|, ... ]")
        .says("calls that must not occur are said with `never`")
        .write("never {v}"),
    not("each refund has args.amount <= 100", "w:each|some|no !..:|'{' a:P < LINK > LINK* ...")
        .says("a `:` is missing between the step and its condition")
        .write("{w} {a}: {...}"),
    not("each refund args.amount <= 100", "w:each|some|no !..:|'{' a:P b[ < X > ... ]")
        .says("a `:` is missing between the step and its condition")
        .write("{w} {a}: {b}"),
    ask("if output.ok == true then require refund", if_without_else),
    not("if refund, notify", "if !..then a:P < ,|->|=>|: > &S ...")
        .says("`then` is missing between the steps of `if`")
        .write("if {a} then {...}"),
    not("if refund notify", "if !..then a:P !is|contains|exists|in|not b[ < &S X > ... ]")
        .says("`then` is missing between the steps of `if`")
        .write("if {a} then {b}"),
    not("if refund", "if !..then X* <>")
        .says("`then` is missing")
        .help("write `if refund then notify`; for an expression `if c then a else b`"),
    not("iff, close", "< iff >").says("`iff` stands between two steps").help("write `open_file iff close_file`"),
    not("open where result.code == 0 iff", "a:.. iff <> @end")
        .says("`iff` needs a step behind it")
        .help("write `{a} iff other`"),
    not("{ require a }", "< '{' >").says("this `{` opens nothing: a line begins with a statement").help(
        "put `{` at the end of the line before it, as in `rule approval {`; an object needs a name in front of it",
    ),
    ask("rule approval", missing_block),
    ask("args are valid", valid_arguments),
    not("require refund(id where x == 1)", "..( < @inner @read @begun where >")
        .says("`where` stands behind the parentheses of a call, not in them")
        .help("write `(refund(id: $id) where result.code == 0)`"),
];

/// `either refund where amount > 3 or cancel`: the statement goes on, and the condition swallows it.
fn where_without_parentheses(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = view.find(1, "where")?;
    let joint = match view.word(0) {
        "either" => "or",
        "between" => "and",
        "require" => "times",
        "count" => "",
        "never" if view.find(1, "between").is_some_and(|between| between < at) => "and",
        "for" => return None,
        _ => "|",
    };
    let start = pattern_start(view, at);
    let stop = if joint.is_empty() { last_comparison(view, at)? } else { view.find(at + 1, joint)? };
    let stop = if joint == "times" { number_before(view, stop) } else { stop };
    let shown = match joint {
        "" => "the comparison of `count`".to_owned(),
        "times" => "a number of times".to_owned(),
        joint => format!("`{joint}`"),
    };
    let text = format!("{} ({}) {}", view.source(0, start), view.source(start, stop), view.source(stop, view.len()));
    let edits = vec![view.insert(start, "("), view.append(stop.checked_sub(1)?, ")")];
    Some(
        view.wrong(at, at + 1, format!("`where` ends a pattern, so it needs parentheses before {shown}"))
            .write(text, edits),
    )
}

/// The first token of the step pattern whose condition starts at `at`.
fn pattern_start(view: &View<'_, '_>, at: usize) -> usize {
    let mut start = 1;
    for here in 1..at {
        if view.is_outer(here) && view.is_any(here, &["or", "->", ",", "after", "before", "between", "and", "each"]) {
            start = here + 1;
        }
    }
    start.min(at)
}

fn last_comparison(view: &View<'_, '_>, from: usize) -> Option<usize> {
    let signs = ["<=", ">=", "==", "!=", "<", ">", "in"];
    let found: Vec<usize> = (from..view.len()).filter(|&at| view.is_outer(at) && view.is_any(at, &signs)).collect();
    if found.len() < 2 { None } else { found.last().copied() }
}

fn number_before(view: &View<'_, '_>, times: usize) -> usize {
    let mut start = times;
    while start > 1 && (view.is_number(start - 1) || view.is(start - 1, "..")) {
        start -= 1;
    }
    start
}

/// `skill find-skills`, `read src/**`, `command npm test`: what stands behind a kind is text.
fn text_of_a_kind(view: &View<'_, '_>) -> Option<Diagnostic> {
    const ENDS: &[&str] = &[
        "->", "{", "where", "until", "within", "and", "or", "then", "iff", "after", "before", "between", "exists",
        "is", "ok", "failed", "by", "tagged", "in", "contains", "matches", "starts", "ends",
    ];
    let ends = |at| view.is_any(at, ENDS) || view.is_any(at, words::MODIFIERS);
    let steps = words::STATEMENTS.contains(&view.word(0)) || kind_of(view, 0).is_some();
    let at = (0..view.len()).find(|&at| {
        let begins = at == 0
            || words::STATEMENTS.contains(&view.word(at - 1))
            || view.is_any(at - 1, &["->", ",", "|", "each", "and", "or", "proposed"]);
        let word = view.is_word(at + 1) || view.is_any(at + 1, &[".", "/", "*", "**"]);
        begins && kind_of(view, at).is_some() && word && !view.touches(at + 1) && !ends(at + 1)
    })?;
    let kind = kind_of(view, at)?;
    if !steps || view.failed < at {
        return None;
    }
    let mut end = at + 2;
    while end < view.len()
        && (view.touches(end) || kind == "command" && !view.is_text(end))
        && !view.is_any(end, ENDS)
        && !view.is_any(end, &[",", "(", ")", "|", ":", "=", "==", "!=", "<", ">", "<=", ">="])
    {
        end += 1;
    }
    if view.is_any(end, &["==", "!=", ":", ">", "<"]) {
        return None;
    }
    let text = format!("{kind} \"{}\"", view.source(at + 1, end));
    let mut edits = vec![view.insert(at + 1, "\""), view.append(end - 1, "\"")];
    if view.is(at, kind) {
        return Some(view.wrong(at + 1, end, format!("what stands behind `{kind}` is text")).write(text, edits));
    }
    edits.insert(0, view.edit(at, at + 1, kind));
    let diagnostic =
        view.wrong(at, at + 1, format!("`{}` is no kind of step", view.word(at))).write(text.clone(), edits);
    Some(Diagnostic { help: Some(format!("did you mean `{kind}`? write `{text}`")), ..diagnostic })
}

/// The kind of step that a word is, or was to be.
fn kind_of(view: &View<'_, '_>, at: usize) -> Option<&'static str> {
    let word = view.word(at);
    if let Some(kind) = words::KINDS.iter().find(|kind| **kind == word) {
        return Some(kind);
    }
    let near = near::meant(word).into_iter().next().filter(|_| !grammar::is_keyword(word))?;
    words::KINDS.iter().find(|kind| **kind == near).copied()
}

/// `require refund amount > 3`, `never refund with amount > 3`.
fn arguments_without_parentheses(view: &View<'_, '_>) -> Option<Diagnostic> {
    if !view.is_any(0, &["require", "never", "only", "first", "last"]) {
        return None;
    }
    let end = view.behind_step(1);
    let skip = usize::from(view.is_any(end, &["with", "having", "if", "when", "whose", "and"]));
    let path = end + skip;
    if end == 1
        || !view.is_word(path)
        || words::MODIFIERS.contains(&view.word(path))
        || !view.is_any(path + 1, words::TESTS) && !view.is_any(path + 1, &[".", ":", "="])
        || view.is(end - 1, ")")
        || view.failed > path + 1
    {
        return None;
    }
    let rest = view.modifiers(path);
    let condition = view.source(path, rest).replace(" = ", ": ");
    let text = format!("{}({condition})", view.source(0, end));
    let edit = view.edit(end, rest, String::new());
    let mut edits = vec![view.append(end - 1, format!("({condition})")), edit];
    edits.sort_by_key(|edit| edit.span.start);
    Some(view.wrong(path, rest, "conditions on the arguments of a call stand in parentheses").write(text, edits))
}

/// `search{2,3}`, `search+` in a flow.
fn repetition(view: &View<'_, '_>) -> Option<Diagnostic> {
    if !view.is(0, "flow") {
        return None;
    }
    let at = (1..view.len()).find(|&at| {
        let sign = view.is_any(at, &["+", "{"]) || (view.is_any(at, &["*", "?"]) && !view.touches(at));
        sign && !view.is(at - 1, ")")
    })?;
    let end = if view.is(at, "{") { view.behind_bracket(at) } else { at + 1 };
    let mut start = at - 1;
    while start > 1 && view.touches(start) && view.behind_name(start - 1) >= at {
        start -= 1;
    }
    let (step, times) = (view.source(start, at), view.source(at, end));
    let edits = vec![view.insert(start, "("), view.append(at - 1, ")")];
    Some(view.wrong(at, at + 1, "repetition stands behind parentheses").write(format!("({step}){times}"), edits))
}

/// `if output.ok == true then require refund`: between an expression and steps stands a block.
fn if_without_else(view: &View<'_, '_>) -> Option<Diagnostic> {
    if !view.is(0, "if") {
        return None;
    }
    let then = view.find(1, "then").or_else(|| view.find(1, "{")).or_else(|| view.find(1, ":"))?;
    let condition_is_step = view.behind_pattern(1) == then;
    if condition_is_step && view.is(then, "then") {
        return then_of_a_step(view, then);
    }
    if view.find(then, "else").is_some() && view.is(then, "then") {
        return None;
    }
    let condition = view.source(1, then);
    let last = view.behind_pattern(then + 1);
    let consequence = last > then + 1 && (last == view.len() || view.modifiers(last) == last);
    // `if refund: notify`, `if not refund then notify`: the condition is a step in another dress.
    if condition_is_step && view.is(then, ":") && consequence {
        let text = format!("if {condition} then {}", view.source(then + 1, view.len()));
        return Some(
            view.wrong(then, then + 1, "`then` stands between the steps of `if`")
                .write(text, vec![view.edit(then, then + 1, " then")]),
        );
    }
    if view.is(1, "not") && view.behind_step(2) == then && consequence && !view.is(then, "{") {
        let text = format!("either {} or {}", view.source(2, then), view.source(then + 1, view.len()));
        return Some(
            view.wrong(1, 2, "`if` relates steps, and `not` is none")
                .write(text.clone(), vec![view.edit(0, view.len(), text)]),
        );
    }
    let statement = words::STATEMENTS.contains(&view.word(then + 1));
    let rest = match () {
        () if view.is(then, "{") => "…".to_owned(),
        () if consequence && !statement => format!("require {}", view.source(then + 1, view.len())),
        () => view.source(then + 1, view.len()),
    };
    let diagnostic =
        view.wrong(0, 1, "`if … then` without `else` relates steps, and its condition is an expression here");
    if view.is(1, "count") && view.is_word(2) {
        let help = "write `when length(calls) > 3 { require notify }`, or for one tool `when (count c in calls: c.tool == \"search\") > 3 { … }`";
        return Some(diagnostic.help(help));
    }
    let text = format!("when {condition} {{ {rest} }}");
    Some(if view.is(then, "{") {
        diagnostic.write(text, vec![view.edit(0, 1, "when")])
    } else if view.is(then, "then") && view.modifiers(then) == view.len() {
        diagnostic.write(text.clone(), vec![view.edit(0, view.len(), text)])
    } else {
        diagnostic.help(format!("write `{text}`"))
    })
}

/// `if refund then require notify`.
fn then_of_a_step(view: &View<'_, '_>, then: usize) -> Option<Diagnostic> {
    let step = view.source(1, then);
    if view.is_any(then + 1, &["require", "never", "not"]) && view.behind_step(then + 2) > then + 2 {
        let rest = view.source(then + 2, view.len());
        let word = view.word(then + 1);
        let diagnostic = view.wrong(then + 1, then + 2, format!("behind `then` stands a step, not `{word}`"));
        return Some(match word {
            "require" => diagnostic.write(format!("if {step} then {rest}"), vec![view.edit(then + 1, then + 2, "")]),
            _ => diagnostic.help(format!("write `not both {step}, {rest}`")),
        });
    }
    let other = view.find(then, "else")?;
    Some(
        view.wrong(other, other + 1, "an implication between steps has no `else`").help(format!(
            "write `{}` alone, and what holds otherwise as a statement of its own",
            view.source(0, other)
        )),
    )
}

/// `rule approval`, `after login until logout` without a body.
fn missing_block(view: &View<'_, '_>) -> Option<Diagnostic> {
    let ends = view.failed >= view.len();
    let bodied = view
        .is_any(0, &["when", "between", "pre", "post", "rule", "suite", "case", "invariant", "workspace", "runner"])
        || view.are(0, &["any", "of"])
        || view.are(0, &["all", "of"])
        || view.are(0, &["none", "of"])
        || view.are(0, &["at", "least"])
        || (view.is(0, "after") && view.find(1, "until").is_some());
    if !ends || !bodied || view.find(1, "{").is_some() || view.len() < 2 && view.is_any(0, &["when", "between"]) {
        return None;
    }
    if view.are(0, &["at", "least"]) && !view.is(3, "of") {
        return Some(
            view.missing_at_end("`of` and a body are missing")
                .help("write `at least 2 of { require search; require fetch }`"),
        );
    }
    if let Some(gap) = view.gap_before_brace() {
        let message = format!("the `{{` of a body stands on the line of its `{}`", view.word(0));
        let shown = format!("{} {{ … }}", view.source(0, view.len()));
        return Some(view.missing_at_end(message).write(shown, vec![Edit { span: gap, text: " ".to_owned() }]));
    }
    let head = view.source(0, view.len());
    let body = if view.is_any(0, &["workspace", "runner"]) { "timeout 60s" } else { "require search" };
    let message = format!("a body in braces is missing behind `{}`", view.word(0));
    Some(view.missing_at_end(message).help(format!("write `{head} {{ {body} }}`")))
}

/// `args are valid`, `valid args`, `args valid for each refund`.
fn valid_arguments(view: &View<'_, '_>) -> Option<Diagnostic> {
    let known = view.is_any(0, &["args", "arguments", "valid"])
        && (view.is_any(1, &["valid", "are", "is", "args", "arguments"]));
    if !known {
        return None;
    }
    let step = view.find(1, "for").map(|at| format!(" for {}", view.step_or(at + 1, "refund"))).unwrap_or_default();
    let strict = if view.find(1, "strict").is_some() { " strict" } else { "" };
    let text = format!("args valid{strict}{step}");
    let all = view.edit(0, view.len(), text.clone());
    Some(view.wrong(0, 2, "the statement about arguments and their schemas is `args valid`").write(text, vec![all]))
}
