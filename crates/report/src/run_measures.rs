//! Facts about a run besides its verdicts, to store or compare results: hash, start time, cost and more.

use super::digest::{bytes_hash, to_hex};
use super::redact::WithheldTexts;
use super::redact::redact;
use averment_base::value::{Object, Value};
use averment_runs::normal::{of_run, of_usage};
use averment_runs::run::{Run, StepKind};
use serde::{Serialize, Serializer};
use std::collections::BTreeSet;

/// Maximum number of tool and skill names kept for each run.
const NAMES: usize = 200;
/// Milliseconds since 1970. Smaller times are relative to the start of the run.
const FIRST_DAY: f64 = 1e11;

/// Measurements that a run records. Those it does not record are `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RecordedMeasures {
    /// The hash of its bytes, which identifies a run that is judged again.
    #[serde(serialize_with = "as_hex")]
    pub hash: [u8; 16],
    /// Its recorded id, redacted.
    pub id: Option<String>,
    /// Start time of its first step, in milliseconds since 1970.
    pub started_ms: Option<i64>,
    /// The cost in US dollars.
    pub cost_usd: Option<f64>,
    /// The number of tokens.
    pub total_tokens: Option<f64>,
    /// The duration in milliseconds.
    pub duration_ms: Option<f64>,
    /// The called tools, redacted, sorted by name.
    #[serde(skip)]
    pub tools: Vec<String>,
    /// The used skills.
    #[serde(skip)]
    pub skills: Vec<String>,
}

impl RecordedMeasures {
    /// Reads the measurements of a run. Values in `withheld` are hidden.
    #[must_use]
    pub fn of_run(run: &Run<'_>, withheld: &WithheldTexts) -> Self {
        let entry = |name: &str| to_number(&run.root_value(name).value);
        let tokens = |usage: &Object<'_>| usage.get(of_usage::TOTAL).and_then(|node| to_number(&node.value));
        let names = |kind: StepKind| {
            let steps = run.steps.iter().filter(|step| step.kind == kind);
            let names: BTreeSet<&str> = steps.map(|step| step.name).collect();
            names.into_iter().take(NAMES).map(|name| withheld.remove_from(redact(name).into_owned())).collect()
        };
        Self {
            hash: bytes_hash(run.text.as_bytes()),
            id: run.id.map(|id| withheld.remove_from(redact(id).into_owned())),
            started_ms: started_at(run),
            cost_usd: entry(of_run::COST),
            total_tokens: match &run.root_value(of_run::USAGE).value {
                Value::Object(usage) => tokens(usage),
                _ => None,
            },
            duration_ms: entry(of_run::DURATION),
            tools: names(StepKind::Call),
            skills: names(StepKind::Skill),
        }
    }
}

/// Returns the start time of the first step in milliseconds since 1970; `None` if times are relative.
fn started_at(run: &Run<'_>) -> Option<i64> {
    let first = run.steps.iter().filter_map(|step| step.start).min_by(f64::total_cmp)?;
    #[expect(clippy::cast_possible_truncation, reason = "within the bound every such double is an integer of 64 bits")]
    let whole = |first: f64| first.round() as i64;
    (FIRST_DAY..9e15).contains(&first).then(|| whole(first))
}

fn to_number(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Number(number) => Some(number.to_f64()).filter(|number| number.is_finite()),
        _ => None,
    }
}

fn as_hex<S: Serializer>(hash: &[u8; 16], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&to_hex(hash))
}
