//! Steps that a passing assertion could not judge: in one run, and summed over all runs.

use super::redact::redact;
use super::value;
use averment_base::words::count_noun;
use averment_engine::vm::outcome::UnjudgedRecord;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The steps of a run that an assertion could not judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnjudgedReport {
    /// The number of steps that could not be judged.
    pub count: u64,
    /// The number of all steps.
    pub of: u64,
    /// The plural noun for the steps: `refunds`.
    pub things: String,
    /// The reason for the first of them, redacted: ``no `amount` ``.
    pub reason: String,
}

/// Maximum length of a reason, in characters.
const REASON: usize = 400;

impl UnjudgedReport {
    /// Creates the report from the evaluator's record, redacted. `hide` removes hidden texts.
    pub(super) fn new<'a>(unjudged: &UnjudgedRecord, hide: impl FnOnce(String) -> Cow<'a, str>) -> Self {
        Self {
            count: unjudged.steps.len() as u64,
            of: unjudged.all.len() as u64,
            things: redact(&unjudged.things).into_owned(),
            reason: value::shorten_text(&hide(redact(&unjudged.why).into_owned()), REASON),
        }
    }
}

impl UnjudgedReport {
    /// Returns words such as ``1 of 2 refunds could not be judged: no `amount` ``.
    #[must_use]
    pub fn in_words(&self) -> String {
        UnjudgedSum { all: self.clone(), runs: 1 }.in_words(false)
    }
}

/// The sum over several runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnjudgedSum {
    all: UnjudgedReport,
    runs: u64,
}

impl UnjudgedSum {
    /// Returns words such as ``3 of 210 refunds in 2 runs could not be judged: no `amount` ``. `many` means that there are several runs.
    #[must_use]
    pub fn in_words(&self, many: bool) -> String {
        let Self { all: UnjudgedReport { count, of, things, reason }, runs } = self;
        let runs = if many { format!(" in {}", count_noun(*runs, "run")) } else { String::new() };
        format!("{count} of {of} {things}{runs} could not be judged: {reason}")
    }
}

/// Unjudged steps by assertion, in table order. Runs must be added in order, because the first run provides the wording.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnjudgedTotals {
    items: BTreeMap<usize, UnjudgedSum>,
}

impl UnjudgedTotals {
    /// Adds the unjudged steps of an assertion in a run.
    pub fn add_report(&mut self, item: usize, unjudged: &UnjudgedReport) {
        self.add_sum(item, &UnjudgedSum { all: unjudged.clone(), runs: 1 });
    }

    /// Adds the totals of later runs.
    pub fn add_all(&mut self, others: &Self) {
        others.items.iter().for_each(|(item, sum)| self.add_sum(*item, sum));
    }

    fn add_sum(&mut self, item: usize, sum: &UnjudgedSum) {
        let Some(known) = self.items.get_mut(&item) else {
            self.items.insert(item, sum.clone());
            return;
        };
        known.runs += sum.runs;
        known.all.count += sum.all.count;
        known.all.of += sum.all.of;
        if known.all.things != sum.all.things {
            "steps".clone_into(&mut known.all.things);
        }
    }

    /// Returns the assertions with unjudged steps, in table order.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &UnjudgedSum)> {
        self.items.iter().map(|(item, sum)| (*item, sum))
    }

    /// True if all steps could be judged.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}
