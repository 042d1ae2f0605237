//! The pages of the documentation that `aver docs` shows. They are in this crate because its folder contains `docs`: a published package can only
//! include files from its own folder.

/// A page of the documentation.
#[derive(Debug, Clone, Copy)]
pub struct DocumentationPage {
    /// Its topic in `aver docs`.
    pub topic: &'static str,
    /// Its text, in Markdown.
    pub text: &'static str,
    /// Its subject, in one line.
    pub about: &'static str,
}

macro_rules! pages {
    ($($topic:literal $file:literal $about:literal)*) => {
        &[$(DocumentationPage { topic: $topic, text: include_str!(concat!("../docs/", $file)), about: $about }),*]
    };
}

/// All pages, the short one first.
pub const PAGES: &[DocumentationPage] = pages! {
    "cheatsheet" "cheatsheet.md" "the language on one page: statements, recipes, and what to write instead of what"
    "language" "reference/language.md" "the language: files, expressions, steps, statements, verdicts"
    "course" "reference/course.md" "statements about the course of a run, precisely"
    "expressions" "reference/expressions.md" "what expressions mean: paths, tests, missing values, scores"
    "over-runs" "reference/over-runs.md" "rules over many runs: rates, groups, averages and percentiles"
    "checking" "reference/checking.md" "what the compiler checks: names, types, tools"
    "traces" "reference/traces.md" "the formats of traces, and what runs record"
    "format" "reference/format.md" "the style of rule files, as `aver fmt` writes them"
    "command-line" "reference/command-line.md" "the commands, formats and exit codes"
    "history" "reference/history.md" "results over time: recording, trust, comparison"
    "lint" "reference/lint.md" "the linter: levels, fixes, all lints"
    "dialects" "reference/dialects.md" "rule files of twelve other systems, from STOP to promptfoo"
    "explanation" "explanation.md" "verdicts, honesty, and how a check works"
    "packs" "packs.md" "packs of rules to start from: what each rule says, and its parameters"
    "glossary" "glossary.md" "words with a fixed meaning"
    "project" "reference/project.md" "`averment.toml`: rules, traces, levels of a project"
};
