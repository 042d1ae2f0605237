//! What is read of a call, and what may follow from it, by its name: a thread works it out once for each name, and not again for each call.

use super::Prefilter;
use averment_traces::derives_steps;
use averment_traces::projection::{CallField, FieldMask};

/// What the patterns that fit the name of a call ask of it, together.
#[derive(Debug, Default)]
pub(super) struct CallReads {
    fields: [Option<FieldMask>; 2],
    /// True if a pattern asks how it ended.
    pub(super) ending: bool,
    /// False where no pattern fits: nobody looks into such a call.
    pub(super) is_matched: bool,
    /// True if steps of other kinds may follow from it.
    pub(super) derives_steps: bool,
}

impl CallReads {
    pub(super) fn field_mask(&self, field: CallField) -> Option<&FieldMask> {
        self.fields.get(field as usize)?.as_ref()
    }
}

impl Prefilter {
    /// `patterns` are the unique patterns that fit the name.
    pub(super) fn reads_of_name(&self, name: &str, patterns: &[u32]) -> CallReads {
        let ending = patterns.iter().any(|unique| self.ended.contains(unique));
        let (is_matched, derives_steps) = (!patterns.is_empty(), derives_steps(name));
        let mut reads = CallReads { ending, is_matched, derives_steps, ..CallReads::default() };
        for masks in patterns.iter().filter_map(|unique| self.fields.get(unique)) {
            for (all, mask) in reads.fields.iter_mut().zip(masks) {
                if let Some(mask) = mask {
                    all.get_or_insert_default().join_mask(mask);
                }
            }
        }
        reads
    }
}
