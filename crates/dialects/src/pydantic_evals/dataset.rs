//! Writes data sets as cases of the rule language.

use super::evaluators::lower_evaluator;
use super::kinds::CaseScope;
use crate::Lowering;
use crate::writer::{CaseLine, RuleWriter, UniqueLabels, WrittenCase};
use crate::yaml::YamlNode;
use averment_base::diagnostic::Slug;

const SET_KEYS: &[&str] = &["$schema", "name", "cases", "evaluators", "report_evaluators"];
const CASE_KEYS: &[&str] = &["name", "inputs", "metadata", "expected_output", "evaluators"];

/// Writes a case for each case of a data set.
pub(super) fn lower_dataset(document: &YamlNode, lowering: &mut Lowering<'_>) {
    if !lowering.sink.check_keys(document, "a data set", SET_KEYS) {
        return;
    }
    let shared = lowering.sink.list_items(document, "evaluators", "a data set");
    let cases = lowering.sink.list_items(document, "cases", "a data set");
    let mut labels = UniqueLabels::default();
    let mut out = RuleWriter::default();
    for (at, case) in cases.iter().enumerate() {
        if !lowering.sink.check_keys(case, "a case", CASE_KEYS) {
            continue;
        }
        let given = lowering.sink.optional_text(case, "name", "a case");
        // An unnamed case is named after its number, starting at 1.
        let name = given.map_or_else(|| format!("Case {}", at.saturating_add(1)), str::to_owned);
        let Some(inputs) = case.get("inputs") else {
            let message = format!("`{name}` has no `inputs`");
            lowering.sink.error(Slug::TypeMismatch, case.span, message, "write what the task is given");
            continue;
        };
        let own = lowering.sink.list_items(case, "evaluators", "a case");
        let scope = CaseScope { expected: case.get("expected_output").filter(|node| !node.is_null()) };
        let mut lines: Vec<CaseLine> = Vec::new();
        for spec in own.iter().chain(shared) {
            lines.extend(lower_evaluator(spec, &scope, lowering));
        }
        if lines.is_empty() {
            if !lowering.sink.has_errors() {
                let message = format!("no evaluator looks at `{name}`: it passes whatever the output is");
                lowering.sink.warning(Slug::AlwaysTrue, case.span, message, "write evaluators under `evaluators`");
            }
            continue;
        }
        let label = labels.unique_label(&name);
        let prompt = inputs.as_text().map(|prompt| (prompt, inputs.span));
        out.write_case(&WrittenCase { place: case.span, label: &label, remark: None, prompt, lines: &lines });
    }
    if cases.is_empty() && !lowering.sink.has_errors() {
        lowering.sink.error(Slug::Syntax, document.span.at_start(), "the data set has no cases", "write `cases`");
    }
    lowering.out.append(out);
}
