//! What comes first and what follows, as people say it: `before refund call get_order`, `if refund is called then notify must be called`.

use super::row::{Meaning, asked, say};
use crate::hints::view::View;
use crate::words;
use std::ops::Range;

const ORDER: &str = "what has to come first stands in front of the arrow: `before FIRST -> THEN`";

pub(super) const TABLE: &[Meaning] = &[
    say("before user says \"yes\" -> refund", "..( a:user|assistant < says|said|confirms|writes|answers|asks|message|with > &T|R", "{a}"),
    say("require approve before every refund", "require|always|call|first+ a:C < before > ARTICLE|CALLV* b:C @modifiers ...", "before {a|step} -> {b|step} {...}").says(ORDER),
    say("user \"yes\" before refund", "a:C < before > ARTICLE|CALLV* b:C @modifiers ...", "before {a|step} -> {b|step} {...}").says(ORDER),
    say("user says \"yes\" before refund", "a[ user|assistant ] says|said|confirms t:T|R before b:C @modifiers ...", "before {a} {t} -> {b|step} {...}").says(ORDER),
    say("require notify after refund", "require|always|call+ a:C < after > ARTICLE|CALLV* b:C @modifiers ...", "after {b|step} -> {a|step} {...}").says("what follows stands behind the arrow: `after FIRST -> THEN`"),
    say("before user \"yes\", refund", "before a[ user|assistant|message T|R|G ] < ,|: > b:S @modifiers ...", "before {a} -> {b} {...}").says(ORDER).over(),
    say("before refund, get_order", "before each? a:S < ,|:|must|should|require|requires|call|always|there|be|is|needs|you+ CALLV|a|an|the|must* > b:S @modifiers ...", "before {b} -> {a} {...}").guess().says(ORDER).over(),
    say("before(approve, refund)", "before '(' a:S , b:S ')' @modifiers ...", "before {a} -> {b} {...}").guess().says(ORDER),
    say("before approve --> refund", "&before|after|sequence|immediately|starts ..( - ->|'>'", "->").says("the arrow is `->`"),
    say("before approve -> refund with same id", "before a:D -> b:D with|for|on the|a? same f:W @modifiers ...", "before {a}({f}: ${f}) -> {b}({f}: ${f}) {...}").guess().says("what two steps share is bound with `$`"),
    say("never refund after cancel or delete", "never a:S after|before b:S or c:S @modifiers ...", "never {a} after {b} | {c} {...}"),
    say("never run \"rm -rf\"", "w:never|require|no run|execute|exec|bash|shell t:T ...", "never command {t} {...}"),
    say("never command contains \"rm\"", "..( k:command|user|assistant|read|write|http < contains|with|like|includes|including|containing|matching|that|to|from|in|into|of+ > &T|R", "{k}"),
    say("before [approve] -> refund", "w:before|after '[' a:S ']' -> ...", "{w} {a} -> {...}"),
    say("after refund, notify", "w:after each? a:S < ,|:|must|should|require|requires|call|always|then|comes|=>+ CALLV|a|an|the|must|there|be* > b:S must|be|follows|PASSIVE* @modifiers ...", "after {a} -> {b} {...}").says("the arrow is `->`"),
    say("before refund(id = $id): approve(id = $id)", "before each? a:S : b:S @modifiers ...", "before {b} -> {a} {...}").guess().says(ORDER),
    say("if refund then before it approve", "if a:S then before it|that ,|CALLV|require|must* b:S @modifiers ...", "before {b} -> {a} {...}").says(ORDER).over(),
    say("if refund then approve before it", "if a:S then b:S before|first it|that|this? @modifiers ...", "before {b} -> {a} {...}").says(ORDER).over(),
    say("if refund is called then notify must be called", "if a:C BE|PASSIVE* ,|then* must|should|call|then|CALLV* b:C must|should|be|is|follow|PASSIVE* @modifiers ...", "if {a|step} then {b|step} {...}"),
    say("if refund then must notify", "if a:S then must|should|call|always+ b:C PASSIVE? @modifiers ...", "if {a} then {b|step} {...}"),
    say("when refund is called, notify must be called", "when|whenever|once|given a:C BE|PASSIVE* < ,|then|must|should|call|require|-> > ,|then|must|should|call|CALLV* b:C must|should|be|is|follow|follows|PASSIVE* @modifiers ...", "after {a|step} -> {b|step} {...}").guess(),
    say("refund needs approve first", "ARTICLE* a:C < requires|require|needs|need > ARTICLE|CALLV* b:C first|before|beforehand|it* @modifiers ...", "before {b|step} -> {a|step} {...}").says(ORDER),
    say("refund => requires approve", "a:S < =>|-> requires|needs|require|only > b:C first? @modifiers ...", "before {b|step} -> {a} {...}").says(ORDER),
    say("refund only if approve", "ARTICLE* a:C MODAL|BE|PASSIVE* < only if|when|once|after > ARTICLE|CALLV* b:C is|has|been|was|PASSIVE* @modifiers ...", "before {b|step} -> {a|step} {...}").says(ORDER),
    say("only refund if approve", "only CALLV* a:C < if|when|once|after > ARTICLE|CALLV* b:C is|has|been|was|PASSIVE* @modifiers ...", "before {b|step} -> {a|step} {...}").says(ORDER),
    say("if output.ok then require notify", "if r:RUNPATH then|: s[ STATEMENT ... ]", "when {r} { {s} }").over(),
    say("require notify if output.ok", "s[ require|never C ] if|provided r[ RUNPATH ... ]", "{s} when {r}").over(),
    say("require notify unless output.failed", "s[ require|never C ] unless|except r:RUNPATH @end", "{s} when not {r}").over(),
    say("refund directly after approve", "ARTICLE* a:C must|should|be|come* directly|immediately|right|just after ARTICLE* b:C @modifiers ...", "immediately before {b|step} -> {a|step} {...}").guess(),
    say("sequence of login, search", "w:sequence|flow of|is|: s:CHOICES @end", "{w} {s|arrows}").over(),
    say("refund must be preceded by approve", "ARTICLE* a:C must|should|be|is|always+ preceded|guarded by ARTICLE|CALLV* b:C @modifiers ...", "before {b|step} -> {a|step} {...}").says(ORDER),
    say("every refund must be followed by a notify", "ARTICLE* a:C must|should|be|is|always+ followed by ARTICLE|CALLV* b:C @modifiers ...", "after {a|step} -> {b|step} {...}"),
    say("notify must follow refund", "ARTICLE* a:C must|should|always* follow|follows ARTICLE* b:C @modifiers ...", "after {b|step} -> {a|step} {...}").guess(),
    say("refund must come after approve", "ARTICLE* a:C must|should|always+ come|happen|run|occur|be? PASSIVE? after ARTICLE* b:C @modifiers ...", "before {b|step} -> {a|step} {...}"),
    say("approve must come before refund", "ARTICLE* a:C must|should|always+ come|happen|run|occur|be? PASSIVE? before|precede ARTICLE* b:C @modifiers ...", "before {a|step} -> {b|step} {...}"),
    say("within 5s: refund -> notify", "v[ within N call|calls|turn|turns? ] < :|, > a:C -> b:C @modifiers ...", "after {a} -> {b} {v} {...}").says("`within` stands behind the steps that it bounds"),
    say("after refund -> notify in less than 5s", "&after|before|sequence ..( in|within less|under|at than|most|max? v:N @modifiers", "within {v}").guess(),
    say("refund if and only if approve", "a:C if and only if b:C @modifiers ...", "{a|step} iff {b|step} {...}"),
    say("sequence [a, b]", "w:sequence|flow :? '['|'(' s:IN ']'|')' @modifiers ...", "{w} {s|arrows} {...}").says("the steps of a sequence are joined with `->`"),
    say("sequence: a -> b", "w:sequence|flow : &S ...", "{w} {...}"),
    say("steps in order: login, search", "steps|order|calls|tools in|of? order? : s:CHOICES @end", "sequence {s|arrows}").guess(),
    asked("call login, then search, then logout", chain),
    say("either refund or cancel but not both", "either a:S or b:S but not both @modifiers ...", "either {a} or {b}; not both {a}, {b} {...}"),
    say("require both approve and notify", "require both a:S and|, b:S @modifiers ...", "require {a}; require {b} {...}"),
    say("require approve and notify", "require a:S < and|, > b:S @modifiers ...", "require {a}; require {b} {...}").says("the steps of `require` are not joined with `and`"),
    say("never refund from approve to cancel", "never a:S from b:S to|until c:S @modifiers ...", "never {a} between {b} and {c} {...}"),
    say("never refund between approve, cancel", "never a:S between b:S ,|to|or c:S @modifiers ...", "never {a} between {b} and {c} {...}"),
    // Temporal logic.
    say("G(!refund)", "LTLG|'[' ']'? '('? '!'|not a:S ')'? @end", "never {a}").says("`G` is said with `never` or `after`"),
    say("G(refund -> F notify)", "LTLG|'[' ']'? '('? a:S ->|=>|implies LTLF '('? b:S ')'? ')'? @end", "after {a} -> {b}").says("`F` behind an arrow is said with `after`"),
    say("refund -> F notify", "a:S ->|=>|implies LTLF '('? b:S ')'? @end", "after {a} -> {b}").says("`F` behind an arrow is said with `after`"),
    say("F notify", "LTLF '('? a:S ')'? @end", "require {a}"),
    say("globally never refund", "globally|always &never|before|after|each ...", "{...}"),
];

/// `call login, then search, then logout`; `login then search`.
fn chain(view: &View<'_, '_>) -> Option<(Range<usize>, String)> {
    if words::STATEMENTS.contains(&view.word(0)) && !view.is_any(0, &["first", "run"]) {
        return None;
    }
    let mut at =
        usize::from(view.is_any(0, &["call", "use", "first", "run"])) + usize::from(view.are(0, &["first", "call"]));
    let mut steps = Vec::new();
    let mut thens = 0;
    loop {
        let end = view.behind_step(at);
        if end == at || !view.is_word(at) {
            return None;
        }
        steps.push(view.source(at, end));
        if end >= view.len() {
            break;
        }
        let mut next = end;
        while view.is_any(next, &[",", "then", "and", "call", "->"]) {
            thens += usize::from(view.is(next, "then"));
            next += 1;
        }
        if next == end {
            return None;
        }
        at = next;
    }
    (thens > 0 && steps.len() > 1).then(|| (view.range(0, view.len()), format!("sequence {}", steps.join(" -> "))))
}
