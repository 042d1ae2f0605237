//! The suite file: everything except its tests.

use super::{AssayLowering, expected, metrics};
use crate::writer;
use crate::yaml::YamlNode;
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
/// Settings for running tests, which do not matter for recorded runs.
const SETTINGS: &[&str] =
    &["parallel", "timeout_seconds", "cache", "seed", "judge", "thresholding", "on_error", "bail_on_first_failure"];

const REPORTS: &[(&str, &str, &str)] = &[
    ("sarif", "sarif", "sarif=results.sarif"),
    ("junit", "junit", "junit=junit.xml"),
    ("json", "json", "json=results.json"),
    ("text", "human", "human=-"),
];

pub(super) fn is_suite(document: &YamlNode) -> bool {
    let tests = document.get("tests").map_or(&[][..], YamlNode::items);
    let is_test = |test: &YamlNode| ["metric", "expected", "assertions"].iter().any(|key| test.get(key).is_some());
    let named = document.get("suite").is_some() && document.get("tests").is_some();
    named || document.get("configVersion").is_some() || (!tests.is_empty() && tests.iter().all(is_test))
}

pub(super) fn lower_suite(assay: &mut AssayLowering<'_, '_>, document: &YamlNode) {
    let own: Vec<&str> = document.entries().iter().filter_map(|(key, _)| key.as_text()).collect();
    let extensions = own.iter().copied().filter(|key| key.starts_with("x-"));
    let known: Vec<&str> = KEYS.iter().copied().chain(extensions).collect();
    assay.low.sink.check_keys(document, "the suite", &known);
    if let Some(settings) = document.get("settings") {
        assay.low.sink.check_keys(settings, "`settings`", SETTINGS);
    }
    assay.check_version(document);
    for key in ["suite", "description"] {
        if let Some(words) = assay.low.sink.optional_text(document, key, "the suite") {
            let words = if key == "suite" { format!("suite: {words}") } else { words.to_owned() };
            assay.low.out.write_remark(&words);
        }
    }
    assay.requested_reports(document);
    let Some(tests) = document.get("tests").filter(|tests| !tests.items().is_empty()) else {
        let message = "the suite has no tests";
        let place = document.get("tests").map_or(document.span.at_start(), |tests| tests.span);
        assay.low.sink.error(Slug::TypeMismatch, place, message, "write `tests:` and a list of tests");
        return;
    };
    let mut ids = BTreeSet::new();
    for test in tests.items() {
        assay.lower_test(test, &mut ids);
    }
}

impl AssayLowering<'_, '_> {
    fn check_version(&mut self, document: &YamlNode) {
        for key in ["version", "configVersion"] {
            let Some(node) = document.get(key) else { continue };
            if !matches!(node.key_text().as_str(), "0" | "1") {
                let message = format!("suites of version {} are not read", writer::value_literal(node));
                self.low.sink.error(Slug::TypeMismatch, node.span, message, format!("write `{key}: 1`"));
            }
        }
    }

    /// Reads the report formats that the suite requests. Reports are written only to a folder that the command line names.
    fn requested_reports(&mut self, document: &YamlNode) {
        let Some(output) = document.get("output") else { return };
        self.low.sink.check_keys(output, "`output`", &["format", "directory"]);
        let formats = output.get("format");
        let wanted = formats
            .map_or(&[][..], |formats| if formats.is_list() { formats.items() } else { std::slice::from_ref(formats) });
        let mut flags = Vec::new();
        for format in wanted {
            match REPORTS.iter().find(|(name, ..)| format.as_text() == Some(name)) {
                Some((_, word, flag)) => {
                    self.low.reports.push((*word).to_owned());
                    flags.push(format!("--report {flag}"));
                }
                None => {
                    let known: Vec<&str> = REPORTS.iter().map(|(name, ..)| *name).collect();
                    self.low.sink.unknown_word(format, "format of reports", &known);
                }
            }
        }
        if !flags.is_empty() && !self.low.options.in_folder {
            let message = "the suite asks for reports, which the command line writes";
            let help = format!("write `--report-dir DIR` for all of them, or `{}`", flags.join(" "));
            self.low.sink.info(Slug::Misplaced, output.span, message, help);
        }
    }

    fn lower_test(&mut self, test: &YamlNode, ids: &mut BTreeSet<String>) {
        if !test.is_map() {
            self.low.sink.wrong_shape(test, "a test", "a mapping: `id` and `metric`, or `id`, `input` and `expected`");
            return;
        }
        let Some(id) = self.low.sink.required_text(test, "id", "a test") else { return };
        if !ids.insert(id.to_owned()) {
            let place = test.get("id").map_or(test.span, |node| node.span);
            let message = format!("there are two tests `{id}`");
            self.low.sink.error(Slug::Duplicate, place, message, "give each its own `id`");
        }
        match test.get("metric") {
            Some(_) => {
                metrics::lower_metric_test(self, test, id);
            }
            None => expected::lower_case(self, test, id),
        }
    }
}
