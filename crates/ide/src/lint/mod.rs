//! Lints: checks for text that compiles but is probably not what was meant.
//!
//! [`lint_file`] lints one checked file; [`report_file`] also includes the diagnostics of the checker, in file order. A lint is a row of the
//! [catalog](averment_base::diagnostic::catalog) with a family, a function in the file of its family, and a row in [`registry`]. Its level comes from
//! [`LintLevels`]; a lint that is off does no work.

mod context;
mod cost;
mod denials;
mod empty;
pub mod fix;
mod kinds;
mod levels;
pub(crate) mod lint_semantics;
pub mod logic;
mod misreadings;
mod named_units;
mod names;
mod order;
mod pairs;
mod pattern_signs;
mod regex;
pub mod registry;
mod shapes;
mod style;
mod temporal;
mod tests;
mod text;
mod text_patterns;
mod truth;
mod vacuity;

use averment_base::diagnostic::{Diagnostics, Slug};
use averment_base::source::{FileId, SourceMap};
use averment_checker::CheckResult;
use context::LintContext;
pub use levels::{LintLevel, LintLevels};

/// Lint options.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LintOptions {
    /// Levels that differ from the defaults.
    pub levels: LintLevels,
}

/// Returns the findings of the lints in the file `root`, in file order, without those that an `# allow:` silences. `# allow:` comments that silence
/// nothing are reported too. Imported files are not linted. In a file that does not compile, only lints on its text and on single statements run.
#[must_use]
pub fn lint_file(sources: &SourceMap, root: FileId, checked: &CheckResult, options: &LintOptions) -> Diagnostics {
    let complete = !checked.diagnostics.has_errors();
    let mut context = LintContext::new(sources, root, checked, options);
    for pass in registry::PASSES {
        let wanted = pass.slugs.iter().any(|&slug| options.levels.level_of(slug) != LintLevel::Allow);
        if wanted && (complete || pass.of_text) {
            (pass.run)(&mut context);
        }
    }
    let mut found = Diagnostics(context.found);
    found.sort_by_place();
    let judged = |slug| complete && options.levels.level_of(slug) != LintLevel::Allow;
    averment_checker::silence_lints(sources, root, &checked.ast, &mut found, &judged);
    let unused = options.levels.level_of(Slug::UnusedAllow).severity();
    found.0.retain_mut(|one| {
        if one.slug == Slug::UnusedAllow {
            one.severity = unused.unwrap_or(one.severity);
        }
        one.slug != Slug::UnusedAllow || unused.is_some()
    });
    found
}

/// Returns the lint findings for `aver check`: only the lints that are certain, at the chosen levels, and at most as warnings.
#[must_use]
pub fn lint_certain(sources: &SourceMap, root: FileId, checked: &CheckResult, levels: &LintLevels) -> Diagnostics {
    let level = |slug: Slug| match slug.is_certain() {
        true => levels.level_of(slug).min(LintLevel::Warn),
        false => LintLevel::Allow,
    };
    let slugs = Slug::ALL.iter().filter(|slug| slug.is_lint()).map(|&slug| (slug, level(slug))).collect();
    let options = LintOptions { levels: LintLevels { slugs, ..LintLevels::default() } };
    let mut found = lint_file(sources, root, checked, &options);
    // Only `lint` can tell whether a comment silences nothing.
    found.0.retain(|one| one.slug.is_certain());
    found
}

/// Returns all diagnostics of a checked file: those of the checker with the chosen levels, and the findings of the lints.
#[must_use]
pub fn report_file(sources: &SourceMap, root: FileId, checked: &CheckResult, options: &LintOptions) -> Diagnostics {
    let mut all = checked.diagnostics.clone();
    options.levels.apply_to(&mut all);
    all.extend(lint_file(sources, root, checked, options));
    all.sort_by_place();
    all
}
