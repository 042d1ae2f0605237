//! Evaluators of the output and of the run as a whole.

use crate::Lowering;
use crate::writer::{member_path, quote_text, value_literal};
use crate::yaml::{YamlNode, YamlValue};
use averment_base::diagnostic::Slug;
use averment_base::source::Span;

/// Data of the case that evaluators may use in addition to their arguments.
pub(super) struct CaseScope<'a> {
    pub(super) expected: Option<&'a YamlNode>,
}

/// An evaluator after reading.
pub(super) struct NamedEvaluator<'a> {
    pub(super) place: Span,
    pub(super) name: &'a str,
    /// Its arguments, by name.
    pub(super) args: Vec<(&'a str, &'a YamlNode)>,
    pub(super) scope: &'a CaseScope<'a>,
}

impl<'a> NamedEvaluator<'a> {
    /// Returns an argument by name. An explicit `null` is a value: `Equals(value: null)` compares with it.
    pub(super) fn argument(&self, name: &str) -> Option<&'a YamlNode> {
        self.args.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    /// Returns a required argument; reports an error if it is missing.
    pub(super) fn required(&self, name: &str, lowering: &mut Lowering<'_>) -> Option<&'a YamlNode> {
        let found = self.argument(name);
        if found.is_none() {
            let message = format!("`{}` has no `{name}`", self.name);
            lowering.sink.error(Slug::TypeMismatch, self.place, message, format!("write `{name}: …`"));
        }
        found
    }

    /// Returns a boolean argument, or its default.
    pub(super) fn flag(&self, name: &str, usual: bool, lowering: &mut Lowering<'_>) -> Option<bool> {
        let Some(value) = self.argument(name) else { return Some(usual) };
        if value.as_boolean().is_none() {
            lowering.sink.wrong_shape(value, &format!("`{name}` of `{}`", self.name), "`true` or `false`");
        }
        value.as_boolean()
    }
}

/// A built-in evaluator: its argument names in order, and the function that lowers it. The function returns `None` if nothing is tested or an error
/// was reported.
pub(super) struct EvaluatorKind {
    pub(super) name: &'static str,
    pub(super) args: &'static [&'static str],
    pub(super) lower: fn(&NamedEvaluator<'_>, &mut Lowering<'_>) -> Option<String>,
    /// True if it yields only a score, which neither passes nor fails.
    pub(super) is_score: bool,
}

pub(super) const OUTPUT_KINDS: &[EvaluatorKind] = &[
    EvaluatorKind { name: "Equals", args: &["value", "evaluation_name"], lower: equals, is_score: false },
    EvaluatorKind { name: "EqualsExpected", args: &["evaluation_name"], lower: equals_expected, is_score: false },
    EvaluatorKind {
        name: "Contains",
        args: &["value", "case_sensitive", "as_strings", "evaluation_name"],
        lower: contains,
        is_score: false,
    },
    EvaluatorKind { name: "IsInstance", args: &["type_name", "evaluation_name"], lower: is_instance, is_score: false },
    EvaluatorKind { name: "MaxDuration", args: &["seconds"], lower: max_duration, is_score: false },
    EvaluatorKind {
        name: "LLMJudge",
        args: &["rubric", "model", "include_input", "include_expected_output", "model_settings", "score", "assertion"],
        lower: |_, _| Some("undecided(\"`LLMJudge` asks a model\")".to_owned()),
        is_score: false,
    },
    EvaluatorKind {
        name: "GEval",
        args: &[
            "criteria",
            "evaluation_steps",
            "score_range",
            "include_input",
            "model",
            "model_settings",
            "evaluation_name",
        ],
        lower: |_, _| Some("undecided(\"`GEval` asks a model\")".to_owned()),
        is_score: true,
    },
    EvaluatorKind {
        name: "HasMatchingSpan",
        args: &["query", "evaluation_name"],
        lower: |_, _| Some("undecided(\"a run does not keep the tree of spans\")".to_owned()),
        is_score: false,
    },
];

fn equals(one: &NamedEvaluator<'_>, lowering: &mut Lowering<'_>) -> Option<String> {
    Some(equality(one.required("value", lowering)?))
}

fn equals_expected(one: &NamedEvaluator<'_>, _: &mut Lowering<'_>) -> Option<String> {
    Some(equality(one.scope.expected?))
}

fn equality(value: &YamlNode) -> String {
    format!("output == {}", value_literal(value))
}

fn contains(one: &NamedEvaluator<'_>, lowering: &mut Lowering<'_>) -> Option<String> {
    let value = one.required("value", lowering)?;
    let is_exact = one.flag("case_sensitive", true, lowering)?;
    let as_strings = one.flag("as_strings", false, lowering)?;
    let text = value.as_text();
    if text == Some("") {
        let message = "`Contains` without a value holds for every output";
        lowering.sink.warning(Slug::AlwaysTrue, value.span, message, "write what is looked for");
    }
    let inside = |subject: &str| match (text, is_exact) {
        (Some(text), true) => format!("{subject} contains {}", quote_text(text)),
        (Some(text), false) => format!("lower({subject}) contains {}", quote_text(&text.to_lowercase())),
        (None, true) => format!("{subject} contains python_text({})", value_literal(value)),
        (None, false) => format!("lower({subject}) contains lower(python_text({}))", value_literal(value)),
    };
    if as_strings {
        return Some(inside("python_text(output)"));
    }
    let literal = value_literal(value);
    let in_list = format!("(output is list and (any x in output: x == {literal}))");
    Some(match &value.value {
        YamlValue::Text(_) => format!(
            "(output is string and {}) or {in_list} or (output is object and (any k in keys(output): k == {literal}))",
            inside("output")
        ),
        YamlValue::Map(entries) => {
            let entry = |(key, value): &(YamlNode, YamlNode)| {
                format!(" and output{} == {}", member_path(&key.key_text()), value_literal(value))
            };
            format!("(output is object{}) or {in_list}", entries.iter().map(entry).collect::<String>())
        }
        _ => in_list,
    })
}

fn is_instance(one: &NamedEvaluator<'_>, lowering: &mut Lowering<'_>) -> Option<String> {
    let node = one.required("type_name", lowering)?;
    let name = lowering.sink.as_text(node, "`type_name`")?;
    let is_of = |kind: &str| format!("type_of(output) == \"{kind}\"");
    Some(match name {
        "str" => is_of("string"),
        "bool" => is_of("boolean"),
        "list" => is_of("list"),
        "dict" => is_of("object"),
        "NoneType" => is_of("null"),
        _ => format!("undecided({})", quote_text(&format!("`{name}` is a type of Python that JSON does not tell"))),
    })
}

fn max_duration(one: &NamedEvaluator<'_>, lowering: &mut Lowering<'_>) -> Option<String> {
    let node = one.required("seconds", lowering)?;
    let Some(seconds) = node.as_number().and_then(|number| number.parse::<f64>().ok()) else {
        lowering.sink.wrong_shape(node, "`seconds` of `MaxDuration`", "a number of seconds");
        return None;
    };
    // Rounds to microseconds, the resolution of Python's `timedelta`.
    let micros = (seconds * 1_000_000.0).round_ties_even();
    if micros < 0.0 {
        let message = "`seconds` of `MaxDuration` is below zero";
        lowering.sink.error(Slug::TypeMismatch, node.span, message, "write a number of seconds");
        return None;
    }
    Some(format!("duration <= {}ms", micros / 1000.0))
}
