//! Mistakes around steps that no pattern can tell.

use super::bounds::{WordedBound, opposite_sign, read_bound};
use super::table::list;
use super::view::{StatementView, SuggestText};
use crate::statements::{HeadOperand, find_head};
use crate::token::TokenKind;
use crate::{grammar, near_keywords, words};
use averment_base::diagnostic::{Diagnostic, SourceEdit};

fn is_before_step(word: &str) -> bool {
    list("BEFORESTEP").contains(&word) || find_head(word).is_some_and(|head| head.follows == HeadOperand::Step)
}

/// `before call read(path: $p) -> …`, `never tool deploy`: the name alone is the call.
pub(super) fn call_in_front(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let begins = |at: usize| is_before_step(view.token_text(at - 1)) && (at == 1 || view.is_outer(at));
    let is_name = |at: usize| {
        let word = view.token_text(at);
        (view.is_word(at) && (!grammar::is_keyword(word) || words::KINDS.contains(&word)) || view.is_text(at))
            && !view.touches_previous(at)
    };
    let at = (1..view.len().min(view.failed + 1)).find(|&at| {
        view.is_any(at, &["call", "calls", "tool", "tools"])
            && begins(at)
            && is_name(at + 1 + usize::from(view.token_is(at + 1, "to")))
    })?;
    let steps = words::STATEMENTS.contains(&view.token_text(0)) || view.find_word(0, "iff").is_some();
    let name = at + 1 + usize::from(view.token_is(at + 1, "to"));
    let end = view.behind_step(name);
    if !steps || end == name {
        return None;
    }
    let word = view.token_text(name);
    let quoted =
        words::KINDS.contains(&word) && !matches!(view.token_kind(name + 1), TokenKind::Text | TokenKind::Regex);
    let shown = if quoted { format!("\"{word}\"") } else { word.to_owned() };
    let step = format!("{shown}{}", view.source_text(name + 1, end));
    let message = format!("a call is named by its tool alone, without `{}`", view.token_text(at));
    let diagnostic = view
        .syntax_error(at, at + 1, message)
        .suggest_text(step.clone(), vec![view.replace_tokens(at, name + 1, shown)]);
    if !quoted {
        return Some(diagnostic);
    }
    let help = format!("write `{step}`: in quotes it is the tool, and `{word}` alone is a kind of step");
    Some(Diagnostic { help: Some(help), ..diagnostic })
}

/// `never more than 3 search`, `at most 3 search`, `no more than 3 identical calls`, `max 5 fetch`.
pub(super) fn bound_in_front(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let never = view.token_is(0, "never") || view.token_is(0, "not") && !view.is_any(1, &["more", "less"]);
    let WordedBound { sign, number, end } = read_bound(view, usize::from(never))?;
    let sign = if never { opposite_sign(sign) } else { sign };
    let same = (end..view.len()).take_while(|&at| view.is_any(at, list("SAME"))).count();
    let filler = usize::from(view.is_any(end + same, &["call", "calls", "tool"]));
    let of = usize::from(filler > 0 && view.is_any(end + same + filler, &["of", "to"]));
    let step = end + same + filler + of;
    let last = view.modifiers_start(step);
    let named = view.behind_pattern(step);
    let whole = named == last || named + 1 == last && view.is_any(named, &["call", "calls", "times", "in"]);
    let shown = match (step < last, whole && named > step) {
        (false, _) if filler > 0 => "any".to_owned(),
        (true, true) => view.source_text(step, named),
        _ => return None,
    };
    let rest = view.source_text(last, view.len());
    let text = match (same > 0, sign) {
        (true, "<=") => format!("never repeat {shown} more than {number} times"),
        (true, _) => return None,
        _ => format!("count {shown} {sign} {number}"),
    };
    let message = "how many calls there may be is said behind the step";
    let diagnostic = view.syntax_error(
        0,
        end,
        if same > 0 { "the same call over and over is said with `never repeat`" } else { message },
    );
    let whole = if rest.is_empty() { text.clone() } else { format!("{text} {rest}") };
    Some(diagnostic.suggest_text(whole.clone(), vec![view.replace_tokens(0, view.len(), whole)]))
}

/// `before A B`, `before A => B`, `sequence A, B`.
pub(super) fn missing_arrow(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let first = usize::from(view.token_is(0, "immediately"));
    let word = view.token_text(first);
    if !matches!(word, "before" | "after" | "sequence" | "flow") {
        return None;
    }
    let step = first
        + 1
        + usize::from(view.is_any(first + 1, &["each", "only", "exactly"]) && view.behind_step(first + 2) > first + 2);
    let mut end = view.behind_pattern(step);
    while end > step && view.token_is(end, "->") && view.behind_pattern(end + 1) > end + 1 {
        end = view.behind_pattern(end + 1);
    }
    let arrow = view.find_word(step, "->").is_some_and(|arrow| arrow < end);
    let modifier = super::words::meant_modifier(view.token_text(end)).is_some() || view.is_number(end + 1);
    if end == step
        || end >= view.len()
        || view.is_any(end, &["->", "{", "until", "within"])
        || arrow && (word != "sequence" || modifier)
    {
        return None;
    }
    let mut next = end;
    while view.is_any(next, list("ARROW")) && view.behind_step(next + 1) > next + 1 {
        next += 1;
    }
    if view.token_is(next, "by") {
        next += 1;
    }
    let kind_of_step = view.behind_pattern(next);
    if kind_of_step == next || (word == "after" && view.find_word(end, "{").is_some()) {
        return None;
    }
    let listed = matches!(word, "sequence" | "flow") && view.find_any(end, &["(", "|"]).is_none();
    let whole = if listed { arrows_in_sequence(view, next) } else { view.source_text(next, view.len()) };
    let text = format!("{} -> {whole}", view.source_text(0, end));
    let message = if next == end {
        format!("`{word}` needs `->` between its steps")
    } else {
        format!("the arrow is `->`, not `{}`", view.source_text(end, next))
    };
    let space = if view.touches_previous(end) { " " } else { "" };
    let edit = match word {
        _ if listed => view.replace_tokens(end, view.len(), format!("{space}-> {whole}")),
        _ if next == end => view.insert_after(end - 1, " ->"),
        _ => view.replace_tokens(end, next, format!("{space}->")),
    };
    Some(view.syntax_error(end, next.max(end + 1), message).suggest_text(text, vec![edit]))
}

fn arrows_in_sequence(view: &StatementView<'_, '_>, at: usize) -> String {
    let mut steps = Vec::new();
    let mut here = at;
    loop {
        let end = view.behind_pattern(here);
        if end == here {
            break;
        }
        steps.push(view.source_text(here, end));
        if !view.is_any(end, list("ARROW")) && !view.token_is(end, "->") {
            here = end;
            break;
        }
        here = end + 1;
    }
    let rest = view.source_text(here, view.len());
    let joined = steps.join(" -> ");
    if rest.is_empty() { joined } else { format!("{joined} {rest}") }
}

/// `either refund where amount > 3 or cancel`: the condition swallows the rest.
pub(super) fn where_without_parentheses(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
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
pub(super) fn text_of_a_kind(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let ends = |at| view.is_any(at, list("KINDEND")) || view.is_any(at, words::MODIFIERS);
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
        && !view.is_any(end, list("KINDEND"))
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

/// `rule approval`, `after login until logout` without a body.
pub(super) fn missing_block(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
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
