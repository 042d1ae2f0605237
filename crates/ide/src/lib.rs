//! Tools for writing rules: the linter, completion and hover, the settings of a project, and the language server.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "it reads the files of a project and talks to editors"
)]

pub mod assist;
pub mod lint;
#[cfg(feature = "editor")]
pub mod lsp;
#[cfg(feature = "editor")]
pub mod project;
