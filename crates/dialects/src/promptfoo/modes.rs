//! How a file is lowered: strictly where it is a config, and so that every result has its say where it is a file of results.

use crate::Lowering;
use averment_base::diagnostic::Slug;
use averment_base::source::Span;

/// What a file is lowered for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LoweringMode {
    /// A config: what is wrong in it is an error.
    Config,
    /// Results: what cannot be judged is undecided, with a warning.
    Results,
}

impl LoweringMode {
    /// Says that an assertion cannot be judged; in results it becomes undecided.
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
