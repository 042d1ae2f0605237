//! Lowering modes: strict for configs; lenient for result files, so that every result gets a verdict.

use crate::Lowering;
use averment_base::diagnostic::Slug;
use averment_base::source::Span;

/// The kind of file that is lowered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LoweringMode {
    /// A config: mistakes are errors.
    Config,
    /// A result file: an assertion that cannot be judged is undecided, with a warning.
    Results,
}

impl LoweringMode {
    /// Reports that an assertion cannot be judged; in a result file it becomes undecided.
    pub(super) fn report_unusable(
        self,
        place: Span,
        slug: Slug,
        message: String,
        help: &str,
        lowering: &mut Lowering<'_>,
    ) -> Option<String> {
        match self {
            Self::Config => {
                lowering.sink.error(slug, place, message, help);
                None
            }
            Self::Results => {
                lowering.sink.warning(slug, place, message.as_str(), help);
                Some(format!("undecided({})", crate::writer::quote_text(&message)))
            }
        }
    }
}
