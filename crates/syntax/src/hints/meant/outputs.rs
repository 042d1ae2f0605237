//! What is said of the answer and of values: `the output must not contain "sorry"`, `output is shorter than 500 words`.

use super::row::{Meaning, say};

const VALUE: &str = "a condition is a value, a test and another value: `output contains \"refunded\"`";

pub(super) const TABLE: &[Meaning] = &[
    say("the final answer contains \"x\"", "the? < final|model|agent > &ANSWER ...", "{...}").says(VALUE),
    say("the answer contains \"x\"", "the|its|an|every|each|this|your < ANSWER > &MUST|never|always|HOLD|is|does|not|may ...", "output {...}").says(VALUE),
    say("answer must contain \"x\"", "answer|reply|response|summary|final_answer|final_output|final_response &MUST|never|HOLD|always|is|does|not ...", "output {...}").says(VALUE),
    say("the cost must be below $1", "the|its|total|overall+ &ROOT|total_tokens ...", "{...}").says(VALUE),
    say("total cost of the run must be below $1", "c:ROOT of the run|conversation|agent ...", "{c} {...}").says(VALUE),
    say("the run takes less than 30 seconds", "the? run|conversation|agent|it|everything|whole takes|take|lasts|last|finishes|completes|must|should|in|within+ n:BOUND ...", "duration {n|bound} {...}").says(VALUE),
    say("output must always be json", "p:O must|should|will always &BE|HOLD ...", "{p} must {...}"),
    say("output must be non-empty", "p:O must|should|is|be+ a|an? non|nonempty -? empty|blank? @modifiers ...", "{p} is not empty {...}"),
    say("output is not empty string", "p:O is|never|not|be+ an|a? empty string|list|text|object @modifiers ...", "{p} is not empty {...}").guess(),
    say("output length < 500", "p:O length|size s[ SIGN N ] ...", "length({p}) {s} {...}").says("what is in it is counted with `length`"),
    say("length of output < 500", "ARTICLE? length|size of ARTICLE? p:O &SIGN|is|must|at|below|under|less|more|should ...", "length({p}) {...}").says("what is in it is counted with `length`"),
    say("output contains either \"a\" or \"b\"", "p:O contains|contain|has|includes either|any|one of? v:VALUES @modifiers ...", "{p} contains any {v|list} {...}"),
    say("output contains both \"a\" and \"b\"", "p:O contains|contain|has|includes both|all of? v:VALUES @modifiers ...", "{p} contains all {v|list} {...}"),
    say("output.text starts \"x\"", "p:O < w:starts|ends|begins|start|end > v:VALUE ...", "{p} {w|held} with {v} {...}"),
    say("output.text regex \"x\"", "p:O < regex|regexp|rlike|re|similar to? > t:T ...", "{p} matches {t|pattern} {...}"),
    say("always output.ok", "always|must|should+ &O &ROOT ...", "{...}").says(VALUE),
    say("output.status must be one of \"a\", \"b\"", "p:O must|should|is|be+ one|any? of|in v:VALUES ...", "{p} in {v|list} {...}").says(VALUE),
    // Kinds and emptiness.
    say("the output is valid json", "p:O must|should|is|be|a+ valid|proper|well|formed* json|JSON @modifiers ...", "{p} is json {...}").says(VALUE),
    say("output must not be empty", "p:O never|not be? empty|blank @modifiers ...", "{p} is not empty {...}").says(VALUE),
    say("output must be empty", "p:O must|should be v:empty|missing @modifiers ...", "{p} is {v} {...}").says(VALUE),
    say("output.a must exist", "p:O must|should exist|exists|be? set|present|given? @modifiers ...", "{p} exists {...}").says(VALUE),
    // How long, how many.
    say("output is shorter than 500 words", "p:O must|should|is|be|has|have|contains|contain|with* n:BOUND word|words long|in? @modifiers ...", "word_count({p}) {n|bound} {...}").says("words are counted with `word_count`"),
    say("output has at least 3 items", "p:O must|should|is|be|has|have|contains|contain|with* n:BOUND LENGTH long|in? @modifiers ...", "length({p}) {n|bound} {...}").says("what is in it is counted with `length`"),
    say("output has 3 items", "p:O must|should|has|have|contains|contain+ n:N LENGTH @modifiers ...", "length({p}) == {n} {...}").says("what is in it is counted with `length`"),
    // Comparisons.
    say("output.total must not exceed 500", "p:O never|not|cannot exceed|exceeds|surpass n:N ...", "{p} <= {n} {...}").says(VALUE),
    say("output.total must exceed 500", "p:O must|should exceed n:N ...", "{p} > {n} {...}").says(VALUE),
    say("output.total must be at least 5", "p:O must|should|is|be|stays|stay|remain+ n:BOUND ...", "{p} {n|bound} {...}").says(VALUE),
    say("duration under 30s", "p:O n:BOUND ...", "{p} {n|bound} {...}").says(VALUE),
    say("output.status must be \"ok\"", "p:O must|should|shall|always+ be|equal|equals v:VALUE ...", "{p} == {v} {...}").says(VALUE),
    say("output.status must not be \"ok\"", "p:O never|not be|equal|equals v:VALUE ...", "{p} != {v} {...}").says(VALUE),
    say("output.total must be between 1 and 5", "p:O must|should|is|be+ between n:N and|to m:N ...", "{p} in {n}..{m} {...}").says(VALUE),
    say("output.total not between 1 and 5", "p:O not between n:N and|to m:N ...", "{p} not in {n}..{m} {...}").says(VALUE),
    // Tests.
    say("output must contain \"x\"", "p:O < must|should|shall|always|does+ > v:HOLD ...", "{p} {v|held} {...}").says(VALUE),
    say("output never contain \"x\"", "p:O < never|not > v:HOLD ...", "{p} not {v|held} {...}").says(VALUE),
    say("output contain \"x\"", "p:O < v:contain|include|includes|mention|have|containing|including|say|says > &VALUE ...", "{p} {v|held} {...}").says(VALUE),
    say("never mention \"x\" in the output", "never|no mention|say|write|include|contain v:T in|within the|its? ANSWER @end", "output not contains {v}").guess(),
    say("never say \"x\"", "never mention|say|write|include|contain v:T @end", "output not contains {v}").guess(),
    say("output.status eqauls \"ok\"", "p:O < equal|eqauls|equls|eqals|equales|eqaul|=== > v:VALUE @modifiers ...", "{p} == {v} {...}"),
    say("output.status toBe \"ok\"", "p:O < toBe|toEqual|equalTo|isEqualTo|shouldBe|eq|to_be|is_equal_to > v:VALUE @modifiers ...", "{p} == {v} {...}"),
    say("output.text toContain \"ok\"", "p:O < toContain|to_contain|should_contain|toInclude > v:VALUE @modifiers ...", "{p} contains {v} {...}"),
    say("output.text toMatch /ok/", "p:O < toMatch|to_match > v:R @modifiers ...", "{p} matches {v} {...}"),
];
