//! Runsight: assertions on the blocks of a workflow, and offline suites of cases.
//!
//! A block becomes a rule of its name, a case of a suite a rule for each of its blocks. The run of a workflow records its blocks under `meta.blocks`;
//! where a single block is asserted, a plain run is that block's.

mod asserted;
mod assertion;
mod kinds;
mod path;
mod suite;

use crate::shape::Said;
use crate::writer::Labels;
use crate::yaml::{Node, Schema};
use crate::{Dialect, Lowering, OfYaml, Reads};
use asserted::Subject;
use averment_base::diagnostic::Slug;
use averment_engine::bytecode::program::{OwnVerdict, OwnVerdicts};
use std::borrow::Cow;

/// Workflows with assertions, suites of cases, and lists of assertions.
pub const DIALECT: Dialect = Dialect {
    files: "workflows with `assertions` on blocks, `eval` suites",
    reads: Reads::Yaml(OfYaml {
        marks: &["blocks", "eval", "assertions"],
        schema: Schema::Yaml11,
        is_one: |document| {
            let list = document.get("assertions").is_some_and(Node::is_list);
            list || is_bare(document)
                || document.get("eval").is_some()
                || document.get("blocks").is_some_and(Node::is_map)
        },
        lower,
    }),
    verdicts: OwnVerdicts {
        system: Cow::Borrowed("Runsight"),
        pass: OwnVerdict::new("passed", Some(1.0)),
        fail: OwnVerdict::new("failed", Some(0.0)),
        // A test that nothing exercised passes there.
        vacuous: OwnVerdict::new("passed", Some(1.0)),
        undecided: OwnVerdict::new("failed", Some(0.0)),
        error: OwnVerdict::new("error", Some(0.0)),
    },
};

/// A list of assertions without anything around it.
fn is_bare(document: &Node) -> bool {
    let is_asserted = |item: &Node| {
        let kind = item.get("type").and_then(Node::text).unwrap_or_default();
        kinds::KINDS.iter().any(|(name, _)| *name == kind.strip_prefix("not-").unwrap_or(kind))
    };
    document.is_list() && document.items().iter().any(is_asserted)
}

fn lower(document: &Node, lowering: &mut Lowering<'_>) {
    if is_bare(document) {
        return assertion::rule(document, "assertions", &Subject::of_run(), lowering);
    }
    let asserted: Vec<(&Node, &Node)> = asserted(document, &mut lowering.said);
    let suite = document.get("eval");
    let mut labels = Labels::default();
    if let Some(list) = document.get("assertions").filter(|_| asserted.is_empty()) {
        // A list without its workflow is about the output of the run.
        if list.is_list() {
            assertion::rule(list, &labels.of("assertions"), &Subject::of_run(), lowering);
        } else {
            lowering.said.shape(list, "`assertions`", "a list");
        }
    } else if asserted.is_empty() && suite.is_none() {
        let place = document.entries().first().map_or(document.span, |(key, _)| key.span);
        let message = "no block of this workflow has assertions, and it has no `eval` suite";
        lowering.said.error(Slug::Syntax, place, message, "write `assertions:` on a block");
    }
    let alone = asserted.len() == 1;
    for (name, list) in asserted {
        let Some(text) = lowering.said.as_text(name, "the name of a block") else { continue };
        lowering.out.gap();
        let subject = Subject::of_block(text, alone);
        assertion::rule(list, &labels.of(text), &subject, lowering);
    }
    if let Some(suite) = suite {
        suite::lower(suite, &mut labels, lowering);
    }
}

/// The blocks that have assertions.
fn asserted<'a>(document: &'a Node, said: &mut Said) -> Vec<(&'a Node, &'a Node)> {
    let Some(blocks) = document.get("blocks") else { return Vec::new() };
    if !blocks.is_map() {
        said.shape(blocks, "`blocks`", "a mapping from names to blocks");
    }
    let mut found = Vec::new();
    for (name, block) in blocks.entries() {
        match block.get("assertions") {
            Some(list) if list.is_list() => found.push((name, list)),
            Some(none) if none.is_null() => {}
            Some(other) => said.shape(other, &format!("`assertions` of the block `{}`", name.key()), "a list"),
            None => {}
        }
    }
    found
}
