//! `eval`: cases with recorded outputs, and what is expected of them.

use super::asserted::{Subject, plain_number};
use super::assertion;
use crate::Lowering;
use crate::writer::{Labels, label, literal, quoted};
use crate::yaml::{Node, Value};
use averment_base::diagnostic::{Diagnostic, Slug};

const KEYS: &[&str] = &["threshold", "cases"];
const CASE_KEYS: &[&str] = &["id", "description", "inputs", "fixtures", "expected"];

/// A case that was read: its id, what was recorded of its blocks, and what is expected of each.
struct Case<'a> {
    id: &'a str,
    node: &'a Node,
    fixtures: &'a [(Node, Node)],
    expected: Vec<(&'a str, &'a Node)>,
}

/// Writes one rule over what was recorded for all cases, whose score is that of the suite, and a test with what was recorded.
pub(super) fn lower(suite: &Node, labels: &mut Labels, lowering: &mut Lowering<'_>) {
    if !lowering.said.keys(suite, "`eval`", KEYS) {
        return;
    }
    let threshold = threshold(suite, lowering);
    let cases = read(suite, lowering);
    let asserted: Vec<&Case<'_>> = cases.iter().filter(|case| !case.expected.is_empty()).collect();
    if asserted.is_empty() && !lowering.said.has_errors() {
        let help = "write under `expected` what is expected of a block";
        lowering.said.error(
            Slug::Syntax,
            suite.span,
            "no case of this suite expects anything: it would always pass",
            help,
        );
        return;
    }
    let name = labels.of("eval");
    let shares = Shares::of(&asserted);
    let mut lines = Vec::new();
    for case in &asserted {
        for (block, list) in &case.expected {
            let subject = Subject::of_case(case.id, block);
            let share = shares.of_block(case, list);
            assertion::schemas(list, &label(&format!("{}-{block}", case.id)), lowering);
            lines.push((
                *case,
                *block,
                assertion::lines(list, &label(&format!("{}-{block}", case.id)), &subject, share, lowering),
            ));
        }
    }
    lowering.out.gap();
    let head = format!("rule {name} \"cases with recorded outputs\" threshold {threshold}");
    lowering.out.block(
        suite.span,
        |out| out.put(&head),
        |out| {
            for (case, block, lines) in &lines {
                out.remark(&format!("{}: {block}", case.id));
                lines.iter().for_each(|line| line.write(out));
            }
        },
    );
    test(suite, &name, &cases, lowering);
}

fn threshold(suite: &Node, lowering: &mut Lowering<'_>) -> String {
    match suite.get("threshold") {
        None => "1".to_owned(),
        Some(node) if node.is_null() => "1".to_owned(),
        Some(node) => {
            let text = node.number().or(node.text()).unwrap_or("");
            match text.parse::<f64>() {
                Ok(value) if (0.0..=1.0).contains(&value) => {
                    if value == 0.0 {
                        let message = "the suite passes whatever comes out: no score is below 0";
                        lowering.said.warning(Slug::AlwaysTrue, node.span, message, "write a higher `threshold`");
                    }
                    plain_number(text)
                }
                _ => {
                    lowering.said.shape(node, "`threshold` of `eval`", "a number between 0 and 1");
                    "1".to_owned()
                }
            }
        }
    }
}

fn read<'a>(suite: &'a Node, lowering: &mut Lowering<'_>) -> Vec<Case<'a>> {
    let cases = lowering.said.list(suite, "cases", "`eval`");
    if cases.is_empty() {
        lowering.said.error(Slug::TypeMismatch, suite.span, "`eval` has no `cases`", "write at least one case");
    }
    let mut known = std::collections::BTreeMap::new();
    let mut found = Vec::new();
    for case in cases {
        if !lowering.said.keys(case, "a case", CASE_KEYS) {
            continue;
        }
        let Some(id) = lowering.said.required_text(case, "id", "a case") else { continue };
        let place = case.get("id").map_or(case.span, |id| id.span);
        if let Some(first) = known.insert(id.to_owned(), place) {
            let twice = Diagnostic::new(Slug::Duplicate, place, format!("there are two cases `{id}`"));
            lowering
                .said
                .diagnostics
                .0
                .push(twice.other(first, "it stands here first").help("give one of them another id"));
        }
        found.extend(one(case, id, lowering));
    }
    found
}

fn one<'a>(case: &'a Node, id: &'a str, lowering: &mut Lowering<'_>) -> Option<Case<'a>> {
    let fixtures = mapping(case, "fixtures", lowering);
    for (_, text) in fixtures {
        lowering.said.as_text(text, "a recorded output");
    }
    let mut expected = Vec::new();
    for (block, list) in mapping(case, "expected", lowering) {
        let name = lowering.said.as_text(block, "the name of a block")?;
        if !list.is_list() || list.items().is_empty() {
            let help = "a list of at least one assertion";
            lowering.said.shape(list, &format!("what is expected of `{name}`"), help);
            continue;
        }
        if !fixtures.iter().any(|(known, _)| known.key() == name) {
            let message = format!("the case `{id}` has no recorded output of `{name}`: it needs its workflow to run");
            let help =
                "record one under `fixtures`; runs of the workflow are checked by the `assertions` of its blocks";
            lowering.said.error(Slug::MissingFile, block.span, message, help);
            continue;
        }
        expected.push((name, list));
    }
    Some(Case { id, node: case, fixtures, expected })
}

/// How much an assertion counts: blocks count alike in a case, and cases in the suite.
struct Shares {
    cases: usize,
    /// What makes whole numbers of all shares.
    factor: f64,
}

impl Shares {
    fn of(cases: &[&Case<'_>]) -> Self {
        let parts = |case: &&Case<'_>| -> u64 {
            let blocks = case.expected.len() as u64;
            let sums = case.expected.iter().map(|(_, list)| whole(total(list)).unwrap_or(1).saturating_mul(blocks));
            sums.fold(1, least_common)
        };
        let factor = cases.iter().map(parts).fold(1, least_common);
        Self { cases: cases.len(), factor: factor as f64 }
    }

    /// By what the weights of a block are multiplied.
    fn of_block(&self, case: &Case<'_>, list: &Node) -> f64 {
        let total = total(list);
        let share = if total > 0.0 { self.factor / total / case.expected.len() as f64 } else { 0.0 };
        // With one block of one case the weights are what they are.
        if self.cases == 1 && case.expected.len() == 1 { 1.0 } else { share }
    }
}

/// The weights of a list.
fn total(list: &Node) -> f64 {
    let weight = |node: &Node| node.get("weight").and_then(Node::number).and_then(|text| text.parse::<f64>().ok());
    list.items().iter().map(|node| weight(node).unwrap_or(1.0)).sum()
}

/// A small whole number.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is whole, and between 1 and a thousand")]
fn whole(value: f64) -> Option<u64> {
    ((1.0..=1000.0).contains(&value) && value.fract() == 0.0).then_some(value as u64)
}

/// The least number that both divide, as long as it is small.
fn least_common(one: u64, other: u64) -> u64 {
    let (mut a, mut b) = (one.max(1), other.max(1));
    while b > 0 {
        (a, b) = (b, a.checked_rem(b).unwrap_or(0));
    }
    let both = one.checked_div(a).unwrap_or(1).saturating_mul(other);
    if both > 1_000_000 { 1 } else { both.max(1) }
}

/// The test of the suite: one run that holds what was recorded for each case.
fn test(suite: &Node, rule: &str, cases: &[Case<'_>], lowering: &mut Lowering<'_>) {
    lowering.out.gap();
    let recorded = |case: &Case<'_>| {
        let blocks = case.fixtures.iter().map(|(block, text)| format!("{}: {}", quoted(&block.key()), literal(text)));
        format!("{}: {{ {} }}", quoted(case.id), blocks.collect::<Vec<_>>().join(", "))
    };
    let head = format!("test \"the recorded outputs\" expect pass {rule}");
    lowering.out.block(
        suite.span,
        |out| out.put(&head),
        |out| {
            out.line(suite.span, |out| {
                out.put("meta: { cases: { ");
                for (at, case) in cases.iter().enumerate() {
                    out.put(if at > 0 { ", " } else { "" });
                    out.put_of(case.node.span, &recorded(case));
                }
                out.put(" } }");
            });
            out.line(suite.span, |out| out.put("cost: 0"));
            out.line(suite.span, |out| out.put("duration: 0"));
        },
    );
}

/// The entries of a mapping of a case.
fn mapping<'a>(case: &'a Node, key: &str, lowering: &mut Lowering<'_>) -> &'a [(Node, Node)] {
    match case.get(key) {
        None => &[],
        Some(node) if node.value == Value::Null => &[],
        Some(node) => {
            if !node.is_map() {
                lowering.said.shape(node, &format!("`{key}` of a case"), "a mapping from blocks");
            }
            node.entries()
        }
    }
}
