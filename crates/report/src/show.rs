//! `--show` and `--quiet`: the sections of a report for people.

macro_rules! sections {
    ($($doc:literal $section:ident $word:literal;)*) => {
        /// A section of a report for people.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Section {
            $(#[doc = $doc] $section,)*
        }

        impl Section {
            /// All sections.
            pub const ALL: [Section; [$($word),*].len()] = [$(Self::$section),*];

            /// Returns its word on the command line.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$section => $word,)*
                }
            }

            /// Returns the section with this word.
            #[must_use]
            pub fn parse(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|section| section.as_str() == word)
            }
        }
    };
}

sections! {
    "What failed." Fail "fail";
    "What could not be evaluated." Error "error";
    "What the run does not record enough for." Undecided "undecided";
    "What failed as expected." Expected "expected";
    "What a baseline knows." Known "known";
    "What nothing exercised." Vacuous "vacuous";
    "What passed and could not judge every step." Unjudged "unjudged";
    "What passed." Pass "pass";
    "Traces, and lines of them, that cannot be read." Unreadable "unreadable";
    "What was odd in a trace." Warnings "warnings";
}

/// The shown sections, and the amount of detail.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShownSections {
    /// Shows only these sections, each in full; `None` shows all except passed results, limited to a screen.
    pub only: Option<Vec<Section>>,
    /// Shows only results that fail a run; nothing if there are none.
    pub quiet: bool,
}

impl ShownSections {
    /// True if a section is shown.
    #[must_use]
    pub fn includes_section(&self, section: Section) -> bool {
        match &self.only {
            Some(only) => only.contains(&section),
            None if self.quiet => !matches!(
                section,
                Section::Expected
                    | Section::Known
                    | Section::Vacuous
                    | Section::Unjudged
                    | Section::Pass
                    | Section::Warnings
            ),
            None => section != Section::Pass,
        }
    }

    /// True if an explicitly requested section is shown in full.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.only.is_some()
    }
}
