//! What is known of a run beside its verdicts, for those who keep results or compare them: which bytes it was, when it began, what it cost.

use super::digest::{bytes_hash, hex};
use super::redact::Withheld;
use super::redact::redact;
use averment_base::value::{Object, Value};
use averment_runs::normal::{of_run, of_usage};
use averment_runs::run::{Kind, Run};
use serde::{Serialize, Serializer};
use std::collections::BTreeSet;

/// Names of tools, and of skills, that are kept of a run.
const NAMES: usize = 200;
/// A point in time before this many milliseconds since 1970 is one of a clock that begins with the run.
const FIRST_DAY: f64 = 1e11;

/// What a run records of itself. What it does not record is `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Measured {
    /// The hash of its bytes: of the same run judged again it is the same.
    #[serde(serialize_with = "as_hex")]
    pub hash: [u8; 16],
    /// Its own id, redacted.
    pub id: Option<String>,
    /// When its first step began, in milliseconds since 1970.
    pub started_ms: Option<i64>,
    /// What it cost, in dollars.
    pub cost_usd: Option<f64>,
    /// The tokens that it used.
    pub total_tokens: Option<f64>,
    /// How long it took.
    pub duration_ms: Option<f64>,
    /// The tools that it called, redacted, in the order of their names.
    #[serde(skip)]
    pub tools: Vec<String>,
    /// The skills that it used.
    #[serde(skip)]
    pub skills: Vec<String>,
}

impl Measured {
    /// What a run records; `withheld` is what no report of it shows.
    #[must_use]
    pub fn of(run: &Run<'_>, withheld: &Withheld) -> Self {
        let entry = |name: &str| number(&run.root(name).value);
        let tokens = |usage: &Object<'_>| usage.get(of_usage::TOTAL).and_then(|node| number(&node.value));
        let names = |kind: Kind| {
            let steps = run.steps.iter().filter(|step| step.kind == kind);
            let names: BTreeSet<&str> = steps.map(|step| step.name).collect();
            names.into_iter().take(NAMES).map(|name| withheld.without(redact(name).into_owned())).collect()
        };
        Self {
            hash: bytes_hash(run.text.as_bytes()),
            id: run.id.map(|id| withheld.without(redact(id).into_owned())),
            started_ms: started(run),
            cost_usd: entry(of_run::COST),
            total_tokens: match &run.root(of_run::USAGE).value {
                Value::Object(usage) => tokens(usage),
                _ => None,
            },
            duration_ms: entry(of_run::DURATION),
            tools: names(Kind::Call),
            skills: names(Kind::Skill),
        }
    }
}

/// When the first step began, on the clock of the world.
fn started(run: &Run<'_>) -> Option<i64> {
    let first = run.steps.iter().filter_map(|step| step.start).min_by(f64::total_cmp)?;
    #[expect(clippy::cast_possible_truncation, reason = "within the bound every such double is an integer of 64 bits")]
    let whole = |first: f64| first.round() as i64;
    (FIRST_DAY..9e15).contains(&first).then(|| whole(first))
}

fn number(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Number(number) => Some(number.to_f64()).filter(|number| number.is_finite()),
        _ => None,
    }
}

fn as_hex<S: Serializer>(hash: &[u8; 16], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&hex(hash))
}
