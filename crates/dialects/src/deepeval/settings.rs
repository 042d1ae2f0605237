//! Settings of the tool correctness metric.

use crate::Lowering;
use averment_base::diagnostic::{Slug, suggest};
use averment_base::source::Span;

/// The way in which the calls of a run are compared with the expected calls.
pub(super) struct ToolComparison {
    /// The minimum score.
    pub(super) threshold: f64,
    pub(super) compares_args: bool,
    pub(super) compares_output: bool,
    pub(super) order: ToolOrder,
}

/// The calls that get a full score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolOrder {
    /// The expected calls in any order; other calls are allowed.
    Any,
    /// The expected calls in their order; other calls may occur between them.
    InOrder,
    /// Exactly the expected calls, in order.
    Exact,
}

/// Names of the metric's arguments, with their default values.
const SETTINGS: [(&str, &str); 5] = [
    ("threshold", "0.5"),
    ("strict_mode", "false"),
    ("evaluation_params", ""),
    ("should_consider_ordering", "false"),
    ("should_exact_match", "false"),
];

/// Reads the given parameters; missing ones take the metric's defaults.
pub(super) fn read_settings(lowering: &mut Lowering<'_>) -> ToolComparison {
    let start = Span::new(lowering.root, 0, 0);
    for (name, _) in lowering.options.given {
        if SETTINGS.iter().all(|(known, _)| known != name) {
            let help = match suggest::suggest_name(name, SETTINGS.iter().map(|(known, _)| *known)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "it has `threshold`, `evaluation_params` and others".to_owned(),
            };
            let message = format!("the metric of tool correctness has no parameter `{name}`");
            lowering.sink.error(Slug::UnknownName, start, message, help);
        }
    }
    let mut value_of = |name: &str, usual: &str| {
        let given = lowering.options.given.iter().rev().find(|(given, _)| given == name);
        let value = given.map_or_else(|| usual.to_owned(), |(_, value)| value.clone());
        lowering.params.push((name.to_owned(), value.clone()));
        value
    };
    let values = SETTINGS.map(|(name, usual)| value_of(name, usual));
    let [threshold, strict, compared, ordered, exact] = values;
    let (strict, ordered, exact) = (
        read_flag("strict_mode", &strict, lowering),
        read_flag("should_consider_ordering", &ordered, lowering),
        read_flag("should_exact_match", &exact, lowering),
    );
    let compared: Vec<&str> = compared.split(',').map(str::trim).filter(|one| !one.is_empty()).collect();
    for one in compared.iter().filter(|one| !["input_parameters", "output"].contains(*one)) {
        let message = format!("`evaluation_params` is `{one}`");
        lowering.sink.error(
            Slug::UnknownName,
            start,
            message,
            "write `input_parameters`, `output`, or both with a comma",
        );
    }
    let least = threshold.parse::<f64>().ok().filter(|least| *least > 0.0 && *least <= 1.0);
    if least.is_none() {
        let message = format!("`threshold` is `{threshold}`, and scores are from 0 to 1");
        lowering.sink.error(Slug::TypeMismatch, start, message, "give a threshold above 0 and up to 1");
    }
    ToolComparison {
        threshold: least.filter(|_| !strict).unwrap_or(1.0),
        compares_args: compared.contains(&"input_parameters"),
        compares_output: compared.contains(&"output"),
        order: match (exact, ordered) {
            (true, _) => ToolOrder::Exact,
            (false, true) => ToolOrder::InOrder,
            (false, false) => ToolOrder::Any,
        },
    }
}

fn read_flag(name: &str, value: &str, lowering: &mut Lowering<'_>) -> bool {
    match value {
        "true" | "false" => value == "true",
        _ => {
            let message = format!("`{name}` is `{value}`");
            let start = Span::new(lowering.root, 0, 0);
            lowering.sink.error(Slug::TypeMismatch, start, message, "give `true` or `false`");
            false
        }
    }
}
