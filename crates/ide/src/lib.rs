//! What helps to write rules: the linter, completion and hover, the settings of a project, and the language server.

pub mod assist;
pub mod lint;
pub mod lsp;
pub mod project;
