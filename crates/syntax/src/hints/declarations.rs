//! Hints for mistakes in declarations: names, quotes, signs that are missing, bodies.

use super::hint::{Hint, function_hint, pattern_hint};
use super::view::{StatementView, SuggestText};
use averment_base::diagnostic::{Diagnostic, SourceEdit};

pub(super) const TABLE: &[Hint] = &[
    pattern_hint("suite nightly { }", "suite < &W !expect|expects n:HEAD >")
        .with_message("the name of a suite is text")
        .with_rewrite("suite \"{n}\" { … }")
        .with_swap("\"{n}\""),
    pattern_hint("test approval expect fail { }", "test < &W !expect|expects n:HEAD > ...")
        .with_message("the name of a test is text")
        .with_rewrite("test \"{n}\" {...}"),
    pattern_hint("rule \"every refund\" { }", "w:rule|invariant < n:SENTENCE > !T")
        .with_message("the name of a {w} stands without quotes")
        .with_rewrite("{w} {n|label} {n} { … }")
        .with_swap("{n|label} {n}"),
    pattern_hint("rule \"approval\" { }", "w:rule|case|invariant|runner|workspace < n:T >")
        .with_message("the name of a {w} stands without quotes")
        .with_rewrite("{w} {n|label} { … }")
        .with_swap("{n|label}"),
    pattern_hint("rule { }", "w:rule|case|invariant|suite|runner|workspace < '{' >")
        .with_message("a name is missing behind `{w}`")
        .with_help("write `{w} {w|named} { … }`"),
    pattern_hint("rule 2nd { }", "w:rule|case|invariant n[ < N > TAIL? ]")
        .with_message("the name of a {w} starts with a letter or `_`")
        .with_rewrite("{w} _{n} { … }")
        .with_line_edit("{w} _{n}"),
    function_hint("rule refunds: never refund", colon_body),
    pattern_hint("rule approval:", "w:rule|case|invariant n:LABEL < : >")
        .with_message("the body of a {w} stands in braces, not behind a colon")
        .with_help("write `{w} {n} { … }`"),
    pattern_hint("case one \"a sentence\" { }", "case LABEL < t:T >")
        .with_message("a case has no sentence behind its name")
        .with_help("remove it, or write `prompt {t}` in the body of the case")
        .with_swap("")
        .with_title("remove it"),
    pattern_hint("rule my rule { }", "w:rule|case|invariant n[ LABEL < &W !MODIFIER HEADING > ]")
        .with_message("the name of a {w} is one word")
        .with_rewrite("{w} {n|label} { … }")
        .with_line_edit("{w} {n|label}"),
    pattern_hint("test \"x\" should fail { }", "test n:T < expects|should|must|->|:|is > v:VERDICT")
        .with_message("`expect` and a verdict are missing behind the name of the test")
        .with_rewrite("test {n} expect {v|verdict} { … }")
        .with_swap("expect"),
    pattern_hint("test \"x\": { }", "test n:T < expects|should|must|->|:|is >")
        .with_message("`expect` and a verdict are missing behind the name of the test")
        .with_rewrite("test {n} expect fail { … }")
        .with_swap("expect fail"),
    pattern_hint("test \"x\" fail { }", "test n:T !expect < v:VERDICT >")
        .with_message("`expect` and a verdict are missing behind the name of the test")
        .with_rewrite("test {n} expect {v|verdict} { … }")
        .with_swap("expect {v}"),
    pattern_hint("test \"x\" { }", "test n:T !expect < X? >")
        .with_message("`expect` and a verdict are missing behind the name of the test")
        .with_rewrite("test {n} expect fail { … }")
        .with_line_edit("test {n} expect fail {wrong}"),
    pattern_hint("test \"x\" expect { }", "test n:T expect < '{'|from >")
        .with_message("a verdict is missing behind `expect`")
        .with_rewrite("test {n} expect fail { … }")
        .with_line_edit("test {n} expect fail {wrong}"),
    pattern_hint("test \"x\" expect fail", "h[ test T expect !..'{'|from ... ] <>")
        .with_message("a test needs a run: in braces, or `from` a file")
        .with_help("write `{h} { calls: […] }`"),
    pattern_hint("test \"x\" expect fail from run.json", "test T expect RUN? from !T &X < ... >")
        .with_message("the path of a file stands in quotes")
        .with_rewrite("from \"{...}\"")
        .with_swap("\"{...}\""),
    pattern_hint("test \"x\" expect fail \"approval\" { }", "test T expect X ..( < n:T > &..'{'|from")
        .with_message("the names of rules stand without quotes")
        .with_swap("{n|label}"),
    pattern_hint(
        "test \"x\" expect fail for approval { }",
        "test T expect X < on|for|of|in|rule|rules > &X !'{'|from n:RUN",
    )
    .with_message("the names of rules follow the verdict")
    .with_rewrite("{n}")
    .with_swap(""),
    pattern_hint(
        "test \"x\" expect fail a and b { }",
        "test T expect X !'{'|from a[ LABEL ALSO* ] < and|for|or|in > b:RUN",
    )
    .with_message("the names of rules are joined with commas")
    .with_rewrite("{a}, {b}")
    .with_swap(","),
    pattern_hint(
        "test \"x\" expect fail a b { }",
        "h[ test T expect X ] !'{'|from a[ LABEL ALSO* ] b[ < !'{'|from|, X > RUN? ] &'{'|from",
    )
    .with_message("the names of rules are joined with commas")
    .with_rewrite("{a}, {b}")
    .with_line_edit("{h} {a}, {b}"),
];

/// `rule refunds: never refund`, or a body that is indented below.
fn colon_body(view: &StatementView<'_, '_>) -> Option<Diagnostic> {
    let colon = view.behind_name(1);
    if !view.is_any(0, &["rule", "case"])
        || !view.token_is(colon, ":")
        || colon + 1 >= view.len()
        || view.token_is(colon + 1, "{")
    {
        return None;
    }
    let head = view.source_text(0, colon);
    let body = view.span(colon + 1);
    let below = view.whole_text().get(view.span(colon).as_range().end..body.as_range().start)?.contains('\n');
    let end = if below { view.indented_end(colon + 1)? } else { view.end_span() };
    let rest = view.whole_text().get(body.as_range().start..end.as_range().end)?;
    let shown = rest.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ");
    let close = if below { "\n}" } else { " }" };
    let edits = vec![view.replace_tokens(colon, colon + 1, " {"), SourceEdit { span: end, text: close.to_owned() }];
    let message = format!("the body of a {} stands in braces, not behind a colon", view.token_text(0));
    Some(view.syntax_error(colon, colon + 1, message).suggest_text(format!("{head} {{ {shown} }}"), edits))
}
