//! Lints: what compiles and is probably not what was meant.
//!
//! [`lint`] looks at one checked file; [`report`] gives that together with what the checker said, in file order. A lint is a row of the
//! [catalog](averment_base::diagnostic::catalog) with a family, a function in the file of its family, and a row in [`registry`]. Its level comes from
//! [`Levels`]; a lint that nobody sees does no work.

mod context;
mod cost;
mod denials;
mod empty;
pub mod fix;
mod kinds;
mod levels;
pub mod logic;
pub(crate) mod meaning;
mod names;
mod order;
mod pairs;
mod readings;
mod regex;
pub mod registry;
mod style;
mod temporal;
mod tests;
mod text;
mod truth;
mod vacuity;

use averment_base::diagnostic::{Diagnostics, Slug};
use averment_base::source::{FileId, SourceMap};
use averment_engine::check::Checked;
use context::Context;
pub use levels::{Level, Levels};

/// How to lint.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LintOptions {
    /// Levels that differ from the lints' own.
    pub levels: Levels,
}

/// What the lints find in the file `root`, in file order, without what an `# allow:` silences; such comments that silence nothing are among it.
/// Imported files are not looked into. In a file that does not compile only what stands in its text and its readable statements is looked at.
#[must_use]
pub fn lint(sources: &SourceMap, root: FileId, checked: &Checked, options: &LintOptions) -> Diagnostics {
    let complete = !checked.diagnostics.has_errors();
    let mut context = Context::new(sources, root, checked, options);
    for pass in registry::PASSES {
        let wanted = pass.slugs.iter().any(|&slug| options.levels.of(slug) != Level::Allow);
        if wanted && (complete || pass.of_text) {
            (pass.run)(&mut context);
        }
    }
    let mut found = Diagnostics(context.found);
    found.sort();
    let judged = |slug| complete && options.levels.of(slug) != Level::Allow;
    averment_engine::check::silence(sources, root, &checked.ast, &mut found, &judged);
    let unused = options.levels.of(Slug::UnusedAllow).severity();
    found.0.retain_mut(|one| {
        if one.slug == Slug::UnusedAllow {
            one.severity = unused.unwrap_or(one.severity);
        }
        one.slug != Slug::UnusedAllow || unused.is_some()
    });
    found
}

/// Everything that is to be said about a checked file: what the checker said, with the chosen levels, and what the lints find.
#[must_use]
pub fn report(sources: &SourceMap, root: FileId, checked: &Checked, options: &LintOptions) -> Diagnostics {
    let mut all = checked.diagnostics.clone();
    options.levels.apply(&mut all);
    all.extend(lint(sources, root, checked, options));
    all.sort();
    all
}
