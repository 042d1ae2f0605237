//! The file of a suite: what stands around its tests.

use super::{Assay, expected, metrics};
use crate::writer;
use crate::yaml::Node;
use averment_base::diagnostic::Slug;
use std::collections::BTreeSet;

const KEYS: &[&str] = &[
    "version",
    "configVersion",
    "suite",
    "description",
    "model",
    "settings",
    "thresholds",
    "otel",
    "metadata",
    "output",
    "tests",
];
/// What `settings` may hold: how the program runs the tests, which says nothing about runs that are recorded.
const SETTINGS: &[&str] =
    &["parallel", "timeout_seconds", "cache", "seed", "judge", "thresholding", "on_error", "bail_on_first_failure"];

/// The formats of reports, with what they are called here, and the flag that writes one.
const REPORTS: &[(&str, &str, &str)] = &[
    ("sarif", "sarif", "sarif=results.sarif"),
    ("junit", "junit", "junit=junit.xml"),
    ("json", "json", "json=results.json"),
    ("text", "human", "human=-"),
];

/// Whether a document is a suite.
pub(super) fn is_one(document: &Node) -> bool {
    let tests = document.get("tests").map_or(&[][..], Node::items);
    let is_test = |test: &Node| ["metric", "expected", "assertions"].iter().any(|key| test.get(key).is_some());
    let named = document.get("suite").is_some() && document.get("tests").is_some();
    named || document.get("configVersion").is_some() || (!tests.is_empty() && tests.iter().all(is_test))
}

/// Writes the rules of a suite.
pub(super) fn lower(assay: &mut Assay<'_, '_>, document: &Node) {
    let own: Vec<&str> = document.entries().iter().filter_map(|(key, _)| key.text()).collect();
    let extensions = own.iter().copied().filter(|key| key.starts_with("x-"));
    let known: Vec<&str> = KEYS.iter().copied().chain(extensions).collect();
    assay.low.said.keys(document, "the suite", &known);
    if let Some(settings) = document.get("settings") {
        assay.low.said.keys(settings, "`settings`", SETTINGS);
    }
    assay.version(document);
    for key in ["suite", "description"] {
        if let Some(words) = assay.low.said.optional_text(document, key, "the suite") {
            let words = if key == "suite" { format!("suite: {words}") } else { words.to_owned() };
            assay.low.out.remark(&words);
        }
    }
    assay.output(document);
    let Some(tests) = document.get("tests").filter(|tests| !tests.items().is_empty()) else {
        let message = "the suite has no tests";
        let place = document.get("tests").map_or(document.span.at_start(), |tests| tests.span);
        assay.low.said.error(Slug::TypeMismatch, place, message, "write `tests:` and a list of tests");
        return;
    };
    let mut ids = BTreeSet::new();
    for test in tests.items() {
        assay.test(test, &mut ids);
    }
}

impl Assay<'_, '_> {
    fn version(&mut self, document: &Node) {
        for key in ["version", "configVersion"] {
            let Some(node) = document.get(key) else { continue };
            if !matches!(node.key().as_str(), "0" | "1") {
                let message = format!("suites of version {} are not read", writer::literal(node));
                self.low.said.error(Slug::TypeMismatch, node.span, message, format!("write `{key}: 1`"));
            }
        }
    }

    /// Which reports the suite asks for: they are written where the command line names a folder, and only there.
    fn output(&mut self, document: &Node) {
        let Some(output) = document.get("output") else { return };
        self.low.said.keys(output, "`output`", &["format", "directory"]);
        let formats = output.get("format");
        let wanted = formats
            .map_or(&[][..], |formats| if formats.is_list() { formats.items() } else { std::slice::from_ref(formats) });
        let mut flags = Vec::new();
        for format in wanted {
            match REPORTS.iter().find(|(name, ..)| format.text() == Some(name)) {
                Some((_, word, flag)) => {
                    self.low.reports.push((*word).to_owned());
                    flags.push(format!("--report {flag}"));
                }
                None => {
                    let known: Vec<&str> = REPORTS.iter().map(|(name, ..)| *name).collect();
                    self.low.said.unknown_word(format, "format of reports", &known);
                }
            }
        }
        if !flags.is_empty() && !self.low.options.in_folder {
            let message = "the suite asks for reports, which the command line writes";
            let help = format!("write `--report-dir DIR` for all of them, or `{}`", flags.join(" "));
            self.low.said.info(Slug::Misplaced, output.span, message, help);
        }
    }

    fn test(&mut self, test: &Node, ids: &mut BTreeSet<String>) {
        if !test.is_map() {
            self.low.said.shape(test, "a test", "a mapping: `id` and `metric`, or `id`, `input` and `expected`");
            return;
        }
        let Some(id) = self.low.said.required_text(test, "id", "a test") else { return };
        if !ids.insert(id.to_owned()) {
            let place = test.get("id").map_or(test.span, |node| node.span);
            let message = format!("there are two tests `{id}`");
            self.low.said.error(Slug::Duplicate, place, message, "give each its own `id`");
        }
        match test.get("metric") {
            Some(_) => {
                metrics::lower(self, test, id);
            }
            None => expected::lower(self, test, id),
        }
    }
}
