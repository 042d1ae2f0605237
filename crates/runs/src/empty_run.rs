//! A run of which nothing is known.

use crate::run::{CostSource, KindOrder, RecordCounts, Run, RunSource, StepKind};
use averment_base::value::Object;

impl Run<'_> {
    /// A run that records nothing.
    #[must_use]
    pub fn empty_run() -> Self {
        Self {
            text: "",
            source: RunSource::default(),
            format: "",
            concludes_ok: false,
            id: None,
            object: Object::EMPTY,
            steps: &[],
            order: KindOrder::ALL,
            recorded: [false; StepKind::ALL.len()],
            complete: true,
            records: RecordCounts::default(),
            warnings: Vec::new(),
            withheld: Vec::new(),
            priced: CostSource::NotAsked,
        }
    }
}
