//! The whole file: its components, and how their scores are combined into a verdict.

use super::ordering::{HELPERS, LISTS};
use super::trace_checks::{LoweredComponent, lower_trace_checks};
use super::transcript::lower_transcript;
use crate::Lowering;
use crate::weighted::{SUFFICES, WeightedScore, bounded_gate};
use crate::writer::{CaseLine, RuleWriter, quote_text};
use crate::yaml::YamlNode;
use averment_base::diagnostic::Slug;
use averment_base::source::Span;

/// The components that a file may combine.
pub(super) const COMPONENTS: [&str; 5] =
    ["state_checks", "transcript_rules", "trace_checks", "llm_judge", "custom_checks"];

/// A component and its weight.
struct WeighedComponent {
    place: Span,
    name: &'static str,
    weight: f64,
    /// `None` if a run alone cannot decide it.
    lowered: Option<LoweredComponent>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CombineMethod {
    Weighted,
    All,
    Any,
}

/// Writes a rule with the lines of all components.
pub(super) fn lower_grading(document: &YamlNode, lowering: &mut Lowering<'_>) {
    if !document.is_map() {
        return lowering.sink.wrong_shape(document, "`grading.yaml`", "a mapping with `combine` and `trace_checks`");
    }
    let known: Vec<&str> = COMPONENTS.iter().copied().chain(["combine"]).collect();
    warn_of_unknown(document, &known, lowering);
    let Some(combine) = read_combine(document, lowering) else { return };
    let mut components = Vec::new();
    for name in COMPONENTS {
        components.extend(read_component(document, name, &combine, lowering));
    }
    if lowering.sink.has_errors() {
        return;
    }
    if components.is_empty() {
        let help = "write `trace_checks` with `constraints`";
        lowering.sink.error(Slug::TypeMismatch, document.span.at_start(), "the file asks for nothing", help);
        return;
    }
    write_rule(document, &components, &combine, lowering);
}

/// Reports keys that are similar to the name of a component, which are probably typos. tolokaforge ignores other unknown keys.
fn warn_of_unknown(document: &YamlNode, known: &[&str], lowering: &mut Lowering<'_>) {
    for (key, _) in document.entries() {
        let name = key.key_text();
        let is_near = averment_base::diagnostic::suggest::suggest_name(&name, known.iter().copied()).is_some();
        if !known.contains(&name.as_str()) && is_near {
            lowering.sink.unknown_key(key, "`grading.yaml`", known);
        }
    }
}

struct CombineSettings<'a> {
    place: Span,
    method: CombineMethod,
    weights: Option<&'a YamlNode>,
    threshold: f64,
}

fn read_combine<'a>(document: &'a YamlNode, lowering: &mut Lowering<'_>) -> Option<CombineSettings<'a>> {
    let Some(combine) = document.get("combine") else {
        let help = "write `combine: {weights: {trace_checks: 1.0}, pass_threshold: 0.8}`";
        lowering.sink.error(Slug::TypeMismatch, document.span.at_start(), "the file has no `combine`", help);
        return None;
    };
    if !lowering.sink.check_keys(combine, "`combine`", &["method", "weights", "pass_threshold"]) {
        return None;
    }
    let method = match combine.get("method").map(|method| (method, method.as_text())) {
        None | Some((_, Some("weighted"))) => CombineMethod::Weighted,
        Some((_, Some("all"))) => CombineMethod::All,
        Some((_, Some("any"))) => CombineMethod::Any,
        Some((method, _)) => {
            lowering.sink.unknown_word(method, "method of combining", &["weighted", "all", "any"]);
            return None;
        }
    };
    let weights = combine.get("weights");
    if let Some(weights) = weights
        && !lowering.sink.check_keys(weights, "`weights`", &COMPONENTS)
    {
        return None;
    }
    let threshold = match combine.get("pass_threshold") {
        None => 0.8,
        Some(node) => {
            let number = node.as_number().and_then(|number| number.parse::<f64>().ok());
            match number.filter(|number| *number > 0.0 && *number <= 1.0) {
                Some(number) => number,
                None => {
                    lowering.sink.wrong_shape(node, "`pass_threshold`", "a number above 0 and up to 1");
                    return None;
                }
            }
        }
    };
    Some(CombineSettings { place: combine.span, method, weights, threshold })
}

fn read_component(
    document: &YamlNode,
    name: &'static str,
    combine: &CombineSettings<'_>,
    lowering: &mut Lowering<'_>,
) -> Option<WeighedComponent> {
    let node = document.get(name).filter(|node| !node.is_null())?;
    let is_off = name == "custom_checks" && node.get("enabled").and_then(YamlNode::as_boolean) == Some(false);
    if is_off {
        return None;
    }
    let lowered = match name {
        "trace_checks" => Some(lower_trace_checks(node, lowering)?),
        "transcript_rules" => Some(lower_transcript(node, lowering)?),
        _ => None,
    };
    let weight = combine.weights.and_then(|weights| weights.get(name));
    let Some(weight) = weight else {
        let message = format!("`{name}` has no weight in `combine`");
        let help = format!("write `weights: {{{name}: 1.0}}` under `combine`");
        lowering.sink.error(Slug::TypeMismatch, combine.place, message, help);
        return None;
    };
    let number = weight.as_number().and_then(|number| number.parse::<f64>().ok());
    let Some(number) = number.filter(|number| number.is_finite() && *number >= 0.0) else {
        lowering.sink.wrong_shape(weight, &format!("the weight of `{name}`"), "a number from 0 on");
        return None;
    };
    Some(WeighedComponent { place: node.span, name, weight: number, lowered })
}

fn write_rule(
    document: &YamlNode,
    components: &[WeighedComponent],
    combine: &CombineSettings<'_>,
    lowering: &mut Lowering<'_>,
) {
    let mut declared = RuleWriter::default();
    let mut lines = Vec::new();
    for component in components {
        match &component.lowered {
            Some(lowered) => {
                for line in &lowered.declared {
                    declared.write_line(line.place, |out| out.put_text(&line.text));
                }
                let text = format!("let {}_score = {}", component.name, lowered.score);
                declared.write_line(component.place, |out| out.put_text(&text));
                lines.extend(lowered.lines.iter().cloned());
            }
            None => {
                let mut line = CaseLine::undecided(component.place, &decided_elsewhere(component.name));
                line.text.push_str(" weight 0 severity info");
                lines.push(line);
            }
        }
    }
    let has_trace = "calls is not empty or messages is not empty";
    let message = quote_text("the run has neither calls nor messages, and nothing is scored without them");
    lines.push(CaseLine::new(combine.place, format!("({has_trace}) weight 0 message {message}")));
    let message = quote_text(&format!("the score is below {}", combine.threshold));
    let verdict = verdict_text(components, combine);
    lines.push(CaseLine::new(combine.place, format!("{verdict} weight 0 message {message}")));
    let start = document.span.at_start();
    for (name, line) in LISTS.iter().chain(HELPERS).chain(&[("suffices(", SUFFICES)]) {
        if declared.contains_text(name) || verdict.contains(name) {
            lowering.out.write_line(start, |out| out.put_text(line));
        }
    }
    lowering.out.append(declared);
    lowering.out.write_gap();
    lowering.out.write_block(
        document.span,
        |out| out.put_text("rule grading"),
        |out| {
            for line in &lines {
                out.write_line(line.place, |out| out.put_text(&line.text));
            }
        },
    );
}

fn decided_elsewhere(name: &str) -> String {
    let by = match name {
        "llm_judge" => "a model",
        "custom_checks" => "a program in Python",
        _ => "the state of the environment",
    };
    format!("`{name}` is decided by {by}")
}

/// Writes the condition under which the trial passes.
fn verdict_text(components: &[WeighedComponent], combine: &CombineSettings<'_>) -> String {
    let threshold = combine.threshold;
    if combine.method != CombineMethod::Weighted {
        let word = if combine.method == CombineMethod::All { " and " } else { " or " };
        let test = |one: &WeighedComponent| match &one.lowered {
            Some(_) => format!("{}_score >= {threshold}", one.name),
            None => format!("undecided({})", quote_text(&decided_elsewhere(one.name))),
        };
        return format!("({})", components.iter().map(test).collect::<Vec<_>>().join(word));
    }
    let total: f64 = components.iter().map(|one| one.weight).sum();
    if total <= 0.0 {
        // tolokaforge rejects a file in which no component has a weight.
        return "undecided(\"no component has a weight, and tolokaforge refuses to grade\")".to_owned();
    }
    let is_known = |one: &&WeighedComponent| one.lowered.is_some();
    let known: Vec<WeightedScore> = components
        .iter()
        .filter(is_known)
        .map(|one| WeightedScore::new(one.weight, format!("{}_score", one.name)))
        .collect();
    let elsewhere: f64 = components.iter().filter(|one| one.lowered.is_none()).map(|one| one.weight).sum();
    format!("({})", bounded_gate(&known, elsewhere, threshold))
}
