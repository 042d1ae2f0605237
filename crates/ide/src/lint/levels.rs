//! Which level a lint has: its own, that of the project, that of the command line.

pub use averment_base::diagnostic::Level;
use averment_base::diagnostic::{Diagnostics, Family, Severity, Slug};

/// Chosen levels. A choice for a slug wins over one for its family, and of two the later wins; `all` is for what nobody chose a level for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Levels {
    /// Levels of single lints.
    pub slugs: Vec<(Slug, Level)>,
    /// Levels of families.
    pub families: Vec<(Family, Level)>,
    /// The least level of every lint that nothing else is said about: `aver lint --all`.
    pub least: Option<Level>,
}

impl Levels {
    /// The level of a lint.
    #[must_use]
    pub fn of(&self, slug: Slug) -> Level {
        self.chosen(slug).unwrap_or_else(|| match self.least {
            Some(least) => slug.level().max(least),
            None => slug.level(),
        })
    }

    /// The level that somebody chose for a lint or its family.
    #[must_use]
    pub fn chosen(&self, slug: Slug) -> Option<Level> {
        let own = self.slugs.iter().rev().find(|(known, _)| *known == slug).map(|(_, level)| *level);
        own.or_else(|| {
            let family = slug.family()?;
            self.families.iter().rev().find(|(known, _)| *known == family).map(|(_, level)| *level)
        })
    }

    /// These levels with others that win over them.
    #[must_use]
    pub fn with(mut self, stronger: &Levels) -> Self {
        // A family chosen later wins over a slug chosen before: `--warn style` means all of it.
        self.slugs.retain(|(slug, _)| stronger.families.iter().all(|(family, _)| slug.family() != Some(*family)));
        self.slugs.extend(stronger.slugs.iter().copied());
        self.families.extend(stronger.families.iter().copied());
        self.least = stronger.least.or(self.least);
        self
    }

    /// Gives the warnings of the checker the chosen levels. What does not compile stays an error.
    pub fn apply(&self, diagnostics: &mut Diagnostics) {
        diagnostics.0.retain_mut(|one| {
            if one.severity == Severity::Error || !one.slug.is_configurable() {
                return true;
            }
            let chosen = self.of(one.slug).severity();
            one.severity = chosen.unwrap_or(one.severity);
            chosen.is_some()
        });
    }
}
