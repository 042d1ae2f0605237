//! Derivations of verdicts.

use averment_base::diagnostic::render::TextStyle;
use averment_report::derivation::{self, DerivationView};
use serde::{Serialize, Serializer};
use std::fmt;

/// The derivation of each verdict on a run: the parts of every assertion with their values, and the relevant steps of the run.
///
/// `Display` writes the output of `aver explain RULES TRACE`; `Serialize` writes that of `--format json`.
///
/// ```
/// let rules = averment::Rules::from_text("refunds.assert", "never refund(amount > 100)")?;
/// let explanation = rules.explain_one(r#"{"calls": [{"tool": "refund", "args": {"amount": 250}}]}"#)?;
/// println!("{explanation}");
/// assert_eq!(serde_json::to_value(&explanation)?["assertions"][0]["verdict"], "fail");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Explanation {
    view: DerivationView,
}

impl Explanation {
    pub(crate) fn new(view: DerivationView) -> Self {
        Self { view }
    }

    /// Returns the name of the run.
    #[must_use]
    pub fn run(&self) -> &str {
        &self.view.run.name
    }

    /// Returns the data behind the command's formats.
    #[doc(hidden)]
    #[must_use]
    pub fn derivation_view(&self) -> &DerivationView {
        &self.view
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        derivation::human(&mut text, &self.view, TextStyle::PLAIN).map_err(|_| fmt::Error)?;
        f.write_str(&String::from_utf8_lossy(&text))
    }
}

impl Serialize for Explanation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        derivation::view_data(&self.view).serialize(serializer)
    }
}
