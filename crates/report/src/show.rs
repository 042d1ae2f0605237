//! What a report for people shows beside its last line: `--show` and `--quiet`.

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

            /// The word on the command line.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$section => $word,)*
                }
            }

            /// The section of a word.
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

/// Which sections are shown, and how much of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShownSections {
    /// Only these, and each of them whole; `None` for all but what passed, as much as fits a screen.
    pub only: Option<Vec<Section>>,
    /// Only what fails a run, and nothing at all where nothing does.
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
