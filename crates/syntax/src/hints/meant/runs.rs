//! What is said of all runs: `at least 95% of runs: …`, `avg(turns) over all runs <= 20`.

use super::row::{Meaning, say};

const SHARE: &str = "a share of runs is written `in at least 95% of runs: …`";
const VALUE: &str = "what the values of all runs come to is written `avg(turns of runs)`";

pub(super) const TABLE: &[Meaning] = &[
    say("all a in args.amount of refund: a <= 500", "q[ any|all|no W in ] v[ .. of C ] : ...", "{q} ({v}): {...}")
        .over(),
    say("in 95% of runs: never delete", "in <> n:N of ...", "in at least {n} of {...}").says(SHARE).guess(),
    say(
        "at least 95% of runs: never delete",
        "<> s[ at least|most N of N? ] ARTICLE|all* runs ...",
        "in {s} runs {...}",
    )
    .says(SHARE),
    say(
        "in at least 95% of all runs: never delete",
        "in s[ at least|most N of N? ] < ARTICLE|all|our+ > runs ...",
        "in {s} runs {...}",
    )
    .says(SHARE),
    say(
        "in at least 2 out of 3 runs by meta.task: never delete",
        "in s[ at least N ] < out > of ...",
        "in {s} of {...}",
    )
    .says(SHARE),
    say("in at least 95% runs: never delete", "in s[ at least|most N ] <> runs ...", "in {s} of runs {...}")
        .says(SHARE),
    say(
        "in more than 95% of runs: never delete",
        "in < more|over|above than? > n:N of ...",
        "in at least {n} of {...}",
    )
    .says(SHARE)
    .guess(),
    say(
        "in less than 5% of runs: require delete",
        "in < less|fewer|under|below than? > n:N of ...",
        "in at most {n} of {...}",
    )
    .says(SHARE)
    .guess(),
    say("in at least 95% of runs, never delete", "h[ in at least|most N of N? runs ] < ,|->|=> > ...", "{h}: {...}")
        .says(SHARE),
    say("in at least 95% of runs never delete", "h[ in at least|most N of N? runs ] <> s[ STATEMENT ... ]", "{h}: {s}")
        .says(SHARE),
    say(
        "in at least 95% of runs { never delete }",
        "h[ in at least|most N of N? runs ] < { > s[ .. ] } @end",
        "{h}: {s}",
    )
    .says(SHARE),
    say(
        "in at least 95% of runs: rule a by meta.model",
        "h[ in at least|most N of N? runs ] : r[ rule W ] < b[ by .. ] > @end",
        "{h} {b}: {r}",
    )
    .says(SHARE),
    say("95% of runs never delete", "<> n:N of ARTICLE|all* runs s[ STATEMENT ... ]", "in at least {n} of runs: {s}")
        .says(SHARE)
        .guess(),
    say("95% of runs: never delete", "<> n:N of ARTICLE|all* runs : ...", "in at least {n} of runs: {...}")
        .says(SHARE)
        .guess(),
    say(
        "never delete in at least 95% of runs",
        "s[ STATEMENT .. ] < h[ in at least|most N of N? runs ] > @end",
        "{h}: {s}",
    )
    .says(SHARE),
    say(
        "avg(turns) over all runs <= 20",
        "f:FOLD ( v:.. ) < of|over|across|in|for ARTICLE|all* runs > ...",
        "{f}({v} of runs) {...}",
    )
    .says(VALUE),
    say(
        "avg(turns of all runs) <= 20",
        "f:FOLD ( v[ ..( ] < of|over|across|in|for ARTICLE|all|every* runs|run > r[ )|, ... ]",
        "{f}({v} of runs{r}",
    )
    .says(VALUE),
];
