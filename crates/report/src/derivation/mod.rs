//! Derivations for people and tools: the parts of every verdict with their values, and the run with its relevant steps marked.
//!
//! [`derivation_view()`] makes one view that contains only data that reports may show. The formats only lay it out.

mod hidden;
#[cfg(feature = "pictures")]
mod html;
mod human;
mod timeline;
pub mod view;

pub use crate::value::shorten_text as cut;
#[cfg(feature = "pictures")]
pub use html::render_html;
pub use human::{verdict_ink, write_assertion, write_nodes, write_view as human};
pub use timeline::{StepChoice, StepLine, TimelineLine};
pub use view::{DerivationView, derivation_view, value_view, value_words};

/// Returns a view as JSON.
#[must_use]
pub fn view_data(view: &DerivationView) -> serde_json::Value {
    serde_json::json!({"version": 1, "run": view.run, "assertions": view.assertions})
}

/// Returns a view as the text of one JSON object.
#[must_use]
pub fn view_json(view: &DerivationView) -> String {
    let mut text = serde_json::to_string_pretty(&view_data(view)).unwrap_or_default();
    text.push('\n');
    crate::json_escape::escape_json(&text).into_owned()
}
