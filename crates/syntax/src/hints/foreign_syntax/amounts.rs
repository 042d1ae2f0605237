//! Amounts, units, and how many: `50k`, `0.05$`, `never refund more than $500`.

use super::row::{RewriteRow, function_row, pattern_row};
use crate::hints::view::StatementView;
use std::ops::Range;

const ARGUMENT: &str = "an amount is an argument of the call: its name stands in parentheses";

pub(super) const TABLE: &[RewriteRow] = &[
    pattern_row("refund <= 3 times", "a:TOOL s[ SIGN N ] < times|calls > @modifiers ...", "count {a} {s} {...}"),
    pattern_row("never refund weight two", "..( weight n:WORDED", "weight {n|digits}"),
    pattern_row("never refund weight \"2\"", "..( weight t:T", "weight {t|bare}"),
    pattern_row("cost < $.05", "..( '$' . n:N", "$0.{n}"),
    pattern_row("never refund(amount: 500+)", "..( w:W : n:N '+' &,|')'", "{w} >= {n}"),
    pattern_row("refund: args.amount <= 100", "a:TOOL : c[ args . ... ]", "each {a}: {c}"),
    pattern_row(
        "all refund have args.amount <= 100",
        "each|every|all a:D has|have|with|must|should+ have? c[ args . ... ]",
        "each {a}: {c}",
    ),
    pattern_row("each refund(id: $i): require approve(id: $i)", "each a:S : require b:S @end", "before {b} -> {a}")
        .as_guess(),
    function_row("usage.total_tokens <= 50'000", apostrophe_amount),
    pattern_row("usage.total_tokens <= 50 000", "..( s:SIGN n[ N @apart N ] @end", "{s} {n|ungrouped}").as_guess(),
    pattern_row("cost <= 0.05$", "..( n:PLAIN < '$' @touching >", "${n}")
        .with_message("`$` stands in front of its amount"),
    pattern_row("cost <= 5 dollars", "..( n:PLAIN < USD|dollars|dollar|usd|bucks|'$' >", "${n}")
        .with_message("an amount is written `$5`"),
    pattern_row("cost <= USD 5", "..( < USD|usd|US > n:PLAIN", "${n}").with_message("an amount is written `$5`"),
    pattern_row("cost <= 5 cents", "..( n:PLAIN < cents|cent|ct >", "${n|cents}")
        .with_message("an amount is written `$0.05`"),
    pattern_row("output.n > 95 percent", "..( n:PLAIN < percent|percents|pct >", "{n}%"),
    pattern_row("duration < 1 minute 30 seconds", "..( n:PLAIN u:UNIT and? m:PLAIN v:UNIT", "{n}{u|unit}{m}{v|unit}"),
    pattern_row("usage.total_tokens <= 5000 tokens", "..( s:SIGN n:PLAIN < COUNTED > @modifiers", "{s} {n}")
        .with_message("a count has no unit"),
    // Amounts of a call.
    pattern_row(
        "never refund more than $5",
        "never a:C n[ more|over|above|greater|less|under|below|exceeding|at than|least|most? MONEY ] @modifiers ...",
        "never {a|step}(amount {n|money}) {...}",
    )
    .with_message(ARGUMENT)
    .as_guess()
    .overriding_fix(),
    pattern_row(
        "each refund.amount <= 500",
        "each|every|all|for a:D . f:W t[ SIGN|TEST|in ... ]",
        "each {a}: args.{f} {t}",
    )
    .with_message(ARGUMENT),
    pattern_row(
        "every refund has an amount below 100",
        "each|every|all|any|a a:D has|have|with|must|should|having+ have|an|a* f:W is|be|of? n:BOUND @modifiers ...",
        "each {a}: args.{f} {n|bound} {...}",
    )
    .with_message(ARGUMENT),
    pattern_row(
        "every refund must have amount <= 100",
        "each|every|all a:D has|have|with|must|should|having+ have|an|a* f:D t[ SIGN|TEST ... ]",
        "each {a}: args.{f} {t}",
    )
    .with_message(ARGUMENT),
    pattern_row(
        "refund amount must be less than 500",
        "the? !total|overall|whole a:TOOL f:TOOL must|should|is|be|stay+ n:BOUND @modifiers ...",
        "each {a}: args.{f} {n|bound} {...}",
    )
    .with_message(ARGUMENT)
    .as_guess(),
    pattern_row(
        "refund amount must never exceed 500",
        "the? !total|overall|whole a:TOOL f:TOOL must? never|not exceed n:N @modifiers ...",
        "each {a}: args.{f} <= {n|amount} {...}",
    )
    .with_message(ARGUMENT)
    .as_guess(),
    pattern_row("each refund amount <= 100", "each|some|no a:D f:D t[ SIGN ... ]", "each {a}: args.{f} {t}")
        .with_message("a `:` is missing between the step and its condition")
        .as_guess(),
    pattern_row(
        "each refund as r: r.amount <= 100",
        "each a:S as v:W : v:W . f:W t[ SIGN ... ]",
        "each {a}: args.{f} {t}",
    )
    .as_guess(),
    pattern_row("each r in refund: r.amount <= 100", "each W in a:D : W . f:W t[ SIGN ... ]", "each {a}: args.{f} {t}")
        .as_guess(),
    pattern_row(
        "for each refund: args.amount <= 100",
        "for|forall|foreach each|every|all|any? a:C < :|, > !W.in &X ...",
        "each {a|step}: {...}",
    ),
    pattern_row("every refund: args.amount <= 100", "every|forall|foreach a:C < :|, > &X ...", "each {a|step}: {...}"),
    pattern_row(
        "all calls ok",
        "all calls|tools|steps must|should|are|be|have* ok|succeed|succeeded|successful @end",
        "never any failed",
    )
    .as_guess(),
    pattern_row("no errors", "never|no tool? failed|error|errors|fail|failing|failures @end", "never any failed"),
    pattern_row("never refund where amount > 5 twice", "never a:S where c:.. twice @end", "count ({a} where {c}) < 2")
        .as_guess(),
    pattern_row(
        "never tool == \"refund\"",
        "w:never|require|count|first|last|each tool|name|tool_name ==|= t:T ...",
        "{w} {t|bare} {...}",
    ),
    pattern_row(
        "never refund{amount > 5}",
        "w:never|require|count|before|after|each a:D '{'|'[' @touching c:IN '}'|']' ...",
        "{w} {a}({c}) {...}",
    ),
    pattern_row(
        "never refund if amount > 5",
        "w:never|require a:D < if|with|having|whose > c[ f:TOOL SIGN VALUE ] @modifiers ...",
        "{w} {a}({c}) {...}",
    )
    .with_message("conditions on the arguments of a call stand in parentheses"),
];

/// `50k` of what is counted.
pub(super) fn token_amount(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    const COUNTS: &[&str] =
        &["usage", "tokens", "total_tokens", "input_tokens", "output_tokens", "count", "word_count", "length", "turns"];
    if (0..view.len()).any(|at| view.is_any(at, COUNTS)) { thousands_amount(view) } else { None }
}

/// `50k`, `1M` as plain numbers rather than sizes.
pub(super) fn thousands_amount(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    let at = (0..view.len())
        .find(|&at| view.is_number(at) && ungroup_digits(view.token_text(at), view.token_text(at + 1)).is_some())?;
    let apart = view.is_any(at + 1, &["k", "K", "M"]) && view.touches_previous(at + 1);
    Some((
        view.token_range(at, at + 1 + usize::from(apart)),
        ungroup_digits(view.token_text(at), view.token_text(at + 1))?,
    ))
}

fn ungroup_digits(number: &str, next: &str) -> Option<String> {
    let digits = number.trim_end_matches(['k', 'K', 'M']);
    let letter = if digits.len() < number.len() { number.get(digits.len()..)? } else { next };
    let zeros = match letter {
        "k" | "K" => "000",
        "M" => "000000",
        _ => return None,
    };
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| format!("{digits}{zeros}"))
}

/// `50'000`: the apostrophe opens a text.
fn apostrophe_amount(view: &StatementView<'_, '_>) -> Option<(Range<usize>, String)> {
    let at = (1..view.len())
        .find(|&at| view.is_number(at - 1) && view.touches_previous(at) && view.token_text(at).starts_with('\''))?;
    let digits: String = view.token_text(at).chars().skip(1).take_while(char::is_ascii_digit).collect();
    let range = view.token_range(at - 1, at);
    (digits.len() == 3).then(|| (range.start..range.end + 4, format!("{}{digits}", view.token_text(at - 1))))
}
