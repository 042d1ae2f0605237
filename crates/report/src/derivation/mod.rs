//! Derivations for people and their tools: the parts of every verdict with their values, and the run with the steps that count marked.
//!
//! [`view()`] makes one picture of it all, in which nothing is left that a report must not show; the formats only lay it out.

mod hidden;
#[cfg(feature = "pictures")]
mod html;
mod human;
mod timeline;
pub mod view;

pub use crate::value::shortened as cut;
#[cfg(feature = "pictures")]
pub use html::html;
pub use human::{assertion, ink, nodes, write as human};
pub use timeline::{Choice, StepLine, TimelineLine};
pub use view::{DerivationView, value, view, words};

/// A view as data.
#[must_use]
pub fn data(view: &DerivationView) -> serde_json::Value {
    serde_json::json!({"version": 1, "run": view.run, "assertions": view.assertions})
}

/// A view as text of one JSON object.
#[must_use]
pub fn json(view: &DerivationView) -> String {
    let mut text = serde_json::to_string_pretty(&data(view)).unwrap_or_default();
    text.push('\n');
    crate::escaped::json(&text).into_owned()
}
