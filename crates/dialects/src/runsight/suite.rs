//! The section `eval`: cases with recorded outputs and their assertions.

use super::asserted::{AssertionSubject, plain_number};
use super::assertion;
use crate::Lowering;
use crate::writer::{UniqueLabels, quote_text, to_label, value_literal};
use crate::yaml::{YamlNode, YamlValue};
use averment_base::diagnostic::{Diagnostic, Slug};

const KEYS: &[&str] = &["threshold", "cases"];
const CASE_KEYS: &[&str] = &["id", "description", "inputs", "fixtures", "expected"];

struct RunsightCase<'a> {
    id: &'a str,
    node: &'a YamlNode,
    fixtures: &'a [(YamlNode, YamlNode)],
    expected: Vec<(&'a str, &'a YamlNode)>,
}

/// Writes one rule over all recorded cases, with the score of the suite, and a test of that rule.
pub(super) fn lower_suite(suite: &YamlNode, labels: &mut UniqueLabels, lowering: &mut Lowering<'_>) {
    if !lowering.sink.check_keys(suite, "`eval`", KEYS) {
        return;
    }
    let threshold = suite_threshold(suite, lowering);
    let cases = read_cases(suite, lowering);
    let asserted: Vec<&RunsightCase<'_>> = cases.iter().filter(|case| !case.expected.is_empty()).collect();
    if asserted.is_empty() && !lowering.sink.has_errors() {
        let help = "write under `expected` what is expected of a block";
        lowering.sink.error(
            Slug::Syntax,
            suite.span,
            "no case of this suite expects anything: it would always pass",
            help,
        );
        return;
    }
    let name = labels.unique_label("eval");
    let shares = WeightShares::of_cases(&asserted);
    let mut lines = Vec::new();
    for case in &asserted {
        for (block, list) in &case.expected {
            let subject = AssertionSubject::of_case(case.id, block);
            let share = shares.of_block(case, list);
            assertion::declare_schemas(list, &to_label(&format!("{}-{block}", case.id)), lowering);
            lines.push((
                *case,
                *block,
                assertion::assertion_lines(list, &to_label(&format!("{}-{block}", case.id)), &subject, share, lowering),
            ));
        }
    }
    lowering.out.write_gap();
    let head = format!("rule {name} \"cases with recorded outputs\" threshold {threshold}");
    lowering.out.write_block(
        suite.span,
        |out| out.put_text(&head),
        |out| {
            for (case, block, lines) in &lines {
                out.write_remark(&format!("{}: {block}", case.id));
                lines.iter().for_each(|line| line.write_line(out));
            }
        },
    );
    write_test(suite, &name, &cases, lowering);
}

fn suite_threshold(suite: &YamlNode, lowering: &mut Lowering<'_>) -> String {
    match suite.get("threshold") {
        None => "1".to_owned(),
        Some(node) if node.is_null() => "1".to_owned(),
        Some(node) => {
            let text = node.as_number().or(node.as_text()).unwrap_or("");
            match text.parse::<f64>() {
                Ok(value) if (0.0..=1.0).contains(&value) => {
                    if value == 0.0 {
                        let message = "the suite passes whatever comes out: no score is below 0";
                        lowering.sink.warning(Slug::AlwaysTrue, node.span, message, "write a higher `threshold`");
                    }
                    plain_number(text)
                }
                _ => {
                    lowering.sink.wrong_shape(node, "`threshold` of `eval`", "a number between 0 and 1");
                    "1".to_owned()
                }
            }
        }
    }
}

fn read_cases<'a>(suite: &'a YamlNode, lowering: &mut Lowering<'_>) -> Vec<RunsightCase<'a>> {
    let cases = lowering.sink.list_items(suite, "cases", "`eval`");
    if cases.is_empty() {
        lowering.sink.error(Slug::TypeMismatch, suite.span, "`eval` has no `cases`", "write at least one case");
    }
    let mut known = std::collections::BTreeMap::new();
    let mut found = Vec::new();
    for case in cases {
        if !lowering.sink.check_keys(case, "a case", CASE_KEYS) {
            continue;
        }
        let Some(id) = lowering.sink.required_text(case, "id", "a case") else { continue };
        let place = case.get("id").map_or(case.span, |id| id.span);
        if let Some(first) = known.insert(id.to_owned(), place) {
            let twice = Diagnostic::new(Slug::Duplicate, place, format!("there are two cases `{id}`"));
            lowering
                .sink
                .diagnostics
                .0
                .push(twice.with_other(first, "it stands here first").with_help("give one of them another id"));
        }
        found.extend(read_case(case, id, lowering));
    }
    found
}

fn read_case<'a>(case: &'a YamlNode, id: &'a str, lowering: &mut Lowering<'_>) -> Option<RunsightCase<'a>> {
    let fixtures = case_mapping(case, "fixtures", lowering);
    for (_, text) in fixtures {
        lowering.sink.as_text(text, "a recorded output");
    }
    let mut expected = Vec::new();
    for (block, list) in case_mapping(case, "expected", lowering) {
        let name = lowering.sink.as_text(block, "the name of a block")?;
        if list.is_list() && list.items().is_empty() {
            let message = format!("the list of expectations for `{name}` is empty");
            lowering.sink.error(Slug::TypeMismatch, list.span, message, "write an assertion, or leave the block out");
            continue;
        }
        if !list.is_list() {
            let help = "a list of at least one assertion";
            lowering.sink.wrong_shape(list, &format!("what is expected of `{name}`"), help);
            continue;
        }
        if !fixtures.iter().any(|(known, _)| known.key_text() == name) {
            let message = format!("the case `{id}` has no recorded output of `{name}`: it needs its workflow to run");
            let help =
                "record one under `fixtures`; runs of the workflow are checked by the `assertions` of its blocks";
            lowering.sink.error(Slug::MissingFile, block.span, message, help);
            continue;
        }
        expected.push((name, list));
    }
    Some(RunsightCase { id, node: case, fixtures, expected })
}

/// Weights: blocks count equally in a case, and cases count equally in the suite.
struct WeightShares {
    cases: usize,
    /// Factor that makes all shares whole numbers.
    factor: f64,
}

impl WeightShares {
    fn of_cases(cases: &[&RunsightCase<'_>]) -> Self {
        let parts = |case: &&RunsightCase<'_>| -> u64 {
            let blocks = case.expected.len() as u64;
            let sums = case
                .expected
                .iter()
                .map(|(_, list)| small_integer(total_weight(list)).unwrap_or(1).saturating_mul(blocks));
            sums.fold(1, least_common)
        };
        let factor = cases.iter().map(parts).fold(1, least_common);
        Self { cases: cases.len(), factor: factor as f64 }
    }

    fn of_block(&self, case: &RunsightCase<'_>, list: &YamlNode) -> f64 {
        let total = total_weight(list);
        let share = if total > 0.0 { self.factor / total / case.expected.len() as f64 } else { 0.0 };
        // With one block of one case, the weights need no scaling.
        if self.cases == 1 && case.expected.len() == 1 { 1.0 } else { share }
    }
}

fn total_weight(list: &YamlNode) -> f64 {
    let weight =
        |node: &YamlNode| node.get("weight").and_then(YamlNode::as_number).and_then(|text| text.parse::<f64>().ok());
    list.items().iter().map(|node| weight(node).unwrap_or(1.0)).sum()
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is whole, and between 1 and a thousand")]
fn small_integer(value: f64) -> Option<u64> {
    ((1.0..=1000.0).contains(&value) && value.fract() == 0.0).then_some(value as u64)
}

/// Returns the least common multiple while it is small.
fn least_common(one: u64, other: u64) -> u64 {
    let (mut a, mut b) = (one.max(1), other.max(1));
    while b > 0 {
        (a, b) = (b, a.checked_rem(b).unwrap_or(0));
    }
    let both = one.checked_div(a).unwrap_or(1).saturating_mul(other);
    if both > 1_000_000 { 1 } else { both.max(1) }
}

/// Writes a test with one run that contains all recorded cases.
fn write_test(suite: &YamlNode, rule: &str, cases: &[RunsightCase<'_>], lowering: &mut Lowering<'_>) {
    lowering.out.write_gap();
    let recorded = |case: &RunsightCase<'_>| {
        let blocks = case
            .fixtures
            .iter()
            .map(|(block, text)| format!("{}: {}", quote_text(&block.key_text()), value_literal(text)));
        format!("{}: {{ {} }}", quote_text(case.id), blocks.collect::<Vec<_>>().join(", "))
    };
    let head = format!("test \"the recorded outputs\" expect pass {rule}");
    lowering.out.write_block(
        suite.span,
        |out| out.put_text(&head),
        |out| {
            out.write_line(suite.span, |out| {
                out.put_text("meta: { cases: { ");
                for (at, case) in cases.iter().enumerate() {
                    out.put_text(if at > 0 { ", " } else { "" });
                    out.put_mapped(case.node.span, &recorded(case));
                }
                out.put_text(" } }");
            });
            out.write_line(suite.span, |out| out.put_text("cost: 0"));
            out.write_line(suite.span, |out| out.put_text("duration: 0"));
        },
    );
}

fn case_mapping<'a>(case: &'a YamlNode, key: &str, lowering: &mut Lowering<'_>) -> &'a [(YamlNode, YamlNode)] {
    match case.get(key) {
        None => &[],
        Some(node) if node.value == YamlValue::Null => &[],
        Some(node) => {
            if !node.is_map() {
                lowering.sink.wrong_shape(node, &format!("`{key}` of a case"), "a mapping from blocks");
            }
            node.entries()
        }
    }
}
