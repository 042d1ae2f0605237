//! What comes first and what follows, as people say it: `before refund call get_order`, `if refund is called then notify must be called`.

use super::row::{RewriteRow, function_row, pattern_row};
use crate::hints::view::StatementView;
use crate::words;
use std::ops::Range;

const ORDER: &str = "what has to come first stands in front of the arrow: `before FIRST -> THEN`";

pub(super) const TABLE: &[RewriteRow] = &[
    pattern_row("before user says \"yes\" -> refund", "..( a:user|assistant < says|said|confirms|writes|answers|asks|message|with > &T|R", "{a}"),
    pattern_row("require approve before every refund", "require|always|call|first+ a:C < before > ARTICLE|CALLV* b:C @modifiers ...", "before {a|step} -> {b|step} {...}").with_message(ORDER),
    pattern_row("user \"yes\" before refund", "a:C < before > ARTICLE|CALLV* b:C @modifiers ...", "before {a|step} -> {b|step} {...}").with_message(ORDER),
    pattern_row("user says \"yes\" before refund", "a[ user|assistant ] says|said|confirms t:T|R before b:C @modifiers ...", "before {a} {t} -> {b|step} {...}").with_message(ORDER),
    pattern_row("require notify after refund", "require|always|call+ a:C < after > ARTICLE|CALLV* b:C @modifiers ...", "after {b|step} -> {a|step} {...}").with_message("what follows stands behind the arrow: `after FIRST -> THEN`"),
    pattern_row("before user \"yes\", refund", "before a[ user|assistant|message T|R|G ] < ,|: > b:S @modifiers ...", "before {a} -> {b} {...}").with_message(ORDER).overriding_fix(),
    pattern_row("before refund, get_order", "before each? a:S < ,|:|must|should|require|requires|call|always|there|be|is|needs|you+ CALLV|a|an|the|must* > b:S @modifiers ...", "before {b} -> {a} {...}").as_guess().with_message(ORDER).overriding_fix(),
    pattern_row("before(approve, refund)", "before '(' a:S , b:S ')' @modifiers ...", "before {a} -> {b} {...}").as_guess().with_message(ORDER),
    pattern_row("before approve --> refund", "&before|after|sequence|immediately|starts ..( - ->|'>'", "->").with_message("the arrow is `->`"),
    pattern_row("before approve -> refund with same id", "before a:D -> b:D with|for|on the|a? same f:W @modifiers ...", "before {a}({f}: ${f}) -> {b}({f}: ${f}) {...}").as_guess().with_message("what two steps share is bound with `$`"),
    pattern_row("never refund after cancel or delete", "never a:S after|before b:S or c:S @modifiers ...", "never {a} after {b} | {c} {...}"),
    pattern_row("never run \"rm -rf\"", "w:never|require|no run|execute|exec|bash|shell t:T ...", "never command {t} {...}"),
    pattern_row("never command contains \"rm\"", "..( k:command|user|assistant|read|write|http < contains|with|like|includes|including|containing|matching|that|to|from|in|into|of+ > &T|R", "{k}"),
    pattern_row("before [approve] -> refund", "w:before|after '[' a:S ']' -> ...", "{w} {a} -> {...}"),
    pattern_row("after refund, notify", "w:after each? a:S < ,|:|must|should|require|requires|call|always|then|comes|=>+ CALLV|a|an|the|must|there|be* > b:S must|be|follows|PASSIVE* @modifiers ...", "after {a} -> {b} {...}").with_message("the arrow is `->`"),
    pattern_row("before refund(id = $id): approve(id = $id)", "before each? a:S : b:S @modifiers ...", "before {b} -> {a} {...}").as_guess().with_message(ORDER),
    pattern_row("if refund then before it approve", "if a:S then before it|that ,|CALLV|require|must* b:S @modifiers ...", "before {b} -> {a} {...}").with_message(ORDER).overriding_fix(),
    pattern_row("if refund then approve before it", "if a:S then b:S before|first it|that|this? @modifiers ...", "before {b} -> {a} {...}").with_message(ORDER).overriding_fix(),
    pattern_row("if refund is called then notify must be called", "if a:C BE|PASSIVE* ,|then* must|should|call|then|CALLV* b:C must|should|be|is|follow|PASSIVE* @modifiers ...", "if {a|step} then {b|step} {...}"),
    pattern_row("if refund then must notify", "if a:S then must|should|call|always+ b:C PASSIVE? @modifiers ...", "if {a} then {b|step} {...}"),
    pattern_row("when refund is called, notify must be called", "when|whenever|once|given a:C BE|PASSIVE* < ,|then|must|should|call|require|-> > ,|then|must|should|call|CALLV* b:C must|should|be|is|follow|follows|PASSIVE* @modifiers ...", "after {a|step} -> {b|step} {...}").as_guess(),
    pattern_row("refund needs approve first", "ARTICLE* a:C < requires|require|needs|need > ARTICLE|CALLV* b:C first|before|beforehand|it* @modifiers ...", "before {b|step} -> {a|step} {...}").with_message(ORDER),
    pattern_row("refund => requires approve", "a:S < =>|-> requires|needs|require|only > b:C first? @modifiers ...", "before {b|step} -> {a} {...}").with_message(ORDER),
    pattern_row("refund only if approve", "ARTICLE* a:C MODAL|BE|PASSIVE* < only if|when|once|after > ARTICLE|CALLV* b:C is|has|been|was|PASSIVE* @modifiers ...", "before {b|step} -> {a|step} {...}").with_message(ORDER),
    pattern_row("only refund if approve", "only CALLV* a:C < if|when|once|after > ARTICLE|CALLV* b:C is|has|been|was|PASSIVE* @modifiers ...", "before {b|step} -> {a|step} {...}").with_message(ORDER),
    pattern_row("if output.ok then require notify", "if r:RUNPATH then|: s[ STATEMENT ... ]", "when {r} { {s} }").overriding_fix(),
    pattern_row("require notify if output.ok", "s[ require|never C ] if|provided r[ RUNPATH ... ]", "{s} when {r}").overriding_fix(),
    pattern_row("require notify unless output.failed", "s[ require|never C ] unless|except r:RUNPATH @end", "{s} when not {r}").overriding_fix(),
    pattern_row("refund directly after approve", "ARTICLE* a:C must|should|be|come* directly|immediately|right|just after ARTICLE* b:C @modifiers ...", "immediately before {b|step} -> {a|step} {...}").as_guess(),
    pattern_row("sequence of login, search", "w:sequence|flow of|is|: s:CHOICES @end", "{w} {s|arrows}").overriding_fix(),
    pattern_row("refund must be preceded by approve", "ARTICLE* a:C must|should|be|is|always+ preceded|guarded by ARTICLE|CALLV* b:C @modifiers ...", "before {b|step} -> {a|step} {...}").with_message(ORDER),
    pattern_row("every refund must be followed by a notify", "ARTICLE* a:C must|should|be|is|always+ followed by ARTICLE|CALLV* b:C @modifiers ...", "after {a|step} -> {b|step} {...}"),
    pattern_row("notify must follow refund", "ARTICLE* a:C must|should|always* follow|follows ARTICLE* b:C @modifiers ...", "after {b|step} -> {a|step} {...}").as_guess(),
    pattern_row("refund must come after approve", "ARTICLE* a:C must|should|always+ come|happen|run|occur|be? PASSIVE? after ARTICLE* b:C @modifiers ...", "before {b|step} -> {a|step} {...}"),
    pattern_row("approve must come before refund", "ARTICLE* a:C must|should|always+ come|happen|run|occur|be? PASSIVE? before|precede ARTICLE* b:C @modifiers ...", "before {a|step} -> {b|step} {...}"),
    pattern_row("within 5s: refund -> notify", "v[ within N call|calls|turn|turns? ] < :|, > a:C -> b:C @modifiers ...", "after {a} -> {b} {v} {...}").with_message("`within` stands behind the steps that it bounds"),
    pattern_row("after refund -> notify in less than 5s", "&after|before|sequence ..( in|within less|under|at than|most|max? v:N @modifiers", "within {v}").as_guess(),
    pattern_row("refund if and only if approve", "a:C if and only if b:C @modifiers ...", "{a|step} iff {b|step} {...}"),
    pattern_row("sequence [a, b]", "w:sequence|flow :? '['|'(' s:IN ']'|')' @modifiers ...", "{w} {s|arrows} {...}").with_message("the steps of a sequence are joined with `->`"),
    pattern_row("sequence: a -> b", "w:sequence|flow : &S ...", "{w} {...}"),
    pattern_row("steps in order: login, search", "steps|order|calls|tools in|of? order? : s:CHOICES @end", "sequence {s|arrows}").as_guess(),
    function_row("call login, then search, then logout", call_chain),
    pattern_row("either refund or cancel but not both", "either a:S or b:S but not both @modifiers ...", "either {a} or {b}; not both {a}, {b} {...}"),
    pattern_row("require both approve and notify", "require both a:S and|, b:S @modifiers ...", "require {a}; require {b} {...}"),
    pattern_row("require approve and notify", "require a:S < and|, > b:S @modifiers ...", "require {a}; require {b} {...}").with_message("the steps of `require` are not joined with `and`"),
    pattern_row("never refund from approve to cancel", "never a:S from b:S to|until c:S @modifiers ...", "never {a} between {b} and {c} {...}"),
    pattern_row("never refund between approve, cancel", "never a:S between b:S ,|to|or c:S @modifiers ...", "never {a} between {b} and {c} {...}"),
    // Temporal logic.
    pattern_row("G(!refund)", "LTLG|'[' ']'? '('? '!'|not a:S ')'? @end", "never {a}").with_message("`G` is said with `never` or `after`"),
    pattern_row("G(refund -> F notify)", "LTLG|'[' ']'? '('? a:S ->|=>|implies LTLF '('? b:S ')'? ')'? @end", "after {a} -> {b}").with_message("`F` behind an arrow is said with `after`"),
    pattern_row("refund -> F notify", "a:S ->|=>|implies LTLF '('? b:S ')'? @end", "after {a} -> {b}").with_message("`F` behind an arrow is said with `after`"),
    pattern_row("F notify", "LTLF '('? a:S ')'? @end", "require {a}"),
    pattern_row("globally never refund", "globally|always &never|before|after|each ...", "{...}"),
];

/// `call login, then search, then logout`; `login then search`.
fn call_chain(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    if words::STATEMENTS.contains(&view.token_text(0)) && !view.is_any(0, &["first", "run"]) {
        return None;
    }
    let mut at = usize::from(view.is_any(0, &["call", "use", "first", "run"]))
        + usize::from(view.tokens_are(0, &["first", "call"]));
    let mut steps = Vec::new();
    let mut thens = 0;
    loop {
        let end = view.behind_step(at);
        if end == at || !view.is_word(at) {
            return None;
        }
        steps.push(view.source_text(at, end));
        if end >= view.len() {
            break;
        }
        let mut next = end;
        while view.is_any(next, &[",", "then", "and", "call", "->"]) {
            thens += usize::from(view.token_is(next, "then"));
            next += 1;
        }
        if next == end {
            return None;
        }
        at = next;
    }
    (thens > 0 && steps.len() > 1)
        .then(|| (view.token_range(0, view.len()), format!("sequence {}", steps.join(" -> "))))
}
