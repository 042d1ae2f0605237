//! One evaluator: its name, its arguments, and the assertion that it becomes.

use super::kinds::{CaseScope, EvaluatorKind, NamedEvaluator, OUTPUT_KINDS};
use super::trajectory::CALL_KINDS;
use crate::Lowering;
use crate::writer::{CaseLine, to_label};
use crate::yaml::{YamlNode, YamlValue};
use averment_base::diagnostic::{Slug, suggest};
use averment_base::source::Span;

fn all_kinds() -> impl Iterator<Item = &'static EvaluatorKind> {
    OUTPUT_KINDS.iter().chain(CALL_KINDS)
}

/// Lowers an evaluator: a name, or a mapping from a name to its argument or arguments.
pub(super) fn lower_evaluator(spec: &YamlNode, scope: &CaseScope<'_>, lowering: &mut Lowering<'_>) -> Option<CaseLine> {
    const FORMS: &str = "a name, or a mapping such as `{Contains: {value: refund}}`";
    let (name, given, place) = match (&spec.value, spec.entries()) {
        (YamlValue::Text(name), _) => (name.as_str(), None, spec.span),
        (_, [(key, value)]) if key.as_text().is_some() => {
            (key.as_text()?, Some(value), key.span.cover_with(value.span))
        }
        _ => {
            lowering.sink.wrong_shape(spec, "an evaluator", FORMS);
            return None;
        }
    };
    let Some(kind) = all_kinds().find(|kind| kind.name == name) else {
        return other_class(name, place, lowering);
    };
    let args = read_arguments(kind, given, lowering)?;
    let one = NamedEvaluator { place, name: kind.name, args, scope };
    let text = (kind.lower)(&one, lowering)?;
    let mut modifiers = String::new();
    if let Some(label) = one.argument("evaluation_name").filter(|label| !label.is_null()) {
        let label = lowering.sink.as_text(label, "`evaluation_name`")?;
        modifiers.push_str(&format!(" as {}", to_label(label)));
    }
    if kind.is_score {
        modifiers.push_str(" weight 0 severity info");
    }
    Some(CaseLine::new(place, text + &modifiers))
}

/// Lowers a custom evaluator of the project.
fn other_class(name: &str, place: Span, lowering: &mut Lowering<'_>) -> Option<CaseLine> {
    if let Some(near) = suggest::suggest_name(name, all_kinds().map(|kind| kind.name)) {
        let message = format!("there is no evaluator `{name}`");
        lowering.sink.error(Slug::UnknownType, place, message, format!("did you mean `{near}`?"));
        return None;
    }
    let why = format!("`{name}` is a class in Python");
    Some(CaseLine::undecided(place, &why))
}

/// Reads the arguments. A mapping with text keys holds named arguments; any other value is the first argument.
fn read_arguments<'a>(
    kind: &EvaluatorKind,
    given: Option<&'a YamlNode>,
    lowering: &mut Lowering<'_>,
) -> Option<Vec<(&'a str, &'a YamlNode)>> {
    let Some(given) = given else { return Some(Vec::new()) };
    let by_name = given.is_map() && given.entries().iter().all(|(key, _)| key.as_text().is_some());
    if by_name {
        let what = format!("`{}`", kind.name);
        if !lowering.sink.check_keys(given, &what, kind.args) {
            return None;
        }
        return Some(given.entries().iter().filter_map(|(key, value)| Some((key.as_text()?, value))).collect());
    }
    match kind.args.first() {
        Some(first) => Some(vec![(first, given)]),
        None => Some(Vec::new()),
    }
}
