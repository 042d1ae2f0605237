//! One assertion: its type, its weight, and whether the test fails without it.

use super::kinds::{GraderInput, GraderScore, LowerGrader, TEXT_KINDS, number_from};
use super::metrics::METRIC_KINDS;
use super::trajectory::TRAJECTORY_KINDS;
use crate::Lowering;
use crate::promptfoo::TemplateVars;
use crate::weighted::WeightedScore;
use crate::writer::to_label;
use crate::yaml::{YamlNode, YamlValue};
use averment_base::diagnostic::{Slug, suggest};
use averment_base::source::Span;

/// An assertion after reading.
pub(super) struct LoweredGrader {
    pub(super) place: Span,
    pub(super) score: GraderScore,
    pub(super) weight: f64,
    /// Minimum score of this assertion; below it, the whole test fails.
    pub(super) least: Option<RequiredScore>,
    pub(super) metric: Option<String>,
    /// The members of a set. They are shown, but only the score of the set counts.
    pub(super) members: Vec<LoweredGrader>,
    /// Minimum score at which a set passes.
    pub(super) set_threshold: Option<f64>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum RequiredScore {
    /// The threshold of the test applies.
    Threshold,
    Own(f64),
}

/// Assertion types that need a model, a script or a plugin.
const JUDGED: &[&str] = &[
    "agent-rubric",
    "code-grader",
    "composite",
    "field-accuracy",
    "inline-assert",
    "javascript",
    "llm-grader",
    "llm-rubric",
    "python",
    "rubrics",
    "script",
    "similar",
    "skill-trigger",
    "trajectory:goal-success",
    "webhook",
];

/// Assertion types of promptfoo that agentv rejects.
const REFUSED: &[&str] = &[
    "bleu",
    "contains-html",
    "contains-json",
    "contains-sql",
    "contains-xml",
    "factuality",
    "finish-reason",
    "gleu",
    "guardrails",
    "is-html",
    "is-refusal",
    "is-sql",
    "is-xml",
    "levenshtein",
    "meteor",
    "moderation",
    "perplexity",
    "rouge-n",
    "select-best",
    "tool-call-f1",
    "trace-error-spans",
    "trace-span-count",
    "trace-span-duration",
    "word-count",
];

/// All assertion types that rules can decide.
fn all_kinds() -> impl Iterator<Item = &'static (&'static str, LowerGrader)> {
    TEXT_KINDS.iter().chain(METRIC_KINDS).chain(TRAJECTORY_KINDS)
}

impl LoweredGrader {
    fn new(place: Span, score: GraderScore) -> Self {
        Self { place, score, weight: 1.0, least: None, metric: None, members: Vec::new(), set_threshold: None }
    }

    /// An assertion in plain words, which only a model can judge.
    pub(super) fn judged(place: Span, why: &str) -> Self {
        Self::new(place, GraderScore::Elsewhere(why.to_owned()))
    }

    /// Returns the weighted scores of the assertions that a run can decide, and the total weight of the others.
    pub(super) fn weighed(graders: &[Self]) -> (Vec<WeightedScore>, f64) {
        let mut elsewhere = 0.0;
        let mut known = Vec::new();
        for one in graders {
            match one.score.number() {
                Some(score) => known.push(WeightedScore::new(one.weight, score)),
                None => elsewhere += one.weight,
            }
        }
        (known, elsewhere)
    }
}

/// Reads an assertion; returns `None` if it is unusable, which was reported.
pub(super) fn read_grader(node: &YamlNode, vars: &TemplateVars, lowering: &mut Lowering<'_>) -> Option<LoweredGrader> {
    if matches!(node.value, YamlValue::Text(_)) {
        return Some(LoweredGrader::judged(node.span, "a criterion in words is judged by a model"));
    }
    if !node.is_map() {
        lowering.sink.wrong_shape(node, "an assertion", "a mapping with `type`, or a criterion in words");
        return None;
    }
    let written = lowering.sink.required_text(node, "type", "an assertion")?.to_owned();
    let weight = number_from(node, "weight", 0.0, f64::MAX, lowering)?.unwrap_or(1.0);
    let mut grader = match written.as_str() {
        "assert-set" => read_set(node, vars, lowering)?,
        _ => LoweredGrader::new(node.span, read_score(node, &written, vars, lowering)?),
    };
    let name = written.trim_start_matches("not-");
    match (node.get("negate").and_then(YamlNode::as_boolean), is_inverted(name)) {
        (Some(true), false) => grader.score = grader.score.negated(),
        (Some(true), true) if name == "skill-used" => {
            let message = "agentv negates `skill-used` twice where it has `negate: true`";
            lowering.sink.error(Slug::TypeMismatch, node.span, message, "write `type: not-skill-used`");
            return None;
        }
        _ => {}
    }
    grader.weight = weight;
    grader.least = read_required(node, lowering)?;
    let metric = node.get("metric").or_else(|| node.get("name")).filter(|metric| !metric.is_null());
    grader.metric = match metric {
        Some(metric) => Some(to_label(lowering.sink.as_text(metric, "`metric`")?)),
        None => None,
    };
    Some(grader)
}

/// Reads `required` and `min_score`. The outer `None` means that an error was reported.
fn read_required(node: &YamlNode, lowering: &mut Lowering<'_>) -> Option<Option<RequiredScore>> {
    let least = number_from(node, "min_score", 0.0, 1.0, lowering)?;
    match node.get("required").map(|required| (required, &required.value)) {
        None | Some((_, YamlValue::Null | YamlValue::Bool(false))) => Some(None),
        Some((_, YamlValue::Bool(true))) => Some(Some(least.map_or(RequiredScore::Threshold, RequiredScore::Own))),
        Some((required, YamlValue::Number(number))) => match number.parse::<f64>() {
            Ok(number) if (0.0..=1.0).contains(&number) => Some(Some(RequiredScore::Own(number))),
            _ => {
                lowering.sink.wrong_shape(required, "`required`", "`true`, or a score from 0 to 1");
                None
            }
        },
        Some((required, _)) => {
            lowering.sink.wrong_shape(required, "`required`", "`true`, or a score from 0 to 1");
            None
        }
    }
}

fn read_score(node: &YamlNode, written: &str, vars: &TemplateVars, lowering: &mut Lowering<'_>) -> Option<GraderScore> {
    let elsewhere = |why: String| Some(GraderScore::Elsewhere(why));
    let negates = node.get("negate").and_then(YamlNode::as_boolean) == Some(true);
    let (negated, kind) = match written.strip_prefix("not-").filter(|kind| is_inverted(kind)) {
        Some(kind) => (true, kind),
        None => (negates && is_inverted(written), written),
    };
    if JUDGED.contains(&kind) {
        return elsewhere(format!("`{kind}` is judged by a model, a script or a plugin"));
    }
    let place = node.get("type").map_or(node.span, |kind| kind.span);
    let Some((_, lower)) = all_kinds().find(|(name, _)| *name == kind) else {
        return other_type(kind, place, lowering);
    };
    if node.get("transform").is_some_and(|transform| !transform.is_null()) {
        return elsewhere("a transform is a program".to_owned());
    }
    let value = match node.get("value") {
        Some(value) => Some(fill_value(value, vars, lowering)?),
        None => None,
    };
    lower(&GraderInput { node, kind, negated, value }, lowering)
}

/// True if the type has a negated form, spelled with a leading `not-`.
fn is_inverted(kind: &str) -> bool {
    kind.starts_with("trajectory:") || kind == "skill-used"
}

fn other_type(kind: &str, place: Span, lowering: &mut Lowering<'_>) -> Option<GraderScore> {
    let plain = kind.replace('_', "-");
    let plain = plain.strip_prefix("not-").unwrap_or(&plain);
    if REFUSED.contains(&plain) {
        let message = format!("agentv has no type of assertion `{kind}`: it is one of promptfoo");
        lowering.sink.error(Slug::UnknownType, place, message, "use a type that agentv has, or a script");
        return None;
    }
    let known: Vec<&str> =
        all_kinds().map(|(name, _)| *name).chain(JUDGED.iter().copied()).chain(["assert-set"]).collect();
    let near = known
        .iter()
        .find(|name| **name == plain)
        .copied()
        .or_else(|| suggest::suggest_name(kind, known.iter().copied()));
    if let Some(near) = near {
        let message = format!("there is no type of assertion `{kind}`");
        let help = match kind.starts_with("not-") {
            true => format!("write `type: {near}` with `negate: true`"),
            false => format!("did you mean `{near}`?"),
        };
        lowering.sink.error(Slug::UnknownType, place, message, help);
        return None;
    }
    Some(GraderScore::Elsewhere(format!("`{kind}` is a plugin of the project")))
}

/// Fills in the templates of a value.
fn fill_value(value: &YamlNode, vars: &TemplateVars, lowering: &mut Lowering<'_>) -> Option<YamlNode> {
    match &value.value {
        YamlValue::Text(text) => match vars.render(text) {
            Ok(text) => Some(YamlNode { value: YamlValue::Text(text), span: value.span }),
            Err(why) => {
                let message = format!("the template cannot be filled: {why}");
                lowering.sink.error(Slug::Syntax, value.span, message, "fix the template");
                None
            }
        },
        YamlValue::List(items) => {
            let items = items.iter().map(|item| fill_value(item, vars, lowering)).collect::<Option<_>>()?;
            Some(YamlNode { value: YamlValue::List(items), span: value.span })
        }
        _ => Some(value.clone()),
    }
}

fn read_set(node: &YamlNode, vars: &TemplateVars, lowering: &mut Lowering<'_>) -> Option<LoweredGrader> {
    const KEYS: &[&str] =
        &["type", "assert", "threshold", "weight", "metric", "config", "required", "min_score", "negate"];
    if !lowering.sink.check_keys(node, "an assertion set", KEYS) {
        return None;
    }
    let items = lowering.sink.list_items(node, "assert", "an assertion set");
    if items.is_empty() {
        let help = "write assertions under `assert`, or remove the set";
        lowering.sink.error(Slug::TypeMismatch, node.span, "the assertion set has no assertions", help);
        return None;
    }
    let members: Vec<LoweredGrader> = items.iter().filter_map(|item| read_grader(item, vars, lowering)).collect();
    let (known, elsewhere) = LoweredGrader::weighed(&members);
    // The threshold decides whether the set itself passes. The test counts the mean score of the set.
    let score = match elsewhere > 0.0 {
        true => GraderScore::Elsewhere("a set holds what is judged by a model, a script or a plugin".to_owned()),
        false => GraderScore::Share(crate::weighted::mean_text(&known)),
    };
    let set_threshold = number_from(node, "threshold", 0.0, 1.0, lowering)?;
    Some(LoweredGrader { members, set_threshold, ..LoweredGrader::new(node.span, score) })
}
