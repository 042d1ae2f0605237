//! Configs: expands their tests as promptfoo does, including parts in other files.

use super::case::{TestPlan, write_cases};
use super::csv;
use super::files::{self, document_of, is_code, matching_paths, read_beside};
use super::modes::LoweringMode;
use super::template::fill_vars;
use super::values::{number_of, text_node};
use crate::Lowering;
use crate::yaml::{YamlNode, YamlValue};
use averment_base::diagnostic::Slug;
use averment_base::source::Span;

/// Maximum number of tests of one config, counting all combinations of variables.
const TESTS: usize = 20_000;
/// Maximum length of a chain of references.
const REFERENCES: usize = 16;

/// Writes a case for each test of a config.
pub(super) fn lower_config(document: &YamlNode, lowering: &mut Lowering<'_>) {
    let mut expansion = ConfigExpansion { document, lowering, plans: Vec::new() };
    expansion.take_tests();
    let plans = std::mem::take(&mut expansion.plans);
    if plans.is_empty() && !lowering.sink.has_errors() {
        let help = "write tests with assertions under `tests`";
        lowering.sink.error(Slug::Syntax, document.span.at_start(), "the config has no tests", help);
    }
    let cases = plans.iter().enumerate().map(|(at, plan)| (format!("test-{at}"), std::slice::from_ref(plan)));
    write_cases(cases, LoweringMode::Config, lowering);
}

struct ConfigExpansion<'c, 'l> {
    document: &'c YamlNode,
    lowering: &'c mut Lowering<'l>,
    plans: Vec<TestPlan>,
}

impl ConfigExpansion<'_, '_> {
    fn take_tests(&mut self) {
        let document = self.document;
        let tests = if document.is_list() { Some(document) } else { document.get("tests") };
        let tests = tests.map(|tests| self.read_tests(tests)).unwrap_or_default();
        let default = document.get("defaultTest").and_then(|default| self.read_default(default));
        let default = default.as_ref();
        for test in &tests {
            self.add_test(test, None, default);
        }
        let scenarios = document.get("scenarios").map(|list| self.read_tests(list)).unwrap_or_default();
        for scenario in &scenarios {
            let data = scenario.get("config").map(|list| self.read_tests(list)).unwrap_or_default();
            let tests = scenario.get("tests").map(|list| self.read_tests(list)).unwrap_or_default();
            for one in &data {
                tests.iter().for_each(|test| self.add_test(test, Some(one), default));
                if tests.is_empty() {
                    self.add_test(one, None, default);
                }
            }
        }
        // Without tests, each prompt runs once and is judged by the default test alone.
        if tests.is_empty()
            && scenarios.is_empty()
            && let Some(default) = default.filter(|default| default.get("assert").is_some())
        {
            let empty = YamlNode { value: YamlValue::Map(Vec::new()), span: default.span };
            self.add_test(&empty, None, Some(default));
        }
    }

    fn read_default(&mut self, node: &YamlNode) -> Option<YamlNode> {
        match node.as_text() {
            Some(path) => {
                let mut found = self.read_file(path, node.span);
                if found.is_empty() { None } else { Some(found.swap_remove(0)) }
            }
            None => self.resolve(node, 0),
        }
    }

    /// Reads tests: a list of tests, paths of files, or both.
    fn read_tests(&mut self, node: &YamlNode) -> Vec<YamlNode> {
        let mut tests = Vec::new();
        let items = if node.is_list() { node.items() } else { std::slice::from_ref(node) };
        for item in items {
            match &item.value {
                YamlValue::Text(path) => tests.extend(self.read_file(path, item.span)),
                YamlValue::Map(_) if item.get("path").is_some() && item.get("vars").is_none() => {
                    let path = item.get("path").and_then(YamlNode::as_text).unwrap_or_default().to_owned();
                    tests.extend(self.read_file(&path, item.span));
                }
                YamlValue::Map(_) => tests.extend(self.resolve(item, 0)),
                _ => self.lowering.sink.wrong_shape(item, "a test", "a mapping with `vars` and `assert`"),
            }
        }
        tests
    }

    fn read_file(&mut self, path: &str, place: Span) -> Vec<YamlNode> {
        let path = path.strip_prefix("file://").unwrap_or(path);
        if path.contains("://") || is_code(path) {
            let message = format!("`{path}` is not a file with tests: programs and addresses are not read");
            let help = "write the tests into a file in YAML, JSON, JSONL or CSV";
            self.lowering.sink.error(Slug::MissingFile, place, message, help);
            return Vec::new();
        }
        let paths = matching_paths(path, place, self.lowering);
        if paths.is_empty() {
            let message = format!("no file in the folder of this config matches `{path}`");
            self.lowering.sink.error(Slug::MissingFile, place, message, "fix the pattern");
        }
        let mut tests = Vec::new();
        for path in paths {
            tests.extend(self.read_one(&path, place));
        }
        tests
    }

    fn read_one(&mut self, path: &str, place: Span) -> Vec<YamlNode> {
        let file = match read_beside(path, place, self.lowering) {
            Ok(file) => file,
            Err(error) => {
                let help = "paths are relative to the file that names them, and stay in its folder";
                self.lowering.sink.error(Slug::MissingFile, place, error.describe_for(path), help);
                return Vec::new();
            }
        };
        if path.ends_with(".csv") {
            return csv::read_tests(&file.text, file.id);
        }
        let is_lines = path.ends_with(".jsonl") || path.ends_with(".ndjson");
        let read = if is_lines { files::lines_of(&file) } else { document_of(path, &file) };
        match read {
            Ok(document) if document.is_list() => {
                document.items().iter().filter_map(|item| self.resolve(item, 0)).collect()
            }
            Ok(document) if document.is_map() => self.resolve(&document, 0).into_iter().collect(),
            Ok(document) => {
                self.lowering.sink.wrong_shape(&document, "a file with tests", "a list of tests");
                Vec::new()
            }
            Err(error) => {
                self.lowering.sink.diagnostics.0.push(*error);
                Vec::new()
            }
        }
    }

    /// Resolves references: `$ref` is replaced by a part of the config.
    fn resolve(&mut self, node: &YamlNode, depth: usize) -> Option<YamlNode> {
        match &node.value {
            YamlValue::List(items) => {
                let items = items.iter().filter_map(|item| self.resolve(item, depth)).collect();
                Some(YamlNode { value: YamlValue::List(items), span: node.span })
            }
            YamlValue::Map(entries) => match node.get("$ref") {
                Some(reference) => self.resolve_reference(node, reference, depth),
                None => {
                    let entry = |(key, value): &(YamlNode, YamlNode)| Some((key.clone(), self.resolve(value, depth)?));
                    let entries = entries.iter().filter_map(entry).collect();
                    Some(YamlNode { value: YamlValue::Map(entries), span: node.span })
                }
            },
            _ => Some(node.clone()),
        }
    }

    fn resolve_reference(&mut self, node: &YamlNode, reference: &YamlNode, depth: usize) -> Option<YamlNode> {
        let path = self.lowering.sink.as_text(reference, "`$ref`")?.to_owned();
        let mut found = path.strip_prefix("#/").map(|_| self.document);
        for key in path.trim_start_matches("#/").split('/') {
            let key = key.replace("~1", "/").replace("~0", "~");
            found = found.and_then(|inside| match key.parse::<usize>() {
                Ok(at) if inside.is_list() => inside.items().get(at),
                _ => inside.get(&key),
            });
        }
        let Some(found) = found.cloned().filter(|_| depth < REFERENCES) else {
            let (message, help) = match depth < REFERENCES {
                true => (format!("`{path}` leads nowhere"), "write `#/assertTemplates/NAME`, and the template"),
                false => (format!("`{path}` leads to itself"), "write the assertion in place of the reference"),
            };
            self.lowering.sink.error(Slug::MissingFile, reference.span, message, help);
            return None;
        };
        let mut found = self.resolve(&found, depth.saturating_add(1))?;
        if let YamlValue::Map(entries) = &mut found.value {
            for (key, value) in node.entries().iter().filter(|(key, _)| key.as_text() != Some("$ref")) {
                entries.retain(|(known, _)| known.as_text() != key.as_text());
                entries.push((key.clone(), value.clone()));
            }
        }
        Some(found)
    }

    fn add_test(&mut self, test: &YamlNode, data: Option<&YamlNode>, default: Option<&YamlNode>) {
        if !test.is_map() {
            return self.lowering.sink.wrong_shape(test, "a test", "a mapping with `vars` and `assert`");
        }
        let layers: Vec<&YamlNode> = [default, data, Some(test)].into_iter().flatten().collect();
        let option = |key: &str| layers.iter().rev().find_map(|layer| layer.get("options")?.get(key));
        let plain = test.get("options").and_then(|options| options.get("disableDefaultAsserts"));
        let ignores_default = plain.and_then(YamlNode::as_boolean) == Some(true);
        let mut asserts = Vec::new();
        for layer in &layers {
            let is_default = default.is_some_and(|default| std::ptr::eq(default, *layer));
            if !(is_default && ignores_default) {
                asserts.extend(self.lowering.sink.list_items(layer, "assert", "a test").iter().cloned());
            }
        }
        if let Some(scored) = layers.iter().find_map(|layer| layer.get("assertScoringFunction")) {
            let message = "a program computes the score of this test, and programs are not run";
            let help = "the assertions are judged by themselves; write a `threshold` for their mean";
            self.lowering.sink.warning(Slug::TypeMismatch, scored.span, message, help);
        }
        let threshold = layers.iter().rev().find_map(|layer| layer.get("threshold").filter(|node| !node.is_null()));
        if let Some(node) = threshold.filter(|node| number_of(node).is_none()) {
            self.lowering.sink.wrong_shape(node, "`threshold` of a test", "a number");
        }
        let expands = option("disableVarExpansion").and_then(YamlNode::as_boolean) != Some(true);
        let repeat = self.repeat_count(option("repeat"));
        let combinations = self.var_combinations(&layers, expands);
        let description = test.get("description").and_then(YamlNode::as_text).map(str::to_owned);
        for _ in 0..repeat {
            for vars in &combinations {
                if self.plans.len() >= TESTS {
                    let message = format!("the config has more than {TESTS} tests with all their variables");
                    return self.lowering.sink.error(Slug::TooLarge, test.span, message, "split the config");
                }
                self.plans.push(TestPlan {
                    place: test.span,
                    description: description.clone(),
                    vars: Some(fill_vars(vars)),
                    asserts: asserts.clone(),
                    threshold: threshold.and_then(|node| Some((number_of(node)?, node.span))),
                    columns: Vec::new(),
                });
            }
        }
    }

    fn repeat_count(&self, own: Option<&YamlNode>) -> usize {
        let whole = self.document.get("evaluateOptions").and_then(|options| options.get("repeat"));
        let count = own.or(whole).and_then(YamlNode::as_number).and_then(|number| number.parse::<usize>().ok());
        count.unwrap_or(1).clamp(1, TESTS)
    }

    /// Returns all combinations of variables. A variable with a list of texts has one test for each of them.
    fn var_combinations(&mut self, layers: &[&YamlNode], expands: bool) -> Vec<YamlNode> {
        let mut vars: Vec<(YamlNode, YamlNode)> = Vec::new();
        let span = layers.last().map_or(Span::new(self.lowering.root, 0, 0), |test| test.span);
        for layer in layers {
            let Some(node) = layer.get("vars").filter(|node| !node.is_null()) else { continue };
            let read = node.as_text().map(|path| self.read_file(path, node.span));
            let owner = read.as_ref().and_then(|read| read.first()).unwrap_or(node);
            if !owner.is_map() {
                self.lowering.sink.wrong_shape(owner, "`vars` of a test", "a mapping from names to values");
            }
            for (key, value) in owner.entries() {
                match vars.iter_mut().find(|(known, _)| known.as_text() == key.as_text()) {
                    Some(known) => known.1 = value.clone(),
                    None => vars.push((key.clone(), value.clone())),
                }
            }
        }
        let mut all = vec![Vec::new()];
        for (key, value) in vars {
            let values = self.var_values(&value, expands);
            let grown = all.len().saturating_mul(values.len());
            if grown > TESTS {
                let message = format!("the variables of this test have more than {TESTS} combinations");
                self.lowering.sink.error(Slug::TooLarge, value.span, message, "write fewer values");
                return Vec::new();
            }
            let mut next = Vec::with_capacity(grown);
            for before in &all {
                for value in &values {
                    let mut entries: Vec<(YamlNode, YamlNode)> = before.clone();
                    entries.push((key.clone(), value.clone()));
                    next.push(entries);
                }
            }
            all = next;
        }
        all.into_iter().map(|entries| YamlNode { value: YamlValue::Map(entries), span }).collect()
    }

    fn var_values(&mut self, value: &YamlNode, expands: bool) -> Vec<YamlNode> {
        let values = match &value.value {
            YamlValue::List(items) if expands && items.first().is_some_and(|first| first.as_text().is_some()) => {
                items.clone()
            }
            YamlValue::Text(text) if text.starts_with("file://") => {
                let path = text.trim_start_matches("file://");
                let paths = matching_paths(path, value.span, self.lowering);
                paths.into_iter().map(|path| text_node(format!("file://{path}"), value.span)).collect()
            }
            _ => vec![value.clone()],
        };
        values.into_iter().map(|value| self.var_content(value)).collect()
    }

    /// Returns the content of the file that a variable refers to.
    fn var_content(&mut self, value: YamlNode) -> YamlNode {
        let Some(path) = value.as_text().and_then(|text| text.strip_prefix("file://")).map(str::to_owned) else {
            return value;
        };
        if is_code(&path) {
            let message = format!("`{path}` is a program, and programs are not run");
            let help = "assertions that use the variable see its name";
            self.lowering.sink.warning(Slug::MissingFile, value.span, message, help);
            return value;
        }
        if files::is_media(&path) {
            let message = format!("`{path}` holds no text, and is not read");
            let help = "assertions that use the variable see its name";
            self.lowering.sink.warning(Slug::MissingFile, value.span, message, help);
            return value;
        }
        match files::read_beside(&path, value.span, self.lowering) {
            Ok(file) => match document_of(&path, &file) {
                Ok(document) if document.as_text().is_none() => text_node(document.to_json(), value.span),
                Ok(document) => text_node(document.as_text().unwrap_or_default().trim(), value.span),
                Err(error) => {
                    self.lowering.sink.diagnostics.0.push(*error);
                    value
                }
            },
            Err(error) => {
                let help = "paths are relative to the file that names them, and stay in its folder";
                self.lowering.sink.error(Slug::MissingFile, value.span, error.describe_for(&path), help);
                value
            }
        }
    }
}
