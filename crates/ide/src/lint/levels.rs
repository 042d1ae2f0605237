//! Levels of lints: the default, the level of the project, and that of the command line.

pub use averment_base::diagnostic::LintLevel;
use averment_base::diagnostic::{Diagnostics, Family, Severity, Slug};

/// Chosen levels. A level for a slug takes precedence over one for its family, and a later choice over an earlier one. `least` applies to lints
/// without a chosen level.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LintLevels {
    /// Levels of single lints.
    pub slugs: Vec<(Slug, LintLevel)>,
    /// Levels of families.
    pub families: Vec<(Family, LintLevel)>,
    /// The minimum level of every lint without a chosen level: `aver lint --all`.
    pub least: Option<LintLevel>,
}

impl LintLevels {
    /// Returns the level of a lint.
    #[must_use]
    pub fn level_of(&self, slug: Slug) -> LintLevel {
        self.chosen_level(slug).unwrap_or_else(|| match self.least {
            Some(least) => slug.lint_level().max(least),
            None => slug.lint_level(),
        })
    }

    /// Returns the level that was chosen for a lint or its family.
    #[must_use]
    pub fn chosen_level(&self, slug: Slug) -> Option<LintLevel> {
        let own = self.slugs.iter().rev().find(|(known, _)| *known == slug).map(|(_, level)| *level);
        own.or_else(|| {
            let family = slug.family()?;
            self.families.iter().rev().find(|(known, _)| *known == family).map(|(_, level)| *level)
        })
    }

    /// Returns these levels, overridden by others.
    #[must_use]
    pub fn overridden_by(mut self, stronger: &LintLevels) -> Self {
        // A family that is chosen later overrides a slug chosen earlier: `--warn style` means all of it.
        self.slugs.retain(|(slug, _)| stronger.families.iter().all(|(family, _)| slug.family() != Some(*family)));
        self.slugs.extend(stronger.slugs.iter().copied());
        self.families.extend(stronger.families.iter().copied());
        self.least = stronger.least.or(self.least);
        self
    }

    /// Applies the chosen levels to the warnings of the checker; errors stay errors.
    pub fn apply_to(&self, diagnostics: &mut Diagnostics) {
        diagnostics.0.retain_mut(|one| {
            if one.severity == Severity::Error || !one.slug.is_configurable() {
                return true;
            }
            let chosen = self.level_of(one.slug).severity();
            one.severity = chosen.unwrap_or(one.severity);
            chosen.is_some()
        });
    }
}
