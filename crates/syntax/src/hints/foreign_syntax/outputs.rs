//! What is said of the answer and of values: `the output must not contain "sorry"`, `output is shorter than 500 words`.

use super::row::{RewriteRow, pattern_row};

const VALUE: &str = "a condition is a value, a test and another value: `output contains \"refunded\"`";

pub(super) const TABLE: &[RewriteRow] = &[
    pattern_row("the final answer contains \"x\"", "the? < final|model|agent > &ANSWER ...", "{...}").with_message(VALUE),
    pattern_row("the answer contains \"x\"", "the|its|an|every|each|this|your < ANSWER > &MUST|never|always|HOLD|is|does|not|may ...", "output {...}").with_message(VALUE),
    pattern_row("answer must contain \"x\"", "answer|reply|response|summary|final_answer|final_output|final_response &MUST|never|HOLD|always|is|does|not ...", "output {...}").with_message(VALUE),
    pattern_row("the cost must be below $1", "the|its|total|overall+ &ROOT|total_tokens ...", "{...}").with_message(VALUE),
    pattern_row("total cost of the run must be below $1", "c:ROOT of the run|conversation|agent ...", "{c} {...}").with_message(VALUE),
    pattern_row("the run takes less than 30 seconds", "the? run|conversation|agent|it|everything|whole takes|take|lasts|last|finishes|completes|must|should|in|within+ n:BOUND ...", "duration {n|bound} {...}").with_message(VALUE),
    pattern_row("output must always be json", "p:O must|should|will always &BE|HOLD ...", "{p} must {...}"),
    pattern_row("output must be non-empty", "p:O must|should|is|be+ a|an? non|nonempty -? empty|blank? @modifiers ...", "{p} is not empty {...}"),
    pattern_row("output is not empty string", "p:O is|never|not|be+ an|a? empty string|list|text|object @modifiers ...", "{p} is not empty {...}").as_guess(),
    pattern_row("output length < 500", "p:O length|size s[ SIGN N ] ...", "length({p}) {s} {...}").with_message("what is in it is counted with `length`"),
    pattern_row("length of output < 500", "ARTICLE? length|size of ARTICLE? p:O &SIGN|is|must|at|below|under|less|more|should ...", "length({p}) {...}").with_message("what is in it is counted with `length`"),
    pattern_row("output contains either \"a\" or \"b\"", "p:O contains|contain|has|includes either|any|one of? v:VALUES @modifiers ...", "{p} contains any {v|list} {...}"),
    pattern_row("output contains both \"a\" and \"b\"", "p:O contains|contain|has|includes both|all of? v:VALUES @modifiers ...", "{p} contains all {v|list} {...}"),
    pattern_row("output.text starts \"x\"", "p:O < w:starts|ends|begins|start|end > v:VALUE ...", "{p} {w|held} with {v} {...}"),
    pattern_row("output.text regex \"x\"", "p:O < regex|regexp|rlike|re|similar to? > t:T ...", "{p} matches {t|pattern} {...}"),
    pattern_row("always output.ok", "always|must|should+ &O &ROOT ...", "{...}").with_message(VALUE),
    pattern_row("output.status must be one of \"a\", \"b\"", "p:O must|should|is|be+ one|any? of|in v:VALUES ...", "{p} in {v|list} {...}").with_message(VALUE),
    // Kinds and emptiness.
    pattern_row("the output is valid json", "p:O must|should|is|be|a+ valid|proper|well|formed* json|JSON @modifiers ...", "{p} is json {...}").with_message(VALUE),
    pattern_row("output must not be empty", "p:O never|not be? empty|blank @modifiers ...", "{p} is not empty {...}").with_message(VALUE),
    pattern_row("output must be empty", "p:O must|should be v:empty|missing @modifiers ...", "{p} is {v} {...}").with_message(VALUE),
    pattern_row("output.a must exist", "p:O must|should exist|exists|be? set|present|given? @modifiers ...", "{p} exists {...}").with_message(VALUE),
    // How long, how many.
    pattern_row("output is shorter than 500 words", "p:O must|should|is|be|has|have|contains|contain|with* n:BOUND word|words long|in? @modifiers ...", "word_count({p}) {n|bound} {...}").with_message("words are counted with `word_count`"),
    pattern_row("output has at least 3 items", "p:O must|should|is|be|has|have|contains|contain|with* n:BOUND LENGTH long|in? @modifiers ...", "length({p}) {n|bound} {...}").with_message("what is in it is counted with `length`"),
    pattern_row("output has 3 items", "p:O must|should|has|have|contains|contain+ n:N LENGTH @modifiers ...", "length({p}) == {n} {...}").with_message("what is in it is counted with `length`"),
    // Comparisons.
    pattern_row("output.total must not exceed 500", "p:O never|not|cannot exceed|exceeds|surpass n:N ...", "{p} <= {n} {...}").with_message(VALUE),
    pattern_row("output.total must exceed 500", "p:O must|should exceed n:N ...", "{p} > {n} {...}").with_message(VALUE),
    pattern_row("output.total must be at least 5", "p:O must|should|is|be|stays|stay|remain+ n:BOUND ...", "{p} {n|bound} {...}").with_message(VALUE),
    pattern_row("duration under 30s", "p:O n:BOUND ...", "{p} {n|bound} {...}").with_message(VALUE),
    pattern_row("output.status must be \"ok\"", "p:O must|should|shall|always+ be|equal|equals v:VALUE ...", "{p} == {v} {...}").with_message(VALUE),
    pattern_row("output.status must not be \"ok\"", "p:O never|not be|equal|equals v:VALUE ...", "{p} != {v} {...}").with_message(VALUE),
    pattern_row("output.total must be between 1 and 5", "p:O must|should|is|be+ between n:N and|to m:N ...", "{p} in {n}..{m} {...}").with_message(VALUE),
    pattern_row("output.total not between 1 and 5", "p:O not between n:N and|to m:N ...", "{p} not in {n}..{m} {...}").with_message(VALUE),
    // Tests.
    pattern_row("output must contain \"x\"", "p:O < must|should|shall|always|does+ > v:HOLD ...", "{p} {v|held} {...}").with_message(VALUE),
    pattern_row("output never contain \"x\"", "p:O < never|not > v:HOLD ...", "{p} not {v|held} {...}").with_message(VALUE),
    pattern_row("output contain \"x\"", "p:O < v:contain|include|includes|mention|have|containing|including|say|says > &VALUE ...", "{p} {v|held} {...}").with_message(VALUE),
    pattern_row("never mention \"x\" in the output", "never|no mention|say|write|include|contain v:T in|within the|its? ANSWER @end", "output not contains {v}").as_guess(),
    pattern_row("never say \"x\"", "never mention|say|write|include|contain v:T @end", "output not contains {v}").as_guess(),
    pattern_row("output.status eqauls \"ok\"", "p:O < equal|eqauls|equls|eqals|equales|eqaul|=== > v:VALUE @modifiers ...", "{p} == {v} {...}"),
    pattern_row("output.status toBe \"ok\"", "p:O < toBe|toEqual|equalTo|isEqualTo|shouldBe|eq|to_be|is_equal_to > v:VALUE @modifiers ...", "{p} == {v} {...}"),
    pattern_row("output.text toContain \"ok\"", "p:O < toContain|to_contain|should_contain|toInclude > v:VALUE @modifiers ...", "{p} contains {v} {...}"),
    pattern_row("output.text toMatch /ok/", "p:O < toMatch|to_match > v:R @modifiers ...", "{p} matches {v} {...}"),
];
