//! An incremental check of a text gives the result of a complete check.

use super::CheckMode;
use crate::lsp::analysis::{Analysis, CheckContext};
use crate::lsp::documents::DocumentStore;
use averment_base::diagnostic::{Diagnostic, Severity};
use lsp_types::Uri;
use std::path::Path;
use std::str::FromStr as _;
use std::sync::Arc;

const FRAGMENTS: &[&str] = &[
    "require search\n",
    "never ",
    "(",
    ")",
    "{",
    "}",
    "\n",
    " weight 2",
    "\"",
    "before a -> b",
    "rule extra { require x }\n",
    "let extra = 1\n",
    "output.x == extra\n",
    "## doc\n",
    "# allow: unused-let\n",
    "and ",
    " $x",
    "/",
    "ä🙂",
    "\r\n",
];

/// A deterministic pseudo-random generator.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}

fn analysis(text: &str, before: Option<Analysis>, mode: CheckMode) -> Analysis {
    let uri = Uri::from_str("file:///work/rules.assert").unwrap();
    let documents = DocumentStore::default();
    let lints = crate::lint::LintOptions::default();
    let given = CheckContext { documents: &documents, lints: Some(&lints), tools: &[] };
    Analysis::of_document(Path::new("/work/rules.assert"), &uri, Arc::from(text), given, before, mode)
}

fn errors(analysis: &Analysis) -> Vec<Diagnostic> {
    let all = analysis.diagnostics.0.iter().filter(|one| one.severity == Severity::Error && !one.slug.is_lint());
    all.cloned().collect()
}

/// Returns a random offset at a character boundary.
fn place(text: &str, numbers: &mut Random) -> usize {
    let at = numbers.below(text.len() + 1);
    (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap()
}

fn edited(text: &str, numbers: &mut Random) -> String {
    let start = place(text, numbers);
    let end = match numbers.below(3) {
        0 => text[start..].char_indices().nth(numbers.below(12)).map_or(text.len(), |(at, _)| start + at),
        _ => start,
    };
    let fragment = FRAGMENTS[numbers.below(FRAGMENTS.len())];
    format!("{}{fragment}{}", &text[..start], &text[end..])
}

fn follows(name: &str, text: &str, edits: usize, numbers: &mut Random) {
    let mut text = text.to_owned();
    let mut known = analysis(&text, None, CheckMode::Full);
    for _ in 0..edits {
        // Now and then all edits are undone, as a person typing does.
        let next = edited(&text, numbers);
        known = analysis(&next, Some(known), CheckMode::Incremental);
        let fresh = analysis(&next, None, CheckMode::Full);
        assert!(known.checked.ast == fresh.checked.ast, "{name}: {next:?}");
        assert_eq!(known.syntax, fresh.syntax, "{name}: {next:?}");
        // The command line parses the file as a whole.
        let (tree, _, said) =
            averment_syntax::parse(&fresh.sources, fresh.root, &averment_base::limits::Limits::default());
        assert!(tree == fresh.checked.ast, "{name}: {next:?}");
        assert_eq!(said, fresh.syntax, "{name}: {next:?}");
        if !known.partial {
            assert_eq!(known.diagnostics, fresh.diagnostics, "{name}: {next:?}");
        } else if fresh.syntax.0.is_empty() {
            assert_eq!(errors(&known), errors(&fresh), "{name}: {next:?}");
            let sorted = |one: &Analysis| {
                let mut all = one.checked.symbols.references.clone();
                all.sort();
                all
            };
            assert_eq!(sorted(&known), sorted(&fresh), "{name}: {next:?}");
        }
        if numbers.below(3) > 0 {
            known = analysis(&text, Some(known), CheckMode::Incremental);
        } else {
            text = next;
        }
    }
}

#[test]
fn random_edits_of_good_files() {
    let folder = averment_fixtures::project("tests/conformance/language/good");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "assert"));
    paths.sort();
    let mut numbers = Random(7);
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        if text.len() < 3_000 {
            follows(&path.to_string_lossy(), &text, 6, &mut numbers);
        }
    }
}

#[test]
fn an_edit_of_one_statement_checks_one_statement() {
    let text = "param limit: number = 3\nrule a {\n  require x\n}\noutput.n <= limit\nlet unused = 1\nnever y\n";
    let known = analysis(text, None, CheckMode::Full);
    let next = text.replace("output.n", "output.name");
    let known = analysis(&next, Some(known), CheckMode::Incremental);
    assert!(known.partial);
    // Diagnostics of other statements are kept, at their new locations.
    let unused = known.diagnostics.0.iter().find(|one| one.slug.as_str() == "unused-let").unwrap();
    assert_eq!(known.sources.span_text(unused.span), "unused");
    // A changed declaration requires a complete check.
    let next = next.replace("limit:", "bound:");
    assert!(!analysis(&next, Some(known), CheckMode::Incremental).partial);
}
