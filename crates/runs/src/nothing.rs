//! A run of which nothing is known.

use crate::run::{Kind, KindOrder, Priced, Records, Run, RunSource};
use averment_base::value::Object;

impl Run<'_> {
    /// A run that records nothing.
    #[must_use]
    pub fn nothing() -> Self {
        Self {
            text: "",
            source: RunSource::default(),
            format: "",
            concludes_ok: false,
            id: None,
            object: Object::EMPTY,
            steps: &[],
            order: KindOrder::ALL,
            recorded: [false; Kind::ALL.len()],
            complete: true,
            records: Records::default(),
            warnings: Vec::new(),
            withheld: Vec::new(),
            priced: Priced::NotAsked,
        }
    }
}
