//! Which level a lint has: its own, that of the project, that of the command line.

pub use averment_base::diagnostic::LintLevel;
use averment_base::diagnostic::{Diagnostics, Family, Severity, Slug};

/// Chosen levels. A choice for a slug wins over one for its family, and of two the later wins; `all` is for what nobody chose a level for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LintLevels {
    /// Levels of single lints.
    pub slugs: Vec<(Slug, LintLevel)>,
    /// Levels of families.
    pub families: Vec<(Family, LintLevel)>,
    /// The least level of every lint that nothing else is said about: `aver lint --all`.
    pub least: Option<LintLevel>,
}

impl LintLevels {
    /// The level of a lint.
    #[must_use]
    pub fn level_of(&self, slug: Slug) -> LintLevel {
        self.chosen_level(slug).unwrap_or_else(|| match self.least {
            Some(least) => slug.lint_level().max(least),
            None => slug.lint_level(),
        })
    }

    /// The level that somebody chose for a lint or its family.
    #[must_use]
    pub fn chosen_level(&self, slug: Slug) -> Option<LintLevel> {
        let own = self.slugs.iter().rev().find(|(known, _)| *known == slug).map(|(_, level)| *level);
        own.or_else(|| {
            let family = slug.family()?;
            self.families.iter().rev().find(|(known, _)| *known == family).map(|(_, level)| *level)
        })
    }

    /// These levels with others that win over them.
    #[must_use]
    pub fn overridden_by(mut self, stronger: &LintLevels) -> Self {
        // A family chosen later wins over a slug chosen before: `--warn style` means all of it.
        self.slugs.retain(|(slug, _)| stronger.families.iter().all(|(family, _)| slug.family() != Some(*family)));
        self.slugs.extend(stronger.slugs.iter().copied());
        self.families.extend(stronger.families.iter().copied());
        self.least = stronger.least.or(self.least);
        self
    }

    /// Gives the warnings of the checker the chosen levels. What does not compile stays an error.
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
