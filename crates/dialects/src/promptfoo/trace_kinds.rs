//! Assertion types about the spans of a trace. In promptfoo, no matching span is a pass; here it is vacuous.

use super::asserted::{KindContext, PromptfooAssertion};
use super::text_kinds::{LowerKind, glob_regex};
use super::values::script_number;
use crate::yaml::{YamlNode, YamlValue};
use averment_base::diagnostic::Slug;

pub(super) const TRACE_KINDS: &[(&str, LowerKind)] =
    &[("trace-span-count", span_count), ("trace-span-duration", span_duration), ("trace-error-spans", error_spans)];

/// Writes a test that is undecided without a trace.
fn with_trace(test: &str) -> String {
    format!("if meta.spans exists then {test} else undecided(\"the result has no trace\")")
}

fn named_spans(glob: &str) -> String {
    match glob {
        "*" => "meta.spans".to_owned(),
        glob => format!("(meta.spans where name matches {})", glob_regex(glob)),
    }
}

/// Returns the spans that have a start and an end time.
fn ended_spans(glob: &str) -> String {
    let name = if glob == "*" { String::new() } else { format!("name matches {} and ", glob_regex(glob)) };
    format!("(meta.spans where {name}startTime exists and endTime exists)")
}

fn number<'a>(value: &'a YamlNode, key: &str) -> Option<&'a str> {
    value.get(key).and_then(YamlNode::as_number)
}

fn pattern(value: Option<&YamlNode>) -> Option<&str> {
    value?.get("pattern")?.as_text().filter(|glob| !glob.is_empty())
}

fn refuse_negation(one: &PromptfooAssertion<'_>, context: &mut KindContext<'_, '_>) -> Option<String> {
    // promptfoo ignores `not-` here, which its author certainly did not intend, so it is an error.
    let message = format!("promptfoo ignores `not-` in front of `{}`", one.kind);
    context.unusable(one.key_span("type"), Slug::TypeMismatch, message, "write the bounds that are meant")
}

fn span_count(one: &PromptfooAssertion<'_>, context: &mut KindContext<'_, '_>) -> Option<String> {
    if one.negated {
        return refuse_negation(one, context);
    }
    let Some((value, glob)) = one.value.as_ref().zip(pattern(one.value.as_ref())) else {
        return context.wrong_value(one, "`{pattern: \"db.*\", max: 3}`");
    };
    let spans = named_spans(glob);
    let mut tests = Vec::new();
    if let Some(least) = number(value, "min") {
        tests.push(format!("length({spans}) >= {}", script_number(least)));
    }
    if let Some(most) = number(value, "max") {
        tests.push(format!("sum(1 of {spans}) <= {}", script_number(most)));
    }
    if tests.is_empty() {
        tests.push(format!("sum(1 of {spans}) >= 0"));
    }
    Some(with_trace(&format!("({})", tests.join(" and "))))
}

fn span_duration(one: &PromptfooAssertion<'_>, context: &mut KindContext<'_, '_>) -> Option<String> {
    if one.negated {
        return refuse_negation(one, context);
    }
    let Some((value, most)) = one.value.as_ref().and_then(|value| Some((value, number(value, "max")?))) else {
        return context.wrong_value(one, "`{pattern: \"db.*\", max: 500}`");
    };
    let ended = ended_spans(pattern(Some(value)).unwrap_or("*"));
    let times = format!("(endTime - startTime of {ended})");
    let most = script_number(most);
    let test = match number(value, "percentile") {
        None => format!("(all d in {times}: d <= {most})"),
        Some(share) => {
            let share = script_number(share);
            format!("(count d in {times}: d <= {most}) >= ceil({share} / 100 * sum(1 of {ended}))")
        }
    };
    Some(with_trace(&test))
}

fn error_spans(one: &PromptfooAssertion<'_>, context: &mut KindContext<'_, '_>) -> Option<String> {
    if one.negated {
        return refuse_negation(one, context);
    }
    let value = one.value.as_ref();
    let (mut count, mut share) = match value.map(|value| &value.value) {
        Some(YamlValue::Number(number)) => (Some(script_number(number)), None),
        Some(YamlValue::Map(_)) => {
            let of = |key: &str| value.and_then(|value| number(value, key)).map(script_number);
            (of("max_count"), of("max_percentage"))
        }
        _ => (None, None),
    };
    if count.is_none() && share.is_none() {
        count = Some("0".to_owned());
    }
    context.declared.asks_error_spans = true;
    let spans = named_spans(pattern(value).unwrap_or("*"));
    let errors = format!("(count s in {spans}: is_error_span(s))");
    let all = format!("sum(1 of {spans})");
    let mut tests = Vec::new();
    tests.extend(count.take().map(|most| format!("{errors} - {most} <= 0 * {all}")));
    tests.extend(share.take().map(|most| format!("{errors} * 100 <= {most} * {all}")));
    Some(with_trace(&format!("({})", tests.join(" and "))))
}

/// Defines promptfoo's notion of a failed span.
pub(super) const ERROR_SPAN: &str = "def is_error_span(s) = coalesce(s.statusCode, 0) == 2 or coalesce(s.statusCode, 0) >= 400 \
or (any key in [\"error\", \"exception\", \"failed\", \"failure\"]: coalesce(s.attributes, {})[key] in [true, \"true\"] or coalesce(s.attributes, {})[key] is object) \
or coalesce(coalesce(s.attributes, {})[\"http.status_code\"], 0) >= 400 \
or coalesce(coalesce(s.attributes, {})[\"otel.status_code\"], \"\") == \"ERROR\" or coalesce(coalesce(s.attributes, {})[\"status.code\"], \"\") == \"ERROR\" \
or coalesce(s.statusMessage, \"\") matches /error|failed|failure|exception|timeout|abort/i";
