//! Hints for mistakes in and behind step patterns: conditions without parentheses, repetition, `each` without a colon, counts without a comparison.

use super::hint::{Hint, function_hint, pattern_hint};
use super::view::{StatementView, SuggestText};
use crate::{grammar, near_keywords, words};
use averment_base::diagnostic::{Diagnostic, SourceEdit};

pub(super) const TABLE: &[Hint] = &[
    function_hint("either refund where result.code == 0 or cancel", where_without_parentheses),
    pattern_hint("require refund, where result.code == 0", "a:.. < ,|and > b[ where ... ]")
        .with_message("`where` follows its step without `{wrong}`")
        .with_rewrite("{a} {b}"),
    function_hint("require skill find-skills", text_of_a_kind),
    function_hint("require refund amount > 3", arguments_without_parentheses),
    function_hint("flow plan -> search+", flow_repetition),
    pattern_hint("flow plan -> (search) *", "&flow ..( a:')' < @apart b:'*'|+|'?'|'{' >")
        .with_message("repetition touches its parenthesis")
        .with_help("write `){b}` without a space")
        .with_line_edit("{a}{b}")
        .with_title("remove the space"),
    pattern_hint("each x in output.items: x > 0", "< w:each|every|forall|some|exists|none > v[ W in ... ]")
        .with_message("`{w}` speaks of calls; values of a list are quantified with `{w|values}`")
        .with_rewrite("{w|values} {v}"),
    pattern_hint("for all x in output.items: x > 0", "< for|there all|each|every|is > v[ W in ... ]")
        .with_message("`{wrong}` speaks of calls; values of a list are quantified with `all`")
        .with_rewrite("all {v}"),
    pattern_hint("each 3", "w:each|some|no !..:|'{' < !P X? >")
        .with_message("`{w}` needs a step behind it")
        .with_help("name the calls, then the condition: `{w} A: COND`"),
    pattern_hint("no refund", "no !..:|'{' a:P <> @end")
        .with_message("`no` needs a condition behind its step")
        .with_help("write `never {a}`, or a condition behind a colon: `no {a}: COND`"),
    pattern_hint("some refund", "some !..:|'{' a:P <> @end")
        .with_message("`some` needs a condition behind its step")
        .with_help("write `require {a}`, or a condition behind a colon: `some {a}: COND`"),
    pattern_hint("each refund", "each !..:|'{' a:P <> @end")
        .with_message("`each` needs a condition behind its step")
        .with_help("write a condition behind a colon: `each {a}: COND`"),
    pattern_hint("no a after b", "< no > !..:|'{' v[ P after|before|between|, ... ]")
        .with_message("calls that must not occur are said with `never`")
        .with_rewrite("never {v}"),
    pattern_hint("each refund has args.amount <= 100", "w:each|some|no !..:|'{' a:P < LINK > LINK* ...")
        .with_message("a `:` is missing between the step and its condition")
        .with_rewrite("{w} {a}: {...}"),
    pattern_hint("each refund args.amount <= 100", "w:each|some|no !..:|'{' a:P b[ < X > ... ]")
        .with_message("a `:` is missing between the step and its condition")
        .with_rewrite("{w} {a}: {b}"),
    function_hint("if output.ok == true then require refund", if_without_else),
    pattern_hint("if refund, notify", "if !..then a:P < ,|->|=>|: > &S ...")
        .with_message("`then` is missing between the steps of `if`")
        .with_rewrite("if {a} then {...}"),
    pattern_hint("if refund notify", "if !..then a:P !is|contains|exists|in|not b[ < &S X > ... ]")
        .with_message("`then` is missing between the steps of `if`")
        .with_rewrite("if {a} then {b}"),
    pattern_hint("if refund", "if !..then X* <>")
        .with_message("`then` is missing")
        .with_help("write `if A then B`; for an expression `if COND then … else …`"),
    pattern_hint("iff, close", "< iff >").with_message("`iff` stands between two steps").with_help("write `A iff B`"),
    pattern_hint("open where result.code == 0 iff", "a:.. iff <> @end")
        .with_message("`iff` needs a step behind it")
        .with_help("write `{a} iff B`"),
    pattern_hint("{ require a }", "< '{' >")
        .with_message("this `{` opens nothing: a line begins with a statement")
        .with_help(
            "put `{` at the end of the line before it, as in `rule approval {`; an object needs a name in front of it",
        ),
    function_hint("rule approval", missing_block),
    function_hint("args are valid", valid_arguments),
    pattern_hint("require refund(id where x == 1)", "..( < @inner @read @begun where >")
        .with_message("`where` stands behind the parentheses of a call, not in them")
        .with_help("write `(A(…) where COND)`"),
];

/// `either refund where amount > 3 or cancel`: the condition swallows the rest.
fn where_without_parentheses(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let at = view.find_word(1, "where")?;
    let joint = match view.token_text(0) {
        "either" => "or",
        "between" => "and",
        "require" => "times",
        "count" => "",
        "never" if view.find_word(1, "between").is_some_and(|between| between < at) => "and",
        "for" => return None,
        _ => "|",
    };
    let start = pattern_start(view, at);
    let stop = if joint.is_empty() { last_comparison(view, at)? } else { view.find_word(at + 1, joint)? };
    let stop = if joint == "times" { number_before(view, stop) } else { stop };
    let shown = match joint {
        "" => "the comparison of `count`".to_owned(),
        "times" => "a number of times".to_owned(),
        joint => format!("`{joint}`"),
    };
    let text = format!(
        "{} ({}) {}",
        view.source_text(0, start),
        view.source_text(start, stop),
        view.source_text(stop, view.len())
    );
    let edits = vec![view.insert_before(start, "("), view.insert_after(stop.checked_sub(1)?, ")")];
    Some(
        view.syntax_error(at, at + 1, format!("`where` ends a pattern, so it needs parentheses before {shown}"))
            .suggest_text(text, edits),
    )
}

fn pattern_start(view: &StatementView<'_, '_>, at: usize) -> usize {
    let mut start = 1;
    for here in 1..at {
        if view.is_outer(here) && view.is_any(here, &["or", "->", ",", "after", "before", "between", "and", "each"]) {
            start = here + 1;
        }
    }
    start.min(at)
}

fn last_comparison(view: &StatementView<'_, '_>, from: usize) -> Option<usize> {
    let signs = ["<=", ">=", "==", "!=", "<", ">", "in"];
    let found: Vec<usize> = (from..view.len()).filter(|&at| view.is_outer(at) && view.is_any(at, &signs)).collect();
    if found.len() < 2 { None } else { found.last().copied() }
}

fn number_before(view: &StatementView<'_, '_>, times: usize) -> usize {
    let mut start = times;
    while start > 1 && (view.is_number(start - 1) || view.token_is(start - 1, "..")) {
        start -= 1;
    }
    start
}

/// `skill find-skills`, `read src/**`: the text behind a kind needs quotes.
fn text_of_a_kind(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    const ENDS: &[&str] = &[
        "->", "{", "where", "until", "within", "and", "or", "then", "iff", "after", "before", "between", "exists",
        "is", "ok", "failed", "by", "tagged", "in", "contains", "matches", "starts", "ends",
    ];
    let ends = |at| view.is_any(at, ENDS) || view.is_any(at, words::MODIFIERS);
    let steps = words::STATEMENTS.contains(&view.token_text(0)) || kind_of(view, 0).is_some();
    let at = (0..view.len()).find(|&at| {
        let begins = at == 0
            || words::STATEMENTS.contains(&view.token_text(at - 1))
            || view.is_any(at - 1, &["->", ",", "|", "each", "and", "or", "proposed"]);
        let word = view.is_word(at + 1) || view.is_any(at + 1, &[".", "/", "*", "**"]);
        begins && kind_of(view, at).is_some() && word && !view.touches_previous(at + 1) && !ends(at + 1)
    })?;
    let kind = kind_of(view, at)?;
    if !steps || view.failed < at {
        return None;
    }
    let mut end = at + 2;
    while end < view.len()
        && (view.touches_previous(end) || kind == "command" && !view.is_text(end))
        && !view.is_any(end, ENDS)
        && !view.is_any(end, &[",", "(", ")", "|", ":", "=", "==", "!=", "<", ">", "<=", ">="])
    {
        end += 1;
    }
    // Where more follows, the word is one of a sentence: `never write outside "src/"`.
    let ended = end >= view.len() || ends(end) || view.is_any(end, &[",", "(", ")", "|", "="]);
    if view.is_any(end, &["==", "!=", ":", ">", "<"]) || !ended {
        return None;
    }
    let text = format!("{kind} \"{}\"", view.source_text(at + 1, end));
    let mut edits = vec![view.insert_before(at + 1, "\""), view.insert_after(end - 1, "\"")];
    if view.token_is(at, kind) {
        return Some(
            view.syntax_error(at + 1, end, format!("what stands behind `{kind}` is text")).suggest_text(text, edits),
        );
    }
    edits.insert(0, view.replace_tokens(at, at + 1, kind));
    let diagnostic = view
        .syntax_error(at, at + 1, format!("`{}` is no kind of step", view.token_text(at)))
        .suggest_text(text.clone(), edits);
    Some(Diagnostic { help: Some(format!("did you mean `{kind}`? write `{text}`")), ..diagnostic })
}

fn kind_of(view: &StatementView<'_, '_>, at: usize) -> Option<&'static str> {
    let word = view.token_text(at);
    if let Some(kind) = words::KINDS.iter().find(|kind| **kind == word) {
        return Some(kind);
    }
    let near = near_keywords::near_words(word).into_iter().next().filter(|_| !grammar::is_keyword(word))?;
    words::KINDS.iter().find(|kind| **kind == near).copied()
}

/// `require refund amount > 3`, `never refund with amount > 3`.
fn arguments_without_parentheses(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    if !view.is_any(0, &["require", "never", "only", "first", "last"]) {
        return None;
    }
    let end = view.behind_step(1);
    let skip = usize::from(view.is_any(end, &["with", "having", "if", "when", "whose", "and"]));
    let path = end + skip;
    if end == 1
        || !view.is_word(path)
        || words::MODIFIERS.contains(&view.token_text(path))
        || !view.is_any(path + 1, words::TESTS) && !view.is_any(path + 1, &[".", ":", "="])
        || view.token_is(end - 1, ")")
        || view.failed > path + 1
    {
        return None;
    }
    let rest = view.modifiers_start(path);
    let condition = view.source_text(path, rest).replace(" = ", ": ");
    let text = format!("{}({condition})", view.source_text(0, end));
    let edit = view.replace_tokens(end, rest, String::new());
    let mut edits = vec![view.insert_after(end - 1, format!("({condition})")), edit];
    edits.sort_by_key(|edit| edit.span.start);
    Some(
        view.syntax_error(path, rest, "conditions on the arguments of a call stand in parentheses")
            .suggest_text(text, edits),
    )
}

/// `search{2,3}`, `search+` in a flow.
fn flow_repetition(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    if !view.token_is(0, "flow") {
        return None;
    }
    let at = (1..view.len()).find(|&at| {
        let sign = view.is_any(at, &["+", "{"]) || (view.is_any(at, &["*", "?"]) && !view.touches_previous(at));
        sign && !view.token_is(at - 1, ")")
    })?;
    let end = if view.token_is(at, "{") { view.behind_bracket(at) } else { at + 1 };
    let mut start = at - 1;
    while start > 1 && view.touches_previous(start) && view.behind_name(start - 1) >= at {
        start -= 1;
    }
    let (step, times) = (view.source_text(start, at), view.source_text(at, end));
    let edits = vec![view.insert_before(start, "("), view.insert_after(at - 1, ")")];
    Some(
        view.syntax_error(at, at + 1, "repetition stands behind parentheses")
            .suggest_text(format!("({step}){times}"), edits),
    )
}

/// `if output.ok == true then require refund`: an expression needs a block.
fn if_without_else(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    if !view.token_is(0, "if") {
        return None;
    }
    let then = view.find_word(1, "then").or_else(|| view.find_word(1, "{")).or_else(|| view.find_word(1, ":"))?;
    let condition_is_step = view.behind_pattern(1) == then;
    if condition_is_step && view.token_is(then, "then") {
        return then_of_a_step(view, then);
    }
    if view.find_word(then, "else").is_some() && view.token_is(then, "then") {
        return None;
    }
    let condition = view.source_text(1, then);
    let last = view.behind_pattern(then + 1);
    let consequence = last > then + 1 && (last == view.len() || view.modifiers_start(last) == last);
    // `if refund: notify`, `if not refund then notify`: the condition is a step in another dress.
    if condition_is_step && view.token_is(then, ":") && consequence {
        let text = format!("if {condition} then {}", view.source_text(then + 1, view.len()));
        return Some(
            view.syntax_error(then, then + 1, "`then` stands between the steps of `if`")
                .suggest_text(text, vec![view.replace_tokens(then, then + 1, " then")]),
        );
    }
    if view.token_is(1, "not") && view.behind_step(2) == then && consequence && !view.token_is(then, "{") {
        let text = format!("either {} or {}", view.source_text(2, then), view.source_text(then + 1, view.len()));
        return Some(
            view.syntax_error(1, 2, "`if` relates steps, and `not` is none")
                .suggest_text(text.clone(), vec![view.replace_tokens(0, view.len(), text)]),
        );
    }
    let statement = words::STATEMENTS.contains(&view.token_text(then + 1));
    let rest = match () {
        () if view.token_is(then, "{") => "…".to_owned(),
        () if consequence && !statement => format!("require {}", view.source_text(then + 1, view.len())),
        () => view.source_text(then + 1, view.len()),
    };
    let diagnostic =
        view.syntax_error(0, 1, "`if … then` without `else` relates steps, and its condition is an expression here");
    let text = format!("when {condition} {{ {rest} }}");
    Some(if view.token_is(then, "{") {
        diagnostic.suggest_text(text, vec![view.replace_tokens(0, 1, "when")])
    } else if view.token_is(then, "then") && view.modifiers_start(then) == view.len() {
        diagnostic.suggest_text(text.clone(), vec![view.replace_tokens(0, view.len(), text)])
    } else {
        diagnostic.with_help(format!("write `{text}`"))
    })
}

/// `if refund then require notify`.
fn then_of_a_step(view: &StatementView<'_, '_>, then: usize) -> Option<Diagnostic> {
    let step = view.source_text(1, then);
    if view.is_any(then + 1, &["require", "never", "not"]) && view.behind_step(then + 2) > then + 2 {
        let rest = view.source_text(then + 2, view.len());
        let word = view.token_text(then + 1);
        let diagnostic = view.syntax_error(then + 1, then + 2, format!("behind `then` stands a step, not `{word}`"));
        return Some(match word {
            "require" => diagnostic
                .suggest_text(format!("if {step} then {rest}"), vec![view.replace_tokens(then + 1, then + 2, "")]),
            _ => diagnostic.with_help(format!("write `not both {step}, {rest}`")),
        });
    }
    let other = view.find_word(then, "else")?;
    Some(view.syntax_error(other, other + 1, "an implication between steps has no `else`").with_help(format!(
        "write `{}` alone, and what holds otherwise as a statement of its own",
        view.source_text(0, other)
    )))
}

/// `rule approval`, `after login until logout` without a body.
fn missing_block(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let ends = view.failed >= view.len();
    let bodied = view
        .is_any(0, &["when", "between", "pre", "post", "rule", "suite", "case", "invariant", "workspace", "runner"])
        || view.tokens_are(0, &["any", "of"])
        || view.tokens_are(0, &["all", "of"])
        || view.tokens_are(0, &["none", "of"])
        || view.tokens_are(0, &["at", "least"])
        || (view.token_is(0, "after") && view.find_word(1, "until").is_some());
    if !ends || !bodied || view.find_word(1, "{").is_some() || view.len() < 2 && view.is_any(0, &["when", "between"]) {
        return None;
    }
    if view.tokens_are(0, &["at", "least"]) && !view.token_is(3, "of") {
        return Some(
            view.missing_at_end("`of` and a body are missing")
                .with_help("write `at least 2 of { require A; require B }`"),
        );
    }
    if let Some(gap) = view.gap_before_brace() {
        let message = format!("the `{{` of a body stands on the line of its `{}`", view.token_text(0));
        let shown = format!("{} {{ … }}", view.source_text(0, view.len()));
        return Some(
            view.missing_at_end(message).suggest_text(shown, vec![SourceEdit { span: gap, text: " ".to_owned() }]),
        );
    }
    let head = view.source_text(0, view.len());
    let message = format!("a body in braces is missing behind `{}`", view.token_text(0));
    Some(view.missing_at_end(message).with_help(format!("write `{head} {{ … }}`")))
}

/// `args are valid`, `valid args`, `args valid for each refund`.
fn valid_arguments(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let known = view.is_any(0, &["args", "arguments", "valid"])
        && (view.is_any(1, &["valid", "are", "is", "args", "arguments"]));
    if !known {
        return None;
    }
    let step =
        view.find_word(1, "for").map(|at| format!(" for {}", view.step_or(at + 1, "refund"))).unwrap_or_default();
    let strict = if view.find_word(1, "strict").is_some() { " strict" } else { "" };
    let text = format!("args valid{strict}{step}");
    let all = view.replace_tokens(0, view.len(), text.clone());
    Some(
        view.syntax_error(0, 2, "the statement about arguments and their schemas is `args valid`")
            .suggest_text(text, vec![all]),
    )
}
