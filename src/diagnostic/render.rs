//! Renders diagnostics.
