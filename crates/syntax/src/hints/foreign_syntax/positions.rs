//! Words in another place than theirs, and words too many: `refund require`, `severity warn: never refund`, `please never the refund`.

use super::row::{RewriteRow, function_row, pattern_row};
use crate::hints::view::{StatementView, strip_quotes};
use crate::words;
use std::ops::Range;

const FIRST: &str = "a statement begins with its word, such as `never`, `require` or `before`";
const BEHIND: &str = "a modifier stands behind its assertion";
const BARE: &str = "a step stands without these brackets";
const ARGUMENTS: &str = "conditions on the arguments of a call stand in parentheses";

pub(super) const TABLE: &[RewriteRow] = &[
    // What is put in front of a line.
    pattern_row("1. never refund", "PLAIN .|')' s[ STATEMENT ... ]", "{s}").with_message("lines are not numbered"),
    pattern_row("* never refund", "'*'|'+'|'>'|'•' s[ STATEMENT ... ]", "{s}")
        .with_message("lines have no mark in front of them"),
    pattern_row("please never refund", "FILLERWORD ,|:|that|to* r[ &STATEMENT|ROOT|the|a|an|no|not ... ]", "{r}")
        .with_message(FIRST),
    pattern_row("require that output.status == \"ok\"", "require that|:? r[ RUNPATH SIGN|TEST ... ]", "{r}")
        .with_message("a condition stands on a line by itself"),
    pattern_row("never output.status == \"error\"", "never r[ RUNPATH SIGN|TEST ... ]", "not ({r})")
        .with_message("`never` speaks of steps; what must not hold is said with `not`"),
    pattern_row(
        "never refund whatsoever",
        "s[ never|require|only|first|last .. ] < ever|anymore|whatsoever|please|period|obviously|strictly > @end",
        "{s}",
    )
    .with_message(FIRST),
    pattern_row("never refund at all", "s[ never|only .. ] < at all > @end", "{s}").with_message(FIRST),
    pattern_row("never refund!", "s[ STATEMENT .. ] < '!'|: > @end", "{s}")
        .with_message("a statement ends with its line"),
    pattern_row(
        "each of the refund: args.amount <= 5",
        "each|every|all of the|these|those|our? a:S < :|, > &X ...",
        "each {a}: {...}",
    ),
    pattern_row("each refund call: args.amount <= 5", "each|every the? a:C < :|, > &X ...", "each {a|step}: {...}"),
    // Modifiers and bounds in front.
    pattern_row(
        "severity warn never refund",
        "m[ severity|weight|message|as|id|class|threshold X ] ,|:|-? s[ STATEMENT ... ]",
        "{s} {m}",
    )
    .with_message(BEHIND),
    pattern_row("warn: never refund", "v:error|warn|info < :|,|-? > s[ STATEMENT ... ]", "{s} severity {v}")
        .with_message(BEHIND),
    pattern_row(
        "warning: never refund",
        "warning|WARN|Warning|WARNING < :|,|-? > s[ STATEMENT ... ]",
        "{s} severity warn",
    )
    .with_message(BEHIND),
    pattern_row("[warn] never refund", "'['|'(' v:error|warn|info ']'|')' :? s[ STATEMENT ... ]", "{s} severity {v}")
        .with_message(BEHIND),
    pattern_row(
        "within 30s after user -> assistant",
        "v[ within N SPAN? ] < ,|:? > s[ after|before|sequence|immediately .. ] @modifiers ...",
        "{s} {v} {...}",
    )
    .with_message("`within` stands behind the steps that it bounds"),
    pattern_row(
        "3 times require search",
        "n:M times|x < ,|:? > require a:S @modifiers ...",
        "require {a} {n|digits} times {...}",
    ),
    // Modifiers in another dress.
    pattern_row(
        "never refund (severity warn)",
        "s[ STATEMENT .. ] @apart '('|'['|'{' m[ &MODIFIER IN ] ')'|']'|'}' @end",
        "{s} {m}",
    )
    .with_message(BEHIND),
    pattern_row(
        "never refund @severity(\"warn\")",
        "s[ STATEMENT .. ] '@'? m:severity|as|id|tags '(' v:IN ')' @end",
        "{s} {m} {v|unquoted}",
    )
    .with_message(BEHIND),
    pattern_row(
        "never refund @weight(2)",
        "s[ STATEMENT .. ] '@'? m:weight|message|class|threshold '(' v:IN ')' @end",
        "{s} {m} {v}",
    )
    .with_message(BEHIND),
    pattern_row("never refund @severity warn", "s[ STATEMENT .. ] '@' m[ MODIFIER ... ]", "{s} {m}")
        .with_message(BEHIND),
    pattern_row("never refund --severity warn", "s[ STATEMENT .. ] < -|--+ > m[ MODIFIER ... ]", "{s} {m}")
        .with_message(BEHIND),
    pattern_row(
        "never refund severity: \"warn\"",
        "s[ STATEMENT .. ] ,? m:severity|as|id < :|=+ > v:QUOTED @modifiers ...",
        "{s} {m} {v|bare} {...}",
    )
    .with_message(BEHIND)
    .overriding_fix(),
    pattern_row("severity: \"warn\"", "m:severity|as|id :|=+ v:QUOTED @end", "{m} {v|bare}").overriding_fix(),
    // Steps and statements in another order.
    pattern_row("refund require", "!STATEMENT a:S < w:require|never|first|last|only > @modifiers ...", "{w} {a} {...}")
        .with_message(FIRST),
    pattern_row("count <= 3 refund", "count s[ SIGN N ] of|for? a:S @modifiers ...", "count {a} {s} {...}")
        .with_message("the comparison of `count` stands behind its step"),
    pattern_row("<= 3 refund", "s[ SIGN N ] a:S @modifiers ...", "count {a} {s} {...}")
        .with_message("how often a tool is called is said with `count`"),
    pattern_row("no more than 3 refund", "n:BOUND a:C @modifiers ...", "count {a|step} {n|bound} {...}")
        .with_message("how often a tool is called is said with `count`"),
    pattern_row(
        "until approve never refund",
        "until|unless|without a:S ,|:? never|no b:S @modifiers ...",
        "before {a} -> {b} {...}",
    )
    .with_message("what has to come first stands in front of the arrow: `before FIRST -> THEN`"),
    pattern_row(
        "before approve, never refund",
        "before a:S ,? never|no b:S @modifiers ...",
        "never {b} before {a} {...}",
    )
    .with_message(FIRST),
    pattern_row("after cancel, never refund", "after a:S ,? never|no b:S @modifiers ...", "never {b} after {a} {...}")
        .with_message(FIRST),
    pattern_row("no approve, no refund", "no|without a:S ,|then? no b:S @modifiers ...", "before {a} -> {b} {...}")
        .with_message(FIRST),
    pattern_row(
        "only after approve refund",
        "only after|once a:S ,|:|then? b:S @modifiers ...",
        "{b} only after {a} {...}",
    )
    .with_message("`only after` stands between two steps"),
    // Brackets of other languages.
    pattern_row(
        "never [refund]",
        "w:never|require|only|first|last < '['|'{'|'<' > a:S ']'|'}'|'>' @modifiers ...",
        "{w} {a} {...}",
    )
    .with_message(BARE),
    pattern_row(
        "never refund [amount > 100]",
        "w:never|require|count|first|last a:D '['|'{' c[ W SIGN|: .. ] ']'|'}' @modifiers ...",
        "{w} {a}({c}) {...}",
    )
    .with_message(ARGUMENTS),
    pattern_row(
        "never refund: amount > 100",
        "w:never|require|first|last a:D < : > c[ TOOL SIGN VALUE ] @modifiers ...",
        "{w} {a}({c}) {...}",
    )
    .with_message(ARGUMENTS),
    pattern_row(
        "never refund if args.amount > 100",
        "w:never|require a:D < :|if|when|with|having|whose|, > c[ args . W SIGN|TEST ... ]",
        "{w} ({a} where {c})",
    )
    .with_message("a condition on a call stands behind `where`"),
    pattern_row("never `refund`", "..( ^STATEMENT|->|,|each|after|before|until '`' a:L '`'", "{a}")
        .with_message("a tool is named without backticks"),
    pattern_row("output->status == \"ok\"", "r:ROOT -> f:W t[ SIGN|TEST ... ]", "{r}.{f} {t}")
        .with_message("a field stands behind a point"),
    pattern_row("output::status == \"ok\"", "r:ROOT : : f:W t[ SIGN|TEST ... ]", "{r}.{f} {t}")
        .with_message("a field stands behind a point"),
    pattern_row(".output.status == \"ok\"", ".|'@'|:|& r[ ROOT ... ]", "{r}")
        .with_message("a path begins with its name"),
    pattern_row("{output.status} == \"ok\"", "..( '{' p:O '}'", "{p}"),
    pattern_row(
        "output.n >= 1 and <= 5",
        "p:O s:SIGN n:N and|&&|, t:'<'|'<='|'>'|'>=' m:N @modifiers ...",
        "{p} {s} {n} and {p} {t} {m} {...}",
    )
    .with_message("`and` joins whole conditions"),
    pattern_row("output doesnt contain \"x\"", "p:O doesnt|dont|does not? v:HOLD ...", "{p} not {v|held} {...}"),
    pattern_row("refund failed", "a[ TOOL failed ] @modifiers ...", "never {a} {...}")
        .with_message("a step alone is no statement")
        .as_guess(),
    function_row("\"never\" refund", quoted_head),
    // Temporal logic.
    pattern_row(
        "!refund U approve",
        "'('? '!'|not '('? a:S ')'? ')'? < 'U'|'W'|WU|until|unless > b:S @end",
        "before {b} -> {a}",
    )
    .with_message("`U` behind a negation is said with `before`"),
    pattern_row(
        "G(notify -> O refund)",
        "LTLG|'[' ']'? '('? a:S ->|=>|implies 'P'|'O'|once|previously '('? b:S ')'? ')'? @end",
        "before {b} -> {a}",
    )
    .with_message("what has come before is said with `before`"),
    pattern_row(
        "G(refund -> X notify)",
        "LTLG|'[' ']'? '('? a:S ->|=>|implies 'X'|next '('? b:S ')'? ')'? @end",
        "immediately after {a} -> {b}",
    )
    .with_message("what comes next is said with `immediately after`"),
    pattern_row("!F refund", "'!'|not LTLF '('? a:S ')'? @end", "never {a}"),
    // What must not be repeated, and folders.
    pattern_row(
        "no duplicate calls",
        "no|never|avoid|forbid REPEATED tool? CALLS @modifiers ...",
        "never repeat any more than 1 times {...}",
    )
    .with_message("what may not be repeated is said with `never repeat`")
    .as_guess()
    .overriding_fix(),
    pattern_row(
        "no duplicate refund",
        "no|never|avoid|forbid REPEATED a:C @modifiers ...",
        "never repeat {a|step} more than 1 times {...}",
    )
    .with_message("what may not be repeated is said with `never repeat`")
    .as_guess()
    .overriding_fix(),
    function_row("never write outside \"src/\"", outside_folder).overriding_fix(),
    // Words too many, wherever they stand.
    pattern_row(
        "never the refund",
        "..( ^STATEMENT|->|,|after|before|until|and|or|each|between|then < the|a|an|our|your > !within|until|before|after|between|weight|as|ok|failed &D",
        "",
    )
    .with_message("a step is named without an article"),
    pattern_row(
        "never calls to refund",
        "..( ^STATEMENT|->|after|before|until|each < call|calls|calling|usage|use|invocation|execution of|to|for > &D",
        "",
    )
    .with_message("a call is named by its tool alone"),
];

/// `never write outside "src/"`: every path is below the folder.
fn outside_folder(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    let kind = view.token_text(1);
    if !view.is_any(0, &["never", "no"]) || !matches!(kind, "write" | "read" | "writes" | "reads") {
        return None;
    }
    let mut at = 2;
    while view.is_any(at, &["outside", "of", "from", "in", "beyond", "the", "folder", "directory"]) {
        at += 1;
    }
    let folder = strip_quotes(view.token_text(at));
    let named = (2..at).any(|here| view.is_any(here, &["outside", "beyond"]));
    let plain = view.is_text(at) && !folder.is_empty() && !folder.contains(['*', '?', '[', '{', '"', '\\', '$']);
    if !named || !plain || view.modifiers_start(at + 1) != at + 1 && at + 1 < view.len() {
        return None;
    }
    // Without the sign at its end `src` would begin `src-old`.
    let folder = folder.trim_end_matches('/');
    let text = format!("each {}: path starts with \"{folder}/\"", kind.trim_end_matches('s'));
    Some((view.token_range(0, at + 1), text))
}

/// `"never" refund`: a word of the language needs no quotes.
fn quoted_head(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    let word = strip_quotes(view.token_text(0));
    let head = view.is_text(0) && view.len() > 1 && words::STATEMENTS.contains(&word);
    head.then(|| (view.token_range(0, 1), word.to_owned()))
}
