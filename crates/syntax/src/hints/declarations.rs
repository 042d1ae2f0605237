//! Hints for mistakes in declarations: names, quotes, signs that are missing, bodies.

use super::hint::{Hint, ask, not};
use super::view::{View, Write};
use averment_base::diagnostic::{Diagnostic, Edit};

pub(super) const TABLE: &[Hint] = &[
    not("suite nightly { }", "suite < &W !expect|expects n:HEAD >")
        .says("the name of a suite is text")
        .write("suite \"{n}\" { … }")
        .swap("\"{n}\""),
    not("test approval expect fail { }", "test < &W !expect|expects n:HEAD > ...")
        .says("the name of a test is text")
        .write("test \"{n}\" {...}"),
    not("rule \"every refund\" { }", "w:rule|invariant < n:SENTENCE > !T")
        .says("the name of a {w} stands without quotes")
        .write("{w} {n|label} {n} { … }")
        .swap("{n|label} {n}"),
    not("rule \"approval\" { }", "w:rule|case|invariant|runner|workspace < n:T >")
        .says("the name of a {w} stands without quotes")
        .write("{w} {n|label} { … }")
        .swap("{n|label}"),
    not("rule { }", "w:rule|case|invariant|suite|runner|workspace < '{' >")
        .says("a name is missing behind `{w}`")
        .help("write `{w} {w|named} { … }`"),
    not("rule 2nd { }", "w:rule|case|invariant n[ < N > TAIL? ]")
        .says("the name of a {w} starts with a letter")
        .write("{w} the-{n} { … }")
        .line("{w} the-{n}"),
    ask("rule refunds: never refund", colon_body),
    not("rule approval:", "w:rule|case|invariant n:LABEL < : >")
        .says("the body of a {w} stands in braces, not behind a colon")
        .help("write `{w} {n} { … }`"),
    not("case one \"a sentence\" { }", "case LABEL < t:T >")
        .says("a case has no sentence behind its name")
        .help("remove it, or write `prompt {t}` in the body of the case")
        .swap("")
        .title("remove it"),
    not("rule my rule { }", "w:rule|case|invariant n[ LABEL < &W !MODIFIER HEADING > ]")
        .says("the name of a {w} is one word")
        .write("{w} {n|label} { … }")
        .line("{w} {n|label}"),
    not("test \"x\" should fail { }", "test n:T < expects|should|must|->|:|is > v:VERDICT")
        .says("`expect` and a verdict are missing behind the name of the test")
        .write("test {n} expect {v|verdict} { … }")
        .swap("expect"),
    not("test \"x\": { }", "test n:T < expects|should|must|->|:|is >")
        .says("`expect` and a verdict are missing behind the name of the test")
        .write("test {n} expect fail { … }")
        .swap("expect fail"),
    not("test \"x\" fail { }", "test n:T !expect < v:VERDICT >")
        .says("`expect` and a verdict are missing behind the name of the test")
        .write("test {n} expect {v|verdict} { … }")
        .swap("expect {v}"),
    not("test \"x\" { }", "test n:T !expect < X? >")
        .says("`expect` and a verdict are missing behind the name of the test")
        .write("test {n} expect fail { … }")
        .line("test {n} expect fail {wrong}"),
    not("test \"x\" expect { }", "test n:T expect < '{'|from >")
        .says("a verdict is missing behind `expect`")
        .write("test {n} expect fail { … }")
        .line("test {n} expect fail {wrong}"),
    not("test \"x\" expect fail", "h[ test T expect !..'{'|from ... ] <>")
        .says("a test needs a run: in braces, or `from` a file")
        .help("write `{h} { calls: [{ tool: \"refund\" }] }`"),
    not("test \"x\" expect fail from run.json", "test T expect RUN? from !T &X < ... >")
        .says("the path of a file stands in quotes")
        .write("from \"{...}\"")
        .swap("\"{...}\""),
    not("test \"x\" expect fail \"approval\" { }", "test T expect X ..( < n:T > &..'{'|from")
        .says("the names of rules stand without quotes")
        .swap("{n|label}"),
    not("test \"x\" expect fail for approval { }", "test T expect X < on|for|of|in|rule|rules > &X !'{'|from n:RUN")
        .says("the names of rules follow the verdict")
        .write("{n}")
        .swap(""),
    not("test \"x\" expect fail a and b { }", "test T expect X !'{'|from a[ LABEL ALSO* ] < and|for|or|in > b:RUN")
        .says("the names of rules are joined with commas")
        .write("{a}, {b}")
        .swap(","),
    not(
        "test \"x\" expect fail a b { }",
        "h[ test T expect X ] !'{'|from a[ LABEL ALSO* ] b[ < !'{'|from|, X > RUN? ] &'{'|from",
    )
    .says("the names of rules are joined with commas")
    .write("{a}, {b}")
    .line("{h} {a}, {b}"),
];

/// `rule refunds: never refund`, or a body that is indented below.
fn colon_body(view: &View<'_, '_>) -> Option<Diagnostic> {
    let colon = view.behind_name(1);
    if !view.is_any(0, &["rule", "case"]) || !view.is(colon, ":") || colon + 1 >= view.len() || view.is(colon + 1, "{")
    {
        return None;
    }
    let head = view.source(0, colon);
    let body = view.span(colon + 1);
    let below = view.text().get(view.span(colon).range().end..body.range().start)?.contains('\n');
    let end = if below { view.indented_end(colon + 1)? } else { view.end() };
    let rest = view.text().get(body.range().start..end.range().end)?;
    let shown = rest.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ");
    let close = if below { "\n}" } else { " }" };
    let edits = vec![view.edit(colon, colon + 1, " {"), Edit { span: end, text: close.to_owned() }];
    let message = format!("the body of a {} stands in braces, not behind a colon", view.word(0));
    Some(view.wrong(colon, colon + 1, message).write(format!("{head} {{ {shown} }}"), edits))
}
