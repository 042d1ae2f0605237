//! Mistakes in groups and bodies: `of`, braces, what separates and joins statements.

use super::Find;
use super::times::number_word;
use super::view::{View, Write};
use crate::words;
use averment_base::diagnostic::Diagnostic;

pub(super) const TABLE: &[Find] =
    &[group_without_of, at_least, one_of, group_in_brackets, colon_before_body, joined_statements];

/// Asked when nothing else is known of a comma.
pub(super) const LAST: &[Find] = &[comma_between_statements];

/// `any { … }`.
fn group_without_of(view: &View<'_, '_>) -> Option<Diagnostic> {
    let word = view.word(0);
    if !matches!(word, "any" | "all" | "none") || !view.is(1, "{") {
        return None;
    }
    Some(
        view.wrong(1, 2, format!("`of` is missing behind `{word}`"))
            .write(format!("{word} of {{ … }}"), vec![view.append(0, " of")]),
    )
}

/// `at least two of`, `at least 2 { … }`, `at most 2 of`.
fn at_least(view: &View<'_, '_>) -> Option<Diagnostic> {
    if !view.is(0, "at") || !view.is_any(1, &["least", "most"]) {
        return None;
    }
    if view.is(1, "most") {
        return Some(
            view.wrong(1, 2, "a group says how many hold at least")
                .help("write `not at least 3 of { … }` for at most 2, or `none of { … }`"),
        );
    }
    let number = if view.is_number(2) { view.word(2).to_owned() } else { number_word(view.word(2))?.to_string() };
    if !view.is_number(2) {
        return Some(
            view.wrong(2, 3, "how many is written with digits")
                .write(format!("at least {number} of {{ … }}"), vec![view.edit(2, 3, number)]),
        );
    }
    if view.is(3, "of") {
        return None;
    }
    let text = format!("at least {number} of {{ … }}");
    let diagnostic = if view.len() > 3 {
        view.wrong(3, 4, "`of` is missing behind the number")
    } else {
        view.missing_at_end("`of` and a body are missing behind the number")
    };
    Some(if view.is(3, "{") {
        diagnostic.write(text, vec![view.append(2, " of")])
    } else {
        diagnostic.help(format!("write `{text}`"))
    })
}

/// `one of { … }`, `exactly 2 of { … }`.
fn one_of(view: &View<'_, '_>) -> Option<Diagnostic> {
    let first = usize::from(view.is_any(0, &["exactly", "only"]));
    if !view.is(first + 1, "of") || !view.is_any(first + 2, &["{", "["]) {
        return None;
    }
    let number = number_word(view.word(first)).or_else(|| view.word(first).parse().ok())?;
    let text = format!("at least {number} of {{ … }}");
    let diagnostic = view.wrong(0, first + 2, "a group is one of `any of`, `all of`, `none of` and `at least … of`");
    if first == 1 {
        return Some(
            diagnostic
                .help(format!("write `{text}`; for exactly {number} add `not at least {} of {{ … }}`", number + 1)),
        );
    }
    Some(diagnostic.write(text, vec![view.edit(0, first + 2, format!("at least {number} of"))]))
}

/// `all of [require a, require b]`.
fn group_in_brackets(view: &View<'_, '_>) -> Option<Diagnostic> {
    let open = view.find(1, "of")? + 1;
    if !view.is_any(0, &["any", "all", "none", "at"]) || !view.is_any(open, &["[", "("]) {
        return None;
    }
    let end = view.behind_bracket(open);
    let inner = view.source(open + 1, end.saturating_sub(1)).replace(", ", "; ");
    let text = format!("{} {{ {inner} }}", view.source(0, open));
    Some(
        view.wrong(open, open + 1, "the statements of a group stand in braces")
            .write(text, vec![view.edit(open, end, format!("{{ {inner} }}"))]),
    )
}

const BODIED: &[&str] = &[
    "when",
    "before",
    "after",
    "between",
    "pre",
    "post",
    "any",
    "all",
    "none",
    "at",
    "suite",
    "workspace",
    "runner",
    "for",
];

/// `after login until logout: never x`, `pre: { … }`.
fn colon_before_body(view: &View<'_, '_>) -> Option<Diagnostic> {
    let colon = view.find(1, ":")?;
    if !view.is_any(0, BODIED)
        || view.is(0, "for") && !view.is(1, "each")
        || view.failed > colon + 1
        || view.is_any(1, &["x", "=="])
        || view.is(2, "in")
    {
        return None;
    }
    let head = view.source(0, colon);
    if view.is(colon + 1, "{") {
        return Some(view.wrong(colon, colon + 1, "no `:` stands before `{`").write(
            format!("{head} {{ … }}"),
            vec![view.edit(colon, colon + 1, if view.touches(colon + 1) { " " } else { "" })],
        ));
    }
    let rest = view.source(colon + 1, view.len());
    let message = format!("the body of `{}` stands in braces, not behind a colon", view.word(0));
    if rest.is_empty() {
        return Some(view.wrong(colon, colon + 1, message).help(format!("write `{head} {{ … }}`")));
    }
    let edits = vec![view.edit(colon, colon + 1, " {"), view.append(view.len() - 1, " }")];
    Some(view.wrong(colon, colon + 1, message).write(format!("{head} {{ {rest} }}"), edits))
}

/// `count a <= 1 or count b <= 2`: statements are joined by groups.
fn joined_statements(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = view.failed;
    let second = at + 1 + usize::from(view.is(at + 1, "not"));
    let statement =
        words::STATEMENTS.contains(&view.word(second)) && (view.is_word(second + 1) || view.is_text(second + 1));
    if at == 0 || !view.is_any(at, &["and", "or", "&&", "||"]) || !view.is_outer(at) || !statement {
        return None;
    }
    let (left, right) = (view.source(0, at), view.source(at + 1, view.len()));
    let joint = view.word(at);
    let diagnostic = view.wrong(at, at + 1, format!("statements are not joined with `{joint}`"));
    Some(if matches!(joint, "and" | "&&") {
        diagnostic.write(format!("{left}; {right}"), vec![view.edit(at, at + 1, ";")])
    } else {
        let edits = vec![view.insert(0, "any of { "), view.edit(at, at + 1, ";"), view.append(view.len() - 1, " }")];
        diagnostic.write(format!("any of {{ {left}; {right} }}"), edits)
    })
}

/// `output.a in "x", "y"`.
fn list_without_brackets(view: &View<'_, '_>, comma: usize) -> Option<Diagnostic> {
    let value = |at: usize| view.is_text(at) || view.is_number(at);
    let start =
        comma.checked_sub(1).filter(|&at| at > 1 && value(at) && view.is_any(at - 1, &["in", "any", "all", "none"]))?;
    let mut end = start;
    while view.is(end + 1, ",") && value(end + 2) {
        end += 2;
    }
    if end == start {
        return None;
    }
    let list = format!("[{}]", view.source(start, end + 1));
    let edits = vec![view.insert(start, "["), view.append(end, "]")];
    Some(view.wrong(start, end + 1, "a list is written in brackets").write(list, edits))
}

/// `args.amount > 0, args.x == 1` on one line of a body.
fn comma_between_statements(view: &View<'_, '_>) -> Option<Diagnostic> {
    let at = view.failed;
    if at == 0
        || at + 1 >= view.len()
        || !view.is(at, ",")
        || !view.is_outer(at)
        || view.is_any(0, &["let", "param", "use", "tags"])
    {
        return None;
    }
    if let Some(list) = list_without_brackets(view, at) {
        return Some(list);
    }
    let (left, right) = (view.source(0, at), view.source(at + 1, view.len()));
    let word = view.word(0);
    if view.find(0, "iff").is_some_and(|iff| iff < at) {
        return Some(
            view.wrong(at, at + 1, "`iff` stands between two steps")
                .help("write a statement of its own for each pair of steps"),
        );
    }
    if words::STATEMENTS.contains(&word)
        && !words::STATEMENTS.contains(&view.word(at + 1))
        && view.behind_pattern(at + 1) > at + 1
    {
        let two = matches!(word, "together" | "apart" | "not");
        let takes = if two { "takes two steps" } else { "takes no list of steps" };
        let diagnostic = view.wrong(at, at + 1, format!("`{word}` {takes}"));
        return Some(match word {
            "require" => diagnostic.write(format!("{left}; require {right}"), vec![view.edit(at, at + 1, "; require")]),
            _ => diagnostic.help("write a statement of its own for each step"),
        });
    }
    Some(
        view.wrong(at, at + 1, "statements on one line are separated by `;`")
            .write(format!("{left}; {right}"), vec![view.edit(at, at + 1, ";")]),
    )
}
