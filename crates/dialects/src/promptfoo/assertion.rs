//! Lowers one assertion to an expression, with its weight and score.

use super::asserted::{AssertionSubject, KindContext, PromptfooAssertion};
use super::files::{self, FileValue};
use super::markup_kinds::MARKUP_KINDS;
use super::modes::LoweringMode;
use super::recorded::{recorded_or_undecided, recorded_pass, recorded_score};
use super::score_kinds::SCORE_KINDS;
use super::template::TemplateVars;
use super::text_kinds::{LowerKind, TEXT_KINDS};
use super::trace_kinds::TRACE_KINDS;
use super::trajectory_kinds::TRAJECTORY_KINDS;
use super::values::{number_of, text_node};
use crate::writer::{member_path, to_label};
use crate::yaml::{YamlNode, YamlValue};
use averment_base::diagnostic::Slug;
use averment_base::source::Span;

const KEYS: &[&str] = &[
    "type",
    "value",
    "threshold",
    "weight",
    "metric",
    "transform",
    "contextTransform",
    "provider",
    "rubricPrompt",
    "config",
    "description",
];

/// Types that need a model, a program or a formula that Averment does not have. For these, the recorded verdict counts.
const JUDGED: &[&str] = &[
    "agent-rubric",
    "answer-relevance",
    "classifier",
    "context-faithfulness",
    "context-recall",
    "context-relevance",
    "conversation-relevance",
    "factuality",
    "g-eval",
    "human",
    "is-refusal",
    "is-valid-function-call",
    "is-valid-openai-function-call",
    "is-valid-openai-tools-call",
    "javascript",
    "llm-rubric",
    "max-score",
    "meteor",
    "model-graded-closedqa",
    "model-graded-factuality",
    "moderation",
    "pi",
    "python",
    "ruby",
    "search-rubric",
    "select-best",
    "similar",
    "similar:cosine",
    "similar:dot",
    "similar:euclidean",
    "tool-call-f1",
    "trajectory:goal-success",
    "webhook",
];

/// Returns what judges an assertion whose type is not computed here.
fn judge_name(kind: &str) -> &'static str {
    match kind {
        "is-refusal" => "a list of phrases that promptfoo keeps",
        "is-valid-function-call" | "is-valid-openai-function-call" | "is-valid-openai-tools-call" => {
            "the functions that the provider declares"
        }
        "meteor" => "a dictionary of synonyms",
        "similar" | "similar:cosine" | "similar:dot" | "similar:euclidean" => "a model of embeddings",
        "javascript" | "python" | "ruby" | "webhook" => "a program",
        "tool-call-f1" => "the calls that an answer holds in the form of its provider",
        "human" => "a person",
        "max-score" => "all results together",
        _ => "a model",
    }
}

/// Types that fail in promptfoo, without ending the test, if the data they test was not recorded.
const FAILS_ALONE: &[&str] = &["finish-reason", "skill-used"];

/// An assertion after lowering.
pub(super) struct LoweredAssertion {
    pub(super) place: Span,
    /// The type, for messages.
    pub(super) kind: String,
    /// Condition under which it passes.
    pub(super) truth: String,
    /// Expression of its score, if that can differ from 1 and 0.
    pub(super) score: Option<String>,
    /// True if its verdict is the recorded one, at least for some answers.
    pub(super) is_recorded: bool,
    /// True if its verdict is computed, at least for some answers.
    pub(super) is_computed: bool,
    /// Condition under which it can be judged at all; `None` if there is none or it is unknown.
    pub(super) guard: Option<String>,
    /// True if promptfoo ends the whole test when it cannot judge the assertion.
    pub(super) may_end_test: bool,
    pub(super) weight: f64,
    /// The label of its metric.
    pub(super) metric: Option<String>,
    /// Expression of its recorded verdict.
    pub(super) recorded: String,
}

/// Lowers an assertion; returns `None` if it is unusable, which was reported.
pub(super) fn lower_assertion(
    node: &YamlNode,
    vars: &TemplateVars,
    context: &mut KindContext<'_, '_>,
) -> Option<LoweredAssertion> {
    if context.mode == LoweringMode::Config && !context.lowering.sink.check_keys(node, "an assertion", KEYS) {
        return None;
    }
    let written = context.lowering.sink.required_text(node, "type", "an assertion")?.to_owned();
    let (negated, kind) = written.strip_prefix("not-").map_or((false, written.as_str()), |kind| (true, kind));
    let weight = read_weight(node, context)?;
    let metric = read_metric(node, vars, context);
    let recorded = recorded_pass(node);
    let lowered = |truth: String, score: Option<String>, is_recorded: bool| LoweredAssertion {
        place: node.span,
        kind: written.clone(),
        truth,
        score,
        is_recorded,
        is_computed: !is_recorded,
        guard: None,
        may_end_test: !is_recorded && !FAILS_ALONE.contains(&kind),
        weight,
        metric: metric.clone(),
        recorded: recorded.clone(),
    };
    let judged = |why: &str| {
        let score = format!("coalesce({}, 0)", recorded_score(node));
        lowered(recorded_or_undecided(&recorded, why), Some(score), true)
    };
    if JUDGED.contains(&kind) || kind.starts_with("promptfoo:redteam:") || kind.starts_with("select-") {
        return Some(judged(&format!("`{kind}` needs {}", judge_name(kind))));
    }
    let Some((_, lower)) = all_kinds().find(|(name, _)| *name == kind) else {
        let said = report_unknown(node, kind, context)?;
        return Some(lowered(said, None, false));
    };
    let value = match read_value(node, vars, context)? {
        ReadValue::Value(value) => value,
        ReadValue::Code => return Some(judged("the value needs a program")),
        ReadValue::Unusable(said) => return Some(lowered(said, None, false)),
    };
    let Some(subject) = read_subject(node) else { return Some(judged("the transform needs a program")) };
    let one = PromptfooAssertion { node, kind, negated, value, subject };
    let truth = lower(&one, context)?;
    let score = context.score.take();
    let truth = match &one.subject.guard {
        // An assertion with its own score keeps that score if it fails.
        Some(guard) if score.is_some() => format!("(if {guard} then {truth} else false)"),
        Some(guard) => format!("{guard} and ({truth})"),
        None => truth,
    };
    // An expression that refers to recorded results is not computed here.
    let is_recorded = truth.contains("meta.gradingResult");
    Some(LoweredAssertion { guard: one.subject.guard, is_computed: true, ..lowered(truth, score, is_recorded) })
}

fn all_kinds() -> impl Iterator<Item = &'static (&'static str, LowerKind)> {
    TEXT_KINDS.iter().chain(SCORE_KINDS).chain(MARKUP_KINDS).chain(TRACE_KINDS).chain(TRAJECTORY_KINDS)
}

/// True if there is an assertion type with this name.
pub(super) fn is_type(name: &str) -> bool {
    JUDGED.contains(&name) || all_kinds().any(|(known, _)| *known == name)
}

fn report_unknown(node: &YamlNode, kind: &str, context: &mut KindContext<'_, '_>) -> Option<String> {
    let place = node.get("type").map_or(node.span, |place| place.span);
    if context.mode == LoweringMode::Config {
        let known: Vec<&str> = all_kinds().map(|(name, _)| *name).chain(JUDGED.iter().copied()).collect();
        let named = text_node(kind, place);
        let near = averment_base::diagnostic::suggest::suggest_name(kind, known.iter().copied());
        let help = near.map_or_else(
            || "the types are listed in docs/reference/promptfoo.md".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        let message = format!("there is no type of assertion `{}`", named.key_text());
        context.lowering.sink.error(Slug::UnknownType, place, message, help);
        return None;
    }
    context.unusable(place, Slug::UnknownType, format!("there is no type of assertion `{kind}`"), "fix the type")
}

fn read_weight(node: &YamlNode, context: &mut KindContext<'_, '_>) -> Option<f64> {
    let Some(weight) = node.get("weight").filter(|weight| !weight.is_null()) else { return Some(1.0) };
    match number_of(weight) {
        Some(number) if number >= 0.0 => Some(number),
        Some(_) => {
            let help = "write 0 for what counts for nothing";
            context.lowering.sink.error(Slug::TypeMismatch, weight.span, "a weight is below zero", help);
            None
        }
        None => {
            context.lowering.sink.wrong_shape(weight, "`weight`", "a number");
            None
        }
    }
}

/// Returns the metric label of an assertion or of a set.
pub(super) fn read_metric(node: &YamlNode, vars: &TemplateVars, context: &mut KindContext<'_, '_>) -> Option<String> {
    let metric = node.get("metric").filter(|metric| !metric.is_null())?;
    let name = context.lowering.sink.as_text(metric, "`metric`").filter(|name| !name.is_empty())?;
    // promptfoo keeps a name whose template cannot be filled in.
    Some(to_label(&vars.render(name).unwrap_or_else(|_| name.to_owned())))
}

enum ReadValue {
    Value(Option<YamlNode>),
    Code,
    Unusable(String),
}

/// Returns the value with templates filled in and files read.
fn read_value(node: &YamlNode, vars: &TemplateVars, context: &mut KindContext<'_, '_>) -> Option<ReadValue> {
    let Some(value) = node.get("value") else { return Some(ReadValue::Value(None)) };
    let mut fill = |one: &YamlNode| -> Result<Option<YamlNode>, Option<String>> {
        let Some(text) = one.as_text() else { return Ok(Some(one.clone())) };
        if text.starts_with("file://") {
            return match files::read_value(text, one.span, context) {
                Ok(FileValue::Value(value)) => Ok(Some(value)),
                Ok(FileValue::Code) => Ok(None),
                Err(said) => Err(said),
            };
        }
        match vars.render(text) {
            Ok(text) => Ok(Some(text_node(text, one.span))),
            Err(why) => {
                let message = format!("the template cannot be filled: {why}");
                Err(context.unusable(one.span, Slug::Syntax, message, "fix the template"))
            }
        }
    };
    let filled = match &value.value {
        YamlValue::Text(text) if text.starts_with("package:") => Ok(None),
        YamlValue::Text(_) => fill(value),
        YamlValue::List(items) => items
            .iter()
            .map(&mut fill)
            .collect::<Result<Option<Vec<_>>, _>>()
            .map(|items| items.map(|items| YamlNode { value: YamlValue::List(items), span: value.span })),
        _ => Ok(Some(value.clone())),
    };
    match filled {
        Ok(Some(value)) => Some(ReadValue::Value(Some(value))),
        Ok(None) => Some(ReadValue::Code),
        Err(said) => said.map(ReadValue::Unusable),
    }
}

/// Returns the text that an assertion tests; `None` if its transform is a program.
fn read_subject(node: &YamlNode) -> Option<AssertionSubject> {
    let plain = AssertionSubject { text: "answer".to_owned(), guard: None };
    let Some(transform) = node.get("transform").filter(|transform| !transform.is_null()) else { return Some(plain) };
    let transform = transform.as_text()?.trim().trim_end_matches(';').trim();
    let (mut text, rest) = match transform.strip_prefix("JSON.parse(output)") {
        Some(rest) => (format!("json(output){}", member_steps(path_part(rest)?)?), rest_part(rest)),
        None => {
            let rest = transform.strip_prefix("output")?;
            (format!("output{}", member_steps(path_part(rest)?)?), rest_part(rest))
        }
    };
    let is_parsed = transform.starts_with("JSON.parse");
    let has_path = path_part(transform.strip_prefix("JSON.parse(output)").or(transform.strip_prefix("output"))?)
        .is_some_and(|path| !path.is_empty());
    let mut guards = Vec::new();
    if is_parsed {
        guards.push("output is string".to_owned());
        guards.push(format!("{text} exists"));
    } else if has_path {
        guards.push("output is not string".to_owned());
        guards.push(format!("{text} exists"));
    }
    let mut functions = rest;
    while !functions.is_empty() {
        let known = [(".trim()", "trim"), (".toLowerCase()", "lower"), (".toUpperCase()", "upper")];
        let (name, after) = known.iter().find_map(|(written, name)| Some((*name, functions.strip_prefix(written)?)))?;
        // Only texts have these methods.
        guards.push(format!("{text} is string"));
        text = format!("{name}({text})");
        functions = after;
    }
    let guard = (!guards.is_empty()).then(|| guards.join(" and "));
    Some(AssertionSubject { text: format!("text({text})"), guard })
}

/// Returns the byte at which the first method call after a path begins.
fn function_start(rest: &str) -> usize {
    [".trim()", ".toLowerCase()", ".toUpperCase()"]
        .iter()
        .filter_map(|name| rest.find(name))
        .min()
        .unwrap_or(rest.len())
}

fn path_part(rest: &str) -> Option<&str> {
    rest.get(..function_start(rest))
}

fn rest_part(rest: &str) -> &str {
    rest.get(function_start(rest)..).unwrap_or("")
}

/// Reads member accesses such as `.a[0]["b c"]`; returns `None` for anything else.
fn member_steps(path: &str) -> Option<String> {
    let mut steps = String::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(behind) = rest.strip_prefix('.') {
            let end = behind.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(behind.len());
            let (name, after) = behind.split_at_checked(end)?;
            if !crate::writer::is_identifier(name) || name == "length" || after.starts_with('(') {
                return None;
            }
            steps.push_str(&member_path(name));
            rest = after;
            continue;
        }
        let (inside, after) = rest.strip_prefix('[')?.split_once(']')?;
        match inside.trim() {
            digits if !digits.is_empty() && digits.len() < 10 && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                steps.push_str(&format!("[{digits}]"));
            }
            quoted => {
                let quote = quoted.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
                let name = quoted.strip_prefix(quote)?.strip_suffix(quote)?;
                if name.contains(['\\', '"', '\'']) {
                    return None;
                }
                steps.push_str(&member_path(name));
            }
        }
        rest = after;
    }
    Some(steps)
}

#[cfg(test)]
mod tests {
    use super::member_steps;

    #[test]
    fn only_paths_are_paths() {
        for (path, steps) in [
            ("", Some("")),
            (".a.b[0]['c d']", Some(".a.b[0][\"c d\"]")),
            (".a()", None),
            (".length", None),
            ("[x]", None),
            (" + 1", None),
            ("[0", None),
        ] {
            assert_eq!(member_steps(path).as_deref(), steps, "{path}");
        }
    }
}
