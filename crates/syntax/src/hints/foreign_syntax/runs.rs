//! What is said of all runs: `at least 95% of runs: …`, `avg(turns) over all runs <= 20`.

use super::row::{RewriteRow, pattern_row};

const SHARE: &str = "a share of runs is written `in at least 95% of runs: …`";
const VALUE: &str = "what the values of all runs come to is written `avg(turns of runs)`";

pub(super) const TABLE: &[RewriteRow] = &[
    pattern_row(
        "all a in args.amount of refund: a <= 500",
        "q[ any|all|no W in ] v[ .. of C ] : ...",
        "{q} ({v}): {...}",
    )
    .overriding_fix(),
    pattern_row("in 95% of runs: never delete", "in <> n:N of ...", "in at least {n} of {...}")
        .with_message(SHARE)
        .as_guess(),
    pattern_row(
        "at least 95% of runs: never delete",
        "<> s[ at least|most N of N? ] ARTICLE|all* runs ...",
        "in {s} runs {...}",
    )
    .with_message(SHARE),
    pattern_row(
        "in at least 95% of all runs: never delete",
        "in s[ at least|most N of N? ] < ARTICLE|all|our+ > runs ...",
        "in {s} runs {...}",
    )
    .with_message(SHARE),
    pattern_row(
        "in at least 2 out of 3 runs by meta.task: never delete",
        "in s[ at least N ] < out > of ...",
        "in {s} of {...}",
    )
    .with_message(SHARE),
    pattern_row("in at least 95% runs: never delete", "in s[ at least|most N ] <> runs ...", "in {s} of runs {...}")
        .with_message(SHARE),
    pattern_row(
        "in more than 95% of runs: never delete",
        "in < more|over|above than? > n:N of ...",
        "in at least {n} of {...}",
    )
    .with_message(SHARE)
    .as_guess(),
    pattern_row(
        "in less than 5% of runs: require delete",
        "in < less|fewer|under|below than? > n:N of ...",
        "in at most {n} of {...}",
    )
    .with_message(SHARE)
    .as_guess(),
    pattern_row(
        "in at least 95% of runs, never delete",
        "h[ in at least|most N of N? runs ] < ,|->|=> > ...",
        "{h}: {...}",
    )
    .with_message(SHARE),
    pattern_row(
        "in at least 95% of runs never delete",
        "h[ in at least|most N of N? runs ] <> s[ STATEMENT ... ]",
        "{h}: {s}",
    )
    .with_message(SHARE),
    pattern_row(
        "in at least 95% of runs { never delete }",
        "h[ in at least|most N of N? runs ] < { > s[ .. ] } @end",
        "{h}: {s}",
    )
    .with_message(SHARE),
    pattern_row(
        "in at least 95% of runs: rule a by meta.model",
        "h[ in at least|most N of N? runs ] : r[ rule W ] < b[ by .. ] > @end",
        "{h} {b}: {r}",
    )
    .with_message(SHARE),
    pattern_row(
        "95% of runs never delete",
        "<> n:N of ARTICLE|all* runs s[ STATEMENT ... ]",
        "in at least {n} of runs: {s}",
    )
    .with_message(SHARE)
    .as_guess(),
    pattern_row("95% of runs: never delete", "<> n:N of ARTICLE|all* runs : ...", "in at least {n} of runs: {...}")
        .with_message(SHARE)
        .as_guess(),
    pattern_row(
        "never delete in at least 95% of runs",
        "s[ STATEMENT .. ] < h[ in at least|most N of N? runs ] > @end",
        "{h}: {s}",
    )
    .with_message(SHARE),
    pattern_row(
        "avg(turns) over all runs <= 20",
        "f:FOLD ( v:.. ) < of|over|across|in|for ARTICLE|all* runs > ...",
        "{f}({v} of runs) {...}",
    )
    .with_message(VALUE),
    pattern_row(
        "avg(turns of all runs) <= 20",
        "f:FOLD ( v[ ..( ] < of|over|across|in|for ARTICLE|all|every* runs|run > r[ )|, ... ]",
        "{f}({v} of runs{r}",
    )
    .with_message(VALUE),
];
