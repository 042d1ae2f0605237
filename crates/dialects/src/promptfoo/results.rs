//! Result files: each test, with the assertions and variables that judged it.

use super::case::{TestPlan, write_cases};
use super::modes::LoweringMode;
use super::values::{number_of, parse_json, script_text};
use crate::Lowering;
use crate::yaml::YamlNode;
use averment_base::diagnostic::Slug;
use averment_base::source::{FileId, Span};
use std::collections::BTreeMap;

/// True if the text of a JSON file looks like results.
pub(super) fn looks_like_results(text: &str) -> bool {
    let begins = text.trim_start().starts_with(['{', '[']);
    begins
        && text.contains("\"testCase\"")
        && ["\"gradingResult\"", "\"promptIdx\""].iter().any(|key| text.contains(key))
}

/// Writes a case for each test.
pub(super) fn lower_results(lowering: &mut Lowering<'_>) {
    let root = lowering.root;
    let text = lowering.sources.get(root).map(|file| file.text.clone()).unwrap_or_default();
    let Some(rows) = read_rows(&text, root, lowering) else { return };
    let mut tests: BTreeMap<(u64, String), Vec<(String, TestPlan)>> = BTreeMap::new();
    for (row, position) in rows.iter().zip(0_u64..) {
        let index = row.get("testIdx").map(script_text);
        let order = index.as_deref().and_then(|index| index.parse().ok()).unwrap_or(position);
        let Some(index) = index else { continue };
        let Some((key, plan)) = row_plan(row) else { continue };
        let plans = tests.entry((order, index)).or_default();
        match plans.iter_mut().find(|(known, _)| *known == key) {
            Some((_, known)) => known.columns.extend(plan.columns),
            None => plans.push((key, plan)),
        }
    }
    let cases: Vec<(String, Vec<TestPlan>)> = tests
        .into_iter()
        .map(|((_, index), plans)| {
            let is_alone = plans.len() == 1;
            let plans = plans.into_iter().map(|(_, mut plan)| {
                if is_alone {
                    plan.columns.clear();
                }
                plan
            });
            (crate::writer::to_label(&format!("test-{index}")), plans.collect())
        })
        .collect();
    if cases.is_empty() {
        let message = "the file holds no result with a test and its index";
        let help = "write the results again with `promptfoo eval --output results.json`";
        lowering.sink.error(Slug::Syntax, Span::new(root, 0, 0), message, help);
    }
    write_cases(cases.iter().map(|(name, plans)| (name.clone(), plans.as_slice())), LoweringMode::Results, lowering);
}

/// Reads the results of a file: one JSON value, or JSON Lines.
fn read_rows(text: &str, root: FileId, lowering: &mut Lowering<'_>) -> Option<Vec<YamlNode>> {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    let is_row = |line: &str| parse_json(line, 0, root).is_ok_and(|row| row.get("testCase").is_some());
    let mut rows = Vec::new();
    let mut take =
        |read: Result<YamlNode, Box<averment_base::diagnostic::Diagnostic>>, rows: &mut Vec<YamlNode>| match read {
            Ok(value) => rows.push(value),
            Err(error) => lowering.sink.diagnostics.0.push(*error),
        };
    if first.starts_with('{') && first.ends_with('}') && is_row(first) {
        let mut at = 0_usize;
        for line in text.split_inclusive('\n') {
            if !line.trim().is_empty() {
                take(parse_json(line.trim_end(), at, root), &mut rows);
            }
            at = at.saturating_add(line.len());
        }
        return Some(rows);
    }
    let mut whole = Vec::new();
    take(parse_json(text, 0, root), &mut whole);
    let document = whole.pop()?;
    let inner = document.get("results").unwrap_or(&document);
    let list = inner.get("results").unwrap_or(inner);
    rows.extend(list.items().iter().cloned());
    Some(rows)
}

/// Returns the test of a result, with a key that distinguishes it from other tests.
fn row_plan(row: &YamlNode) -> Option<(String, TestPlan)> {
    let test = row.get("testCase").filter(|test| test.is_map())?;
    let vars = row.get("vars").or_else(|| test.get("vars")).filter(|vars| vars.is_map());
    let asserts = test.get("assert").map(YamlNode::items).unwrap_or_default().to_vec();
    let threshold = test.get("threshold").and_then(|node| Some((number_of(node)?, node.span)));
    let json = |node: Option<&YamlNode>| node.map(YamlNode::to_json).unwrap_or_default();
    let key = format!("{}\n{}\n{}", json(test.get("assert")), json(vars), json(test.get("threshold")));
    let columns = row.get("promptIdx").and_then(YamlNode::as_number).map(str::to_owned);
    let plan = TestPlan {
        place: test.span,
        description: test.get("description").and_then(YamlNode::as_text).map(str::to_owned),
        vars: vars.cloned(),
        asserts,
        threshold,
        columns: columns.into_iter().collect(),
    };
    Some((key, plan))
}
