//! Suites: their tests, including the parts in other files.

use super::grader::{LoweredGrader, RequiredScore, read_grader};
use super::kinds::{GraderScore, number_from};
use crate::Lowering;
use crate::promptfoo::files::{document_of, is_code, matching_paths, read_beside};
use crate::promptfoo::{TOOLS, TemplateVars};
use crate::weighted::{SUFFICES, bounded_gate};
use crate::writer::{CaseLine, RuleWriter, UniqueLabels, WrittenCase, quote_text};
use crate::yaml::{YamlNode, YamlValue};
use averment_base::diagnostic::Slug;
use averment_base::source::Span;

/// Maximum number of tests of a suite, and maximum depth of files that include each other.
const TESTS: usize = 20_000;
const DEEPEST: usize = 3;
/// The default minimum score of a test.
const THRESHOLD: f64 = 0.8;

/// Writes a case for each test of a suite.
pub(super) fn lower_suite(document: &YamlNode, lowering: &mut Lowering<'_>) {
    let mut suite = Suite { document, lowering };
    let tests = suite.read_tests();
    let mut labels = UniqueLabels::default();
    let mut out = RuleWriter::default();
    for test in &tests {
        suite.write_test(test, &mut labels, &mut out);
    }
    if tests.is_empty() && !lowering.sink.has_errors() {
        let help = "write tests with an `id` and `assert` under `tests`";
        lowering.sink.error(Slug::Syntax, document.span.at_start(), "the suite has no tests", help);
    }
    let start = Span::new(lowering.root, 0, 0);
    let shared = [("answer", "let answer = text(output)"), ("tools_used", TOOLS), ("suffices(", SUFFICES)];
    for (name, line) in shared {
        if out.contains_text(name) {
            lowering.out.write_line(start, |out| out.put_text(line));
        }
    }
    lowering.out.append(out);
}

/// A test and the scenario configuration that applies to it.
struct SuiteTest {
    node: YamlNode,
    /// The scenario configuration that this test is combined with.
    config: Option<YamlNode>,
}

struct Suite<'s, 'l> {
    document: &'s YamlNode,
    lowering: &'s mut Lowering<'l>,
}

impl Suite<'_, '_> {
    fn read_tests(&mut self) -> Vec<SuiteTest> {
        let document = self.document;
        let tests = if document.is_list() { Some(document) } else { document.get("tests") };
        let tests = tests.map(|tests| self.expand(tests, "tests")).unwrap_or_default();
        let mut all: Vec<SuiteTest> = tests.into_iter().map(|node| SuiteTest { node, config: None }).collect();
        let scenarios = document.get("scenarios").map(|list| self.expand(list, "scenarios")).unwrap_or_default();
        for scenario in &scenarios {
            let configs = scenario.get("config").map(|list| self.expand(list, "config")).unwrap_or_default();
            let tests = scenario.get("tests").map(|list| self.expand(list, "tests")).unwrap_or_default();
            for config in &configs {
                all.extend(tests.iter().map(|node| SuiteTest { node: node.clone(), config: Some(config.clone()) }));
            }
        }
        if all.len() > TESTS {
            let message = format!("the suite has more than {TESTS} tests");
            self.lowering.sink.error(Slug::TooLarge, document.span.at_start(), message, "split the suite");
            all.clear();
        }
        all
    }

    /// Expands a list in which a text is the path of a file with more entries.
    fn expand(&mut self, node: &YamlNode, key: &str) -> Vec<YamlNode> {
        let single = std::slice::from_ref(node);
        let items = if node.is_list() { node.items() } else { single };
        let mut all = Vec::new();
        for item in items {
            match &item.value {
                YamlValue::Text(path) => all.extend(self.read_files(path, item.span, key)),
                YamlValue::Map(_) => all.push(item.clone()),
                _ => self.lowering.sink.wrong_shape(
                    item,
                    &format!("an entry of `{key}`"),
                    "a mapping, or the path of a file",
                ),
            }
        }
        all
    }

    fn read_files(&mut self, path: &str, place: Span, key: &str) -> Vec<YamlNode> {
        let path = path.strip_prefix("file://").unwrap_or(path);
        if is_code(path) || path.contains("://") {
            let message = format!("`{path}` is a program or an address, and is not read");
            let help = "write the tests into a file in YAML, JSON or JSONL";
            self.lowering.sink.error(Slug::MissingFile, place, message, help);
            return Vec::new();
        }
        let paths = matching_paths(path, place, self.lowering);
        if paths.is_empty() {
            let message = format!("no file in the folder of this suite matches `{path}`");
            self.lowering.sink.error(Slug::MissingFile, place, message, "fix the pattern");
        }
        let mut all = Vec::new();
        for path in paths {
            let Some(document) = self.read_file(&path, place) else { continue };
            let inside = document.get(key).unwrap_or(&document);
            match inside.is_list() {
                true => all.extend(inside.items().iter().cloned()),
                false => all.push(inside.clone()),
            }
        }
        all
    }

    fn read_file(&mut self, path: &str, place: Span) -> Option<YamlNode> {
        let read = match read_beside(path, place, self.lowering) {
            Ok(file) if path.ends_with(".jsonl") => crate::promptfoo::files::lines_of(&file),
            Ok(file) => document_of(path, &file),
            Err(error) => {
                let help = "paths are relative to the file that names them, and stay in its folder";
                self.lowering.sink.error(Slug::MissingFile, place, error.describe_for(path), help);
                return None;
            }
        };
        match read {
            Ok(document) if document.as_text().is_none() => Some(document),
            Ok(_) => {
                let help = "write YAML, JSON or JSONL";
                self.lowering.sink.error(Slug::Syntax, place, format!("`{path}` is of no form that is read"), help);
                None
            }
            Err(error) => {
                self.lowering.sink.diagnostics.0.push(*error);
                None
            }
        }
    }

    fn write_test(&mut self, test: &SuiteTest, labels: &mut UniqueLabels, out: &mut RuleWriter) {
        let node = &test.node;
        if !node.is_map() {
            return self.lowering.sink.wrong_shape(node, "a test", "a mapping with `id` and `assert`");
        }
        let layers = test_layers(self.document, test);
        let vars = merged_vars(&layers);
        let filled = TemplateVars::new(Some(&vars));
        let mut graders = Vec::new();
        let mut words = 0.0;
        for assertion in self.assertions(test) {
            match &assertion.value {
                YamlValue::Text(_) => words += 1.0,
                _ => graders.extend(read_grader(&assertion, &filled, self.lowering)),
            }
        }
        if words > 0.0 {
            let judged = LoweredGrader::judged(node.span, "a criterion in words is judged by a model");
            graders.push(LoweredGrader { weight: words, ..judged });
        }
        let id = node.get("id").map(YamlNode::key_text);
        let id = id.or_else(|| node.get("description").map(YamlNode::key_text)).unwrap_or_else(|| "test".to_owned());
        if graders.is_empty() {
            if !self.lowering.sink.has_errors() {
                let message = format!("`{id}` asserts nothing that is written in words or types");
                let help = "write assertions under `assert`";
                self.lowering.sink.warning(Slug::AlwaysTrue, node.span, message, help);
            }
            return;
        }
        let Some(threshold) = self.threshold(&layers) else { return };
        let lines = test_lines(node.span, &graders, threshold);
        let label = labels.unique_label(&id);
        let prompt = self.prompt(&layers, &vars, &filled);
        let prompt = prompt.as_deref().map(|prompt| (prompt, node.span));
        out.write_case(&WrittenCase { place: node.span, label: &label, remark: None, prompt, lines: &lines });
    }

    /// Returns the assertions of the test, of its scenario, of the default test and of the suite.
    fn assertions(&mut self, test: &SuiteTest) -> Vec<YamlNode> {
        let execution = test.node.get("execution");
        let skips = execution.and_then(|execution| execution.get("skip_defaults")).and_then(YamlNode::as_boolean);
        let mut sources = vec![&test.node];
        sources.extend(test.config.as_ref());
        if skips != Some(true) {
            sources.extend(self.document.get("default_test"));
            sources.push(self.document);
        }
        let mut all = Vec::new();
        for source in sources {
            for key in ["assert", "assertions"] {
                let items = self.lowering.sink.list_items(source, key, "a test").to_vec();
                self.push_assertions(items, 0, &mut all);
            }
        }
        all
    }

    /// Adds assertions to `all`. An assertion `{include: PATH}` is replaced by the assertions of that file.
    fn push_assertions(&mut self, items: Vec<YamlNode>, depth: usize, all: &mut Vec<YamlNode>) {
        for item in items {
            let Some(include) = item.get("include").filter(|_| item.entries().len() == 1) else {
                all.push(item);
                continue;
            };
            let Some(path) = self.lowering.sink.as_text(include, "`include`").map(str::to_owned) else { continue };
            if depth >= DEEPEST {
                let message = format!("`{path}` is included more than {DEEPEST} levels deep");
                self.lowering.sink.error(Slug::TooLarge, include.span, message, "write the assertions here");
                continue;
            }
            let is_name = !path.starts_with('.') && !path.contains(['/', '\\']);
            let path = if is_name { format!(".agentv/templates/{path}.yaml") } else { path };
            let Some(document) = self.read_file(&path, include.span) else { continue };
            let inner = self.lowering.sink.list_items(&document, "assert", "a file of assertions").to_vec();
            self.push_assertions(inner, depth.saturating_add(1), all);
        }
    }

    fn threshold(&mut self, layers: &[&YamlNode]) -> Option<f64> {
        let owners = layers.iter().rev().copied().chain([self.document]);
        for owner in owners.collect::<Vec<_>>() {
            for place in [Some(owner), owner.get("execution")].into_iter().flatten() {
                if let Some(threshold) = number_from(place, "threshold", 0.0, 1.0, self.lowering)? {
                    return Some(threshold);
                }
            }
        }
        Some(THRESHOLD)
    }

    /// Returns the prompt of the user if it is a single text.
    fn prompt(&self, layers: &[&YamlNode], vars: &YamlNode, filled: &TemplateVars) -> Option<String> {
        let own = layers.last().and_then(|test| test.get("input"));
        if let Some(input) = own.or_else(|| vars.get("input")) {
            return asked_text(input);
        }
        let prompts = self.document.get("prompts").map(YamlNode::items).unwrap_or_default();
        let [only] = prompts else { return None };
        filled.render(only.as_text()?).ok()
    }
}

/// Returns the mappings that provide the settings of a test. Later ones take precedence.
fn test_layers<'t>(document: &'t YamlNode, test: &'t SuiteTest) -> Vec<&'t YamlNode> {
    [document.get("default_test"), test.config.as_ref(), Some(&test.node)].into_iter().flatten().collect()
}

/// Returns the last user message of a text or of a list of messages.
fn asked_text(input: &YamlNode) -> Option<String> {
    let is_user = |message: &&YamlNode| message.get("role").and_then(YamlNode::as_text) == Some("user");
    match input.as_text() {
        Some(text) => Some(text.to_owned()),
        None => input.items().iter().rev().find(is_user)?.get("content")?.as_text().map(str::to_owned),
    }
}

fn merged_vars(layers: &[&YamlNode]) -> YamlNode {
    let mut vars: Vec<(YamlNode, YamlNode)> = Vec::new();
    let span = layers.last().map_or(Span::new(averment_base::source::FileId(0), 0, 0), |test| test.span);
    let own = |layer: &&YamlNode, key: &str| layer.get(key).cloned();
    for layer in layers {
        for (key, value) in layer.get("vars").map(YamlNode::entries).unwrap_or_default() {
            vars.retain(|(known, _)| known.as_text() != key.as_text());
            vars.push((key.clone(), value.clone()));
        }
        // Templates can also name keys beside `vars`.
        for key in ["expected_output", "criteria"] {
            let is_set = vars.iter().any(|(known, _)| known.as_text() == Some(key));
            if let Some(value) = own(layer, key).filter(|value| !is_set && value.as_text().is_some()) {
                let name = YamlNode { value: YamlValue::Text(key.to_owned()), span: value.span };
                vars.push((name, value));
            }
        }
    }
    let inner = YamlNode { value: YamlValue::Map(vars.clone()), span };
    vars.push((YamlNode { value: YamlValue::Text("vars".to_owned()), span }, inner));
    YamlNode { value: YamlValue::Map(vars), span }
}

/// Writes the assertions of a test. If all of them must pass, each is a line of its own; otherwise the weighted mean decides.
fn test_lines(place: Span, graders: &[LoweredGrader], threshold: f64) -> Vec<CaseLine> {
    let (known, elsewhere) = LoweredGrader::weighed(graders);
    let total: f64 = known.iter().map(|part| part.weight).sum::<f64>() + elsewhere;
    let least = graders.iter().map(|one| one.weight).filter(|weight| *weight > 0.0).fold(f64::INFINITY, f64::min);
    let is_plain = |one: &LoweredGrader| !matches!(one.score, GraderScore::Share(_));
    // True if a single failed assertion already puts the mean below the threshold.
    let all_pass = graders.iter().all(is_plain) && total > 0.0 && (total - least) / total < threshold;
    let mut lines = Vec::new();
    for one in graders {
        push_grader(one, !all_pass, threshold, &mut lines);
    }
    if !all_pass {
        let gate = bounded_gate(&known, elsewhere, threshold);
        let message = quote_text(&format!("the weighted mean of the assertions is below {threshold}"));
        lines.push(CaseLine::new(place, format!("{gate} weight 0 message {message}")));
    }
    lines
}

fn push_grader(one: &LoweredGrader, gated: bool, threshold: f64, lines: &mut Vec<CaseLine>) {
    let mut modifiers = String::new();
    if one.weight != 1.0 {
        modifiers.push_str(&format!(" weight {}", one.weight));
    }
    if let Some(metric) = &one.metric {
        modifiers.push_str(&format!(" as {metric}"));
    }
    let least = match one.least {
        Some(RequiredScore::Own(own)) => own,
        _ => threshold,
    };
    let gates = one.least.is_some() || !gated && one.weight > 0.0;
    if !gates {
        modifiers.push_str(" severity info");
    }
    for member in &one.members {
        let mut inner = Vec::new();
        push_grader(member, true, threshold, &mut inner);
        lines.extend(inner);
    }
    let least = one.set_threshold.filter(|_| one.least.is_none()).unwrap_or(least);
    lines.push(CaseLine::new(one.place, format!("{}{modifiers}", one.score.at_least(least))));
}
