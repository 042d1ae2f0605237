//! Rules as people say them: `the agent must never call refund`, `refund must be called at least twice`.

use super::row::{RewriteRow, function_row, pattern_row};
use crate::hints::view::StatementView;
use crate::token::TokenKind;
use std::ops::Range;

const PROSE: &str =
    "a statement begins with its word, such as `never`, `require` or `before`, and names its tools alone";

pub(super) const TABLE: &[RewriteRow] = &[
    function_row("output isn't \"x\"", negated_verb),
    function_row("NEVER refund", lower_case),
    pattern_row("never call refund.", "s[ X @apart X .. ] < . > @end", "{s}").with_message("a statement ends with its line, without a full stop"),
    // Several words that are one.
    pattern_row("refund is not allowed to happen", "..( is|are never|not allowed|permitted|supposed to", "never").with_message(PROSE),
    pattern_row("the agent is forbidden to call refund", "..( is|are|be forbidden|prohibited to|from", "never").with_message(PROSE),
    pattern_row("you must not call refund", "..( must|should|shall|may|can|could|will|would not|never ever?", "never").with_message(PROSE),
    pattern_row("cannot call refund", "..( cannot|mustnt|shouldnt|dont|doesnt|cant|wont ever?", "never").with_message(PROSE),
    pattern_row("do not call refund", "..( do|does not !contain|mention|match|start|end|exist ever?", "never").with_message(PROSE),
    pattern_row("never ever refund", "..( never ever", "never").with_message(PROSE),
    pattern_row("agents have to call notify", "..( has|have|needs|need|ought to &W", "must").with_message(PROSE),
    pattern_row("the agent is required to call notify", "..( is|are required|supposed|expected|obliged to", "must").with_message(PROSE),
    pattern_row("the agent is allowed to call search at most 3 times", "..( is|are allowed|permitted to", "may").with_message(PROSE),
    pattern_row("must always call notify", "..( must|should|shall always", "must").with_message(PROSE),
    pattern_row("call login prior to refund", "..( prior to", "before").with_message(PROSE),
    // Who acts.
    pattern_row("the agent must call notify", "..( ARTICLE? SUBJECT &MODAL", "").with_message(PROSE),
    pattern_row("make sure refund is never called", "make|be sure|certain that? &W ...", "{...}").with_message(PROSE),
    pattern_row("ensure refund is never called", "ensure|verify|guarantee|confirm|check that? r[ &D X X ... ]", "{r}").with_message(PROSE),
    pattern_row("there must be no refund", "there must|should|shall|is|are be? no ...", "never {...}").with_message(PROSE),
    pattern_row("there must never be a refund", "there never be? ...", "never {...}").with_message(PROSE),
    pattern_row("there must be at least 2 calls of search", "there must|should|shall|may|is|are|can be? &at|no|more|less|exactly ...", "{...}").with_message(PROSE),
    pattern_row("there must be a call to refund", "there must|should|shall|is|are be? a:C @modifiers ...", "require {a|step} {...}").with_message(PROSE),
    // What must not occur.
    pattern_row("a refund without approve is never ok", "ARTICLE? a:D without b:D is|are never|not ok|allowed|permitted @end", "before {b} -> {a}").with_message(PROSE),
    pattern_row("no refund without approve", "no|never|not CALLV* a:C < without|unless|before > CALLV* ARTICLE* b:C first|beforehand|before|is|has|been|PASSIVE* @modifiers ...", "before {b|step} -> {a|step} {...}").with_message(PROSE),
    pattern_row("refund must never happen without approve", "ARTICLE* a:C never PASSIVE|be* < without|unless|before > CALLV|ARTICLE* b:C first|before|is|has|been|PASSIVE* @modifiers ...", "before {b|step} -> {a|step} {...}").with_message(PROSE),
    pattern_row("no calls to refund", "no|never|not CALLV* !FAILS a:C @modifiers ...", "never {a|step} {...}").with_message(PROSE),
    pattern_row("never call refund or cancel", "never CALLV a:CHOICES @modifiers ...", "never {a|commas} {...}").with_message(PROSE),
    pattern_row("never use refund twice", "never CALLV+ a:C ...", "never {a|step} {...}").with_message(PROSE),
    pattern_row("never call a refund twice", "never CALLV a:C &M|more|over ...", "never {a|step} {...}").with_message(PROSE),
    pattern_row("refund must never be called", "ARTICLE* a:C < never|not be? PASSIVE? > @modifiers ...", "never {a|step} {...}").with_message(PROSE),
    pattern_row("refund is never called", "ARTICLE* a:C < BE never|not be? PASSIVE? > @modifiers ...", "never {a|step} {...}").with_message(PROSE),
    pattern_row("the refund is forbidden", "ARTICLE+ a:C < BE not? forbidden|prohibited|banned|disallowed|allowed|permitted > @end", "never {a|step}").with_message(PROSE).as_guess(),
    pattern_row("never refund more than 2 times in a run", "n[ never|count|require .. ] < in|per|during a|the|each|one run|conversation|session|trace > @end", "{n}").with_message(PROSE),
    // How often.
    pattern_row("count send within 1m <= 3", "count a:C w[ within N SPAN? ] s[ SIGN N ] @modifiers ...", "count {a|step} {s} {w} {...}").overriding_fix(),
    pattern_row("count send in a row <= 3", "count a:C in a row s[ SIGN N ] @modifiers ...", "count {a|step} {s} in a row {...}").overriding_fix(),
    pattern_row("never 3 send in a row", "never n:M a:C in a row @modifiers ...", "count {a|step} < {n|digits} in a row {...}").with_message(PROSE).overriding_fix(),
    pattern_row("limit search to 5", "limit|restrict|cap a:C to|at|:? n:N times|calls? @modifiers ...", "count {a|step} <= {n} {...}"),
    pattern_row("no more than 3 turns", "MUST|CALLV|take* n:BOUND turns|messages @modifiers ...", "turns {n|bound} {...}").overriding_fix(),
    pattern_row("no more than 3000 tokens", "MUST|CALLV|take* n:BOUND tokens @modifiers ...", "usage.total_tokens {n|bound} {...}").overriding_fix(),
    pattern_row("the number of turns is at most 5", "ARTICLE? number|count|amount of v:turns|tokens ...", "{v} {...}"),
    pattern_row("count search = 2", "count a:C < = > n:M times? @modifiers ...", "count {a|step} == {n|digits} {...}"),
    pattern_row("refund must be called", "ARTICLE* a:C < must|should|shall|will|may|can|has|needs be|been PASSIVE > ...", "{a|step} called {...}").with_message(PROSE),
    pattern_row("refund is called twice", "ARTICLE* a:C < BE PASSIVE > ...", "{a|step} called {...}").with_message(PROSE),
    pattern_row("refund called before notify", "a:C called before|after &C", "{a|step} before").with_message(PROSE),
    pattern_row("refund called at most once", "tool? a:C called n:BOUND @modifiers ...", "count {a|step} {n|bound} {...}").with_message(PROSE),
    pattern_row("refund called twice", "tool? a:C called n:M time|times|x? @modifiers ...", "count {a|step} == {n|digits} {...}").with_message(PROSE),
    pattern_row("login called first", "a:C called n:first|last @modifiers ...", "{n} {a|step} {...}").with_message(PROSE),
    pattern_row("notify called", "tool? a:C called @modifiers ...", "require {a|step} {...}").with_message(PROSE),
    pattern_row("refund may happen at most once", "ARTICLE* a:C < may|must|can|should|MODAL|BE PASSIVE? > n:BOUND @modifiers ...", "count {a|step} {n|bound} {...}").with_message(PROSE),
    pattern_row("refund at most once", "ARTICLE* a:C n:BOUND @modifiers ...", "count {a|step} {n|bound} {...}").with_message(PROSE),
    pattern_row("refund <= 3 times", "a:D s[ SIGN N ] < times|calls > @modifiers ...", "count {a} {s} {...}").with_message(PROSE),
    pattern_row("the number of calls to search must not exceed 3", "ARTICLE? number|count|amount of a:C never exceed n:M @modifiers ...", "count {a|step} <= {n|digits} {...}").with_message(PROSE),
    pattern_row("number of search <= 3", "ARTICLE? number|count of a:C s[ SIGN N ] @modifiers ...", "count {a|step} {s} {...}").with_message(PROSE),
    pattern_row("number of searches must be at most 3", "ARTICLE? number|count of a:C MUST|is|be* n:BOUND @modifiers ...", "count {a|step} {n|bound} {...}").with_message(PROSE),
    pattern_row("count of search <= 3", "count of|for a:C &SIGN|in ...", "count {a|step} {...}").with_message(PROSE),
    pattern_row("search count <= 3", "a:D count|calls s[ SIGN N ] @modifiers ...", "count {a} {s} {...}").with_message(PROSE),
    pattern_row("search: count <= 3", "a:D : count|calls|times s[ SIGN N ] @modifiers ...", "count {a} {s} {...}").with_message(PROSE),
    pattern_row("count calls of search <= 3", "count calls|call of|to a:C &SIGN|in ...", "count {a|step} {...}").with_message(PROSE),
    pattern_row("at most 10 tool calls", "n:BOUND tool|total? call|calls @modifiers ...", "count any {n|bound} {...}").with_message(PROSE).overriding_fix(),
    pattern_row("use at most 10 tool calls", "MUST|CALLV* n:BOUND tool|total? calls|tools @modifiers ...", "count any {n|bound} {...}").with_message(PROSE).overriding_fix(),
    pattern_row("max 3 calls to search", "CALLV? n:BOUND calls|call|uses|use|invocations of|to|for a:C @modifiers ...", "count {a|step} {n|bound} {...}").with_message(PROSE),
    pattern_row("use search at most 3 times", "MUST|may|always* CALLV a:C n:BOUND @modifiers ...", "count {a|step} {n|bound} {...}").with_message(PROSE),
    pattern_row("call search twice", "MUST|always* CALLV a:C n:M time|times|x? @modifiers ...", "count {a|step} == {n|digits} {...}").with_message(PROSE),
    // What must occur.
    pattern_row("allow only search, fetch", "allow|permit only|just CALLV? a:CHOICES @end", "only {a|commas}"),
    pattern_row("allowed tools: search, fetch", "allowed|permitted tools|calls|tool :|=|are? a:CHOICES @end", "only {a|commas}"),
    pattern_row("exclude refund", "exclude|skip|reject|omit|ban a:C @end", "never {a|step}").as_guess(),
    pattern_row("never refund \"why not\"", "s[ never|require|first|last !KIND|run|execute|exec|bash|shell TOOL ] m:T @end", "{s} message {m}").as_guess(),
    pattern_row("only call search or fetch", "only CALLV|may|can+ a:CHOICES @modifiers ...", "only {a|commas} {...}").with_message(PROSE),
    pattern_row("only search and fetch are allowed", "only|just CALLV* a:CHOICES is|are|may|can be? allowed|permitted|PASSIVE @modifiers ...", "only {a|commas} {...}").with_message(PROSE),
    pattern_row("the first call must be login", "ARTICLE? n:first|last tool? call|step|action|tool must|should|is|be+ a:C @modifiers ...", "{n} {a|step} {...}").with_message(PROSE),
    pattern_row("start with login", "start|starts|begin|begins with|by a:C @end", "first {a|step}").with_message(PROSE),
    pattern_row("ends with logout", "ends|end|finish|finishes with a:C @end", "last {a|step}").with_message(PROSE),
    pattern_row("login must come first", "ARTICLE* a:C < must|should|has|needs|comes|is|be|to|come|happen|run+ > n:first|last @end", "{n} {a|step}").with_message(PROSE),
    pattern_row("only one refund", "only n:M a:C @end", "count {a|step} <= {n|digits}").with_message(PROSE).overriding_fix(),
    pattern_row("search only once", "a:C < only > n:M time|times|x? @end", "count {a|step} <= {n|digits}").with_message(PROSE),
    pattern_row("never more than 2 refund in a row", "never|no more than n:N a:C in a row @modifiers ...", "count {a|step} <= {n} in a row {...}").with_message(PROSE).overriding_fix(),
    pattern_row("unless approve { never refund }", "unless a:C '{' never b:C '}' @end", "before {a|step} -> {b|step}").with_message(PROSE).overriding_fix(),
    pattern_row("never say \"sorry\"", "h[ never|require|count ] < say|says|write|writes|reply > t:T @modifiers ...", "{h} assistant {t} {...}").with_message("a message of the agent is the step `assistant`").overriding_fix().as_guess(),
    pattern_row("never read file \".env\"", "h[ never|require|count ] k[ read|write ] < file|files|path > t:T @modifiers ...", "{h} {k} {t} {...}").with_message("a kind of step is one word").overriding_fix(),
    pattern_row("output matches regex /a/", "s[ .. matches|match ] < regex|regexp|pattern > ...", "{s} {...}").with_message("a regular expression follows `matches`").overriding_fix(),
    pattern_row("length(output) < 100 chars", "s[ .. SIGN N ] < chars|characters|words|items|elements|entries|lines > @end", "{s}").with_message("a count has no unit"),
    pattern_row("call login first", "MUST|always|CALLV+ a:C n:first|last @modifiers ...", "{n} {a|step} {...}").with_message(PROSE),
    pattern_row("require that notify", "require|expect|assert that ARTICLE? a:C @modifiers ...", "require {a|step} {...}").with_message(PROSE),
    pattern_row("expect notify to be called", "require|expect|expects|assert|verify|check that? ARTICLE? a:C < to be|been|get PASSIVE > @modifiers ...", "require {a|step} {...}").with_message(PROSE),
    pattern_row("every refund needs an approval", "every|each|all|any ARTICLE? a:C < has|have|needs|need|requires|wants > ARTICLE? b:C @end", "if {a|step} then {b|step}").with_message(PROSE).as_guess(),
    pattern_row("never file write \"/etc/**\"", "h[ never|require|count ] < file|disk|tool|shell > k[ read|write|command ] ...", "{h} {k} {...}").with_message("a kind of step is one word"),
    pattern_row("always call notify", "MUST|always* CALLV+ a:C @modifiers ...", "require {a|step} {...}").with_message(PROSE),
    pattern_row("must notify", "MUST|always+ a:C @modifiers ...", "require {a|step} {...}").with_message(PROSE),
    pattern_row("should use login before refund", "MUST|always+ &CALLV|D|before|after ...", "{...}").with_message(PROSE),
    pattern_row("uses notify", "uses|use|invoke|invokes|calls|calling ...", "call {...}").with_message(PROSE),
    pattern_row("rule refunds must be approved {}", "rule n[ LABEL W W W* ] &'{' ...", "rule {n|label} {...}").with_message("the name of a rule is one word"),
];

/// `isn't`, `don't`, `mustn't`: the apostrophe opens a text.
fn negated_verb(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    let opens = |at: usize| {
        matches!(view.token_kind(at), TokenKind::OpenText | TokenKind::Text) && view.token_text(at).starts_with("'t")
    };
    let at = (1..view.len()).find(|&at| opens(at) && view.touches_previous(at) && view.is_word(at - 1))?;
    let word = match view.token_text(at - 1).to_ascii_lowercase().as_str() {
        "can" => "can",
        "won" => "will",
        "shan" => "shall",
        other => return other.strip_suffix('n').map(|stem| (verb_range(view, at), format!("{stem} not"))),
    };
    Some((verb_range(view, at), format!("{word} not")))
}

fn verb_range(view: &StatementView<'_, '_>, at: usize) -> Range<usize> {
    let start = view.token_range(at - 1, at);
    start.start..start.end + 2
}

/// Words capitalized at a sentence start, or throughout.
const CAPITALS: &[&str] = &[
    "the",
    "a",
    "an",
    "never",
    "always",
    "do",
    "must",
    "should",
    "no",
    "every",
    "each",
    "all",
    "any",
    "at",
    "only",
    "call",
    "if",
    "when",
    "whenever",
    "before",
    "after",
    "require",
    "output",
    "cost",
    "duration",
    "and",
    "or",
    "not",
    "in",
    "like",
    "is",
    "null",
    "between",
    "exists",
    "count",
    "sum",
    "length",
    "min",
    "max",
    "avg",
    "lower",
    "upper",
    "agent",
    "assistant",
    "ensure",
    "make",
    "use",
    "there",
    "don",
    "sequence",
    "first",
    "last",
    "then",
    "contains",
    "matches",
    "it",
    "select",
    "ilike",
    "where",
    "for",
    "contain",
    "deny",
    "allow",
    "eventually",
    "globally",
    "rule",
    "once",
    "given",
    "starts",
    "ends",
    "with",
    "true",
    "false",
];

/// `NEVER`, `Always`, `IS NULL`: keywords in capitals.
fn lower_case(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    let capital = |at: usize| {
        let word = view.token_text(at);
        let whole = word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_uppercase());
        let starts = (at == 0 || matches!(word, "Then" | "And" | "Or"))
            && word.starts_with(|sign: char| sign.is_ascii_uppercase());
        view.is_word(at)
            && (whole || starts)
            && !view.token_is(at.wrapping_sub(1), ".")
            && CAPITALS.contains(&word.to_ascii_lowercase().as_str())
    };
    let at = (0..view.len()).find(|&at| capital(at))?;
    Some((view.token_range(at, at + 1), view.token_text(at).to_ascii_lowercase()))
}
